//! The colliders of the live rapier world.

use bevy::prelude::*;
use bevy_rapier3d::{
    plugin::context::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet},
    rapier::prelude::QueryFilter,
};

use super::{filter::RewoundFilter, region::Region, wall::Wall};

/// Shows each collider near a region, sensors, disabled ones and those of `ignored` entities left out.
///
/// Tells of the world as rapier's last step left it.
pub(super) fn visit<'a>(
    simulation: &'a RapierContextSimulation,
    colliders: &'a RapierContextColliders,
    bodies: &'a RapierRigidBodySet,
    filter: &RewoundFilter,
    region: &Region,
    ignored: impl Fn(Entity) -> bool,
    mut visit: impl FnMut(Wall<'a>),
) {
    let colliders = &colliders.colliders;
    let pipeline = simulation.broad_phase.as_query_pipeline(
        simulation.narrow_phase.query_dispatcher(),
        &bodies.bodies,
        colliders,
        QueryFilter::default(),
    );
    // Whole subtrees are skipped by what has been found so far. Boxes at the very same distance are still looked at, since
    // between equals the tree's order must not decide.
    for leaf in pipeline.bvh.leaves(|node| region.may_meet_node(node)) {
        let Some((collider, _)) = colliders.get_unknown_gen(leaf) else { continue };
        // As bevy_rapier writes it; a collider that the game put in by hand may hold anything.
        let entity = Entity::try_from_bits(collider.user_data as u64);
        let is_solid = !collider.is_sensor() && collider.is_enabled();
        if is_solid && filter.meets_wall(entity, collider.collision_groups()) && !entity.is_some_and(&ignored) {
            visit(Wall { entity, pose: *collider.position(), shape: collider.shape(), rewound: false });
        }
    }
}
