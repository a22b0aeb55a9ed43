//! The arithmetic of poses, one at a time or four side by side.

use core::ops::{Add, Mul, Neg, Sub};

use bevy::{
    math::{Mat4, Vec3A, Vec4},
    prelude::*,
};

/// One number, or one of each of four poses.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
}

impl Number for f32 {}
impl Number for Vec4 {}

/// A pose, or four of them: whatever the number, each step is the same, and so each result is, to the last bit.
///
/// The steps are those that `glam` takes with SSE2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pose<N> {
    pub(crate) place: [N; 3],
    pub(crate) rotation: [N; 4],
}

impl<N: Number> Pose<N> {
    /// The pose in the world of what hangs on this one, which has a scale; it must not shear what hangs on it.
    #[inline(always)]
    pub(crate) fn child(self, scale: [N; 3], local: Self) -> Self {
        let ([sx, sy, sz], [x, y, z]) = (scale, local.place);
        Self { place: self.carry([sx * x, sy * y, sz * z]), rotation: multiply(self.rotation, local.rotation) }
    }

    /// The place in the world of one that is relative to this pose.
    #[inline(always)]
    pub(crate) fn carry(self, place: [N; 3]) -> [N; 3] {
        let ([x, y, z], [own_x, own_y, own_z]) = (rotate(self.rotation, place), self.place);
        [x + own_x, y + own_y, z + own_z]
    }

    /// The pose as seen from a root.
    #[inline(always)]
    pub(crate) fn seen_from(self, root: Self) -> Self {
        let ([x, y, z, w], [root_x, root_y, root_z]) = (root.rotation, root.place);
        let (back, [own_x, own_y, own_z]) = ([-x, -y, -z, w], self.place);
        Self {
            place: rotate(back, [own_x - root_x, own_y - root_y, own_z - root_z]),
            rotation: multiply(back, self.rotation),
        }
    }
}

impl From<Isometry3d> for Pose<f32> {
    fn from(pose: Isometry3d) -> Self {
        Self { place: pose.translation.to_array(), rotation: pose.rotation.to_array() }
    }
}

impl From<Pose<f32>> for Isometry3d {
    fn from(pose: Pose<f32>) -> Self {
        Self { translation: Vec3A::from_array(pose.place), rotation: Quat::from_array(pose.rotation) }
    }
}

impl Pose<Vec4> {
    /// Four times the same.
    pub(crate) fn splat(pose: Isometry3d) -> Self {
        let pose = Pose::from(pose);
        Self { place: pose.place.map(Vec4::splat), rotation: pose.rotation.map(Vec4::splat) }
    }

    /// Of four places, whose fourth numbers do not matter, and four rotations.
    #[inline]
    pub(crate) fn of(places: [Vec4; 4], rotations: [Vec4; 4]) -> Self {
        let [x, y, z, _] = transpose(places);
        Self { place: [x, y, z], rotation: transpose(rotations) }
    }

    #[inline]
    pub(crate) fn rotations(&self) -> [Vec4; 4] {
        transpose(self.rotation)
    }

    pub(crate) fn get(&self, lane: usize) -> Pose<f32> {
        Pose { place: self.place.map(|axis| axis[lane]), rotation: self.rotation.map(|part| part[lane]) }
    }

    pub(crate) fn set(&mut self, lane: usize, pose: Pose<f32>) {
        let numbers = self.place.iter_mut().chain(&mut self.rotation);
        for (own, number) in numbers.zip(pose.place.iter().chain(&pose.rotation)) {
            own[lane] = *number;
        }
    }

    #[inline]
    pub(crate) fn is_finite(&self) -> bool {
        // What is not finite has no product with nothing.
        let [x, y, z] = self.place.map(|axis| axis * 0.0);
        let [a, b, c, d] = self.rotation.map(|part| part * 0.0);
        (x + y + z) + ((a + b) + (c + d)) == Vec4::ZERO
    }
}

