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

use super::{
    cast::cmp_places,
    filter::RewoundFilter,
    region::{Fan, Region, may_meet},
    screen::{Past, Recipe, Screen, Stood},
};
use crate::{
    history::{HistoryBuffer, RewoundHitbox, Sample, Tombstones},
    hitbox::{LifeNumber, Rig, RigId, TargetGroups},
    shot::{PoseBasis, RewoundRig, RewoundRigs as TestedRigs, SnapshotPair},
    time::{Tick, ViewTime},
};

/// Metres from a rig's bounds within which a shot has come close to it.
pub(super) const NEAR: f32 = 1.0;

/// All rigs with their histories, and those that are gone but not forgotten.
#[derive(SystemParam)]
pub(crate) struct RewoundRigs<'w, 's> {
    histories: Query<
        'w,
        's,
        (Entity, &'static HistoryBuffer, Option<&'static RigId>, Option<&'static TargetGroups>),
        With<Rig>,
    >,
    rigs: Query<'w, 's, (), With<Rig>>,
    parents: Query<'w, 's, &'static ChildOf>,
    tombstones: Res<'w, Tombstones>,
}

/// A rig as the screen showed it.
#[derive(Clone, Copy)]
pub(super) struct ShownRig {
    pub(super) rig: Entity,
    pub(super) life: LifeNumber,
    pub(super) basis: PoseBasis,
    pub(super) view_time: ViewTime,
    pub(super) root: Isometry3d,
    pub(super) id: RigId,
}

/// Where a hitbox is met.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) rig: ShownRig,
    pub(super) hitbox: RewoundHitbox,
    pub(super) distance: f32,
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
    pub(super) fn is_part_of_rig_or(&self, entity: Entity, shooter: Option<Entity>) -> bool {
        self.ancestry(entity).any(|entity| Some(entity) == shooter || self.rigs.contains(entity))
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
        self.histories.get(rig).ok().map(|(_, history, ..)| history).or_else(gone)
    }

    /// Shows each rig that the filter lets through, and whose rough bounds are near: once, and rebuilt once. One that was not
    /// there then is not shown.
    pub(super) fn visit<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        is_near: impl Fn(BoundingSphere) -> bool,
        mut visit: impl FnMut(ShownRig, Sample<'a>),
    ) {
        let present = self.histories.iter();
        let present = present.map(|(rig, history, id, groups)| (rig, history, id.copied().unwrap_or_default(), groups));
        let gone = self.tombstones.iter().map(|(rig, history, id)| (rig, history, id, None));
        for (rig, history, id, groups) in present.chain(gone) {
            let Some((sample, basis, view_time)) = rebuild(history, screen.recipe(rig, history)) else { continue };
            let is_hidden = filter.corpses == Some(false) && !sample.is_alive();
            if is_hidden || !is_near(sample.rough_bounds()) || !filter.meets_rig(rig, groups) {
                continue;
            }
            if filter.shooter.is_some_and(|shooter| self.are_one_with(rig, shooter)) {
                continue;
            }
            visit(ShownRig { rig, life: sample.life(), basis, view_time, root: sample.root(), id }, sample);
        }
    }

    /// The nearest hitbox on each ray, one for each in `nearest`; and the rigs that they came closest to.
    pub(super) fn nearest_hits(
        &self,
        screen: &Screen,
        fan: &Fan,
        filter: &RewoundFilter,
        nearest: &mut [Option<Nearest>],
    ) -> TestedRigs {
        let mut tested = Tested::new(fan.axis());
        let is_near = |rough: BoundingSphere| fan.may_meet(rough.grow(NEAR));
        self.visit(screen, filter, is_near, |rig, sample| {
            tested.insert(rig, &sample);
            // A single ray need not look behind what it has met.
            let reach = if let [Some(nearest)] = nearest { nearest.distance } else { fan.range };
            let may_meet_all = |bounds| {
                if let [ray] = fan.rays { may_meet(*ray, reach, bounds) } else { fan.may_meet(bounds) }
            };
            if !may_meet_all(sample.rough_bounds()) || !may_meet_all(sample.bounds()) {
                return;
            }
            for hitbox in sample.hitboxes().filter(|hitbox| filter.meets_zone(hitbox.zone)) {
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                for (ray, nearest) in fan.rays.iter().zip(nearest.iter_mut()) {
                    let reach = nearest.map_or(fan.range, |nearest| nearest.distance);
                    if !may_meet(*ray, reach, bounds) {
                        continue;
                    }
                    let Some(distance) = hitbox.shape.cast_ray(hitbox.pose, *ray, reach) else { continue };
                    let found = Nearest { rig, hitbox, distance };
                    if nearest.is_none_or(|nearest| found.cmp(&nearest).is_lt()) {
                        *nearest = Some(found);
                    }
                }
            }
        });
        tested.rigs
    }

