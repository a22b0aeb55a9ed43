//! Where all rigs have been in each tick, roughly, in one place.

use bevy::{
    math::{Vec3A, Vec4, bounding::BoundingSphere},
    prelude::*,
};

use super::{
    HistoryBuffer, Record,
    index::{BoxIndex, Whereabout},
    layout::Head,
    ring::TickRing,
};
use crate::{
    pose::interpolate,
    time::{Tick, ViewTime},
};

/// Which rigs have been where, lately.
///
/// To look up a rig's history takes a way through many corners of memory, one after the other. Of most of those whose boxes a ray
/// meets, a look into a list tells that they were elsewhere at the instant in question.
#[derive(Resource, Debug, Default)]
pub(crate) struct RigIndex {
    boxes: BoxIndex,
    ring: TickRing,
    /// For each slot of the ring those of all rigs, by number.
    spots: Vec<Vec<Spot>>,
    /// By number.
    runs: Vec<Run>,
    runs_begun: u32,
    /// The tick that is being put in comes right after the one before.
    follows: bool,
}

/// A rig in one tick, in one line of a processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Spot {
    /// Its place, and how far it reached from there.
    place: Vec4,
    /// The middle of its hitboxes, and how far they reached from there.
    center: Vec4,
    rotation: Quat,
    rig: Entity,
    /// The slot of the record in its own history.
    slot: u32,
    run: RunId,
}

/// Records of one rig in ticks that follow each other, all of the same layout: any two of the same run may be blended. Its last bit
/// tells whether the rig was alive.
#[derive(Clone, Copy, PartialEq, Debug)]
struct RunId(u32);

/// The run that the newest spot of a rig belongs to, and its layout.
#[derive(Clone, Copy, Debug)]
struct Run {
    id: RunId,
    layout: u32,
}

/// Where all rigs were at an instant, blended from their records of two ticks.
#[derive(Clone, Copy)]
pub(crate) struct SpotsAt<'a> {
    from: &'a [Spot],
    to: &'a [Spot],
    t: f32,
}

/// Where a rig was then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpotAt<'a> {
    from: &'a Spot,
    to: &'a Spot,
    t: f32,
}

impl RunId {
    /// Nothing is known.
    const NONE: Self = Self(0);
}

impl Spot {
    const UNKNOWN: Self = Self {
        place: Vec4::ZERO,
        center: Vec4::ZERO,
        rotation: Quat::IDENTITY,
        rig: Entity::PLACEHOLDER,
        slot: 0,
        run: RunId::NONE,
    };
}

impl RigIndex {
    /// All rigs are put in anew after this.
    pub(super) fn begin(&mut self, tick: Tick, capacity: usize) {
        if self.ring.capacity() != capacity {
            self.ring = TickRing::with_capacity(capacity);
            self.spots = vec![Vec::new(); capacity];
        }
        self.follows = self.ring.newest().is_some_and(|newest| (0..=1).contains(&tick.since(newest)));
        let slot = self.ring.push(tick);
        self.spots[slot].iter_mut().for_each(|spot| spot.run = RunId::NONE);
        self.boxes.begin(tick, capacity);
    }

    /// Puts in a rig that has just been recorded.
    pub(super) fn put(&mut self, rig: Entity, history: &mut HistoryBuffer) {
        let slot = history.ring.slot(0);
        let Record { root: (place, rotation), radius, layout } = history.records[slot];
        let Head { center, state } = history.layouts.head(layout);
        let center = Vec3A::from(center);
        let rotation = Quat::from_array(rotation);
        // As it is found from its history, to the last bit.
        let place = Vec3A::from(place);
        let mut number = history.number;
        let known = number.and_then(|number| self.runs.get(number as usize)).copied();
        let is_other_layout = known.is_none_or(|run| run.layout != layout);
        let record = |age| history.whereabout(age);
        let is_new = self.boxes.put(rig, &mut number, history.len(), is_other_layout, record);
        history.number = number;
        let Some(number) = number.map(|number| number as usize) else { return };
        let goes_on = known.map(|run| run.id).filter(|_| self.follows && !is_new && !is_other_layout);
        // What is blended between other rotations than pure ones does not stay between them.
        let is_pure = (rotation.length_squared() - 1.0).abs() < 1e-4;
        let run = match goes_on.filter(|run| *run != RunId::NONE) {
            _ if !is_pure => RunId::NONE,
            Some(run) => run,
            None => self.begin_run(state.alive),
        };
        if self.runs.len() <= number {
            self.runs.resize(number + 1, Run { id: RunId::NONE, layout });
        }
        self.runs[number] = Run { id: run, layout };
        let spots = &mut self.spots[self.ring.slot(0)];
        if spots.len() <= number {
            spots.resize(self.runs.len(), Spot::UNKNOWN);
        }
        spots[number] = Spot {
            place: place.extend(center.length() + radius),
            center: (rotation * center + place).extend(radius),
            rotation,
            rig,
            slot: slot as u32,
            run,
        };
    }

