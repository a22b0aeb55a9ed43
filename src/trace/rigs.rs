//! Rays against the rigs of the past.

use core::{cell::OnceCell, cmp::Ordering};

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
    fan::Fan,
    filter::RewoundFilter,
    packet::RayPacket,
    region::{Place, Region, may_meet},
    screen::{Past, Recipe, Screen, Stood},
    tested::Tested,
};
use crate::{
    history::{Beam, HistoryBuffer, PosedSample, RewoundHitbox, RigIndex, Sample, SpotAt, Tombstones},
    hitbox::{LifeNumber, Rig, RigId, TargetGroups},
    shape::PreciseRay,
    shot::{PoseBasis, RewoundRigs as TestedRigs, SnapshotPair},
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
    pub(super) id: RigId,
}

/// A rig that stood near a place on the screen.
#[derive(Clone, Copy)]
pub(super) struct NearRig<'a> {
    pub(super) rig: Entity,
    pub(super) id: RigId,
    pub(super) basis: PoseBasis,
    pub(super) view_time: ViewTime,
    /// All hitboxes lie within.
    pub(super) rough: BoundingSphere,
    found: Found<'a>,
}

/// What is known of it.
#[derive(Clone, Copy)]
enum Found<'a> {
    /// A look into a list has told where it stood.
    Spot(SpotAt<'a>, &'a HistoryBuffer),
    /// Its history has been asked.
    Sample(Sample<'a>),
}

impl<'a> NearRig<'a> {
    /// The rig as the screen showed it, with its past.
    pub(super) fn show(&self) -> (ShownRig, Sample<'a>) {
        let sample = match self.found {
            Found::Sample(sample) => sample,
            Found::Spot(spot, history) => history.sample_at(spot),
        };
        (ShownRig { rig: self.rig, life: sample.life(), basis: self.basis, id: self.id }, sample)
    }

