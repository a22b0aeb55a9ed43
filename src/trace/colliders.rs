//! The colliders of the live rapier world, as its last step left them.

mod index;

use core::cell::{Cell, OnceCell};

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::{
    plugin::context::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet},
    rapier::{
        geometry::ColliderSet,
        parry::partitioning::BvhNode,
        prelude::{QueryFilter, QueryPipeline},
    },
};

use super::{
    filter::RewoundFilter,
    packet::RayPacket,
    region::{Place, Region},
    wall::{Stop, Wall},
};
use crate::{history::Beam, shape::PreciseRay};

pub(super) use index::Moment;
pub(crate) use index::{ColliderIndex, forget_worlds};

/// A world of rapier's.
#[derive(Clone, Copy)]
pub(super) struct Colliders<'a> {
    pub(super) context: Entity,
    pub(super) step: Moment,
    pub(super) simulation: &'a RapierContextSimulation,
    pub(super) colliders: &'a RapierContextColliders,
    pub(super) bodies: &'a RapierRigidBodySet,
}

impl<'a> Colliders<'a> {
    /// Shows each collider near a region, but for sensors and disabled ones.
    pub(super) fn visit(self, filter: &RewoundFilter, region: &Region, visit: impl FnMut(Wall<'a>)) {
        // Whole subtrees are skipped by what has been found so far. Boxes at the very same distance are still looked at, since
        // between equals the tree's order must not decide.
        let leaves = self.pipeline().bvh.leaves(|node| region.may_meet_node(node));
        leaves.filter_map(|leaf| wall_of(&self.colliders.colliders, leaf, filter)).for_each(visit);
    }

    /// The first of those that `stops` lets stop the ray, or what is known to stop it already; `is_recorded` tells of entities that
    /// are met as what they were.
    pub(super) fn nearest(
        self,
        index: &ColliderIndex,
        filter: &RewoundFilter,
        ray: &PreciseRay,
        range: f32,
        known: Option<Stop<'a>>,
        is_recorded: impl Fn(Entity) -> bool,
        stops: impl Fn(&Stop) -> bool,
    ) -> Option<Stop<'a>> {
        let set = &self.colliders.colliders;
        let nearest = Cell::new(known);
        let reach = Cell::new(known.map_or(range, |known| known.distance));
        // Tells whether it is the first so far.
        let look_at = |leaf| {
            let stop = wall_of(set, leaf, filter).and_then(|wall| wall.stop(ray, reach.get()));
            let is_nearer = |stop: &Stop| nearest.get().is_none_or(|nearest| stop.cmp(&nearest).is_lt());
            let Some(stop) = stop.filter(|stop| is_nearer(stop) && stops(stop)) else { return false };
            nearest.set(Some(stop));
            reach.set(stop.distance);
            true
        };
        let bvh = self.pipeline().bvh;
        let is_recorded = |leaf| entity_of(set, leaf).is_some_and(&is_recorded);
        if let Some(leaves) = index.leaves(self.context, self.step, bvh, 1, is_recorded) {
            let beam = Beam { ray: **ray, range: reach.get(), margin: 0.0, slope: 0.0 };
            leaves.visit_beam(beam, &mut |leaf| {
                look_at(leaf);
                reach.get()
            });
        } else {
            let slabs = Slabs::new(**ray);
            // The walk leaves out what is as far off as what has been found. Between equals the tree's order must not decide, so
            // that is said to be a little further off.
            bvh.find_best(
                reach.get().next_up(),
                |node, _| slabs.entry(node),
                |leaf, _| look_at(leaf).then(|| reach.get().next_up()),
            );
        }
        nearest.get()
    }

    /// The same for each ray of a packet, one for each in `nearest`.
    pub(super) fn nearest_of_each(
        self,
        index: &ColliderIndex,
        filter: &RewoundFilter,
        packet: &RayPacket,
        nearest: &mut [Option<Stop<'a>>],
        is_recorded: impl Fn(Entity) -> bool,
        stops: impl Fn(&Stop) -> bool,
    ) {
        let set = &self.colliders.colliders;
        let bvh = self.pipeline().bvh;
        let of_leaf = |leaf| entity_of(set, leaf).is_some_and(&is_recorded);
        let Some(leaves) = index.leaves(self.context, self.step, bvh, 0, of_leaf) else {
            for (number, (ray, nearest)) in packet.rays().iter().zip(nearest).enumerate() {
                let reach = packet.reach_of(number);
                *nearest = self.nearest(index, filter, ray, reach, *nearest, &is_recorded, &stops);
                nearest.iter().for_each(|stop| packet.shrink(number, stop.distance));
            }
            return;
        };
        leaves.search(packet, |leaf| {
            let near = packet.near_box(leaves.bounds(leaf));
            if !near.is_empty()
                && let Some(wall) = wall_of(set, leaf, filter)
            {
                // Whose it is, is the same for all rays.
                let is_one = OnceCell::new();
                let stops = |stop: &Stop| *is_one.get_or_init(|| stops(stop));
                wall.stop_each(packet, near, nearest, stops);
            }
            packet.reach()
        });
    }

    fn pipeline(self) -> QueryPipeline<'a> {
        self.simulation.broad_phase.as_query_pipeline(
            self.simulation.narrow_phase.query_dispatcher(),
            &self.bodies.bodies,
            &self.colliders.colliders,
            QueryFilter::default(),
        )
    }
}

/// The collider of a leaf of rapier's tree, if it is solid and the filter lets it through.
fn wall_of<'a>(colliders: &'a ColliderSet, leaf: u32, filter: &RewoundFilter) -> Option<Wall<'a>> {
    let (collider, _) = colliders.get_unknown_gen(leaf)?;
    let entity = Entity::try_from_bits(collider.user_data as u64);
    let is_solid = !collider.is_sensor() && collider.is_enabled();
    (is_solid && filter.meets_wall(entity, collider.collision_groups())).then(|| Wall {
        entity,
        pose: *collider.position(),
        shape: collider.shape(),
        rewound: false,
    })
}

/// The entity of a leaf's collider, as bevy_rapier writes it; a collider that the game put in by hand may name any, or none.
fn entity_of(colliders: &ColliderSet, leaf: u32) -> Option<Entity> {
    let (collider, _) = colliders.get_unknown_gen(leaf)?;
    Entity::try_from_bits(collider.user_data as u64)
}

/// A ray against boxes along the axes: parry divides three times for each.
struct Slabs {
    origin: Vec3A,
    inverse: Vec3A,
}

impl Slabs {
    /// Metres by which boxes are grown: more than rounding can be in an arena, and less than rapier leaves around shapes.
    const ROOM: f32 = 1e-3;

    fn new(ray: Ray3d) -> Self {
        let inverse = ray.direction.map(|part| if part.abs() < 1e-12 { 1e12_f32.copysign(part) } else { part.recip() });
        Self { origin: ray.origin.into(), inverse: inverse.into() }
    }

    /// Where the ray goes into a box; [`f32::MAX`] if it does not.
    fn entry(&self, node: &BvhNode) -> f32 {
        let from = (Vec3A::from(node.mins()) - Self::ROOM - self.origin) * self.inverse;
        let to = (Vec3A::from(node.maxs()) + Self::ROOM - self.origin) * self.inverse;
        let (enter, leave) = (from.min(to).max_element().max(0.0), from.max(to).min_element());
        if enter <= leave { enter } else { f32::MAX }
    }
}
