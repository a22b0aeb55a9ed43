//! Where something is looked for.

use core::cell::Cell;

use bevy::{
    math::{
        Vec3A,
        bounding::{Aabb3d, BoundingSphere, BoundingVolume, IntersectsVolume},
    },
    prelude::*,
};
use bevy_rapier3d::rapier::parry::{bounding_volume::Aabb, partitioning::BvhNode};

use super::cast::parry_ray;
use crate::{
    history::{Beam, BoxIndex, BoxTree},
    time::Tick,
};

/// Where something is looked for. What it says to be outside is outside.
pub(super) trait Place {
    /// Whether anything within `bounds` may be met.
    fn may_meet(&self, bounds: BoundingSphere) -> bool;

    /// What holds all of it.
    fn beam(&self) -> Beam;

    /// Shows the boxes of a tree with anything that may be met, or lies within so many metres around; nearer ones sooner,
    /// if the place has an origin. What `visit` returns tells how far from that it is still worth it.
    fn search(&self, tree: &BoxTree, around: f32, visit: impl FnMut(u32) -> f32);

    /// The same for all histories, by their numbers and by where they were between two ticks.
    fn search_past(
        &self,
        index: &BoxIndex,
        (start, end): (Tick, Tick),
        around: f32,
        mut visit: impl FnMut(usize) -> f32,
    ) {
        match index.tree(start, end) {
            Some(tree) => self.search(tree, around, |number| visit(number as usize)),
            None => (0..index.len()).for_each(|number| {
                visit(number);
            }),
        }
    }
}

/// A part of space, roughly: what it says to be outside is outside.
pub(super) enum Region {
    /// Along a ray, as far as something nearer has not been found.
    Ray { ray: Ray3d, reach: Cell<f32> },
    /// Within a box.
    Box(Aabb3d),
}

impl Region {
    pub(super) fn ray(ray: Ray3d, range: f32) -> Self {
        Self::Ray { ray, reach: Cell::new(range) }
    }

    /// Around a ball on its way along `ray`.
    pub(super) fn sweep(ray: Ray3d, radius: f32, range: f32) -> Self {
        let ball = |center: Vec3| BoundingSphere::new(center, (radius * 1.001 + 1e-3).max(0.0)).aabb_3d();
        // Where a way without end ends; nothing times infinity is no number.
        let step = ray.direction.map(|part| if part == 0.0 { 0.0 } else { part * range });
        Self::Box(ball(ray.origin).merge(&ball(ray.origin + step)))
    }

    pub(super) fn ball(center: Vec3, radius: f32) -> Self {
        Self::sweep(Ray3d::new(center, Dir3::X), radius, 0.0)
    }

    /// From now on, no further along the ray than this.
    pub(super) fn shrink(&self, distance: f32) {
        if let Self::Ray { reach, .. } = self {
            reach.set(distance);
        }
    }

    /// How far along the ray things are still looked for.
    pub(super) fn reach(&self) -> f32 {
        match self {
            Self::Ray { reach, .. } => reach.get(),
            Self::Box(_) => f32::INFINITY,
        }
    }

    pub(super) fn may_meet_node(&self, node: &BvhNode) -> bool {
        match self {
            Self::Ray { ray, reach } => node.cast_ray(&parry_ray(*ray), reach.get()) <= reach.get(),
            Self::Box(region) => node.intersects(&BvhNode::leaf(Aabb::new(region.min.into(), region.max.into()), 0)),
        }
    }
}

impl Place for Region {
    #[inline]
    fn may_meet(&self, bounds: BoundingSphere) -> bool {
        match self {
            Self::Ray { ray, reach } => may_meet(*ray, reach.get(), bounds),
            Self::Box(region) => region.intersects(&bounds),
        }
    }

    fn beam(&self) -> Beam {
        match self {
            Self::Ray { ray, reach } => Beam { ray: *ray, range: reach.get(), margin: 0.0, slope: 0.0 },
            Self::Box(region) => {
                // What has no end has no middle either.
                let center = Some(region.center()).filter(|center| center.is_finite());
                let margin = if center.is_some() { region.half_size().length() } else { f32::INFINITY };
                let ray = Ray3d::new(center.unwrap_or_default().into(), Dir3::X);
                Beam { ray, range: 0.0, margin, slope: 0.0 }
            }
        }
    }

