//! Rays against the rigs of the past.

use core::cmp::Ordering;

use bevy::{
    ecs::system::SystemParam,
    math::{
        Vec3A,
        bounding::{BoundingSphere, BoundingVolume},
    },
    prelude::*,
};

use super::screen::{Past, Recipe, Screen, Stood};
use crate::{
    history::{HistoryBuffer, RewoundHitbox, Sample, Tombstones},
    hitbox::{LifeNumber, Rig, RigId},
    shot::{PoseBasis, RewoundRig, RewoundRigs as TestedRigs, SnapshotPair},
    time::{Tick, ViewTime},
};

/// Metres from a rig's bounds within which a shot has come close to it.
pub(super) const NEAR: f32 = 1.0;

/// All rigs with their histories, and those that are gone but not forgotten.
#[derive(SystemParam)]
pub(crate) struct RewoundRigs<'w, 's> {
    histories: Query<'w, 's, (Entity, &'static HistoryBuffer, Option<&'static RigId>), With<Rig>>,
    rigs: Query<'w, 's, (), With<Rig>>,
    parents: Query<'w, 's, &'static ChildOf>,
    tombstones: Res<'w, Tombstones>,
}

/// Where a ray meets a rig.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) rig: Entity,
    pub(super) life: LifeNumber,
    pub(super) hitbox: RewoundHitbox,
    pub(super) basis: PoseBasis,
    pub(super) distance: f32,
    id: RigId,
}

impl Past for HistoryBuffer {
    fn oldest(&self) -> Option<Tick> {
        self.oldest()
    }

    fn stood(&self, recipe: Recipe) -> Option<Stood> {
        let (sample, ..) = rebuild(self, recipe)?;
        // A figure that turns stays where it is.
        let segment = sample.segment();
        Some(Stood { bounds: sample.bounds(), segment, lever: 0.0, rotation: sample.root().rotation })
    }

    fn newest(&self) -> Option<Stood> {
        self.stood(Recipe::History(ViewTime::at(self.newest()?), PoseBasis::History))
    }
}

/// A rig as the screen showed it, and the instant of that; from the full history if the snapshots are not remembered. `None`
/// if it was not there.
fn rebuild(history: &HistoryBuffer, recipe: Recipe) -> Option<(Sample<'_>, PoseBasis, ViewTime)> {
    match recipe {
        Recipe::History(view, basis) => Some((history.sample(view)?, basis, view)),
        Recipe::Snapshots { pair, places, parameters, view } => {
            let ticks = |pair: SnapshotPair| (pair.start, pair.end);
            let shown = history.sample_displayed(ticks(pair), ticks(places), ticks(parameters), view);
            let shown = shown.map(|sample| (sample, PoseBasis::Snapshots(pair), view));
            shown.or_else(|| Some((history.sample(view)?, PoseBasis::History, view)))
        }
        Recipe::NotYetShown => None,
    }
}

impl RewoundRigs<'_, '_> {
    /// Whether an entity belongs to some rig, or to the shooter, which need not be one.
    pub(super) fn is_part_of_rig_or(&self, entity: Entity, shooter: Entity) -> bool {
        self.ancestry(entity).any(|entity| entity == shooter || self.rigs.contains(entity))
    }

    /// Whether an entity is a rig now.
    pub(super) fn is_rig(&self, entity: Entity) -> bool {
        self.rigs.contains(entity)
    }

    /// Whether a rig is the shooter's own: on their entity or above it, as the car that a driver sits in.
    pub(super) fn are_one_with(&self, rig: Entity, shooter: Entity) -> bool {
        self.ancestry(shooter).any(|entity| entity == rig)
    }

    /// The history of a rig, also of one that is gone.
    pub(super) fn history(&self, rig: Entity) -> Option<&HistoryBuffer> {
        let gone = || self.tombstones.iter().find(|(gone, ..)| *gone == rig).map(|(_, history, _)| history);
        self.histories.get(rig).ok().map(|(_, history, _)| history).or_else(gone)
    }

