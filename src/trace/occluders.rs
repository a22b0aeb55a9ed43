//! Rays against occluders of the past.

use alloc::sync::Arc;

use bevy::{ecs::query::QueryData, math::bounding::BoundingSphere, prelude::*};
use bevy_rapier3d::{
    dynamics::RigidBodyDisabled,
    geometry::{Collider, ColliderDisabled, ColliderScale, RapierColliderHandle, Sensor},
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
    history::{BeginSegment, Hierarchy, Lineage, SpeedLimit, TickRing},
    hitbox::{Life, Occluder, OccluderMotion, Unhittable},
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
    /// What the newest record is compared with to find the end of a segment.
    lineage: Option<Lineage>,
    segment_ends: bool,
    /// Where the collider stood before it became an occluder, until the first record.
    stood: Option<Isometry3d>,
    scaled: Option<Scaled>,
}

/// An occluder in one tick.
#[derive(Clone, Default)]
struct OccluderRecord {
    pose: Isometry3d,
    /// `None` if it stopped nothing: a sensor, disabled, unhittable, or without a collider.
    shape: Option<SharedShape>,
    occluder: Occluder,
    /// The rig that it belonged to, if any.
    owner: Option<Entity>,
    segment: u32,
}

/// A collider's shape at a scale that rapier has not applied to it yet.
struct Scaled {
    /// The shape at the scale that rapier has.
    of: SharedShape,
    scale: Vec3,
    shape: SharedShape,
}

/// How records are kept.
#[derive(Clone, Copy)]
struct Retention {
    window: u32,
    speed_limit: SpeedLimit,
}

/// An occluder at an instant of the past.
struct Rewound<'a> {
    pose: Isometry3d,
    shape: &'a SharedShape,
    record: &'a OccluderRecord,
}

impl OccluderHistory {
    fn record(&mut self, tick: Tick, record: OccluderRecord, lineage: Lineage, retention: Retention) {
        let Retention { window, speed_limit } = retention;
        if self.ring.capacity() != window as usize + 1 {
            self.resize(window as usize + 1);
        }
        if let Some(stood) = self.stood.take() {
            // It has stood there all the time, and was tracked only now.
            self.push(tick - window, OccluderRecord { pose: stood, ..record.clone() });
            self.push(tick - 1, OccluderRecord { pose: stood, ..record.clone() });
            self.lineage = Some(lineage);
        }
        let segment = self.ring.newest().map_or(0, |newest| {
            let latest = &self.records[self.ring.slot(0)];
            let (from, to) = (latest.pose.translation, record.pose.translation);
            let goes_on = !self.segment_ends
                && self.lineage == Some(lineage)
                && latest.shape.is_some() == record.shape.is_some()
                && speed_limit.allows(from.into(), to.into(), tick.since(newest));
            latest.segment.wrapping_add(u32::from(!goes_on))
        });
        (self.segment_ends, self.lineage) = (false, Some(lineage));
        self.push(tick, OccluderRecord { segment, ..record });
    }

    fn push(&mut self, tick: Tick, record: OccluderRecord) {
        let slot = self.ring.push(tick);
        self.records[slot] = record;
    }

    /// Ends the history: from `tick` on, or from the one after if `tick` has been recorded already, nothing is stopped.
    fn end(&mut self, tick: Tick) {
        let Some(newest) = self.ring.newest() else { return };
        let tick = if tick == newest { tick + 1 } else { tick };
        if tick.since(newest) > 0 {
            let segment = self.records[self.ring.slot(0)].segment.wrapping_add(1);
            self.push(tick, OccluderRecord { segment, ..default() });
        }
    }

    /// Whether `view` lies before the end of the history.
    fn reaches(&self, view: ViewTime) -> bool {
        self.ring.newest().is_some_and(|newest| !view.is_after(newest))
    }

    fn resize(&mut self, capacity: usize) {
        let old = core::mem::replace(&mut self.ring, TickRing::with_capacity(capacity));
        let old_records = core::mem::replace(&mut self.records, vec![OccluderRecord::default(); capacity]);
        for age in (0..old.len()).rev() {
            let to = self.ring.push(old.tick(age));
            self.records[to] = old_records[old.slot(age)].clone();
        }
    }

