//! The past: one record of each rig for each tick, and how it is looked up.

mod layout;
mod lineage;
#[cfg(test)]
mod model;
mod poses;
mod record;
mod ring;
mod sample;
mod segment;
mod tombstone;

use bevy::prelude::*;

use crate::{hitbox::Life, shape::Shape, time::Tick};
use layout::{Layout, LayoutTable, RigState};
use poses::{Frame, PoseStore};

pub(crate) use layout::RecordedHitbox;
pub(crate) use lineage::Lineage;
pub use poses::PoseStorage;
pub(crate) use record::{Hierarchy, record_history};
pub(crate) use ring::TickRing;
pub use sample::{RewoundHitbox, Sample};
pub use segment::BeginSegment;
pub(crate) use segment::{SpeedLimit, begin_segment};
pub(crate) use tombstone::{Tombstones, bury_rig, forget_tombstones};

/// The last second of a [`Rig`](crate::Rig): where its hitboxes stood after each tick, and what they were.
///
/// The plugin writes one record in each fixed step, after movement, physics and animation, from the `Transform`s as they are
/// at that moment. When the buffer is full, the oldest record makes room. Its length in time is
/// [`LagCompensationConfig::history`](crate::LagCompensationConfig::history), and how exactly it remembers is
/// [`LagCompensationConfig::storage`](crate::LagCompensationConfig::storage). Nothing is allocated once the buffer is full and
/// the set of hitboxes is stable.
///
/// # Segments
///
/// A record is blended with the next one only if both are of one segment. A new segment begins with
///
/// * the first record, so that nothing comes flying in from nowhere;
/// * a [`BeginSegment`] event on it or above it, which a game triggers when it moves something at once (teleport, respawn
///   point, vehicle seat);
/// * another [`Life`], or its end;
/// * another parent, or another one above that; a hitbox with another parent begins a segment of its own;
/// * a rig that becomes [`Unhittable`](crate::Unhittable), or no longer is;
/// * a step faster than [`LagCompensationConfig::max_speed`](crate::LagCompensationConfig::max_speed).
///
/// Until the first tick of the new segment, the rig stays where the old one ended.
#[derive(Component, Debug, Default)]
pub struct HistoryBuffer {
    ring: TickRing,
    /// One for each slot of the ring.
    records: Vec<Record>,
    /// `stride` poses for each slot of the ring, relative to the root.
    poses: PoseStore,
    stride: usize,
    layouts: LayoutTable,
    latest: Option<Latest>,
    segment_ends: bool,
    /// The newest lineage of each hitbox below the rig, to find those with another parent.
    hitbox_lineages: Vec<(Entity, Lineage)>,
}

/// What a record says of the whole rig.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Where the rig's own entity stands: translation, and rotation without the padding of a `Quat`.
    root: (Vec3, [f32; 4]),
    /// All hitboxes, in any rotation of theirs, lie within this distance of the layout's centre.
    radius: f32,
    /// The number of the layout that the poses follow.
    layout: u32,
}

/// What the newest record is compared with to find the end of a segment.
#[derive(Clone, Copy, Debug)]
struct Latest {
    state: RigState,
    lineage: Lineage,
    hittable: bool,
    place: Vec3,
}

/// A rig in one tick.
struct RigRecord<'a> {
    root: Isometry3d,
    lineage: Lineage,
    life: Life,
    hittable: bool,
    hitboxes: &'a [RecordedHitbox],
    poses: &'a [Isometry3d],
}

/// How records are kept.
#[derive(Clone, Copy)]
struct Retention {
    /// The most records, and one more than the most ticks between the oldest and the newest of them.
    capacity: usize,
    storage: PoseStorage,
    speed_limit: SpeedLimit,
}

impl HistoryBuffer {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether nothing has been recorded yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first tick that is still remembered.
    pub fn oldest(&self) -> Option<Tick> {
        self.ring.oldest()
    }

    /// The last tick that was recorded.
    pub fn newest(&self) -> Option<Tick> {
        self.ring.newest()
    }

    /// Memory that the records take, in bytes.
    pub fn bytes(&self) -> usize {
        self.ring.bytes() + size_of_val(self.records.as_slice()) + self.poses.bytes() + self.layouts.bytes()
    }

    /// The record of the next tick begins a new segment. [`BeginSegment`] does this for a rig and for an
    /// [`Occluder`](crate::Occluder).
    pub fn begin_segment(&mut self) {
        self.segment_ends = true;
    }

    /// Writes the record of `tick`. A second record for the same tick replaces the first; a tick that is not after the newest
    /// one means that the clock was set back, and forgets all that was.
    fn record(&mut self, tick: Tick, rig: &RigRecord, retention: Retention) {
        self.reserve(retention, rig.poses.len());
        let state = self.next_state(tick, rig, retention.speed_limit);
        let slot = self.ring.push(tick);
        let number = self.layouts.number_of(state, rig.hitboxes, || center_of(rig));
        let center = self.layouts.get(number).center;
        let radius = radius_of(rig, center);
        let (translation, rotation) = (rig.root.translation.into(), rig.root.rotation.to_array());
        self.records[slot] = Record { root: (translation, rotation), radius, layout: number };
        for (index, pose) in (slot * self.stride..).zip(rig.poses) {
            self.poses.write(index, rig.root.inverse_mul(*pose), Frame { center, radius });
        }
        self.forget_layouts();
    }