    /// The nearest hitbox on the ray as the screen showed them, those of the shooter's own rigs left out, and those of the dead
    /// if they cannot be hit; and the rigs that the ray came closest to.
    ///
    /// A rig that was not there then is not hit.
    pub(super) fn nearest_hit(
        &self,
        screen: &Screen,
        ray: Ray3d,
        range: f32,
        shooter: Entity,
        hit_corpses: bool,
    ) -> (Option<Nearest>, TestedRigs) {
        let present = self.histories.iter().map(|(rig, history, id)| (rig, history, id.copied().unwrap_or_default()));
        let mut best: Option<Nearest> = None;
        let mut tested = Tested::default();
        for (rig, history, id) in present.chain(self.tombstones.iter()) {
            let Some((sample, basis, view_time)) = rebuild(history, screen.recipe(rig, history)) else { continue };
            if !hit_corpses && !sample.is_alive() {
                continue;
            }
            let rough = sample.rough_bounds();
            if !may_meet(ray, range, rough.grow(NEAR)) || self.are_one_with(rig, shooter) {
                continue;
            }
            let along = (rough.center - Vec3A::from(ray.origin)).dot(Vec3A::from(*ray.direction));
            tested.insert(along, id, RewoundRig { rig, root: sample.root(), view_time, basis });
            let reach = best.map_or(range, |best| best.distance);
            if !may_meet(ray, reach, rough) || !may_meet(ray, reach, sample.bounds()) {
                continue;
            }
            for hitbox in sample.hitboxes() {
                let reach = best.map_or(range, |best| best.distance);
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                if !may_meet(ray, reach, bounds) {
                    continue;
                }
                let Some(distance) = hitbox.shape.cast_ray(hitbox.pose, ray, reach) else { continue };
                let found = Nearest { rig, life: sample.life(), hitbox, basis, distance, id };
                if best.is_none_or(|best| found.cmp(&best).is_lt()) {
                    best = Some(found);
                }
            }
        }
        (best, tested.rigs)
    }

    /// The entity itself and all above it.
    fn ancestry(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity))
    }
}

/// The rigs that a ray came closest to, nearest first.
#[derive(Default)]
struct Tested {
    rigs: TestedRigs,
    keys: [(f32, RigId); 4],
}

impl Tested {
    /// Puts a rig in, `along` metres from the origin of the ray.
    fn insert(&mut self, along: f32, id: RigId, rig: RewoundRig) {
        let mut place = self.rigs.len();
        while place > 0 {
            let before = |other: RewoundRig| {
                let (other_along, other_id) = self.keys[place - 1];
                let order = along.total_cmp(&other_along).then(id.cmp(&other_id)).then(rig.rig.cmp(&other.rig));
                order.is_lt()
            };
            if !self.rigs[place - 1].is_none_or(before) {
                break;
            }
            place -= 1;
        }
        if place < self.rigs.len() {
            self.rigs[place..].rotate_right(1);
            self.keys[place..].rotate_right(1);
            self.rigs[place] = Some(rig);
            self.keys[place] = (along, id);
        }
    }
}

impl Nearest {
    /// Nearer first. Ties are broken by what does not depend on the order in which entities were spawned, and only
    /// between hitboxes that are alike in all of that by their ids.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |nearest: &Self| {
            let Isometry3d { translation: t, rotation: q } = nearest.hitbox.pose;
            // Adding 0 makes one zero of both.
            [t.x, t.y, t.z, q.x, q.y, q.z, q.w].map(|number| number + 0.0)
        };
        self.distance
            .total_cmp(&other.distance)
            .then_with(|| self.id.cmp(&other.id))
            .then_with(|| self.hitbox.zone.cmp(&other.hitbox.zone))
            .then_with(|| {
                place(self)
                    .iter()
                    .zip(&place(other))
                    .fold(Ordering::Equal, |so_far, (a, b)| so_far.then(a.total_cmp(b)))
            })
            .then_with(|| self.rig.cmp(&other.rig))
            .then_with(|| self.hitbox.entity.cmp(&other.hitbox.entity))
    }
}

/// Whether a ray may meet anything within `bounds`; says yes rather too often than too rarely.
pub(super) fn may_meet(ray: Ray3d, range: f32, bounds: BoundingSphere) -> bool {
    let to_center = bounds.center - Vec3A::from(ray.origin);
    let direction = Vec3A::from(*ray.direction);
    let along = to_center.dot(direction).clamp(0.0, range);
    // Rounding in `f32` grows with the distance; this is more than it can be.
    let radius = bounds.radius() + 1e-3 + 1e-5 * along;
    (to_center - direction * along).length_squared() <= radius * radius
}
