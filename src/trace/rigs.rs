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

    fn furthest(self) -> f32 {
        self.met.max(self.noted)
    }
}

/// A shooter, whose own rigs are not met.
#[derive(Clone, Copy)]
struct Own {
    shooter: Entity,
    /// Nothing is above them.
    is_alone: bool,
}

impl Own {
    fn is_one_with(self, rig: Entity, rigs: &RewoundRigs) -> bool {
        rig == self.shooter || (!self.is_alone && rigs.are_one_with(rig, self.shooter))
    }
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

    /// Shows each rig that the filter lets through, and whose rough bounds come near a place, with those: once, and rebuilt once. One
    /// that was not there then is not shown. What `visit` returns tells how far from the origin of the place it is still worth it.
    pub(super) fn visit_near<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        place: &impl Place,
        mut visit: impl FnMut(ShownRig, Sample<'a>, BoundingSphere) -> Reach,
    ) {
        let mut reach = Reach::ALL;
        let own = filter.shooter.map(|shooter| self.own(shooter));
        let mut show = |rig, history, id, groups, rough: Option<BoundingSphere>| {
            let (rig, sample) = self.show(screen, filter, own, rig, history, id, groups)?;
            let known = rough.is_some();
            let rough = rough.unwrap_or_else(|| sample.rough_bounds());
            (known || place.may_meet(rough.grow(NEAR))).then(|| visit(rig, sample, rough))
        };
        let ticks = screen.ticks();
        let way = place.beam().ray;
        place.search_past(self.index.boxes(), ticks, NEAR, |number, rig| {
            let mut known = None;
            if let Some(between) = self.index.between(number, ticks, screen.view).filter(|_| !screen.names(rig)) {
                let rough = between.rough();
                let along = (rough.center - Vec3A::from(way.origin)).dot(Vec3A::from(*way.direction));
                let is_noted = along - rough.radius() <= reach.noted;
                let is_near = if is_noted { rough.grow(NEAR) } else { between.tight().grow(FAN_ROUNDING) };
                if !place.may_meet(is_near) {
                    return reach.furthest();
                }
                known = Some(rough);
            }
            match self.histories.get(rig) {
                Ok((rig, history, id, groups)) if !screen.names(rig) => {
                    reach = show(rig, history, id, groups, known).unwrap_or(reach);
                }
                _ => {}
            }
            reach.furthest()
        });
        // They may have been shown at other instants.
        for (rig, history, id, groups) in self.histories.iter_many(screen.named()) {
            show(rig, history, id, groups, None);
        }
        for (rig, history, id) in self.tombstones.iter() {
            show(rig, history, Some(id), None, None);
        }
    }

    /// Who a shooter's own rigs are.
    fn own(&self, shooter: Entity) -> Own {
        Own { shooter, is_alone: self.parents.get(shooter).is_err() }
    }

    /// A rig as the screen showed it, if it was there, and the filter lets it through.
    fn show<'a>(
        &self,
        screen: &Screen,
        filter: &RewoundFilter,
        own: Option<Own>,
        rig: Entity,
        history: &'a HistoryBuffer,
        id: Option<&RigId>,
        groups: Option<&TargetGroups>,
    ) -> Option<(ShownRig, Sample<'a>)> {
        let (sample, basis, view_time) = rebuild(history, screen.recipe(rig, history))?;
        let is_hidden = filter.corpses == Some(false) && !sample.is_alive();
        if is_hidden || !filter.meets_rig(rig, groups) || own.is_some_and(|own| own.is_one_with(rig, self)) {
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
        self.visit_near(screen, filter, fan, |rig, sample, rough| {
            tested.insert(rig, sample, rough);
            // No ray need look behind what it has met.
            let reach_of = |nearest: &Option<Nearest>| nearest.map_or(fan.range, |nearest| nearest.distance);
            let reach = nearest.iter().map(reach_of).fold(0.0, f32::max);
            let may_meet_all = |bounds: BoundingSphere| match fan.rays {
                [ray] => may_meet(*ray, reach, bounds),
                _ => fan.may_meet(bounds.grow(FAN_ROUNDING)),
            };
            if let Some(posed) = Some(rough).filter(|rough| may_meet_all(*rough)).map(|_| sample.posed())
                && may_meet_all(posed.bounds())
            {
                posed.visit_near(fan.beam(), may_meet_all, |hitbox| {
                    if !filter.meets_zone(hitbox.zone) {
                        return;
                    }
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
                });
            }
            Reach { met: nearest.iter().map(reach_of).fold(0.0, f32::max), noted: tested.reach() }
        });
        tested.rigs()
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
        self.visit_near(screen, filter, fan, |rig, sample, rough| {
            tested.insert(rig, sample, rough);
            let reach = Reach { met: fan.range, noted: tested.reach() };
            let posed = sample.posed();
            if !fan.may_meet(posed.bounds()) {
                return reach;
            }
            let is_near = |bounds: BoundingSphere| fan.may_meet(bounds.grow(FAN_ROUNDING));
            posed.visit_near(fan.beam(), is_near, |hitbox| {
                if !filter.meets_zone(hitbox.zone) {
                    return;
                }
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                for (number, ray) in fan.rays.iter().enumerate().filter(|(_, ray)| may_meet(**ray, fan.range, bounds)) {
                    if let Some((distance, exit)) = hitbox.shape.cross_ray(hitbox.pose, *ray, fan.range) {
                        found(number, Nearest { rig, hitbox, distance }, exit);
                    }
                }
            });
            reach
        });
        tested.rigs()
    }

    /// Shows all hitboxes in a region.
    pub(super) fn visit_hitboxes<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        region: &Region,
        tested: &mut Tested<'a>,
        mut visit: impl FnMut(ShownRig, RewoundHitbox),
    ) {
        self.visit_near(screen, filter, region, |rig, sample, rough| {
            tested.insert(rig, sample, rough);
            let posed = sample.posed();
            if region.may_meet(posed.bounds()) {
                posed.visit_near(region.beam(), |bounds| region.may_meet(bounds), |hitbox| {
                    if filter.meets_zone(hitbox.zone) {
                        visit(rig, hitbox);
                    }
                });
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
            if let Some((rig, sample)) = self.show(screen, &RewoundFilter::new(), None, rig, history, id, None) {
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
pub(super) struct Tested<'a> {
    rigs: [Option<(ShownRig, Sample<'a>)>; 4],
    keys: [(f32, RigId); 4],
    way: Ray3d,
}

impl<'a> Tested<'a> {
    pub(super) fn new(way: Ray3d) -> Self {
        Self { rigs: default(), keys: default(), way }
    }

    /// Notes a rig, and its rough bounds.
    pub(super) fn insert(&mut self, rig: ShownRig, sample: Sample<'a>, rough: BoundingSphere) {
        let along = (rough.center - Vec3A::from(self.way.origin)).dot(Vec3A::from(*self.way.direction));
        let mut place = self.rigs.len();
        while place > 0 {
            let before = |(other, _): (ShownRig, Sample)| {
                let (other_along, other_id) = self.keys[place - 1];
                let order = along.total_cmp(&other_along).then(rig.id.cmp(&other_id)).then(rig.rig.cmp(&other.rig));
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
            self.rigs[place] = Some((rig, sample));
            self.keys[place] = (along, rig.id);
        }
    }

    /// Those that are left, as they were tested.
    pub(super) fn rigs(&self) -> TestedRigs {
        self.rigs.map(|tested| {
            let (ShownRig { rig, view_time, basis, .. }, sample) = tested?;
            Some(RewoundRig { rig, root: sample.root(), view_time, basis })
        })
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
