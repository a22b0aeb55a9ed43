//! Which hitboxes of a rig a beam comes near: four of them at a time.

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};

use super::{
    poses::Places,
    tree::{Beam, each_axis, lanes},
};

/// A beam in the space of a rig, with the hitboxes that are blended there.
///
/// It lets through all that is near, and a little more: what comes out is then looked at to the last digit.
pub(super) struct Sieve<'a> {
    from: &'a [Places],
    to: &'a [Places],
    t: f32,
    radii: &'a [Vec4],
    origin: Vec3A,
    direction: Vec3A,
    range: f32,
    margin: f32,
    slope: f32,
}

impl<'a> Sieve<'a> {
    /// For the blend of two records, and the radii of the balls around hitboxes. `None` if the rotation of the rig is no pure
    /// rotation, which has no way back.
    pub(super) fn new(
        beam: Beam,
        root: Isometry3d,
        [from, to]: [&'a [Places]; 2],
        t: f32,
        radii: &'a [Vec4],
    ) -> Option<Self> {
        let Beam { ray, range, margin, slope } = beam;
        let to_root = root.rotation.inverse();
        let origin = to_root * (Vec3A::from(ray.origin) - root.translation);
        let direction = to_root * Vec3A::from(*ray.direction);
        // More than is lost to rounding on the way there.
        let margin = margin + 3e-3 + 1e-4 * origin.length();
        let is_pure = (root.rotation.length_squared() - 1.0).abs() < 1e-5;
        is_pure.then_some(Self { from, to, t, radii, origin, direction, range, margin, slope })
    }

    /// Shows the indices of hitboxes that may be near.
    pub(super) fn visit(self, mut show: impl FnMut(usize)) {
        for group in 0..self.radii.len() {
            for lane in lanes(self.near(group)) {
                show(4 * group + lane);
            }
        }
    }

    /// One bit for each of a group that may be near.
    #[inline]
    fn near(&self, group: usize) -> u32 {
        let [from, to] = [self.from[group], self.to[group]];
        let way = each_axis(|axis| from[axis] + (to[axis] - from[axis]) * self.t - Vec4::splat(self.origin[axis]));
        let direction = each_axis(|axis| Vec4::splat(self.direction[axis]));
        let dot = |a: [Vec4; 3], b: [Vec4; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let along = dot(way, direction).max(Vec4::ZERO).min(Vec4::splat(self.range));
        let off = each_axis(|axis| way[axis] - direction[axis] * along);
        let radius = self.radii[group];
        let reach = radius + self.margin + (along + radius) * self.slope;
        // Less than nothing stays so.
        (dot(off, off).cmple(reach * reach) & reach.cmpge(Vec4::ZERO)).bitmask()
    }
}
