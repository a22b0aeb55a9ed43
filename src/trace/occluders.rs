//! Rays against occluders of the past.

mod history;

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    math::bounding::BoundingSphere,
    prelude::*,
};
use bevy_rapier3d::{
    dynamics::RigidBodyDisabled,
    geometry::{Collider, ColliderDisabled, ColliderScale, CollisionGroups, RapierColliderHandle, Sensor},
    rapier::math::Pose,
};

use super::{filter::RewoundFilter, region::Place, screen::Screen, wall::Wall};
use crate::{
    config::LagCompensationConfig,
    history::{BeginSegment, BoxIndex, Hierarchy, SpeedLimit},
    hitbox::{Life, Occluder, Unhittable},
    pose,
    time::{CurrentTick, Tick, ViewTime},
};

use history::{OccluderRecord, Retention, Rewound};

pub(crate) use history::OccluderHistory;

/// The histories of occluders that were despawned within the window: at earlier view times, they still stop shots.
#[derive(Resource, Default)]
pub(crate) struct OccluderTombstones(Vec<(Entity, OccluderHistory)>);

/// Which occluders have been where, lately.
#[derive(Resource, Debug, Default)]
pub(crate) struct OccluderIndex(pub(super) BoxIndex);

/// What is recorded of an occluder.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Recorded {
    entity: Entity,
    occluder: &'static Occluder,
    history: &'static mut OccluderHistory,
    collider: Option<&'static Collider>,
    scale: Option<&'static ColliderScale>,
    groups: Option<&'static CollisionGroups>,
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
    mut disabled: Query<(Entity, &mut OccluderHistory), (With<Occluder>, With<Disabled>)>,
    mut index: ResMut<OccluderIndex>,
    lives: Query<&Life>,
    disabled_bodies: Query<(), With<RigidBodyDisabled>>,
    hierarchy: Hierarchy,
    mut tombstones: ResMut<OccluderTombstones>,
) {
    let window = config.history_ticks(time.timestep());
    let retention = Retention { window, speed_limit: SpeedLimit::new(config.max_speed, time.timestep()) };
    index.0.begin(tick.0, window as usize + 1);
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
        let record = OccluderRecord {
            pose: pose::of(&world),
            shape,
            occluder: *occluder.occluder,
            groups: occluder.groups.copied().unwrap_or_default().into(),
            owner,
            ..default()
        };
        let history = &mut *occluder.history;
        // With its first record may come what was known of the time before.
        let is_first = history.len() == 0;
        history.record(tick.0, record, lineage, retention);
        let mut number = history.number;
        index.0.put(entity, &mut number, history.len(), is_first, |age| history.whereabout(age));
        history.number = number;
    }
    // They may be enabled again before the next record.
    for (entity, mut history) in &mut disabled {
        let mut number = history.number;
        index.0.put_unrecorded(entity, &mut number, history.len(), |age| history.whereabout(age));
        history.number = number;
    }
    index.0.finish(|_| {});
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

/// An occluder near a place as the screen showed it, with a ball around it; one of the shooter's `own` rigs only if it blocks its
/// owner.
pub(super) fn wall_of<'a>(
    entity: Entity,
    history: &'a OccluderHistory,
    screen: &Screen,
    filter: &RewoundFilter,
    place: &impl Place,
    own: impl Fn(Entity) -> bool,
) -> Option<(Wall<'a>, BoundingSphere)> {
    let rewound =
        history.rebuild(screen.recipe(entity, history)).filter(|rewound| place.may_meet(rewound.rough_bounds()))?;
    let (pose, Rewound { shape, record, .. }) = (rewound.pose(), rewound);
    let bounds = BoundingSphere::new(pose * record.ball.center, record.ball.radius());
    if !place.may_meet(bounds) || !filter.meets_wall(Some(entity), record.groups) {
        return None;
    }
    if !record.occluder.blocks_owner && record.owner.is_some_and(own) {
        return None;
    }
    let pose = Pose::from_parts(pose.translation.into(), pose.rotation);
    Some((Wall { entity: Some(entity), pose, shape: shape.as_ref(), rewound: true }, bounds))
}

/// Where an occluder stood as the screen showed it, if it stopped anything then.
pub(super) fn pose(history: &OccluderHistory, screen: &Screen, entity: Entity) -> Option<Isometry3d> {
    Some(history.rebuild(screen.recipe(entity, history))?.pose())
}

impl OccluderTombstones {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Entity, &OccluderHistory)> {
        self.0.iter().map(|(entity, history)| (*entity, history))
    }

    /// Whether an entity was an occluder at `view`, and is none any more.
    pub(super) fn tells_of(&self, entity: Entity, view: ViewTime) -> bool {
        self.0.iter().any(|(gone, history)| *gone == entity && history.reaches(view))
    }

    #[cfg(feature = "lightyear")]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
