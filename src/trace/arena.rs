//! All that a shot can meet.

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    math::bounding::BoundingSphere,
    prelude::*,
};
use bevy_rapier3d::plugin::context::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet};

use super::{
    colliders::{ColliderIndex, Colliders, Moment},
    filter::RewoundFilter,
    occluders::{self, OccluderHistory, OccluderIndex, OccluderTombstones},
    packet::RayPacket,
    region::{Place, Region},
    rigs::RewoundRigs,
    screen::{Screen, Window},
    wall::{Stop, Wall},
};
use crate::{
    hitbox::{Occluder, Rig, Unhittable},
    policy::AdmissionRules,
    shape::PreciseRay,
    shot::{RejectReason, SentTicks},
    time::{CurrentTick, ViewTime},
};

/// What decides whether a collider is a wall of its own.
#[derive(QueryData)]
struct Kind {
    is_occluder: Has<Occluder>,
    is_unhittable: Has<Unhittable>,
    is_rig: Has<Rig>,
    parent: Option<&'static ChildOf>,
}

/// The past of rigs and occluders, and the live world.
#[derive(SystemParam)]
pub(crate) struct Arena<'w, 's> {
    pub(super) sent: Res<'w, SentTicks>,
    pub(super) rigs: RewoundRigs<'w, 's>,
    occluders: Query<'w, 's, (Entity, &'static OccluderHistory), With<Occluder>>,
    occluder_index: Res<'w, OccluderIndex>,
    gone_occluders: Res<'w, OccluderTombstones>,
    kinds: Query<'w, 's, Kind>,
    // Each of them, if the game simulates several.
    rapier: Query<
        'w,
        's,
        (Entity, Ref<'static, RapierContextSimulation>, &'static RapierContextColliders, &'static RapierRigidBodySet),
    >,
    collider_index: Res<'w, ColliderIndex>,
    tick: Res<'w, CurrentTick>,
}

impl Arena<'_, '_> {
    /// Shows all walls near a region: occluders as the screen showed them, colliders that are not recorded as they stand.
    pub(super) fn visit_walls<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        region: &Region,
        mut visit: impl FnMut(Wall<'a>),
    ) {
        if !filter.walls {
            return;
        }
        self.visit_occluders(screen, filter, region, |wall, _| visit(wall));
        for colliders in self.colliders() {
            colliders.visit(filter, region, |wall| {
                if !self.is_passed(wall.entity, screen, filter) {
                    visit(wall);
                }
            });
        }
    }

    fn colliders(&self) -> impl Iterator<Item = Colliders<'_>> {
        self.rapier.iter().map(|(context, simulation, colliders, bodies)| {
            let step = Moment::new(&simulation, self.tick.0);
            Colliders { context, step, simulation: simulation.into_inner(), colliders, bodies }
        })
    }

    /// Whether a collider is no wall of its own: it is recorded, belongs to a rig or to the shooter, or is invisible.
    fn is_passed(&self, collider: Option<Entity>, screen: &Screen, filter: &RewoundFilter) -> bool {
        let Some(entity) = collider else { return false };
        if self.gone_occluders.tells_of(entity, screen.view) {
            return true;
        }
        // Nothing is known of one that is disabled, nor of what it hangs on.
        let mut kind = self.kinds.get(entity).ok();
        if kind.as_ref().is_some_and(|kind| kind.is_occluder || kind.is_unhittable) {
            return true;
        }
        let mut part_of = entity;
        loop {
            if filter.shooter == Some(part_of) || kind.as_ref().is_some_and(|kind| kind.is_rig) {
                return true;
            }
            let Some(parent) = kind.and_then(|kind| kind.parent) else { return false };
            part_of = parent.parent();
            kind = self.kinds.get(part_of).ok();
        }
    }

    fn visit_occluders<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        place: &impl Place,
        mut visit: impl FnMut(Wall<'a>, BoundingSphere),
    ) {
        let own = |rig| filter.shooter.is_some_and(|shooter| self.rigs.are_one_with(rig, shooter));
        let mut visit_occluder = |entity, history| {
            if let Some((wall, bounds)) = occluders::wall_of(entity, history, screen, filter, place, own) {
                visit(wall, bounds);
            }
        };
        let index = &self.occluder_index.0;
        place.search_past(index, screen.ticks(), 0.0, |number| {
            if let Some(entity) = index.entity(number).filter(|entity| !screen.names(*entity))
                && let Ok((entity, history)) = self.occluders.get(entity)
            {
                visit_occluder(entity, history);
            }
            place.reach()
        });
        // They may have been shown at other instants.
        for (entity, history) in self.occluders.iter_many(screen.named()) {
            visit_occluder(entity, history);
        }
        for (entity, history) in self.gone_occluders.iter() {
            visit_occluder(entity, history);
        }
    }

    /// The wall that stops the ray first.
    pub(super) fn nearest_wall(
        &self,
        screen: &Screen,
        ray: &PreciseRay,
        range: f32,
        filter: &RewoundFilter,
    ) -> Option<Stop<'_>> {
        if !filter.walls {
            return None;
        }
        let mut nearest: Option<Stop> = None;
        for colliders in self.colliders() {
            // Whose collider it is takes longer to find out than whether it is met.
            let stops = |stop: &Stop| !self.is_passed(stop.wall.entity, screen, filter);
            let is_recorded = |entity| self.occluders.contains(entity);
            nearest = colliders.nearest(&self.collider_index, filter, ray, range, nearest, is_recorded, stops);
        }
        let region = Region::ray(**ray, nearest.map_or(range, |nearest| nearest.distance));
        self.visit_occluders(screen, filter, &region, |wall, _| {
            if let Some(stop) = wall.stop(ray, region.reach())
                && nearest.is_none_or(|nearest| stop.cmp(&nearest).is_lt())
            {
                region.shrink(stop.distance);
                nearest = Some(stop);
            }
        });
        nearest
    }

