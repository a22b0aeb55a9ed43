//! A rig at an instant of the past.

use bevy::{
    math::{
        Vec3A,
        bounding::{BoundingSphere, BoundingVolume},
    },
    prelude::*,
};

use super::{Beam, HistoryBuffer, RecordedHitbox, SpotAt, layout::Layout, poses::Poses, posing::Posing, sieve::Sieve};
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

/// A [`Sample`] with its root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedSample<'a> {
    sample: Sample<'a>,
    root: Isometry3d,
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

    /// The rig where a look into a list has told that it was.
    pub(crate) fn sample_at(&self, spot: SpotAt) -> Sample<'_> {
        #[cfg(test)]
        SAMPLES.set(SAMPLES.get() + 1);
        // Both are of one layout, and so of one segment.
        let (older, newer, t) = spot.blend();
        self.blended(Blend { older, newer, t })
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
        if span <= 0 || self.layout(older).head.state.segment != self.layout(newer).head.state.segment {
            return Blend::held(older);
        }
        Blend { older, newer, t: view.part_between(start, end) }
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
        self.history.layout(self.blend.older).head.state.life
    }

    /// The segment of the rig's records that the pose is of.
    pub(crate) fn segment(&self) -> u32 {
        self.history.layout(self.blend.older).head.state.segment
    }

    /// Whether the rig was alive.
    pub fn is_alive(&self) -> bool {
        self.history.layout(self.blend.older).head.state.alive
    }

    /// A ball that holds all hitboxes.
    pub fn bounds(&self) -> BoundingSphere {
        self.posed().bounds()
    }

    /// The same with its root, which takes a while to find.
    pub(crate) fn posed(self) -> PosedSample<'a> {
        self.posed_at(self.root())
    }

    /// The same, if the root has been found already.
    pub(crate) fn posed_at(self, root: Isometry3d) -> PosedSample<'a> {
        PosedSample { sample: self, root }
    }

    /// A larger ball, around the rig's own entity, that is found without its rotation, and so several times faster.
    #[inline]
    pub(crate) fn rough_bounds(&self) -> BoundingSphere {
        let place = |slot: usize| Vec3A::from(self.history.records[slot].root.0);
        let relative = self.relative_bounds();
        let place = place(self.root.older).lerp(place(self.root.newer), self.root.t);
        BoundingSphere::new(place, relative.center.length() + relative.radius())
    }

    /// A ball that holds all hitboxes, in the space of the rig.
    #[inline]
    fn relative_bounds(&self) -> BoundingSphere {
        let Blend { older, newer, .. } = self.blend;
        let records = &self.history.records;
        let layout = self.history.layout(older);
        let (radius, newer_radius) = (records[older].radius, records[newer].radius);
        if records[older].layout == records[newer].layout {
            return BoundingSphere::new(layout.head.center, radius.max(newer_radius));
        }
        // Until the newer record, hitboxes keep their older shapes, and one that only the older record has stays where it is.
        let hittable = layout.hitboxes.iter().filter(|hitbox| hitbox.hittable);
        let largest = hittable.map(|hitbox| hitbox.shape.bounding_radius()).fold(0.0, f32::max);
        let newer_ball = BoundingSphere::new(self.history.layout(newer).head.center, newer_radius + largest);
        BoundingSphere::new(layout.head.center, radius).merge(&newer_ball)
    }

    /// Every hitbox that the rig had and that could be hit, in the order of its hierarchy.
    pub fn hitboxes(&self) -> impl Iterator<Item = RewoundHitbox> + 'a {
        let hitboxes = self.posed().hitboxes();
        (0..hitboxes.layout.hitboxes.len()).filter_map(move |index| hitboxes.get(index, |_| true))
    }
}

impl<'a> PosedSample<'a> {
    /// Where the rig's own entity stood.
    pub(crate) fn root(&self) -> Isometry3d {
        self.root
    }

    /// A ball that holds all hitboxes.
    pub(crate) fn bounds(&self) -> BoundingSphere {
        let relative = self.sample.relative_bounds();
        BoundingSphere::new(self.root * relative.center, relative.radius())
    }

