//! A rig at an instant of the past.

use bevy::{
    math::{
        Vec3A,
        bounding::{BoundingSphere, BoundingVolume},
    },
    prelude::*,
};

use super::{Beam, HistoryBuffer, RecordedHitbox, sieve::Sieve};
use crate::{
    hitbox::{DisplayParameters, LifeNumber, Zone},
    pose::{interpolate, interpolate_place},
    shape::Shape,
    time::{Tick, ViewTime},
};

/// A rig as it stood at a [`ViewTime`]: the blend of two records of one segment, or one record itself.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    history: &'a HistoryBuffer,
    blend: Blend,
    /// The same for the place of the rig itself.
    root: Blend,
    /// The same for the parameters of a rig that is posed by a rule.
    parameters: Blend,
}

/// Two records, and how they are blended.
#[derive(Clone, Copy, Debug)]
struct Blend {
    /// Slots of the records around the instant; the same one twice if nothing is blended.
    older: usize,
    newer: usize,
    /// The way from the older to the newer one, in `0.0..=1.0`.
    t: f32,
}

/// A hitbox at an instant of the past, in the world.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct RewoundHitbox {
    /// The entity that had the [`Hitbox`](crate::Hitbox); it may be gone by now.
    pub entity: Entity,
    /// Which part of the body it was.
    pub zone: Zone,
    /// Its shape, with the scale of then.
    pub shape: Shape,
    /// Where it stood.
    pub pose: Isometry3d,
}

#[cfg(test)]
std::thread_local! {
    /// How often this thread has looked up a rig.
    pub(crate) static SAMPLES: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

impl HistoryBuffer {
    /// The rig at `view`, or `None` if that lies before the oldest or after the newest record: nothing is extrapolated.
    ///
    /// At the instant of a record this is that record. In between, the rig's own pose is blended by [`interpolate`], and so are
    /// the poses of its hitboxes relative to it, as a client shows a figure that hangs on an interpolated root; also across
    /// ticks that were not recorded. Zones and shapes are those of the earlier record until the instant of the later one.
    /// Where a new segment begins with the later record, poses are those of the earlier one, too.
    ///
    /// A rig with a [`DisplayRule`](crate::DisplayRule) is posed anew from the blend of its parameters.
    ///
    /// Costs a look-up in constant time (logarithmic if ticks are missing).
    pub fn sample(&self, view: ViewTime) -> Option<Sample<'_>> {
        #[cfg(test)]
        SAMPLES.set(SAMPLES.get() + 1);
        let newest = self.newest()?;
        if view.is_after(newest) {
            return None;
        }
        let age = self.ring.age_at_or_before(view.tick)?;
        let start = self.ring.tick(age);
        if view == ViewTime::at(start) {
            return Some(self.held(self.ring.slot(age)));
        }
        // Not after the newest record, and not at this one: there is a later one.
        Some(self.blended(self.blend((age, start), (age - 1, self.ring.tick(age - 1)), view)))
    }

    /// The rig as a client shows it at `view` that has received the states of two ticks, and blends them; `None` if one of
    /// them is not remembered, or the rig was not there. Without an `end`, the state of `start` is held.
    ///
    /// The states of two segments are not blended, nor are two of which the second is not the later one.
    pub fn sample_between(&self, start: Tick, end: Option<Tick>, view: ViewTime) -> Option<Sample<'_>> {
        Some(self.blended(self.blend_between(start, end, view)?))
    }

    /// The same for a client that has used the places of other ticks instead, and has blended the parameters of the rig between
    /// others still.
    pub(crate) fn sample_displayed(
        &self,
        pose: (Tick, Option<Tick>),
        places: (Tick, Option<Tick>),
        parameters: (Tick, Option<Tick>),
        view: ViewTime,
    ) -> Option<Sample<'_>> {
        let blend = self.blend_between(pose.0, pose.1, view)?;
        let parameters = self.blend_between(parameters.0, parameters.1, view)?;
        // A rig that had no rule yet has no parameters either.
        let is_ruled = |slot: usize| self.layout(slot).posing.is_some();
        if is_ruled(blend.older) && !(is_ruled(parameters.older) && is_ruled(parameters.newer)) {
            return None;
        }
        let root = if places == pose {
            blend
        } else {
            let older = self.ring.slot(self.age_of(places.0)?);
            let newer = match places.1 {
                // What is not blended is held.
                Some(end) if blend.older != blend.newer => self.ring.slot(self.age_of(end)?),
                _ => older,
            };
            Blend { older, newer, ..blend }
        };
        Some(Sample { history: self, blend, root, parameters })
    }

    /// The age of the record of this very tick.
    fn age_of(&self, tick: Tick) -> Option<usize> {
        let age = self.ring.age_at_or_before(tick)?;
        (self.ring.tick(age) == tick).then_some(age)
    }

    fn held(&self, slot: usize) -> Sample<'_> {
        self.blended(Blend::held(slot))
    }

    fn blended(&self, blend: Blend) -> Sample<'_> {
        Sample { history: self, blend, root: blend, parameters: blend }
    }

    fn blend_between(&self, start: Tick, end: Option<Tick>, view: ViewTime) -> Option<Blend> {
        let recorded = |tick| Some((self.age_of(tick)?, tick));
        let older = recorded(start)?;
        match end {
            None => Some(Blend::held(self.ring.slot(older.0))),
            Some(end) => Some(self.blend(older, recorded(end)?, view)),
        }
    }

    /// The blend of two records, each with its age and tick, unless they must not be blended.
    fn blend(&self, (older, start): (usize, Tick), (newer, end): (usize, Tick), view: ViewTime) -> Blend {
        let (older, newer) = (self.ring.slot(older), self.ring.slot(newer));
        let span = end.since(start);
        if span <= 0 || self.layout(older).state.segment != self.layout(newer).state.segment {
            return Blend::held(older);
        }
        let t = (view.tick.since(start) as f32 + view.fraction_f32()) / span as f32;
        Blend { older, newer, t: t.clamp(0.0, 1.0) }
    }
}