    /// The walls that stop the rays of a packet first, one for each in `nearest`.
    pub(super) fn nearest_walls<'a>(
        &'a self,
        screen: &Screen,
        packet: &RayPacket,
        filter: &RewoundFilter,
        nearest: &mut [Option<Stop<'a>>],
    ) {
        if !filter.walls {
            return;
        }
        for colliders in self.colliders() {
            let stops = |stop: &Stop| !self.is_passed(stop.wall.entity, screen, filter);
            let is_recorded = |entity| self.occluders.contains(entity);
            colliders.nearest_of_each(&self.collider_index, filter, packet, nearest, is_recorded, stops);
        }
        self.visit_occluders(screen, filter, packet, |wall, bounds| {
            wall.stop_each(packet, packet.near_ball(bounds), nearest, |_| true);
        });
    }

    /// Where an occluder stood, if it stopped anything then.
    pub(super) fn occluder_pose(&self, screen: &Screen, entity: Entity) -> Option<Isometry3d> {
        occluders::pose(self.occluder(entity)?, screen, entity)
    }

    /// The history of an occluder, also of one that is gone.
    fn occluder(&self, entity: Entity) -> Option<&OccluderHistory> {
        let gone = || self.gone_occluders.iter().find(|(gone, _)| *gone == entity).map(|(_, history)| history);
        self.occluders.get(entity).ok().map(|(_, history)| history).or_else(gone)
    }

    /// Checks what a shot says of its screen, and strikes out what is not believed.
    pub(super) fn check(
        &self,
        screen: &mut Screen,
        ray: Ray3d,
        range: f32,
        window: Window,
        rules: &AdmissionRules,
    ) -> Result<(), RejectReason> {
        screen.check(ray, range, window, rules, |rig| self.rigs.history(rig))?;
        screen.check(ray, range, window, rules, |entity| self.occluder(entity))
    }

    /// Whether something stands between two points that belong to the shooter, at this instant.
    pub(super) fn stands_between(&self, from: Vec3, to: Vec3, at: ViewTime, shooter: Entity) -> bool {
        let Ok((direction, distance)) = Dir3::new_and_length(to - from) else { return false };
        let screen = Screen::new(at, None, &self.sent);
        let filter = RewoundFilter::new().fired_by(shooter);
        self.nearest_wall(&screen, &Ray3d::new(from, direction).into(), distance, &filter).is_some()
    }
}