fn transpose([a, b, c, d]: [Vec4; 4]) -> [Vec4; 4] {
    let Mat4 { x_axis, y_axis, z_axis, w_axis } = Mat4::from_cols(a, b, c, d).transpose();
    [x_axis, y_axis, z_axis, w_axis]
}

#[inline(always)]
fn rotate<N: Number>([x, y, z, w]: [N; 4], place: [N; 3]) -> [N; 3] {
    let axis = [x, y, z];
    let dot = |[a, b, c]: [N; 3], [d, e, f]: [N; 3]| a * d + b * e + c * f;
    let [px, py, pz] = place;
    let cross = [y * pz - py * z, z * px - pz * x, x * py - px * y];
    let (own, along, turn) = (w * w - dot(axis, axis), dot(place, axis), w + w);
    let along = along + along;
    let sum = |place: N, axis: N, cross: N| (place * own + axis * along) + cross * turn;
    [sum(px, x, cross[0]), sum(py, y, cross[1]), sum(pz, z, cross[2])]
}

#[inline(always)]
fn multiply<N: Number>([x, y, z, w]: [N; 4], [rx, ry, rz, rw]: [N; 4]) -> [N; 4] {
    [
        (w * rx + x * rw) + (y * rz - z * ry),
        (w * ry - x * rz) + (y * rw + z * rx),
        (w * rz + x * ry) + (z * rw - y * rx),
        (w * rw - x * rx) + (-(y * ry) - z * rz),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pose() -> impl Strategy<Value = Isometry3d> {
        let numbers = (prop::array::uniform3(-500.0_f32..500.0), prop::array::uniform4(-1.0_f32..1.0));
        let far_from_zero =
            numbers.prop_filter("no rotation", |(_, rotation)| Vec4::from_array(*rotation).length() > 0.1);
        far_from_zero.prop_map(|(place, rotation)| Isometry3d::new(place, Quat::from_array(rotation).normalize()))
    }

    proptest! {
        #[test]
        fn poses_are_carried_as_isometries_are_and_four_as_one(
            root in pose(),
            others in prop::array::uniform4(pose()),
            scale in 0.1_f32..3.0,
        ) {
            let mut group = Pose::default();
            others.into_iter().enumerate().for_each(|(lane, other)| group.set(lane, other.into()));
            let child = Pose::splat(root).child([Vec4::splat(scale); 3], group);
            let seen = group.seen_from(Pose::splat(root));
            for (lane, other) in others.into_iter().enumerate() {
                let one = Pose::from(root).child([scale; 3], other.into());
                prop_assert_eq!((child.get(lane).place, child.get(lane).rotation), (one.place, one.rotation));
                let expected = root * Isometry3d { translation: other.translation * scale, ..other };
                prop_assert!(Isometry3d::from(one).translation.distance(expected.translation) < 2e-3);
                prop_assert!(Isometry3d::from(one).rotation.dot(expected.rotation).abs() > 1.0 - 1e-5);

                let one = Pose::from(other).seen_from(root.into());
                prop_assert_eq!((seen.get(lane).place, seen.get(lane).rotation), (one.place, one.rotation));
                let expected = root.inverse_mul(other);
                prop_assert!(Isometry3d::from(one).translation.distance(expected.translation) < 2e-3);
                prop_assert!(Isometry3d::from(one).rotation.dot(expected.rotation).abs() > 1.0 - 1e-5);
                if cfg!(target_feature = "sse2") {
                    prop_assert_eq!(Isometry3d::from(one), expected);
                }
                prop_assert_eq!(seen.rotations()[lane].to_array(), one.rotation);
            }
        }

        #[test]
        fn one_number_of_28_is_enough_to_be_infinite(pose in pose(), lane in 0..4_usize, number in 0..7_usize, bad: bool) {
            let mut group = Pose::splat(pose);
            prop_assert!(group.is_finite());
            let bad = if bad { f32::NAN } else { f32::NEG_INFINITY };
            match number {
                0..3 => group.place[number][lane] = bad,
                _ => group.rotation[number - 3][lane] = bad,
            }
            prop_assert!(!group.is_finite());
        }
    }
}