    fn begin_run(&mut self, is_alive: bool) -> RunId {
        // The first one is not none, nor is the one after so many that the oldest are long forgotten.
        self.runs_begun = self.runs_begun.wrapping_add(2).max(2);
        RunId(self.runs_begun | u32::from(is_alive))
    }

    /// Puts in a rig that is not recorded now, but may still be looked for.
    pub(super) fn put_disabled(&mut self, rig: Entity, history: &mut HistoryBuffer) {
        let mut number = history.number;
        self.boxes.put_unrecorded(rig, &mut number, history.len(), |age| history.whereabout(age));
        history.number = number;
        if let Some(run) = number.and_then(|number| self.runs.get_mut(number as usize)) {
            run.id = RunId::NONE;
        }
    }

    /// A history begins anew.
    pub(super) fn forget(&mut self, history: &HistoryBuffer) {
        if let Some(number) = history.number {
            forget(&mut self.spots, &mut self.runs, number as usize);
        }
    }

    /// All have been put in.
    pub(super) fn finish(&mut self) {
        let Self { boxes, spots, runs, .. } = self;
        boxes.finish(|number| forget(spots, runs, number));
    }

    pub(crate) fn boxes(&self) -> &BoxIndex {
        &self.boxes
    }

    /// Where all rigs were at `view`, blended from their records of two ticks; `None` if that cannot be told at a glance.
    #[inline]
    pub(crate) fn at(&self, (start, end): (Tick, Tick), view: ViewTime) -> Option<SpotsAt<'_>> {
        let newest = self.ring.newest()?;
        let spots_of = |tick: Tick| {
            let age = usize::try_from(newest.since(tick)).ok().filter(|age| *age < self.ring.len())?;
            // Ticks may be missing.
            (self.ring.tick(age) == tick).then(|| &*self.spots[self.ring.slot(age)])
        };
        let (from, to) = (spots_of(start)?, spots_of(end)?);
        (end.since(start) >= 0).then(|| SpotsAt { from, to, t: view.part_between(start, end) })
    }
}

/// Nothing is known any more of a rig, by its number.
fn forget(spots: &mut [Vec<Spot>], runs: &mut [Run], number: usize) {
    if let Some(run) = runs.get_mut(number) {
        run.id = RunId::NONE;
        spots.iter_mut().filter_map(|spots| spots.get_mut(number)).for_each(|spot| spot.run = RunId::NONE);
    }
}

impl<'a> SpotsAt<'a> {
    /// Where a rig was; `None` if that cannot be told at a glance.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<SpotAt<'a>> {
        let (from, to) = (self.from.get(number)?, self.to.get(number)?);
        (from.run == to.run && from.run != RunId::NONE).then_some(SpotAt { from, to, t: self.t })
    }
}

impl HistoryBuffer {
    /// Whether this is the history that was put in under a number. A game may have replaced it since.
    #[inline]
    pub(crate) fn has_number(&self, number: usize) -> bool {
        self.number == Some(number as u32)
    }

    /// Where the rig stood in a record, and how far what is blended from it and others reaches from there.
    fn whereabout(&self, age: usize) -> Whereabout {
        let slot = self.ring.slot(age);
        let Record { root: (place, _), radius, layout } = self.records[slot];
        let reach = self.layouts.reach_of_several(self.widest);
        let reach = reach.unwrap_or_else(|| self.layouts.head(layout).center.length() + radius);
        Whereabout { tick: self.ring.tick(age), place, reach }
    }
}

impl SpotAt<'_> {
    #[inline]
    pub(crate) fn rig(self) -> Entity {
        self.from.rig
    }

    /// The slots of the two records in the rig's own history, and the way from one to the other.
    #[inline]
    pub(super) fn blend(self) -> (usize, usize, f32) {
        (self.from.slot as usize, self.to.slot as usize, self.t)
    }

    /// The rough bounds of the rig, to the last bit.
    #[inline]
    pub(crate) fn rough(self) -> BoundingSphere {
        let Self { from, to, t } = self;
        let place = Vec3A::from_vec4(from.place).lerp(Vec3A::from_vec4(to.place), t);
        BoundingSphere::new(place, from.place.w.max(to.place.w))
    }

    /// Where the rig's own entity stood, to the last bit.
    #[inline]
    pub(crate) fn root(self) -> Isometry3d {
        let pose = |spot: &Spot| Isometry3d { translation: Vec3A::from_vec4(spot.place), rotation: spot.rotation };
        interpolate(pose(self.from), pose(self.to), self.t)
    }

    #[inline]
    pub(crate) fn is_alive(self) -> bool {
        self.from.run.0 & 1 != 0
    }

    /// A ball that holds its bounds from one tick to the other.
    #[inline]
    pub(crate) fn tight(self) -> BoundingSphere {
        let Self { from, to, .. } = self;
        let (step, way) = (Vec3A::from_vec4(to.place - from.place), Vec3A::from_vec4(to.center - from.center));
        // While the rig goes straight, its middle turns around its place along an arc of half a circle at most, which is no
        // further from its chord than half of that.
        ball(from.center, to.center, 0.5 * (way.length() + (way - step).length()))
    }
}

