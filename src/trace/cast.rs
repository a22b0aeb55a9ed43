//! Rays against single shapes of rapier.

use core::cmp::Ordering;

use bevy::prelude::*;
use bevy_rapier3d::rapier::{
    math::Pose,
    parry::shape::{Shape as ParryShape, TypedShape},
    prelude::Ray,
};

use crate::shape::Shape;

/// Where a ray meets something that stops it.
#[derive(Clone, Copy)]
pub(super) struct Stop {
    pub(super) distance: f32,
    pub(super) pose: Pose,
    pub(super) entity: Option<Entity>,
}

impl Stop {
    /// Nearer first; ties are broken by what does not depend on the order in which things were spawned, as long as they stand
    /// in different places.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let place = |stop: &Self| {
            let Pose { translation: t, rotation: q, .. } = stop.pose;
            [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
        };
        let places = place(self).into_iter().zip(place(other));
        let by_place = || places.fold(Ordering::Equal, |so_far, (a, b)| so_far.then(a.total_cmp(&b)));
        self.distance.total_cmp(&other.distance).then_with(by_place).then(self.entity.cmp(&other.entity))
    }
}

/// The distance at which the ray meets the solid shape, if that is at most `range`.
///
/// Parry 0.30 casts rays at capsules by an iterative method that is up to 16 mm wrong; those, alone or within a compound,
/// are left to [`Shape::cast_ray`]. Shapes that it does not know (cylinders, cones, convex hulls, meshes) are parry's.
pub(super) fn cast_at(shape: &dyn ParryShape, pose: &Pose, ray: Ray3d, range: f32) -> Option<f32> {
    if let TypedShape::Compound(compound) = shape.as_typed_shape() {
        let parts = compound.shapes().iter();
        return parts
            .filter_map(|(offset, part)| cast_at(part.as_ref(), &(*pose * *offset), ray, range))
            .min_by(f32::total_cmp);
    }
    match known_shape(shape, pose) {
        Some((shape, pose)) => shape.cast_ray(pose, ray, range),
        None => {
            // Of meshes, parry finds only what is nearer than the range.
            let distance = shape.cast_ray(pose, &parry_ray(ray), range.next_up(), true);
            distance.filter(|distance| *distance <= range)
        }
    }
}

/// The outward normal of a shape of rapier where the ray meets it; against the ray if that begins inside.
pub(super) fn normal_of(shape: &dyn ParryShape, pose: &Pose, ray: Ray3d, distance: f32) -> Dir3 {
    if let Some((shape, pose)) = known_shape(shape, pose) {
        return surface_normal(shape, pose, ray, distance);
    }
    // Parry's distance may differ from ours in the last digits.
    let found = shape.cast_ray_and_get_normal(pose, &parry_ray(ray), distance + 0.1, true);
    found.and_then(|hit| Dir3::new(hit.normal).ok()).unwrap_or(-ray.direction)
}

/// The outward normal of a shape where a ray meets it; against the ray if that begins inside.
pub(super) fn surface_normal(shape: Shape, pose: Isometry3d, ray: Ray3d, distance: f32) -> Dir3 {
    let on_surface = (distance > 0.0).then(|| shape.normal_at(pose, ray.get_point(distance))).flatten();
    on_surface.unwrap_or(-ray.direction)
}

pub(super) fn parry_ray(ray: Ray3d) -> Ray {
    Ray::new(ray.origin, *ray.direction)
}

pub(super) fn isometry(pose: &Pose) -> Isometry3d {
    Isometry3d::new(pose.translation, pose.rotation)
}

/// The shape in our own words, with its pose in the world.
fn known_shape(shape: &dyn ParryShape, pose: &Pose) -> Option<(Shape, Isometry3d)> {
    let world = isometry(pose);
    match shape.as_typed_shape() {
        TypedShape::Capsule(capsule) => {
            let segment = capsule.segment;
            let axis = segment.b - segment.a;
            let rotation = Dir3::new(axis).map_or(Quat::IDENTITY, |axis| Quat::from_rotation_arc(Vec3::Y, *axis));
            let shape = Shape::Capsule { half_height: 0.5 * axis.length(), radius: capsule.radius };
            Some((shape, world * Isometry3d::new(segment.a.midpoint(segment.b), rotation)))
        }
        TypedShape::Ball(ball) => Some((Shape::Ball { radius: ball.radius }, world)),
        TypedShape::Cuboid(cuboid) => Some((Shape::Cuboid { half_extents: cuboid.half_extents }, world)),
        _ => None,
    }
}
