//! Rays against single shapes of rapier.

use core::cmp::Ordering;

use bevy::prelude::*;
use bevy_rapier3d::rapier::{
    math::Pose,
    parry::shape::{Shape as ParryShape, SharedShape, TypedShape},
    prelude::Ray,
};

use crate::shape::{PreciseRay, Shape};

/// The distance at which the ray meets the solid shape, if that is at most `range`.
///
/// Parry 0.30 casts rays at capsules by an iterative method that is up to 16 mm wrong; those, alone or within a compound,
/// are left to [`Shape::cast_ray`]. Shapes that it does not know (cylinders, cones, convex hulls, meshes) are parry's.
pub(super) fn cast_at(shape: &dyn ParryShape, pose: &Pose, ray: &PreciseRay, range: f32) -> Option<f32> {
    let typed = shape.as_typed_shape();
    if let TypedShape::Compound(compound) = typed {
        let parts = compound.shapes().iter();
        return parts
            .filter_map(|(offset, part)| cast_at(part.as_ref(), &(*pose * *offset), ray, range))
            .min_by(f32::total_cmp);
    }
    match known_type(typed, pose) {
        Some((shape, pose)) => shape.cast_precisely(pose, ray, range),
        None => {
            // Of meshes, parry finds only what is nearer than the range.
            let distance = shape.cast_ray(pose, &parry_ray(**ray), range.next_up(), true);
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

/// Which of two poses comes first, where nothing else decides.
pub(super) fn cmp_places(a: Isometry3d, b: Isometry3d) -> Ordering {
    let numbers = |Isometry3d { translation: t, rotation: q }: Isometry3d| {
        // Adding 0 makes one zero of both.
        [t.x, t.y, t.z, q.x, q.y, q.z, q.w].map(|number| number + 0.0)
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs.fold(Ordering::Equal, |so_far, (a, b)| so_far.then(a.total_cmp(&b)))
}

/// The outward normal of a shape at a point where something touches it that comes from outside, `distance` metres off, in this
/// direction; against that if it is no way off.
pub(super) fn contact_normal(shape: Shape, pose: Isometry3d, point: Vec3, direction: Dir3, distance: f32) -> Dir3 {
    let on_surface = (distance > 0.0).then(|| shape.normal_at(pose, point)).flatten();
    on_surface.unwrap_or(-direction)
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
pub(super) fn known_shape(shape: &dyn ParryShape, pose: &Pose) -> Option<(Shape, Isometry3d)> {
    known_type(shape.as_typed_shape(), pose)
}

fn known_type(shape: TypedShape, pose: &Pose) -> Option<(Shape, Isometry3d)> {
    let world = isometry(pose);
    match shape {
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

/// Metres along a ray to where it leaves a shape of rapier that it has entered after `entry` metres; infinite if it does not.
pub(super) fn exit_of(shape: &dyn ParryShape, pose: &Pose, ray: Ray3d, entry: f32) -> f32 {
    if let Some((shape, pose)) = known_shape(shape, pose) {
        return shape.cross_ray(pose, ray, f32::INFINITY).map_or(entry, |(_, exit)| exit);
    }
    match shape.as_typed_shape() {
        TypedShape::Compound(compound) => {
            // Where one part ends, another one may have begun.
            let mut exit = entry;
            loop {
                let parts = compound.shapes().iter().map(|(offset, part)| (part.as_ref(), *pose * *offset));
                let further = parts.filter_map(|(part, pose)| {
                    let part_entry = cast_at(part, &pose, &ray.into(), exit)?;
                    Some(exit_of(part, &pose, ray, part_entry))
                });
                let furthest = further.fold(exit, f32::max);
                if furthest <= exit {
                    return exit;
                }
                exit = furthest;
            }
        }
        TypedShape::HalfSpace(_) | TypedShape::HeightField(_) => f32::INFINITY,
        _ if shape.is_convex() => {
            let bounds = shape.compute_bounding_sphere(pose);
            let beyond = (bounds.center() - ray.origin).dot(*ray.direction) + bounds.radius() + 1.0;
            let back = Ray3d::new(ray.get_point(beyond), -ray.direction);
            cast_at(shape, pose, &back.into(), beyond).map_or(entry, |distance| (beyond - distance).max(entry))
        }
        _ => {
            // A mesh is a surface: what lies behind it reaches to the next one.
            const SKIN: f32 = 1e-3;
            let from = Ray3d::new(ray.get_point(entry + SKIN), ray.direction);
            let next = shape.cast_ray(pose, &parry_ray(from), f32::MAX, false);
            next.map_or(f32::INFINITY, |distance| entry + SKIN + distance)
        }
    }
}

/// A shape of ours as one of parry's.
pub(super) fn parry_shape(shape: Shape) -> SharedShape {
    match shape {
        Shape::Capsule { half_height, radius } => SharedShape::capsule_y(half_height, radius),
        Shape::Ball { radius } => SharedShape::ball(radius),
        Shape::Cuboid { half_extents: Vec3 { x, y, z } } => SharedShape::cuboid(x, y, z),
    }
}