    /// Shows the hitboxes whose balls are near. That need be asked only of those that the beam meets, and so most of them take next to
    /// no time.
    pub(crate) fn visit_near(
        &self,
        beam: Beam,
        is_near: impl Fn(BoundingSphere) -> bool,
        mut visit: impl FnMut(RewoundHitbox),
    ) {
        let hitboxes = self.hitboxes();
        let mut show = |index: usize| {
            if let Some(hitbox) = hitboxes.get(index, &is_near) {
                visit(hitbox);
            }
        };
        match hitboxes.sieve(beam) {
            Some(sieve) => sieve.visit(show),
            None => (0..hitboxes.layout.hitboxes.len()).for_each(&mut show),
        }
    }

    fn hitboxes(&self) -> Hitboxes<'a> {
        let Self { sample: Sample { history, blend, .. }, root } = *self;
        let layout = history.layout(blend.older);
        let posed = layout.posing.as_deref().zip(self.sample.parameters());
        Hitboxes {
            root,
            t: blend.t,
            layout,
            next_layout: history.layout(blend.newer),
            is_same: history.records[blend.older].layout == history.records[blend.newer].layout,
            is_blended: blend.older != blend.newer,
            // None are kept of a rig that is posed by a rule.
            poses: posed.is_none().then(|| [history.poses(blend.older), history.poses(blend.newer)]),
            posed,
        }
    }
}

/// All that must be known to pose hitboxes.
struct Hitboxes<'a> {
    root: Isometry3d,
    t: f32,
    layout: &'a Layout,
    next_layout: &'a Layout,
    is_same: bool,
    is_blended: bool,
    poses: Option<[Poses<'a>; 2]>,
    posed: Option<(&'a Posing, DisplayParameters)>,
}

impl Hitboxes<'_> {
    fn sieve(&self, beam: Beam) -> Option<Sieve<'_>> {
        let [from, to] = self.poses.as_ref().filter(|_| self.is_same)?;
        Sieve::new(beam, self.root, [from.places()?, to.places()?], self.t, self.layout.radii.as_deref()?)
    }

    /// A hitbox, if it could be hit and its ball is near.
    fn get(&self, index: usize, is_near: impl Fn(BoundingSphere) -> bool) -> Option<RewoundHitbox> {
        let hitbox = Some(&self.layout.hitboxes[index]).filter(|hitbox| hitbox.hittable)?;
        let is_near = |place: Vec3A| is_near(BoundingSphere::new(self.root * place, hitbox.shape.bounding_radius()));
        let pose = if let Some([from, to]) = &self.poses {
            // A hitbox that is not blended stays where it is.
            let (to, next, t) = self.next_of(index, hitbox).map_or((from, index, 0.0), |next| (to, next, self.t));
            if !is_near(interpolate_place(from.place(index), to.place(next), t)) {
                return None;
            }
            interpolate(from.read(index), to.read(next), t)
        } else {
            let (posing, parameters) = self.posed.as_ref()?;
            Some(posing.pose(parameters, index)).filter(|pose| is_near(pose.translation))?
        };
        Some(RewoundHitbox { entity: hitbox.entity, zone: hitbox.zone, shape: hitbox.shape, pose: self.root * pose })
    }

    /// The index of a hitbox in the newer record, if it is blended.
    fn next_of(&self, index: usize, hitbox: &RecordedHitbox) -> Option<usize> {
        let next = if self.is_same { Some(index) } else { self.next_layout.index_of(hitbox.entity, index) };
        next.filter(|next| self.is_blended && !self.next_layout.hitboxes[*next].is_fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::{
            Lineage, RecordedHitbox,
            pose_list::PoseList,
            write::{
                RigRecord,
                tests::{RETENTION, reaches},
            },
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
            hitboxes: Some(&hitboxes),
            poses: &PoseList::of(poses[0], &poses),
            reaches: &reaches(&hitboxes),
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
                hitboxes: Some(&hitboxes),
                poses: &PoseList::of(root, &poses),
                reaches: &reaches(&hitboxes),
                posing: None,
            };
            history.record(Tick(tick), &rig, RETENTION);
        }
        let half = history.sample(ViewTime::new(Tick(0), 0x8000)).unwrap().hitboxes().next().unwrap();
        let expected = Isometry3d::from_rotation(Quat::from_rotation_y(0.3)) * hand;
        assert!(half.pose.translation.distance(expected.translation) < 1e-6, "{half:?}");
    }
}
