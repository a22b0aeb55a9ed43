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

    /// How far from its origin things are still looked for.
    fn reach(&self) -> f32;

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

    fn reach(&self) -> f32 {
        match self {
            Self::Ray { reach, .. } => reach.get(),
            Self::Box(_) => f32::INFINITY,
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
pub(super) fn with_rounding(Aabb3d { min, max }: Aabb3d, around: f32) -> Aabb3d {
    let room = around + 1e-3 + 1e-5 * min.abs().max(max.abs()).max_element();
    Aabb3d { min: min - room, max: max + room }
}

/// What lies nearest to a place on the way of a ray. (`clamp` panics if the range is less than nothing, or not a number.)
#[inline]
pub(super) fn within(along: f32, range: f32) -> f32 {
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
    use super::*;

    #[test]
    fn a_region_without_end_has_a_beam_without_end() {
        let beam = Region::ball(Vec3::ONE, f32::INFINITY).beam();
        assert!(beam.ray.origin.is_finite() && beam.margin == f32::INFINITY, "{beam:?}");
    }
}