    /// Ends the history: from `tick` on, or from the one after if `tick` has been recorded already, there is nothing to hit.
    fn end(&mut self, tick: Tick) {
        let Some(newest) = self.newest() else { return };
        let tick = if tick == newest { tick + 1 } else { tick };
        if tick.since(newest) > 0 {
            let slot = self.ring.push(tick);
            let state = self.latest.take().map(|latest| latest.state).unwrap_or_default();
            let gone = RigState { segment: state.segment.wrapping_add(1), alive: false, ..state };
            self.records[slot] = Record { layout: self.layouts.number_of(gone, &[], Vec3::default), ..default() };
            self.forget_layouts();
        }
    }

    fn forget_layouts(&mut self) {
        let oldest = self.ring.slot(self.len() - 1);
        self.layouts.forget_before(self.records[oldest].layout);
    }

    fn layout(&self, slot: usize) -> &Layout {
        self.layouts.get(self.records[slot].layout)
    }

    fn root(&self, slot: usize) -> Isometry3d {
        let (translation, rotation) = self.records[slot].root;
        Isometry3d::new(translation, Quat::from_array(rotation))
    }

    /// The pose of a hitbox in a record, relative to the root.
    fn pose(&self, slot: usize, index: usize) -> Isometry3d {
        self.poses.read(slot * self.stride + index, self.frame(slot))
    }

    fn frame(&self, slot: usize) -> Frame {
        Frame { center: self.layout(slot).center, radius: self.records[slot].radius }
    }

    /// The state of a rig in its next record: the segment of the last one or a new one.
    fn next_state(&mut self, tick: Tick, rig: &RigRecord, speed_limit: SpeedLimit) -> RigState {
        let place = Vec3::from(rig.root.translation);
        let mut state = RigState { segment: 0, life: rig.life.number(), alive: rig.life.is_alive() };
        if let (Some(latest), Some(newest)) = (self.latest, self.newest()) {
            let goes_on = !self.segment_ends
                && latest.lineage == rig.lineage
                && latest.hittable == rig.hittable
                && (latest.state.life, latest.state.alive) == (state.life, state.alive)
                && speed_limit.allows(latest.place, place, tick.since(newest));
            state.segment = latest.state.segment.wrapping_add(u32::from(!goes_on));
        }
        self.segment_ends = false;
        self.latest = Some(Latest { state, lineage: rig.lineage, hittable: rig.hittable, place });
        state
    }

    /// Room for as many records of as many poses; keeps what has been recorded as far as it fits.
    fn reserve(&mut self, retention: Retention, poses: usize) {
        let Retention { capacity, storage, .. } = retention;
        if self.ring.capacity() == capacity && self.poses.storage() == storage && poses <= self.stride {
            return;
        }
        let stride = self.stride.max(poses);
        let old = core::mem::take(self);
        *self = HistoryBuffer {
            ring: TickRing::with_capacity(capacity),
            records: vec![Record::default(); capacity],
            poses: PoseStore::with_len(storage, capacity * stride),
            stride,
            layouts: old.layouts,
            latest: old.latest,
            segment_ends: old.segment_ends,
            hitbox_lineages: old.hitbox_lineages,
        };
        for age in (0..old.ring.len()).rev() {
            let from = old.ring.slot(age);
            let to = self.ring.push(old.ring.tick(age));
            self.records[to] = old.records[from];
            let frame = self.frame(to);
            for index in 0..old.stride {
                self.poses.copy(to * stride + index, &old.poses, from * old.stride + index, frame);
            }
        }
    }
}

/// Shapes and places, relative to the root, of the hitboxes whose numbers are sound; no others can be hit.
fn sound_hitboxes(rig: &RigRecord) -> impl Iterator<Item = (Shape, Vec3)> {
    let to_root = rig.root.inverse();
    let hitboxes = rig.hitboxes.iter().zip(rig.poses);
    let placed = hitboxes.map(move |(hitbox, pose)| (hitbox.shape, Vec3::from(to_root * pose.translation)));
    placed.filter(|(shape, place)| shape.is_sound() && place.is_finite())
}

/// The middle of a rig, relative to its root.
fn center_of(rig: &RigRecord) -> Vec3 {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = sound_hitboxes(rig).fold(start, |(min, max), (_, place)| (min.min(place), max.max(place)));
    if min.is_finite() { min.midpoint(max) } else { Vec3::ZERO }
}

/// The radius of a ball around `center` that holds all hitboxes in any rotation of theirs, so that the blend of two such balls
/// holds the blend of their poses.
fn radius_of(rig: &RigRecord, center: Vec3) -> f32 {
    sound_hitboxes(rig)
        .fold(0.0, |radius: f32, (shape, place)| radius.max(place.distance(center) + shape.bounding_radius()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Zone, time::ViewTime};

    pub(super) const RETENTION: Retention =
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
            hitboxes,
            poses,
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
