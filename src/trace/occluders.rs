//! Rays against occluders of the past.

use alloc::sync::Arc;

use bevy::{math::bounding::BoundingSphere, prelude::*};
use bevy_rapier3d::{
    geometry::{Collider, ColliderDisabled, ColliderScale, Sensor},
    rapier::{
        math::Pose,
        prelude::{Shape as ParryShape, SharedShape},
    },
};

use super::{
    blocker,
    cast::{Stop, cast_at},
    rigs::may_meet,
};
use crate::{
    config::LagCompensationConfig,
    history::{BeginSegment, Hierarchy, SpeedLimit, TickRing},
    hitbox::{Occluder, OccluderMotion},
    pose::{self, interpolate},
    shot::Blocker,
    time::{CurrentTick, Tick, ViewTime},
};

/// Where an [`Occluder`] stood after each tick, and what it was.
#[derive(Component, Default)]
pub(crate) struct OccluderHistory {
    ring: TickRing,
    /// One for each slot of the ring.
    records: Vec<OccluderRecord>,
    occluder: Occluder,
    /// The rig that it belongs to, if any.
    owner: Option<Entity>,
    segment_ends: bool,
    scaled: Option<Scaled>,
}

/// An occluder in one tick.
#[derive(Clone, Default)]
struct OccluderRecord {
    pose: Isometry3d,
    /// `None` if it stopped nothing: a sensor, disabled, or without a collider.
    shape: Option<SharedShape>,
    segment: u32,
}

/// A collider's shape at a scale that rapier has not applied to it yet.
struct Scaled {
    /// The shape at the scale that rapier has.
    of: SharedShape,
    scale: Vec3,
    shape: SharedShape,
}

impl OccluderHistory {
    fn record(&mut self, tick: Tick, capacity: usize, record: OccluderRecord, speed_limit: SpeedLimit) {
        if self.ring.capacity() != capacity {
            self.resize(capacity);
        }
        let segment = self.ring.newest().map_or(0, |newest| {
            let latest = &self.records[self.ring.slot(0)];
            let (from, to) = (latest.pose.translation, record.pose.translation);
            let goes_on = !self.segment_ends && speed_limit.allows(from.into(), to.into(), tick.since(newest));
            latest.segment.wrapping_add(u32::from(!goes_on))
        });
        self.segment_ends = false;
        let slot = self.ring.push(tick);
        self.records[slot] = OccluderRecord { segment, ..record };
    }

    fn resize(&mut self, capacity: usize) {
        let old = core::mem::replace(&mut self.ring, TickRing::with_capacity(capacity));
        let old_records = core::mem::replace(&mut self.records, vec![OccluderRecord::default(); capacity]);
        for age in (0..old.len()).rev() {
            let to = self.ring.push(old.tick(age));
            self.records[to] = old_records[old.slot(age)].clone();
        }
    }

    /// Pose and shape at `view`, if it stopped anything then.
    fn at(&self, view: ViewTime) -> Option<(Isometry3d, &SharedShape)> {
        if view.is_after(self.ring.newest()?) {
            return None;
        }
        let age = self.ring.age_at_or_before(view.tick)?;
        let start = self.ring.tick(age);
        let older = &self.records[self.ring.slot(age)];
        let shape = older.shape.as_ref()?;
        if view == ViewTime::at(start) || self.occluder.motion == OccluderMotion::Discrete {
            return Some((older.pose, shape));
        }
        // Not after the newest record, and not at this one: there is a later one.
        let newer = &self.records[self.ring.slot(age - 1)];
        if newer.segment != older.segment {
            return Some((older.pose, shape));
        }
        let span = self.ring.tick(age - 1).since(start) as f32;
        let t = (view.tick.since(start) as f32 + view.fraction_f32()) / span;
        Some((interpolate(older.pose, newer.pose, t), shape))
    }

    /// The shape at this scale; rapier applies a scale only in its next step.
    fn shape_at(&mut self, collider: &Collider, scale: Vec3) -> SharedShape {
        // Rapier rounds scales to four digits.
        if collider.scale().abs_diff_eq(scale, 1e-4) {
            return collider.raw.clone();
        }
        let known =
            self.scaled.as_ref().filter(|known| known.scale == scale && Arc::ptr_eq(&known.of.0, &collider.raw.0));
        if let Some(known) = known {
            return known.shape.clone();
        }
        // As many pieces as rapier itself takes for round shapes under uneven scales.
        const SUBDIVISIONS: u32 = 20;
        let mut copy = collider.clone();
        copy.set_scale(scale, SUBDIVISIONS);
        self.scaled = Some(Scaled { of: collider.raw.clone(), scale, shape: copy.raw.clone() });
        copy.raw
    }
}