impl Blend {
    fn held(slot: usize) -> Self {
        Self { older: slot, newer: slot, t: 0.0 }
    }
}

impl<'a> Sample<'a> {
    /// Where the rig's own entity stood.
    pub fn root(&self) -> Isometry3d {
        let Blend { older, newer, t } = self.root;
        interpolate(self.history.root(older), self.history.root(newer), t)
    }

    /// The numbers by which a [`DisplayRule`](crate::DisplayRule) posed the rig, if it had one.
    pub fn parameters(&self) -> Option<DisplayParameters> {
        let Blend { older, newer, t } = self.parameters;
        let of = |slot: usize| {
            let parameters = self.history.parameters.get(slot).copied();
            parameters.filter(|_| self.history.layout(slot).posing.is_some())
        };
        Some(DisplayParameters::interpolate(of(older)?, of(newer)?, t))
    }

    /// Which of its lives the rig was in.
    pub fn life(&self) -> LifeNumber {
        self.history.layout(self.blend.older).state.life
    }

    /// The segment of the rig's records that the pose is of.
    pub(crate) fn segment(&self) -> u32 {
        self.history.layout(self.blend.older).state.segment
    }

    /// Whether the rig was alive.
    pub fn is_alive(&self) -> bool {
        self.history.layout(self.blend.older).state.alive
    }

    /// A ball that holds all hitboxes.
    pub fn bounds(&self) -> BoundingSphere {
        let relative = self.relative_bounds();
        BoundingSphere::new(self.root() * relative.center, relative.radius())
    }

    /// A larger ball, around the rig's own entity, that is found without its rotation, and so several times faster.
    pub(crate) fn rough_bounds(&self) -> BoundingSphere {
        let place = |slot: usize| Vec3A::from(self.history.records[slot].root.0);
        let relative = self.relative_bounds();
        let place = place(self.root.older).lerp(place(self.root.newer), self.root.t);
        BoundingSphere::new(place, relative.center.length() + relative.radius())
    }

    /// A ball that holds all hitboxes, in the space of the rig.
    fn relative_bounds(&self) -> BoundingSphere {
        let Blend { older, newer, .. } = self.blend;
        let records = &self.history.records;
        let layout = self.history.layout(older);
        let (radius, newer_radius) = (records[older].radius, records[newer].radius);
        if records[older].layout == records[newer].layout {
            return BoundingSphere::new(layout.center, radius.max(newer_radius));
        }
        // Until the newer record, hitboxes keep their older shapes, and one that only the older record has stays where it is.
        let hittable = layout.hitboxes.iter().filter(|hitbox| hitbox.hittable);
        let largest = hittable.map(|hitbox| hitbox.shape.bounding_radius()).fold(0.0, f32::max);
        let newer_ball = BoundingSphere::new(self.history.layout(newer).center, newer_radius + largest);
        BoundingSphere::new(layout.center, radius).merge(&newer_ball)
    }