/// A ball that holds two others and what lies so far from the middle between them. It is endless if that is not a number.
#[inline]
fn ball(from: Vec4, to: Vec4, half_way: f32) -> BoundingSphere {
    let center = Vec3A::from_vec4(from.midpoint(to));
    let radius = half_way + from.w.max(to.w) + 1e-3 + 1e-6 * center.abs().max_element();
    if radius.is_finite() {
        BoundingSphere::new(center, radius)
    } else {
        BoundingSphere::new(Vec3::ZERO, f32::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Shape, Zone,
        history::{
            Lineage, PoseStorage, RecordedHitbox,
            pose_list::PoseList,
            write::{
                Retention, RigRecord,
                tests::{RETENTION, reaches},
            },
        },
        hitbox::Life,
        time::ViewTime,
    };

    /// Balls of a radius at these places.
    fn record(
        history: &mut HistoryBuffer,
        tick: u32,
        root: Isometry3d,
        radius: f32,
        places: &[Vec3],
        storage: PoseStorage,
    ) {
        let entity = |index| Entity::from_raw_u32(index).expect("it is small");
        let shape = Shape::Ball { radius };
        let hitbox =
            |index| RecordedHitbox { entity: entity(index), zone: Zone::Head, shape, hittable: true, is_fresh: false };
        let hitboxes: Vec<_> = (1..).zip(places).map(|(index, _)| hitbox(index)).collect();
        let poses: Vec<_> = places.iter().map(|place| root * Isometry3d::from_translation(*place)).collect();
        let rig = RigRecord {
            root,
            lineage: Lineage::NONE,
            life: Life::default(),
            hittable: true,
            hitboxes: Some(&hitboxes),
            poses: &PoseList::of(root, &poses),
            reaches: &reaches(&hitboxes),
            posing: None,
        };
        history.record(Tick(tick), &rig, Retention { storage, ..RETENTION });
    }

    /// Puts in all of them in one tick, at the same place.
    fn put_all(index: &mut RigIndex, tick: u32, radius: f32, rigs: &mut [(Entity, &mut HistoryBuffer)]) {
        index.begin(Tick(tick), RETENTION.capacity);
        for (rig, history) in rigs {
            record(history, tick, Isometry3d::IDENTITY, radius, &[Vec3::ZERO, Vec3::Y], PoseStorage::Full);
            index.put(*rig, history);
        }
        index.finish();
    }

    fn told(index: &RigIndex, start: u32, number: usize) -> Option<Entity> {
        let spots = index.at((Tick(start), Tick(start + 1)), ViewTime::new(Tick(start), 0x8000))?;
        spots.get(number).map(SpotAt::rig)
    }

    #[test]
    fn what_was_before_a_change_is_told_but_not_what_lies_across_it() {
        let (mut index, mut history) = (RigIndex::default(), HistoryBuffer::default());
        let rig = Entity::from_raw_u32(7).expect("it is small");
        for tick in 0..8 {
            put_all(&mut index, tick, if tick < 4 { 0.2 } else { 0.4 }, &mut [(rig, &mut history)]);
        }
        let told: Vec<_> = (0..7).map(|start| told(&index, start, 0).is_some()).collect();
        assert_eq!(told, [true, true, true, false, true, true, true]);
    }

    #[test]
    fn nothing_is_told_of_those_who_have_gone_nor_of_who_came_after_them() {
        let mut index = RigIndex::default();
        let [gone, stays, new] = [7, 8, 9].map(|index| Entity::from_raw_u32(index).expect("it is small"));
        let mut histories = [(); 3].map(|()| HistoryBuffer::default());
        let [first, second, third] = &mut histories;
        for tick in 0..4 {
            put_all(&mut index, tick, 0.2, &mut [(gone, first), (stays, second)]);
        }
        assert_eq!([0, 1].map(|number| told(&index, 2, number)), [Some(gone), Some(stays)]);
        // One is not put in, and its number is free; another takes it a tick later.
        put_all(&mut index, 4, 0.2, &mut [(stays, second)]);
        assert_eq!([0, 1].map(|number| told(&index, 2, number)), [None, Some(stays)]);
        for tick in 5..8 {
            put_all(&mut index, tick, 0.2, &mut [(new, third), (stays, second)]);
        }
        assert_eq!([2, 4, 5, 6].map(|start| told(&index, start, 0)), [None, None, Some(new), Some(new)]);
        index.forget(third);
        assert_eq!([5, 6].map(|start| told(&index, start, 0)), [None, None]);
    }

    proptest! {
        #[test]
        fn what_is_told_at_a_glance_is_what_the_history_tells_and_lies_within_its_box(
            steps in prop::collection::vec((prop::array::uniform3(-2.0_f32..2.0), -3.1_f32..3.1, 0_u8..14), 2..40),
            start: u32,
            span in 1_u32..4,
        ) {
            let mut history = HistoryBuffer::default();
            let mut index = RigIndex::default();
            let (rig, mut root, mut tick) = (Entity::from_raw_u32(7).expect("it is small"), Isometry3d::IDENTITY, start);
            let mut storage = PoseStorage::Full;
            let is_steady = steps.iter().rev().take(2).all(|(.., event)| (3..10).contains(event));
            for (step, turn, event) in steps {
                root.translation += Vec3A::from(step);
                root.rotation *= Quat::from_euler(EulerRot::YXZ, turn, 0.3 * turn, 0.0);
                // A tick is left out, or the rig crouches, or is in two halves that lie close together or far apart.
                tick = tick.wrapping_add(1 + u32::from(event == 1));
                if event == 2 {
                    // It is disabled for a tick.
                    index.begin(Tick(tick), RETENTION.capacity);
                    index.put_disabled(rig, &mut history);
                    index.finish();
                    tick = tick.wrapping_add(1);
                }
                let standing = [0.0, 1.5].map(|height| Vec3::new(0.3, height, 0.0));
                let mut places = standing.to_vec();
                let radius = match event {
                    0..3 => 0.2,
                    10 => {
                        places = vec![Vec3::X * -0.3, Vec3::X * 0.3];
                        0.5
                    }
                    11 => {
                        places = vec![Vec3::NEG_X, Vec3::X];
                        0.1
                    }
                    _ => 0.4,
                };
                if event == 12 {
                    // It has more hitboxes than there was room for.
                    places.resize(5, Vec3::Y);
                }
                if event == 13 {
                    storage = PoseStorage::Compact;
                }
                record(&mut history, tick, root, radius, &places, storage);
                index.begin(Tick(tick), RETENTION.capacity);
                index.put(rig, &mut history);
                index.finish();
            }
            let mut told = 0;
            for back in 0..RETENTION.capacity as u32 + 3 {
                let older = Tick(tick.wrapping_sub(back));
                let newer = older + span;
                for part in 0..=8_u16 {
                    let view = ViewTime::before(newer, f64::from(span) * f64::from(part) / 8.0);
                    let Some(sample) = history.sample_between(older, Some(newer), view) else { continue };
                    // The middle of the rig, and its ends, to the rounding of its box.
                    let ball = sample.rough_bounds();
                    let ends = [Vec3A::X, Vec3A::Y, Vec3A::Z].map(|axis| axis * (ball.radius() - 1e-3));
                    for end in ends.into_iter().flat_map(|end| [Vec3A::ZERO, end, -end]) {
                        let mut met = 0;
                        let bounds = bevy::math::bounding::Aabb3d::new(ball.center + end, Vec3::ZERO);
                        match index.boxes().tree(older, newer) {
                            Some(tree) => tree.visit_box(bounds, |_| met += 1),
                            None => met = index.boxes().len(),
                        }
                        prop_assert_eq!(met, 1);
                    }
                    let spots = index.at((older, newer), view);
                    let Some(spot) = spots.and_then(|spots| spots.get(0)) else { continue };
                    told += 1;
                    prop_assert_eq!((spot.root(), spot.rough()), (sample.root(), sample.rough_bounds()));
                    let same = history.sample_at(spot);
                    prop_assert_eq!((same.root(), same.bounds(), same.life()), (sample.root(), sample.bounds(), sample.life()));
                    prop_assert!(same.hitboxes().eq(sample.hitboxes()));
                    let (tight, found) = (spot.tight(), sample.bounds());
                    let is_within = tight.center.distance(found.center) + found.radius() <= tight.radius();
                    prop_assert!(is_within, "{tight:?} {found:?}");
                }
            }
            prop_assert!(told > 0 || !is_steady || span > 1);
        }
    }
}