    /// Shows the hitboxes that a ray may meet. The rig is posed only once, for the first ray that comes close.
    fn visit_on_ray(
        &self,
        posed: &OnceCell<(ShownRig, PosedSample<'a>)>,
        filter: &RewoundFilter,
        ray: Ray3d,
        reach: f32,
        mut visit: impl FnMut(ShownRig, RewoundHitbox),
    ) {
        if !may_meet(ray, reach, self.rough) {
            return;
        }
        let (rig, posed) = posed.get_or_init(|| {
            let (rig, sample) = self.show();
            (rig, sample.posed_at(self.root()))
        });
        if may_meet(ray, reach, posed.bounds()) {
            let beam = Beam { ray, range: reach, margin: 0.0, slope: 0.0 };
            let is_near = |bounds: BoundingSphere| may_meet(ray, reach, bounds);
            posed.visit_near(beam, is_near, |hitbox| {
                if filter.meets_zone(hitbox.zone) {
                    visit(*rig, hitbox);
                }
            });
        }
    }

    /// Holds its hitboxes against a ray, no further than `region` reaches. The rig is posed only if the ray comes close; then its root
    /// is told.
    fn meet(
        &self,
        ray: &PreciseRay,
        region: &Region,
        filter: &RewoundFilter,
        nearest: &mut Option<Nearest>,
    ) -> Option<Isometry3d> {
        let posed = OnceCell::new();
        self.visit_on_ray(&posed, filter, **ray, region.reach(), |rig, hitbox| {
            let Some(distance) = hitbox.shape.cast_precisely(hitbox.pose, ray, region.reach()) else { return };
            let found = Nearest { rig, hitbox, distance };
            if nearest.is_none_or(|nearest| found.cmp(&nearest).is_lt()) {
                // No ray need look behind what it has met.
                region.shrink(distance);
                *nearest = Some(found);
            }
        });
        posed.get().map(|(_, posed)| posed.root())
    }

    /// The same for all rays of a packet.
    fn meet_each(
        &self,
        packet: &RayPacket,
        filter: &RewoundFilter,
        nearest: &mut [Option<Nearest>],
    ) -> Option<Isometry3d> {
        if !packet.may_meet(self.rough) {
            return None;
        }
        let (rig, sample) = self.show();
        let posed = sample.posed_at(self.root());
        let near = packet.near_ball(posed.bounds());
        if !near.is_empty() {
            // Most often it is one, which is narrower than all together.
            let beam = near.single().map_or_else(
                || packet.beam(),
                |number| Region::ray(*packet.rays()[number], packet.reach_of(number)).beam(),
            );
            let is_near = |bounds: BoundingSphere| packet.may_meet(bounds);
            posed.visit_near(beam, is_near, |hitbox| {
                if !filter.meets_zone(hitbox.zone) {
                    return;
                }
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                for number in packet.near_ball(bounds) {
                    let (ray, nearest) = (&packet.rays()[number], &mut nearest[number]);
                    let distance = hitbox.shape.cast_precisely(hitbox.pose, ray, packet.reach_of(number));
                    let found = distance.map(|distance| Nearest { rig, hitbox, distance });
                    let is_nearer = |found: &Nearest| nearest.is_none_or(|nearest| found.cmp(&nearest).is_lt());
                    if let Some(found) = found.filter(is_nearer) {
                        packet.shrink(number, found.distance);
                        *nearest = Some(found);
                    }
                }
            });
        }
        Some(posed.root())
    }

    /// Where the rig's own entity stood.
    pub(super) fn root(&self) -> Isometry3d {
        match self.found {
            Found::Spot(spot, _) => spot.root(),
            Found::Sample(sample) => sample.root(),
        }
    }
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

/// Whether rigs are looked for that nothing meets, since the answer is to tell of all that come close.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Notes {
    Kept,
    None,
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

    /// Shows each rig that the filter lets through, and that may be met at a place or is to be noted around it, once. One that was
    /// not there then is not shown. What `visit` returns tells how far from the origin of the place it is still worth it.
    pub(super) fn visit_near<'a>(
        &'a self,
        screen: &Screen,
        filter: &RewoundFilter,
        place: &impl Place,
        notes: Notes,
        mut visit: impl FnMut(&NearRig<'a>) -> Reach,
    ) {
        let own = filter.shooter.map(|shooter| self.own(shooter));
        let is_met = |rig, is_alive: bool, groups| {
            let is_hidden = filter.corpses == Some(false) && !is_alive;
            !is_hidden && filter.meets_rig(rig, groups) && !own.is_some_and(|own| own.is_one_with(rig, self))
        };
        let around = if notes == Notes::Kept { NEAR } else { 0.0 };
        // Those of which a look into a list does not tell enough.
        let ask = |rig, history: &'a HistoryBuffer, id: Option<&RigId>, groups| {
            let (sample, basis, view_time) = rebuild(history, screen.recipe(rig, history))?;
            let rough = sample.rough_bounds();
            let near = NearRig {
                rig,
                id: id.copied().unwrap_or_default(),
                basis,
                view_time,
                rough,
                found: Found::Sample(sample),
            };
            (place.may_meet(rough.grow(around)) && is_met(rig, sample.is_alive(), groups)).then_some(near)
        };
        let ticks = screen.ticks();
        let spots = self.index.at(ticks, screen.view).filter(|_| !screen.is_held());
        let (basis, view_time) = screen.basis();
        let way = place.beam().ray;
        let boxes = self.index.boxes();
        let mut look_at = |number: usize, reach: Reach| {
            let Some(spot) = spots.and_then(|spots| spots.get(number)) else {
                let rig = boxes.entity(number).filter(|rig| !screen.names(*rig))?;
                let (rig, history, id, groups) = self.histories.get(rig).ok()?;
                return ask(rig, history, id, groups).map(|near| visit(&near));
            };
            if screen.names(spot.rig()) {
                return None;
            }
            let rough = spot.rough();
            let is_noted = notes == Notes::Kept && {
                let along = (rough.center - Vec3A::from(way.origin)).dot(Vec3A::from(*way.direction));
                along - rough.radius() <= reach.noted
            };
            let bounds = if is_noted { rough.grow(NEAR) } else { spot.tight().grow(FAN_ROUNDING) };
            if !place.may_meet(bounds) {
                return None;
            }
            let (rig, history, id, groups) = self.histories.get(spot.rig()).ok()?;
            if !history.has_number(number) {
                return ask(rig, history, id, groups).map(|near| visit(&near));
            }
            let (id, found) = (id.copied().unwrap_or_default(), Found::Spot(spot, history));
            is_met(rig, spot.is_alive(), groups).then(|| visit(&NearRig { rig, id, basis, view_time, rough, found }))
        };
        let mut reach = Reach::ALL;
        place.search_past(boxes, ticks, around, |number| {
            reach = look_at(number, reach).unwrap_or(reach);
            reach.furthest()
        });
        // They may have been shown at other instants.
        let named = self.histories.iter_many(screen.named());
        let named = named.filter_map(|(rig, history, id, groups)| ask(rig, history, id, groups));
        let gone = self.tombstones.iter().filter_map(|(rig, history, id)| ask(rig, history, Some(id), None));
        for near in named.chain(gone) {
            visit(&near);
        }
    }