    /// Shows all hitboxes on the rays of a fan: the number of the ray, where it goes in, and how many metres from its origin it
    /// comes out.
    pub(super) fn crossings(
        &self,
        screen: &Screen,
        fan: &Fan,
        filter: &RewoundFilter,
        mut found: impl FnMut(usize, Nearest, f32),
    ) -> TestedRigs {
        let mut tested = Tested::new(fan.axis());
        let is_near = |rough: BoundingSphere| fan.may_meet(rough.grow(NEAR));
        self.visit(screen, filter, is_near, |rig, sample| {
            tested.insert(rig, &sample);
            if !fan.may_meet(sample.bounds()) {
                return;
            }
            for hitbox in sample.hitboxes().filter(|hitbox| filter.meets_zone(hitbox.zone)) {
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                for (number, ray) in fan.rays.iter().enumerate().filter(|(_, ray)| may_meet(**ray, fan.range, bounds)) {
                    if let Some((distance, exit)) = hitbox.shape.cross_ray(hitbox.pose, *ray, fan.range) {
                        found(number, Nearest { rig, hitbox, distance }, exit);
                    }
                }
            }
        });
        tested.rigs
    }

    /// Shows all hitboxes in a region.
    pub(super) fn visit_hitboxes(
        &self,
        screen: &Screen,
        filter: &RewoundFilter,
        region: &Region,
        tested: &mut Tested,
        mut visit: impl FnMut(ShownRig, RewoundHitbox),
    ) {
        self.visit(
            screen,
            filter,
            |rough| region.may_meet(rough.grow(NEAR)),
            |rig, sample| {
                tested.insert(rig, &sample);
                if !region.may_meet(sample.bounds()) {
                    return;
                }
                for hitbox in sample.hitboxes().filter(|hitbox| filter.meets_zone(hitbox.zone)) {
                    if region.may_meet(BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius())) {
                        visit(rig, hitbox);
                    }
                }
            },
        );
    }

    /// Shows the rig that an entity is or belongs to, alive or dead.
    pub(super) fn visit_rig_of<'a>(
        &'a self,
        screen: &Screen,
        entity: Entity,
        mut visit: impl FnMut(ShownRig, Sample<'a>),
    ) {
        let own = self.ancestry(entity).find(|entity| self.rigs.contains(*entity)).unwrap_or(entity);
        let filter = RewoundFilter::new();
        let is_it = |rig: Entity| rig == own;
        self.visit(screen, &filter.rigs(&is_it), |_| true, &mut visit);
    }

    /// The entity itself and all above it.
    fn ancestry(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity))
    }
}

/// The rigs that something came closest to, in the order along its way.
pub(super) struct Tested {
    pub(super) rigs: TestedRigs,
    keys: [(f32, RigId); 4],
    way: Ray3d,
}

impl Tested {
    pub(super) fn new(way: Ray3d) -> Self {
        Self { rigs: TestedRigs::default(), keys: default(), way }
    }

    pub(super) fn insert(&mut self, shown: ShownRig, sample: &Sample) {
        let ShownRig { rig, root, view_time, basis, id, .. } = shown;
        let along = (sample.rough_bounds().center - Vec3A::from(self.way.origin)).dot(Vec3A::from(*self.way.direction));
        let rig = RewoundRig { rig, root, view_time, basis };
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
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        self.distance
            .total_cmp(&other.distance)
            .then_with(|| self.rig.id.cmp(&other.rig.id))
            .then_with(|| self.hitbox.zone.cmp(&other.hitbox.zone))
            .then_with(|| cmp_places(self.hitbox.pose, other.hitbox.pose))
            .then_with(|| self.rig.rig.cmp(&other.rig.rig))
            .then_with(|| self.hitbox.entity.cmp(&other.hitbox.entity))
    }
}
