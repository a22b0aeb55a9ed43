//! Rays against the colliders of the live rapier world.

use core::cell::Cell;

use bevy::prelude::*;
use bevy_rapier3d::{
    prelude::RapierContext,
    rapier::{
        math::Pose,
        parry::shape::{Shape as ParryShape, TypedShape},
        prelude::{Collider, QueryFilter, Ray},
    },
};

use super::surface_normal;
use crate::shape::Shape;

/// Where a ray meets a collider.
pub(super) struct Nearest {
    pub(super) entity: Option<Entity>,
    pub(super) distance: f32,
    pub(super) normal: Dir3,
}

/// The nearest collider on the ray, sensors, disabled ones and those of `ignored` entities left out.
///
/// Answers for the world as rapier's last step left it.
pub(super) fn nearest(
    live: &RapierContext,
    ray: Ray3d,
    range: f32,
    ignored: impl Fn(Entity) -> bool,
) -> Option<Nearest> {
    let simulation = live.simulation;
    let colliders = &live.colliders.colliders;
    let pipeline = simulation.broad_phase.as_query_pipeline(
        simulation.narrow_phase.query_dispatcher(),
        &live.rigidbody_set.bodies,
        colliders,
        QueryFilter::default(),
    );
    let parry_ray = Ray::new(ray.origin, *ray.direction);
    // Whole subtrees are skipped by the nearest hit so far. Boxes at the very same distance are still looked at, since
    // between equals the tree's order must not decide.
    let reach = Cell::new(range);
    let mut best: Option<(&Collider, f32)> = None;
    for leaf in pipeline.bvh.leaves(|node| node.cast_ray(&parry_ray, reach.get()) <= reach.get()) {
        let Some((collider, _)) = colliders.get_unknown_gen(leaf) else { continue };
        if collider.is_sensor() || !collider.is_enabled() {
            continue;
        }
        let Some(distance) = cast_at(collider.shape(), collider.position(), ray, reach.get()) else { continue };
        let nearer =
            best.is_none_or(|(other, at)| distance.total_cmp(&at).then_with(|| by_place(collider, other)).is_lt());
        if nearer && !entity_of(collider).is_some_and(&ignored) {
            best = Some((collider, distance));
            reach.set(distance);
        }
    }
    best.map(|(collider, distance)| Nearest {
        entity: entity_of(collider),
        distance,
        normal: normal_of(collider, ray, distance),
    })
}

fn entity_of(collider: &Collider) -> Option<Entity> {
    // As bevy_rapier writes it; a collider that the game put in by hand may hold anything.
    Entity::try_from_bits(collider.user_data as u64)
}

/// An order of colliders that does not depend on when they were spawned, as long as they stand in different places.
fn by_place(a: &Collider, b: &Collider) -> core::cmp::Ordering {
    let (at, bt) = (a.position().translation, b.position().translation);
    at.x.total_cmp(&bt.x).then(at.y.total_cmp(&bt.y)).then(at.z.total_cmp(&bt.z)).then(a.user_data.cmp(&b.user_data))
}

/// The distance at which the ray meets the solid shape, if that is at most `range`.
///
/// Parry 0.30 casts rays at capsules by an iterative method that is up to 16 mm wrong; those, alone or within a compound,
/// are left to [`Shape::cast_ray`]. Shapes that it does not know (cylinders, cones, convex hulls, meshes) are parry's.
fn cast_at(shape: &dyn ParryShape, pose: &Pose, ray: Ray3d, range: f32) -> Option<f32> {
    if let TypedShape::Compound(compound) = shape.as_typed_shape() {
        let parts = compound.shapes().iter();
        return parts
            .filter_map(|(offset, part)| cast_at(part.as_ref(), &(*pose * *offset), ray, range))
            .min_by(f32::total_cmp);
    }
    match known_shape(shape, pose) {
        Some((shape, pose)) => shape.cast_ray(pose, ray, range),
        None => shape.cast_ray(pose, &Ray::new(ray.origin, *ray.direction), range, true),
    }
}

fn normal_of(collider: &Collider, ray: Ray3d, distance: f32) -> Dir3 {
    if let Some((shape, pose)) = known_shape(collider.shape(), collider.position()) {
        return surface_normal(shape, pose, ray, distance);
    }
    let parry_ray = Ray::new(ray.origin, *ray.direction);
    // Parry's distance may differ from ours in the last digits.
    let found = collider.shape().cast_ray_and_get_normal(collider.position(), &parry_ray, distance + 0.1, true);
    found.and_then(|hit| Dir3::new(hit.normal).ok()).unwrap_or(-ray.direction)
}

/// The shape in our own words, with its pose in the world.
fn known_shape(shape: &dyn ParryShape, pose: &Pose) -> Option<(Shape, Isometry3d)> {
    let world = Isometry3d::new(pose.translation, pose.rotation);
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