/// The histories of occluders that were despawned within the window: at earlier view times, they still stop shots.
#[derive(Resource, Default)]
pub(crate) struct OccluderTombstones(Vec<(Entity, OccluderHistory)>);

/// Writes one record of each occluder.
pub(crate) fn record_occluders(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    config: Res<LagCompensationConfig>,
    mut occluders: Query<(
        Entity,
        &Occluder,
        &mut OccluderHistory,
        Option<&Collider>,
        Option<&ColliderScale>,
        Has<Sensor>,
        Has<ColliderDisabled>,
    )>,
    hierarchy: Hierarchy,
    mut tombstones: ResMut<OccluderTombstones>,
) {
    let window = config.history_ticks(time.timestep());
    let speed_limit = SpeedLimit::new(config.max_speed, time.timestep());
    for (entity, occluder, mut history, collider, collider_scale, sensor, disabled) in &mut occluders {
        let world = hierarchy.in_world(entity).to_transform();
        let scale = match collider_scale {
            Some(ColliderScale::Absolute(scale)) => *scale,
            Some(ColliderScale::Relative(scale)) => world.scale * *scale,
            None => world.scale,
        };
        let solid = collider.filter(|_| !sensor && !disabled);
        let shape = solid.map(|collider| history.shape_at(collider, scale));
        history.occluder = *occluder;
        history.owner = hierarchy.rig_of(entity);
        let record = OccluderRecord { pose: pose::of(&world), shape, segment: 0 };
        history.record(tick.0, window as usize + 1, record, speed_limit);
    }
    let reachable =
        |history: &OccluderHistory| history.ring.newest().is_some_and(|end| tick.0.since(end) <= window as i32);
    tombstones.0.retain(|(_, history)| reachable(history));
}

pub(super) fn begin_segment(begin: On<BeginSegment>, mut occluders: Query<&mut OccluderHistory>) {
    if let Ok(mut history) = occluders.get_mut(begin.entity) {
        history.segment_ends = true;
    }
}

/// Keeps the history of an occluder that is despawned, or no longer one.
pub(super) fn bury_occluder(
    removed: On<Remove, Occluder>,
    mut histories: Query<&mut OccluderHistory>,
    tick: Res<CurrentTick>,
    mut tombstones: ResMut<OccluderTombstones>,
) {
    let Ok(mut history) = histories.get_mut(removed.entity) else { return };
    let mut history = core::mem::take(&mut *history);
    if history.ring.newest().is_some_and(|newest| tick.0.since(newest) > 0) {
        history.segment_ends = true;
        history.record(tick.0, history.ring.capacity(), OccluderRecord::default(), SpeedLimit::NONE);
    }
    tombstones.0.push((removed.entity, history));
}

/// The nearest occluder on the ray as they stood at `view`; those of the shooter's `own` rigs only if they block their owner.
pub(super) fn nearest<'a>(
    histories: impl Iterator<Item = (Entity, &'a OccluderHistory)>,
    view: ViewTime,
    ray: Ray3d,
    range: f32,
    own: impl Fn(Entity) -> bool,
) -> Option<Blocker> {
    let mut best: Option<(Stop, &SharedShape)> = None;
    for (entity, history) in histories {
        if !history.occluder.blocks_owner && history.owner.is_some_and(&own) {
            continue;
        }
        let Some((pose, shape)) = history.at(view) else { continue };
        let reach = best.map_or(range, |(best, _)| best.distance);
        let local = shape.compute_local_bounding_sphere();
        let bounds = BoundingSphere::new(pose * local.center(), local.radius());
        if !may_meet(ray, reach, bounds) {
            continue;
        }
        let pose = Pose::from_parts(pose.translation.into(), pose.rotation);
        let Some(distance) = cast_at(shape.as_ref() as &dyn ParryShape, &pose, ray, reach) else { continue };
        let stop = Stop { distance, pose, entity: Some(entity) };
        if best.is_none_or(|(best, _)| stop.cmp(&best).is_lt()) {
            best = Some((stop, shape));
        }
    }
    best.map(|(stop, shape)| blocker(stop, shape.as_ref(), ray, true))
}

impl OccluderTombstones {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Entity, &OccluderHistory)> {
        self.0.iter().map(|(entity, history)| (*entity, history))
    }
}
