//! Several rays from one point.

use bevy::{
    math::{
        Vec3A,
        bounding::{Aabb3d, BoundingSphere},
    },
    prelude::*,
};

use super::region::{Place, may_meet, with_rounding, within};
use crate::{
    history::{Beam, BoxTree},
    shape::PreciseRay,
    weapon::PelletPattern,
};

/// Several rays from one point, with all that lies between them.
pub(super) struct Fan<'a> {
    pub(super) rays: &'a [PreciseRay],
    pub(super) range: f32,
    axis: Ray3d,
    /// How much wider it is after each metre; 0 for a single ray.
    slope: f32,
}

impl<'a> Fan<'a> {
    /// The most rays.
    pub(super) const MOST: usize = PelletPattern::MOST;

    /// # Panics
    ///
    /// If there is no ray.
    pub(super) fn new(rays: &'a [PreciseRay], range: f32) -> Self {
        let origin = rays[0].origin;
        let sum: Vec3 = rays.iter().map(|ray| *ray.direction).sum();
        let axis =
            Ray3d::new(origin, if rays.len() == 1 { rays[0].direction } else { Dir3::new(sum).unwrap_or(Dir3::X) });
        let slope = |ray: &PreciseRay| {
            let along = ray.direction.dot(*axis.direction);
            if along > 0.1 { (*ray.direction - *axis.direction * along).length() / along } else { f32::INFINITY }
        };
        let slope = if rays.len() == 1 { 0.0 } else { rays.iter().map(slope).fold(0.0, f32::max) };
        Self { rays, range, axis, slope }
    }

    pub(super) fn axis(&self) -> Ray3d {
        self.axis
    }

    /// What holds as much of it as lies within so many metres.
    pub(super) fn beam_to(&self, range: f32) -> Beam {
        let Self { axis: ray, slope, .. } = *self;
        if slope.is_finite() {
            Beam { ray, range, margin: 0.0, slope }
        } else {
            Beam { ray, range: 0.0, margin: range, slope: 0.0 }
        }
    }

    /// The same as [`Place::search`], within so many metres.
    pub(super) fn search_to(&self, range: f32, tree: &BoxTree, around: f32, mut visit: impl FnMut(u32) -> f32) {
        if self.slope.is_finite() {
            tree.visit_beam(Beam { margin: around, ..self.beam_to(range) }, &mut visit);
        } else {
            let center = Vec3A::from(self.axis.origin);
            let reached = Aabb3d { min: center - range, max: center + range };
            tree.visit_box(with_rounding(reached, around), |number| {
                visit(number);
            });
        }
    }
}

impl Place for Fan<'_> {
    #[inline]
    fn may_meet(&self, bounds: BoundingSphere) -> bool {
        if self.slope == 0.0 {
            return may_meet(self.axis, self.range, bounds);
        }
        let to_center = bounds.center - Vec3A::from(self.axis.origin);
        if !self.slope.is_finite() {
            return to_center.length() <= self.range + bounds.radius() + 1e-3;
        }
        // Within the ball, the fan is nowhere wider than at its far side.
        let direction = Vec3A::from(*self.axis.direction);
        let along = to_center.dot(direction);
        let widest = self.slope * within(along + bounds.radius(), self.range);
        let radius = bounds.radius() + widest + 1e-3 + 1e-5 * along.abs();
        let off = to_center - direction * within(along, self.range);
        off.length_squared() <= radius * radius
    }

    fn beam(&self) -> Beam {
        self.beam_to(self.range)
    }

    fn reach(&self) -> f32 {
        self.range
    }

    fn search(&self, tree: &BoxTree, around: f32, visit: impl FnMut(u32) -> f32) {
        self.search_to(self.range, tree, around, visit);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use bevy::math::bounding::BoundingVolume;
    use proptest::prelude::*;

    use super::*;

    pub(in crate::trace) fn rays(origin: Vec3, aim: Dir3, count: u8, spread: f32, seed: u32) -> Vec<PreciseRay> {
        let pellets = PelletPattern::cone(count, spread).seeded(seed).directions(aim);
        pellets.map(|direction| Ray3d::new(origin, direction).into()).collect()
    }

    proptest! {
        #[test]
        fn a_fan_leaves_out_nothing_that_one_of_its_rays_may_meet(
            spread in 0.0_f32..1.57,
            seed: u32,
            center in prop::array::uniform3(-30.0_f32..30.0),
            radius in 0.01_f32..3.0,
        ) {
            let rays = rays(Vec3::new(1.0, 2.0, 3.0), Dir3::Z, 12, spread, seed);
            let fan = Fan::new(&rays, 25.0);
            let bounds = BoundingSphere::new(Vec3A::from(center), radius);
            let meets = rays.iter().any(|ray| may_meet(**ray, 25.0, bounds));
            prop_assert!(!meets || fan.may_meet(bounds.grow(0.01)));
        }
    }
}