    /// Who a shooter's own rigs are.
    fn own(&self, shooter: Entity) -> Own {
        Own { shooter, is_alone: self.parents.get(shooter).is_err() }
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
        if let ([ray], [nearest]) = (fan.rays, &mut *nearest) {
            let region = Region::ray(**ray, fan.range);
            self.visit_near(screen, filter, fan, Notes::Kept, |near| {
                tested.insert(near, near.meet(ray, &region, filter, nearest));
                Reach { met: region.reach(), noted: tested.reach() }
            });
        } else {
            let mut room = default();
            let packet = RayPacket::new(fan, &mut room);
            self.visit_near(screen, filter, fan, Notes::Kept, |near| {
                tested.insert(near, near.meet_each(&packet, filter, nearest));
                Reach { met: packet.reach(), noted: tested.reach() }
            });
        }
        tested.rigs()
    }

    /// The nearest hitbox on each ray of a packet, one for each in `nearest`.
    pub(super) fn nearest_hits_only(
        &self,
        screen: &Screen,
        packet: &RayPacket,
        filter: &RewoundFilter,
        nearest: &mut [Option<Nearest>],
    ) {
        self.visit_near(screen, filter, packet, Notes::None, |near| {
            near.meet_each(packet, filter, nearest);
            Reach { met: packet.reach(), noted: 0.0 }
        });
    }

    /// The nearest hitbox on a ray.
    pub(super) fn nearest_hit(
        &self,
        screen: &Screen,
        ray: &PreciseRay,
        range: f32,
        filter: &RewoundFilter,
    ) -> Option<Nearest> {
        let region = Region::ray(**ray, range);
        let mut nearest = None;
        self.visit_near(screen, filter, &region, Notes::None, |near| {
            near.meet(ray, &region, filter, &mut nearest);
            Reach { met: region.reach(), noted: 0.0 }
        });
        nearest
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
        self.visit_near(screen, filter, fan, Notes::Kept, |near| {
            tested.insert(near, None);
            let posed = OnceCell::new();
            for (number, ray) in fan.rays.iter().enumerate() {
                near.visit_on_ray(&posed, filter, **ray, fan.range, |rig, hitbox| {
                    if let Some((distance, exit)) = hitbox.shape.cross_ray(hitbox.pose, **ray, fan.range) {
                        found(number, Nearest { rig, hitbox, distance }, exit);
                    }
                });
            }
            Reach { met: fan.range, noted: tested.reach() }
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
        self.visit_near(screen, filter, region, Notes::Kept, |near| {
            tested.insert(near, None);
            let (rig, sample) = near.show();
            let posed = sample.posed();
            if region.may_meet(posed.bounds()) {
                posed.visit_near(
                    region.beam(),
                    |bounds| region.may_meet(bounds),
                    |hitbox| {
                        if filter.meets_zone(hitbox.zone) {
                            visit(rig, hitbox);
                        }
                    },
                );
            }
            Reach::ALL
        });
    }

    /// Shows the rig that an entity is or belongs to, alive or dead.
    pub(super) fn visit_rig_of<'a>(
        &'a self,
        screen: &Screen,
        entity: Entity,
        mut visit: impl FnMut(NearRig<'a>, Sample<'a>),
    ) {
        let own = self.ancestry(entity).find(|entity| self.rigs.contains(*entity)).unwrap_or(entity);
        let present = self.histories.get(own).ok().map(|(rig, history, id, _)| (rig, history, id));
        let gone = self.tombstones.iter().filter(|(rig, ..)| *rig == own);
        let gone = gone.map(|(rig, history, id)| (rig, history, Some(id)));
        for (rig, history, id) in present.into_iter().chain(gone) {
            if let Some((sample, basis, view_time)) = rebuild(history, screen.recipe(rig, history)) {
                let (id, rough) = (id.copied().unwrap_or_default(), sample.rough_bounds());
                let near = NearRig { rig, id, basis, view_time, rough, found: Found::Sample(sample) };
                visit(near, sample);
            }
        }
    }

    /// The entity itself and all above it.
    fn ancestry(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity))
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