    fn search(&self, tree: &BoxTree, around: f32, mut visit: impl FnMut(u32) -> f32) {
        match self {
            Self::Ray { .. } => {
                tree.visit_beam(Beam { margin: around, ..self.beam() }, &mut visit);
            }
            Self::Box(region) => tree.visit_box(with_rounding(*region, around), |number| {
                visit(number);
            }),
        }
    }
}

/// A box with room around it, and more than rounding can be.
#[inline]
fn with_rounding(Aabb3d { min, max }: Aabb3d, around: f32) -> Aabb3d {
    let room = around + 1e-3 + 1e-5 * min.abs().max(max.abs()).max_element();
    Aabb3d { min: min - room, max: max + room }
}

/// Several rays from one point.
pub(super) struct Fan<'a> {
    pub(super) rays: &'a [Ray3d],
    pub(super) range: f32,
    axis: Ray3d,
    /// How much wider it is after each metre; 0 for a single ray.
    slope: f32,
}

impl<'a> Fan<'a> {
    /// # Panics
    ///
    /// If there is no ray.
    pub(super) fn new(rays: &'a [Ray3d], range: f32) -> Self {
        let origin = rays[0].origin;
        let sum: Vec3 = rays.iter().map(|ray| *ray.direction).sum();
        let axis =
            Ray3d::new(origin, if rays.len() == 1 { rays[0].direction } else { Dir3::new(sum).unwrap_or(Dir3::X) });
        let slope = |ray: &Ray3d| {
            let along = ray.direction.dot(*axis.direction);
            if along > 0.1 { (*ray.direction - *axis.direction * along).length() / along } else { f32::INFINITY }
        };
        let slope = if rays.len() == 1 { 0.0 } else { rays.iter().map(slope).fold(0.0, f32::max) };
        Self { rays, range, axis, slope }
    }

    pub(super) fn axis(&self) -> Ray3d {
        self.axis
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
        let Self { axis: ray, range, slope, .. } = *self;
        if slope.is_finite() {
            Beam { ray, range, margin: 0.0, slope }
        } else {
            Beam { ray, range: 0.0, margin: range, slope: 0.0 }
        }
    }

    fn search(&self, tree: &BoxTree, around: f32, mut visit: impl FnMut(u32) -> f32) {
        if self.slope.is_finite() {
            tree.visit_beam(Beam { margin: around, ..self.beam() }, &mut visit);
        } else {
            let center = Vec3A::from(self.axis.origin);
            let reached = Aabb3d { min: center - self.range, max: center + self.range };
            tree.visit_box(with_rounding(reached, around), |number| {
                visit(number);
            });
        }
    }
}

/// What lies nearest to a place on the way of a ray. (`clamp` panics if the range is less than nothing, or not a number.)
#[inline]
fn within(along: f32, range: f32) -> f32 {
    along.max(0.0).min(range)
}

/// Whether a ray may meet anything within `bounds`; says yes rather too often than too rarely.
#[inline]
pub(super) fn may_meet(ray: Ray3d, range: f32, bounds: BoundingSphere) -> bool {
    let to_center = bounds.center - Vec3A::from(ray.origin);
    let direction = Vec3A::from(*ray.direction);
    let along = within(to_center.dot(direction), range);
    // Rounding in `f32` grows with the distance; this is more than it can be.
    let radius = bounds.radius() + 1e-3 + 1e-5 * along;
    (to_center - direction * along).length_squared() <= radius * radius
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::weapon::PelletPattern;

    #[test]
    fn a_region_without_end_has_a_beam_without_end() {
        let beam = Region::ball(Vec3::ONE, f32::INFINITY).beam();
        assert!(beam.ray.origin.is_finite() && beam.margin == f32::INFINITY, "{beam:?}");
    }

    proptest! {
        #[test]
        fn a_fan_leaves_out_nothing_that_one_of_its_rays_may_meet(
            spread in 0.0_f32..1.57,
            seed: u32,
            center in prop::array::uniform3(-30.0_f32..30.0),
            radius in 0.01_f32..3.0,
        ) {
            let origin = Vec3::new(1.0, 2.0, 3.0);
            let pellets = PelletPattern::cone(12, spread).seeded(seed).directions(Dir3::Z);
            let rays: Vec<_> = pellets.map(|direction| Ray3d::new(origin, direction)).collect();
            let fan = Fan::new(&rays, 25.0);
            let bounds = BoundingSphere::new(Vec3A::from(center), radius);
            let meets = rays.iter().any(|ray| may_meet(*ray, 25.0, bounds));
            prop_assert!(!meets || fan.may_meet(bounds.grow(0.01)));
        }
    }
}