    /// Every hitbox that the rig had and that could be hit, in the order of its hierarchy.
    pub fn hitboxes(&self) -> impl Iterator<Item = RewoundHitbox> + 'a {
        self.hitboxes_near(None, |_| true)
    }

    /// The same, without those whose balls are not near. If that needs to be asked only of those that a beam meets, most of them
    /// take next to no time.
    pub(crate) fn hitboxes_near<'f>(
        self,
        beam: Option<Beam>,
        is_near: impl Fn(BoundingSphere) -> bool + 'f,
    ) -> impl Iterator<Item = RewoundHitbox> + 'f
    where
        'a: 'f,
    {
        let Self { history, blend: Blend { older, newer, t }, .. } = self;
        let root = self.root();
        let (layout, next_layout) = (history.layout(older), history.layout(newer));
        let posed = layout.posing.as_deref().zip(self.parameters());
        // None are kept of a rig that is posed by a rule.
        let poses = posed.is_none().then(|| [history.poses(older), history.poses(newer)]);
        let is_same = history.records[older].layout == history.records[newer].layout;
        let sieve = beam.zip(poses).filter(|_| is_same).and_then(|(beam, [from, to])| {
            Sieve::new(beam, root, [from.places()?, to.places()?], t, layout.radii.as_deref()?)
        });
        let all = if sieve.is_none() { 0..layout.hitboxes.len() } else { 0..0 };
        let next_of = move |index: usize, hitbox: &RecordedHitbox| {
            let next = if is_same { Some(index) } else { next_layout.index_of(hitbox.entity, index) };
            next.filter(|next| older != newer && !next_layout.hitboxes[*next].is_fresh)
        };
        let indices = sieve.into_iter().flat_map(Sieve::indices).chain(all);
        let hitboxes = indices.map(|index| (index, &layout.hitboxes[index])).filter(|(_, hitbox)| hitbox.hittable);
        hitboxes.filter_map(move |(index, hitbox)| {
            let is_near = |place: Vec3A| is_near(BoundingSphere::new(root * place, hitbox.shape.bounding_radius()));
            let pose = match (&poses, &posed) {
                (Some([from, to]), _) => {
                    let next = next_of(index, hitbox);
                    // A hitbox that is not blended stays where it is.
                    let (to, next, t) = next.map_or((from, index, 0.0), |next| (to, next, t));
                    if !is_near(interpolate_place(from.place(index), to.place(next), t)) {
                        return None;
                    }
                    interpolate(from.read(index), to.read(next), t)
                }
                (None, Some((posing, parameters))) => {
                    Some(posing.pose(parameters, index)).filter(|pose| is_near(pose.translation))?
                }
                (None, None) => return None,
            };
            Some(RewoundHitbox { entity: hitbox.entity, zone: hitbox.zone, shape: hitbox.shape, pose: root * pose })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::{
            Lineage, RecordedHitbox,
            write::{RigRecord, tests::RETENTION},
        },
        hitbox::Life,
    };

    fn hitbox(index: u32, radius: f32) -> RecordedHitbox {
        let entity = Entity::from_raw_u32(index).unwrap();
        RecordedHitbox { entity, zone: Zone::Torso, shape: Shape::Ball { radius }, hittable: true, is_fresh: false }
    }

    /// Records balls with these numbers, radii and places along X.
    fn record(history: &mut HistoryBuffer, tick: u32, balls: &[(u32, f32, f32)]) {
        let hitboxes: Vec<_> = balls.iter().map(|(index, radius, _)| hitbox(*index, *radius)).collect();
        let poses: Vec<_> = balls.iter().map(|(_, _, x)| Isometry3d::from_xyz(*x, 0.0, 0.0)).collect();
        let rig = RigRecord {
            root: poses[0],
            lineage: Lineage::NONE,
            life: Life::default(),
            hittable: true,
            hitboxes: &hitboxes,
            poses: &poses,
            posing: None,
        };
        history.record(Tick(tick), &rig, RETENTION);
    }

    fn xs(history: &HistoryBuffer, view: ViewTime) -> Option<Vec<f32>> {
        Some(history.sample(view)?.hitboxes().map(|hitbox| hitbox.pose.translation.x).collect())
    }

    #[test]
    fn nothing_is_extrapolated_beyond_either_end() {
        let mut history = HistoryBuffer::default();
        assert!(history.sample(ViewTime::at(Tick(0))).is_none());
        for tick in 90..=100 {
            record(&mut history, tick, &[(1, 0.5, tick as f32)]);
        }
        assert_eq!(xs(&history, ViewTime::new(Tick(89), u16::MAX)), None);
        assert_eq!(xs(&history, ViewTime::at(Tick(90))), Some(vec![90.0]));
        assert_eq!(xs(&history, ViewTime::new(Tick(99), 0x4000)), Some(vec![99.25]));
        assert_eq!(xs(&history, ViewTime::at(Tick(100))), Some(vec![100.0]));
        assert_eq!(xs(&history, ViewTime::new(Tick(100), 1)), None);
    }

    #[test]
    fn missing_ticks_are_interpolated_across() {
        let mut history = HistoryBuffer::default();
        for tick in [90, 94] {
            record(&mut history, tick, &[(1, 0.5, tick as f32)]);
        }
        assert_eq!(xs(&history, ViewTime::new(Tick(91), 0x8000)), Some(vec![91.5]));
    }

    #[test]
    fn a_new_segment_is_not_blended_with_the_old_one() {
        let mut history = HistoryBuffer::default();
        record(&mut history, 99, &[(1, 0.5, 0.0)]);
        history.begin_segment();
        record(&mut history, 100, &[(1, 0.5, 40.0)]);
        record(&mut history, 101, &[(1, 0.5, 42.0)]);
        assert_eq!(xs(&history, ViewTime::new(Tick(99), u16::MAX)), Some(vec![0.0]));
        assert_eq!(xs(&history, ViewTime::at(Tick(100))), Some(vec![40.0]));
        assert_eq!(xs(&history, ViewTime::new(Tick(100), 0x8000)), Some(vec![41.0]));
    }

    #[test]
    fn sizes_hold_until_the_tick_in_which_they_change() {
        let mut history = HistoryBuffer::default();
        for (tick, radius) in [(94, 0.9), (95, 0.9), (96, 0.4)] {
            record(&mut history, tick, &[(1, radius, tick as f32)]);
        }
        let sample = history.sample(ViewTime::new(Tick(95), 0x8000)).unwrap();
        let hitbox = sample.hitboxes().next().unwrap();
        assert_eq!(hitbox.shape, Shape::Ball { radius: 0.9 });
        assert_eq!(hitbox.pose.translation.x, 95.5);
    }

    #[test]
    fn hitboxes_are_matched_by_entity_when_their_order_changes() {
        let mut history = HistoryBuffer::default();
        record(&mut history, 0, &[(1, 0.5, 0.0), (2, 0.5, 10.0)]);
        record(&mut history, 1, &[(2, 0.5, 12.0), (3, 0.5, 30.0)]);
        let sample = history.sample(ViewTime::new(Tick(0), 0x8000)).unwrap();
        // The first hitbox goes along with the root, from 0 to 12.
        assert_eq!(xs(&history, ViewTime::new(Tick(0), 0x8000)), Some(vec![6.0, 11.0]));
        for hitbox in sample.hitboxes() {
            let bounds = sample.bounds();
            assert!(hitbox.pose.translation.distance(bounds.center) + 0.5 <= bounds.radius());
        }
    }

    /// Blending the places of hitboxes in the world would pull a turning figure together.
    #[test]
    fn a_figure_that_turns_is_rigid_between_two_ticks() {
        let mut history = HistoryBuffer::default();
        let hand = Isometry3d::from_xyz(0.6, 1.0, 0.0);
        for (tick, angle) in [(0, 0.0), (1, 0.6)] {
            let root = Isometry3d::from_rotation(Quat::from_rotation_y(angle));
            let (hitboxes, poses) = ([hitbox(1, 0.1)], [root * hand]);
            let rig = RigRecord {
                root,
                lineage: Lineage::NONE,
                life: Life::default(),
                hittable: true,
                hitboxes: &hitboxes,
                poses: &poses,
                posing: None,
            };
            history.record(Tick(tick), &rig, RETENTION);
        }
        let half = history.sample(ViewTime::new(Tick(0), 0x8000)).unwrap().hitboxes().next().unwrap();
        let expected = Isometry3d::from_rotation(Quat::from_rotation_y(0.3)) * hand;
        assert!(half.pose.translation.distance(expected.translation) < 1e-6, "{half:?}");
    }
}
