//! Writing records.

use bevy::prelude::*;

use super::{
    HistoryBuffer, Latest, PoseStorage, Record, SpeedLimit,
    layout::{RecordedHitbox, RigState},
    lineage::Lineage,
    pose_list::PoseList,
    poses::{Frame, PoseStore},
    posing::Posing,
    ring::TickRing,
};
use crate::{
    hitbox::{DisplayParameters, Life},
    time::Tick,
};

/// A rig in one tick.
pub(super) struct RigRecord<'a> {
    pub(super) root: Isometry3d,
    pub(super) lineage: Lineage,
    pub(super) life: Life,
    pub(super) hittable: bool,
    /// Only those whose numbers are sound; `None` if they are those of the last record.
    pub(super) hitboxes: Option<&'a [RecordedHitbox]>,
    /// Relative to the root.
    pub(super) poses: &'a PoseList,
    /// How far each hitbox reaches from its middle, [filled up](super::pose_list::fill_up).
    pub(super) reaches: &'a [f32],
    /// The rule by which they are posed, if any, and what it needs; then their poses are not kept.
    pub(super) posing: Option<(&'a Posing, DisplayParameters)>,
}

/// How records are kept.
#[derive(Clone, Copy)]
pub(super) struct Retention {
    /// The most records: one for each tick of the window, both of its ends included.
    pub(super) capacity: usize,
    pub(super) storage: PoseStorage,
    pub(super) speed_limit: SpeedLimit,
}

impl HistoryBuffer {
    /// Writes the record of `tick`. A second record for the same tick replaces the first; a tick that is not after the newest
    /// one means that the clock was set back, and forgets all that was.
    pub(super) fn record(&mut self, tick: Tick, rig: &RigRecord, retention: Retention) {
        // If there is a rule, it tells the poses.
        let poses = Some(rig.poses).filter(|_| rig.posing.is_none());
        self.reserve(retention, poses.map_or(0, PoseList::len));
        let state = self.next_state(tick, rig, retention.speed_limit);
        let slot = self.ring.push(tick);
        let posing = rig.posing.map(|(posing, _)| posing);
        let center = || poses.map_or(Vec3::ZERO, PoseList::center);
        let number = match rig.hitboxes {
            Some(hitboxes) => {
                self.layouts.number_of(state, hitboxes, posing, center, retention.storage == PoseStorage::Full)
            }
            None => self.layouts.repeated(state, center),
        };
        let center = self.layouts.head(number).center;
        let radius = posing.map_or_else(|| rig.poses.radius(center, rig.reaches), Posing::reach);
        self.widest = self.widest.max(radius);
        let (translation, rotation) = (rig.root.translation.into(), rig.root.rotation.to_array());
        self.records[slot] = Record { root: (translation, rotation), radius, layout: number };
        if let Some((_, parameters)) = rig.posing {
            self.parameters.resize(self.ring.capacity(), DisplayParameters::default());
            self.parameters[slot] = parameters;
        }
        if let Some(poses) = poses {
            self.poses.write(slot, poses, Frame { center, radius });
        }
        self.forget_layouts();
    }

    /// Ends the history: from `tick` on, or from the one after if `tick` has been recorded already, there is nothing to hit.
    pub(super) fn end(&mut self, tick: Tick) {
        let Some(newest) = self.newest() else { return };
        let tick = if tick == newest { tick + 1 } else { tick };
        if tick.since(newest) > 0 {
            let slot = self.ring.push(tick);
            let state = self.latest.take().map(|latest| latest.state).unwrap_or_default();
            let gone = RigState { segment: state.segment.wrapping_add(1), alive: false, ..state };
            self.records[slot] =
                Record { layout: self.layouts.number_of(gone, &[], None, Vec3::default, false), ..default() };
            self.forget_layouts();
        }
    }

    fn forget_layouts(&mut self) {
        if !self.layouts.is_single() {
            let oldest = self.ring.slot(self.len() - 1);
            self.layouts.forget_before(self.records[oldest].layout);
        }
    }

    /// The state of a rig in its next record: the segment of the last one or a new one.
    fn next_state(&mut self, tick: Tick, rig: &RigRecord, speed_limit: SpeedLimit) -> RigState {
        let place = Vec3::from(rig.root.translation);
        let mut state = RigState { segment: 0, life: rig.life.number(), alive: rig.life.is_alive() };
        if let (Some(latest), Some(newest)) = (self.latest, self.newest()) {
            let goes_on = !self.segment_ends
                && latest.lineage == rig.lineage
                && latest.hittable == rig.hittable
                && latest.ruled == rig.posing.is_some()
                && (latest.state.life, latest.state.alive) == (state.life, state.alive)
                && speed_limit.allows(latest.place, place, tick.since(newest));
            state.segment = latest.state.segment.wrapping_add(u32::from(!goes_on));
        }
        self.segment_ends = false;
        let ruled = rig.posing.is_some();
        self.latest = Some(Latest { state, lineage: rig.lineage, hittable: rig.hittable, ruled, place });
        state
    }

