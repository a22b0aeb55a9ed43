//! Rays against the colliders of the live rapier world.

use core::cell::Cell;

use bevy::prelude::*;
use bevy_rapier3d::{
    prelude::RapierContext,
    rapier::prelude::{Collider, QueryFilter},
};

use super::{
    blocker,
    cast::{Stop, cast_at, parry_ray},
};
use crate::shot::Blocker;

/// The nearest collider on the ray, sensors, disabled ones and those of `ignored` entities left out.
///
/// Answers for the world as rapier's last step left it.
pub(super) fn nearest(
    live: &RapierContext,
    ray: Ray3d,
    range: f32,
    ignored: impl Fn(Entity) -> bool,
) -> Option<Blocker> {
    let simulation = live.simulation;
    let colliders = &live.colliders.colliders;
    let pipeline = simulation.broad_phase.as_query_pipeline(
        simulation.narrow_phase.query_dispatcher(),
        &live.rigidbody_set.bodies,
        colliders,
        QueryFilter::default(),
    );
    let parry_ray = parry_ray(ray);
    // Whole subtrees are skipped by the nearest hit so far. Boxes at the very same distance are still looked at, since
    // between equals the tree's order must not decide.
    let reach = Cell::new(range);
    let mut best: Option<(Stop, &Collider)> = None;
    for leaf in pipeline.bvh.leaves(|node| node.cast_ray(&parry_ray, reach.get()) <= reach.get()) {
        let Some((collider, _)) = colliders.get_unknown_gen(leaf) else { continue };
        if collider.is_sensor() || !collider.is_enabled() {
            continue;
        }
        let Some(distance) = cast_at(collider.shape(), collider.position(), ray, reach.get()) else { continue };
        // As bevy_rapier writes it; a collider that the game put in by hand may hold anything.
        let entity = Entity::try_from_bits(collider.user_data as u64);
        let stop = Stop { distance, pose: *collider.position(), entity };
        if best.is_none_or(|(best, _)| stop.cmp(&best).is_lt()) && !entity.is_some_and(&ignored) {
            best = Some((stop, collider));
            reach.set(distance);
        }
    }
    best.map(|(stop, collider)| blocker(stop, collider.shape(), ray, false))
}
