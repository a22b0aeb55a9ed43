//! Rays against the rigs of the past.

use core::{cell::Cell, cmp::Ordering};

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
    region::{Fan, Place, Region, may_meet},
    screen::{Past, Recipe, Screen, Stood},
};
use crate::{
    history::{HistoryBuffer, RewoundHitbox, RigIndex, Sample, Tombstones},
    hitbox::{LifeNumber, Rig, RigId, TargetGroups},
    shot::{PoseBasis, RewoundRig, RewoundRigs as TestedRigs, SnapshotPair},
    time::{Tick, ViewTime},
};

/// Metres from a rig's bounds within which a shot has come close to it.
pub(super) const NEAR: f32 = 1.0;

/// By how much a ball that one ray of a fan may meet must grow, so that the fan may meet it in spite of rounding.
const FAN_ROUNDING: f32 = 0.01;

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
    index: Res<'w, RigIndex>,
    tombstones: Res<'w, Tombstones>,
}

/// A rig as the screen showed it.
#[derive(Clone, Copy)]
pub(super) struct ShownRig {
    pub(super) rig: Entity,
    pub(super) life: LifeNumber,
    pub(super) basis: PoseBasis,
    pub(super) view_time: ViewTime,
    pub(super) id: RigId,
}

/// Where a hitbox is met.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) rig: ShownRig,
    pub(super) hitbox: RewoundHitbox,
    pub(super) distance: f32,
}

/// How far from the origin of a place rigs are still looked for, in metres.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Those that may be met.
    met: f32,
    /// Those that come close, to be noted.
    noted: f32,
}

impl Reach {
    /// All that is near.
    pub(super) const ALL: Self = Self { met: f32::INFINITY, noted: f32::INFINITY };
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

    /// Shows each rig that the filter lets through, and whose rough bounds come near a place: once, and rebuilt once. One that was
    /// not there then is not shown. What `visit` returns tells how far from the origin of the place it is still worth it.
    pub(super) fn visit_near<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        place: &impl Place,
        mut visit: impl FnMut(ShownRig, Sample<'a>) -> Reach,
    ) {
        let is_near = |sample: &Sample| place.may_meet(sample.rough_bounds().grow(NEAR));
        let reach = Cell::new(Reach::ALL);
        let mut show = |rig, history, id, groups| {
            if let Some((rig, sample)) = self.show(screen, filter, is_near, rig, history, id, groups) {
                reach.set(visit(rig, sample));
            }
        };
        let (start, end) = screen.ticks();
        let way = place.beam().ray;
        let boxes = self.index.boxes();
        place.search(boxes.tree(), NEAR, |number| {
            let number = number as usize;
            let rig = boxes.entity(number);
            let between = self.index.between(number, start, end).filter(|_| !screen.names(rig));
            let is_off = between.is_some_and(|between| {
                let rough = between.rough();
                let along = (rough.center - Vec3A::from(way.origin)).dot(Vec3A::from(*way.direction));
                let is_noted = along - rough.radius() <= reach.get().noted;
                !place.may_meet(if is_noted { rough.grow(NEAR) } else { between.tight().grow(FAN_ROUNDING) })
            });
            if !is_off && let Ok((rig, history, id, groups)) = self.histories.get(rig) {
                show(rig, history, id, groups);
            }
            reach.get().noted.max(reach.get().met)
        });
        for (rig, history, id) in self.tombstones.iter() {
            show(rig, history, Some(id), None);
        }
    }