    /// Room for as many records of as many poses; keeps what has been recorded as far as it fits.
    fn reserve(&mut self, retention: Retention, poses: usize) {
        let Retention { capacity, storage, .. } = retention;
        if self.ring.capacity() == capacity && self.poses.storage() == storage && poses <= self.poses.stride() {
            return;
        }
        let stride = self.poses.stride().max(poses);
        let old_poses = core::mem::replace(&mut self.poses, PoseStore::new(storage, capacity, stride));
        if self.ring.capacity() == capacity {
            // The index of all rigs knows records by their slots, and so they stay there.
            for age in 0..self.ring.len() {
                let slot = self.ring.slot(age);
                let frame = self.frame(slot);
                self.poses.copy(slot, &old_poses, slot, frame);
            }
            return;
        }
        let old_ring = core::mem::replace(&mut self.ring, TickRing::with_capacity(capacity));
        let old_records = core::mem::replace(&mut self.records, vec![Record::default(); capacity]);
        let parameters = if self.parameters.is_empty() { 0 } else { capacity };
        let old_parameters = core::mem::replace(&mut self.parameters, vec![DisplayParameters::default(); parameters]);
        for age in (0..old_ring.len()).rev() {
            let from = old_ring.slot(age);
            let to = self.ring.push(old_ring.tick(age));
            self.records[to] = old_records[from];
            if let Some(parameters) = old_parameters.get(from) {
                self.parameters[to] = *parameters;
            }
            let frame = self.frame(to);
            self.poses.copy(to, &old_poses, from, frame);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Shape, Zone, history::pose_list::fill_up, time::ViewTime};

    /// How far hitboxes reach.
    pub(crate) fn reaches(hitboxes: &[RecordedHitbox]) -> Vec<f32> {
        let mut reaches = hitboxes.iter().map(|hitbox| hitbox.shape.bounding_radius()).collect();
        fill_up(&mut reaches);
        reaches
    }

    pub(crate) const RETENTION: Retention =
        Retention { capacity: 12, storage: PoseStorage::Full, speed_limit: SpeedLimit::NONE };

    fn hitbox(index: u32) -> RecordedHitbox {
        let entity = Entity::from_raw_u32(index).unwrap();
        RecordedHitbox {
            entity,
            zone: Zone::Torso,
            shape: Shape::Ball { radius: 0.5 },
            hittable: true,
            is_fresh: false,
        }
    }

    fn at(x: f32) -> Isometry3d {
        Isometry3d::from_translation(Vec3::X * x)
    }

    fn record(history: &mut HistoryBuffer, tick: Tick, capacity: usize, xs: &[f32]) {
        let poses: Vec<_> = xs.iter().map(|x| at(*x)).collect();
        let hitboxes: Vec<_> = (1..=xs.len() as u32).map(hitbox).collect();
        let (hitboxes, poses) = (&hitboxes[..], &poses[..]);
        let rig = RigRecord {
            root: poses[0],
            lineage: Lineage::NONE,
            life: Life::default(),
            hittable: true,
            hitboxes: Some(hitboxes),
            poses: &PoseList::of(poses[0], poses),
            reaches: &reaches(hitboxes),
            posing: None,
        };
        history.record(tick, &rig, Retention { capacity, ..RETENTION });
    }

    fn x_at(history: &HistoryBuffer, view: ViewTime) -> Option<f32> {
        Some(history.sample(view)?.hitboxes().next()?.pose.translation.x)
    }

    /// B16: a capacity that is no power of two, with ticks that wrap.
    #[test]
    fn b16_samples_are_right_across_the_tick_wrap() {
        let mut history = HistoryBuffer::default();
        for k in 0..12 {
            record(&mut history, Tick(u32::MAX - 5) + k, 12, &[0.125 * k as f32]);
        }
        assert_eq!(x_at(&history, ViewTime::before(Tick(2), 4.0)), Some(0.5));
        assert_eq!(x_at(&history, ViewTime::before(Tick(1), 2.5)), Some(0.5625));
    }

    #[test]
    fn the_oldest_record_makes_room() {
        let mut history = HistoryBuffer::default();
        for tick in 0..200 {
            record(&mut history, Tick(tick), 65, &[tick as f32]);
        }
        assert_eq!((history.len(), history.oldest(), history.newest()), (65, Some(Tick(135)), Some(Tick(199))));
    }

    #[test]
    fn growing_keeps_what_was_recorded() {
        let mut history = HistoryBuffer::default();
        for tick in 0..10 {
            record(&mut history, Tick(tick), 8, &[tick as f32]);
        }
        record(&mut history, Tick(10), 16, &[10.0, 20.0]);
        assert_eq!((history.oldest(), history.len()), (Some(Tick(2)), 9));
        for tick in 2..=10 {
            assert_eq!(x_at(&history, ViewTime::at(Tick(tick))), Some(tick as f32));
        }
    }

    #[test]
    fn a_clock_set_back_forgets_the_future() {
        let mut history = HistoryBuffer::default();
        for tick in [10, 11, 12, 5] {
            record(&mut history, Tick(tick), 8, &[tick as f32]);
        }
        assert_eq!((history.oldest(), history.newest()), (Some(Tick(5)), Some(Tick(5))));
    }

    #[test]
    fn bounds_hold_all_hitboxes_in_any_rotation() {
        let mut history = HistoryBuffer::default();
        record(&mut history, Tick(0), 4, &[1.0, 4.0]);
        let bounds = history.sample(ViewTime::at(Tick(0))).unwrap().bounds();
        assert_eq!((Vec3::from(bounds.center), bounds.radius()), (Vec3::X * 2.5, 2.0));
    }

    #[test]
    fn an_ended_history_holds_until_its_end_and_has_nothing_after() {
        let mut history = HistoryBuffer::default();
        record(&mut history, Tick(96), 8, &[1.0]);
        record(&mut history, Tick(97), 8, &[2.0]);
        history.end(Tick(98));
        assert_eq!(x_at(&history, ViewTime::new(Tick(97), u16::MAX)), Some(2.0));
        assert_eq!(x_at(&history, ViewTime::at(Tick(98))), None);
    }
}