    /// The occluder at `view`, if it stopped anything then.
    fn at(&self, view: ViewTime) -> Option<Rewound<'_>> {
        if !self.reaches(view) {
            return None;
        }
        let age = self.ring.age_at_or_before(view.tick)?;
        let start = self.ring.tick(age);
        let record = &self.records[self.ring.slot(age)];
        let held = Rewound { pose: record.pose, shape: record.shape.as_ref()?, record };
        if view == ViewTime::at(start) || record.occluder.motion == OccluderMotion::Discrete {
            return Some(held);
        }
        // Not after the newest record, and not at this one: there is a later one.
        let newer = &self.records[self.ring.slot(age - 1)];
        if newer.segment != record.segment {
            return Some(held);
        }
        let span = self.ring.tick(age - 1).since(start) as f32;
        let t = (view.tick.since(start) as f32 + view.fraction_f32()) / span;
        Some(Rewound { pose: interpolate(record.pose, newer.pose, t), ..held })
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

/// What is recorded of an occluder.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Recorded {
    entity: Entity,
    occluder: &'static Occluder,
    history: &'static mut OccluderHistory,
    collider: Option<&'static Collider>,
    scale: Option<&'static ColliderScale>,
    sensor: Has<Sensor>,
    disabled: Has<ColliderDisabled>,
    unhittable: Has<Unhittable>,
}

/// Writes one record of each occluder.
pub(crate) fn record_occluders(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    config: Res<LagCompensationConfig>,
    mut occluders: Query<Recorded>,
    lives: Query<&Life>,
    disabled_bodies: Query<(), With<RigidBodyDisabled>>,
    hierarchy: Hierarchy,
    mut tombstones: ResMut<OccluderTombstones>,
) {
    let window = config.history_ticks(time.timestep());
    let retention = Retention { window, speed_limit: SpeedLimit::new(config.max_speed, time.timestep()) };
    for mut occluder in &mut occluders {
        let entity = occluder.entity;
        let world = hierarchy.in_world(entity).to_transform();
        let scale = match occluder.scale {
            Some(ColliderScale::Absolute(scale)) => *scale,
            Some(ColliderScale::Relative(scale)) => world.scale * *scale,
            None => world.scale,
        };
        let body_disabled = || hierarchy.ancestry(entity).any(|entity| disabled_bodies.contains(entity));
        let solid = !occluder.sensor && !occluder.disabled && !occluder.unhittable && !body_disabled();
        let collider = occluder.collider.filter(|_| solid && world.is_finite());
        let shape = collider.map(|collider| occluder.history.shape_at(collider, scale));
        let owner = hierarchy.rig_of(entity);
        // With another life, a rig may stand elsewhere at once, and what it carries, too.
        let life = owner.and_then(|owner| lives.get(owner).ok()).copied().unwrap_or_default();
        let lineage = hierarchy.lineage(entity).below(u64::from(life.number().0) << 1 | u64::from(life.is_alive()));
        let record = OccluderRecord { pose: pose::of(&world), shape, occluder: *occluder.occluder, owner, segment: 0 };
        occluder.history.record(tick.0, record, lineage, retention);
    }
    // A history may end with the next tick; what lies further ahead is of a clock that was set back.
    let reachable = |end: Tick| (-1..=window as i32).contains(&tick.0.since(end));
    tombstones.0.retain(|(_, history)| history.ring.newest().is_some_and(reachable));
}

pub(super) fn begin_segment(
    begin: On<BeginSegment>,
    mut occluders: Query<&mut OccluderHistory>,
    children: Query<&Children>,
) {
    for entity in core::iter::once(begin.entity).chain(children.iter_descendants(begin.entity)) {
        if let Ok(mut history) = occluders.get_mut(entity) {
            history.segment_ends = true;
        }
    }
}

/// A collider of rapier's that becomes an occluder has stood where it stands: that was not recorded, but is known.
pub(super) fn remember_standing(
    inserted: On<Insert, Occluder>,
    mut occluders: Query<&mut OccluderHistory, With<RapierColliderHandle>>,
    hierarchy: Hierarchy,
) {
    if let Ok(mut history) = occluders.get_mut(inserted.entity)
        && history.ring.newest().is_none()
    {
        history.stood = Some(pose::of(&hierarchy.in_world(inserted.entity).to_transform()));
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
    history.end(tick.0);
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
        let Some(Rewound { pose, shape, record }) = history.at(view) else { continue };
        if !record.occluder.blocks_owner && record.owner.is_some_and(&own) {
            continue;
        }
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

    /// Whether an entity was an occluder at `view`, and is none any more.
    pub(super) fn tells_of(&self, entity: Entity, view: ViewTime) -> bool {
        self.0.iter().any(|(gone, history)| *gone == entity && history.reaches(view))
    }
}