    /// A rig as the screen showed it, if it was there and is near, and the filter lets it through.
    fn show<'a>(
        &self,
        screen: &Screen,
        filter: &RewoundFilter,
        is_near: impl Fn(&Sample) -> bool,
        rig: Entity,
        history: &'a HistoryBuffer,
        id: Option<&RigId>,
        groups: Option<&TargetGroups>,
    ) -> Option<(ShownRig, Sample<'a>)> {
        let (sample, basis, view_time) = rebuild(history, screen.recipe(rig, history))?;
        let is_hidden = filter.corpses == Some(false) && !sample.is_alive();
        if is_hidden || !is_near(&sample) || !filter.meets_rig(rig, groups) {
            return None;
        }
        if filter.shooter.is_some_and(|shooter| self.are_one_with(rig, shooter)) {
            return None;
        }
        let id = id.copied().unwrap_or_default();
        Some((ShownRig { rig, life: sample.life(), basis, view_time, id }, sample))
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
        self.visit_near(screen, filter, fan, |rig, sample| {
            tested.insert(rig, &sample);
            // No ray need look behind what it has met.
            let reach_of = |nearest: &Option<Nearest>| nearest.map_or(fan.range, |nearest| nearest.distance);
            let reach = nearest.iter().map(reach_of).fold(0.0, f32::max);
            let may_meet_all = |bounds: BoundingSphere| match fan.rays {
                [ray] => may_meet(*ray, reach, bounds),
                _ => fan.may_meet(bounds.grow(FAN_ROUNDING)),
            };
            if may_meet_all(sample.rough_bounds()) && may_meet_all(sample.bounds()) {
                for hitbox in
                    sample.hitboxes_near(Some(fan.beam()), may_meet_all).filter(|hitbox| filter.meets_zone(hitbox.zone))
                {
                    let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                    for (ray, nearest) in fan.rays.iter().zip(nearest.iter_mut()) {
                        let reach = reach_of(nearest);
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
            }
            Reach { met: nearest.iter().map(reach_of).fold(0.0, f32::max), noted: tested.reach() }
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
        self.visit_near(screen, filter, fan, |rig, sample| {
            tested.insert(rig, &sample);
            let reach = Reach { met: fan.range, noted: tested.reach() };
            if !fan.may_meet(sample.bounds()) {
                return reach;
            }
            let is_near = |bounds: BoundingSphere| fan.may_meet(bounds.grow(FAN_ROUNDING));
            for hitbox in
                sample.hitboxes_near(Some(fan.beam()), is_near).filter(|hitbox| filter.meets_zone(hitbox.zone))
            {
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                for (number, ray) in fan.rays.iter().enumerate().filter(|(_, ray)| may_meet(**ray, fan.range, bounds)) {
                    if let Some((distance, exit)) = hitbox.shape.cross_ray(hitbox.pose, *ray, fan.range) {
                        found(number, Nearest { rig, hitbox, distance }, exit);
                    }
                }
            }
            reach
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
        self.visit_near(screen, filter, region, |rig, sample| {
            tested.insert(rig, &sample);
            if region.may_meet(sample.bounds()) {
                let hitboxes = sample.hitboxes_near(Some(region.beam()), |bounds| region.may_meet(bounds));
                for hitbox in hitboxes.filter(|hitbox| filter.meets_zone(hitbox.zone)) {
                    visit(rig, hitbox);
                }
            }
            Reach::ALL
        });
    }

    /// Shows the rig that an entity is or belongs to, alive or dead.
    pub(super) fn visit_rig_of<'a>(
        &'a self,
        screen: &Screen,
        entity: Entity,
        mut visit: impl FnMut(ShownRig, Sample<'a>),
    ) {
        let own = self.ancestry(entity).find(|entity| self.rigs.contains(*entity)).unwrap_or(entity);
        let present = self.histories.get(own).ok().map(|(rig, history, id, _)| (rig, history, id));
        let gone = self.tombstones.iter().filter(|(rig, ..)| *rig == own);
        let gone = gone.map(|(rig, history, id)| (rig, history, Some(id)));
        for (rig, history, id) in present.into_iter().chain(gone) {
            if let Some((rig, sample)) = self.show(screen, &RewoundFilter::new(), |_| true, rig, history, id, None) {
                visit(rig, sample);
            }
        }
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
        let ShownRig { rig, view_time, basis, id, .. } = shown;
        let along = (sample.rough_bounds().center - Vec3A::from(self.way.origin)).dot(Vec3A::from(*self.way.direction));
        let mut place = self.rigs.len();
        while place > 0 {
            let before = |other: RewoundRig| {
                let (other_along, other_id) = self.keys[place - 1];
                let order = along.total_cmp(&other_along).then(id.cmp(&other_id)).then(rig.cmp(&other.rig));
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
            self.rigs[place] = Some(RewoundRig { rig, root: sample.root(), view_time, basis });
            self.keys[place] = (along, id);
        }
    }

    /// How far along the way a rig can lie and still be among them.
    fn reach(&self) -> f32 {
        let last = self.keys[self.keys.len() - 1].0;
        // More than rounding can be.
        if self.rigs.iter().all(Option::is_some) { last + 1e-3 + 1e-5 * last.abs() } else { f32::INFINITY }
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
