//! A ray, or a cone, against boxes.

use bevy::{
    math::{Vec4, bounding::Aabb3d},
    prelude::*,
};

use super::{EDGE, Node, each_axis, rounding, walk::Probe};

/// A ray with some room around it, which may widen as a cone does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beam {
    pub(crate) ray: Ray3d,
    pub(crate) range: f32,
    /// Metres around the ray.
    pub(crate) margin: f32,
    /// By how much that grows with each metre along it: for a cone, the tangent of half its angle.
    pub(crate) slope: f32,
}

/// A beam on its way through a tree.
pub(super) struct BeamProbe<const WIDENS: bool> {
    beam: Beam,
    margin: f32,
    /// For each axis: which planes the ray meets first and last, and from where they are measured.
    near: [usize; 3],
    far: [usize; 3],
    near_at: [Vec4; 3],
    far_at: [Vec4; 3],
    inverse: [Vec4; 3],
}

impl<const WIDENS: bool> BeamProbe<WIDENS> {
    #[inline]
    pub(super) fn new(beam: Beam, bounds: Aabb3d) -> Self {
        let Beam { ray: Ray3d { origin, direction }, range, margin, .. } = beam;
        let margin = margin + rounding(origin, range, bounds);
        let inverse = direction.map(|part| if part.abs() < 1e-12 { 1e12_f32.copysign(part) } else { part.recip() });
        let towards = inverse.map(|part| margin.copysign(part));
        Self {
            beam,
            margin,
            // There is a negative zero, too.
            near: each_axis(|axis| if inverse[axis] < 0.0 { axis + 3 } else { axis }),
            far: each_axis(|axis| if inverse[axis] < 0.0 { axis } else { axis + 3 }),
            near_at: each_axis(|axis| Vec4::splat((origin + towards)[axis])),
            far_at: each_axis(|axis| Vec4::splat((origin - towards)[axis])),
            inverse: each_axis(|axis| Vec4::splat(inverse[axis])),
        }
    }
}

impl<const WIDENS: bool> Probe for BeamProbe<WIDENS> {
    const LOOKS_TWICE: bool = false;

    #[inline(always)]
    fn meets(&self, node: &Node, reach: f32, entries: &mut [f32; 8]) -> u32 {
        let Self { beam, margin, near, far, inverse, .. } = self;
        let Beam { ray: Ray3d { origin, direction }, range, slope, .. } = *beam;
        let mut met = 0;
        for half in 0..2 {
            let plane = |index: usize| node.planes[index][half];
            let (mut near_at, mut far_at) = (self.near_at, self.far_at);
            if WIDENS {
                // No point of a box lies further along than its corner does.
                let along = |axis: usize| {
                    let direction = Vec4::splat(direction[axis]);
                    let corner = plane(far[axis]) - Vec4::splat(origin[axis]);
                    corner * direction
                };
                let furthest = along(0) + along(1) + along(2) + Vec4::splat(2.0 * margin);
                // As in a ball of that size; an empty box stays empty.
                let widening = furthest.max(Vec4::ZERO).min(Vec4::splat(range.min(EDGE))) * slope;
                for axis in 0..3 {
                    near_at[axis] += widening.copysign(inverse[axis]);
                    far_at[axis] -= widening.copysign(inverse[axis]);
                }
            }
            let enter = |axis: usize| (plane(near[axis]) - near_at[axis]) * inverse[axis];
            let leave = |axis: usize| (plane(far[axis]) - far_at[axis]) * inverse[axis];
            let enters = enter(0).max(enter(1)).max(enter(2)).max(Vec4::ZERO);
            let leaves = leave(0).min(leave(1)).min(leave(2)).min(Vec4::splat(reach));
            met |= enters.cmple(leaves).bitmask() << (4 * half);
            enters.write_to_slice(&mut entries[4 * half..]);
        }
        met
    }

    fn may_meet(&self, _: Aabb3d) -> bool {
        true
    }
}
