//! The past: one record of each rig for each tick, and how it is looked up.

mod layout;
mod record;
mod ring;
mod sample;

use bevy::{
    math::{Vec3A, bounding::BoundingSphere},
    prelude::*,
};

use crate::time::Tick;
use layout::LayoutTable;
use ring::TickRing;

pub(crate) use record::record_history;
pub use sample::{RewoundHitbox, Sample};

/// The last second of a [`Rig`](crate::Rig): where its hitboxes stood after each tick, and what they were.
///
/// The plugin writes one record in each fixed step, after movement, physics and animation, from the `Transform`s as they are
/// at that moment. When the buffer is full, the oldest record makes room. Its length in time is
/// [`LagCompensationConfig::history`](crate::LagCompensationConfig::history). Records hold 32 bytes a hitbox; nothing is
/// allocated once the buffer is full and the set of hitboxes is stable.
#[derive(Component, Debug, Default)]
pub struct HistoryBuffer {
    ring: TickRing,
    /// One for each slot of the ring.
    records: Vec<Record>,
    /// `stride` poses for each slot of the ring.
    poses: Vec<Isometry3d>,
    stride: usize,
    layouts: LayoutTable,
}

/// What a record says of the whole rig.
#[derive(Clone, Copy, Debug)]
struct Record {
    root: Isometry3d,
    /// Holds all hitboxes in any rotation of theirs, so that the blend of two bounds holds the blend of their poses.
    bounds: BoundingSphere,
    /// The number of the layout that the poses follow.
    layout: u32,
}

/// A hitbox as it was in one tick, without its pose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RecordedHitbox {
    pub(crate) entity: Entity,
    pub(crate) zone: crate::Zone,
    pub(crate) shape: crate::Shape,
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

    /// Room for `capacity` records of `hitboxes` hitboxes; keeps what has been recorded as far as it fits.
    fn reserve(&mut self, capacity: usize, hitboxes: usize) {
        if self.ring.capacity() == capacity && hitboxes <= self.stride {
            return;
        }
        let stride = self.stride.max(hitboxes);
        let mut grown = HistoryBuffer {
            ring: TickRing::with_capacity(capacity),
            records: vec![Record::EMPTY; capacity],
            poses: vec![Isometry3d::IDENTITY; capacity * stride],
            stride,
            layouts: core::mem::take(&mut self.layouts),
        };
        for age in (0..self.len()).rev() {
            let from = self.ring.slot(age);
            let to = grown.ring.push(self.ring.tick(age));
            grown.records[to] = self.records[from];
            grown.poses[to * stride..][..self.stride].copy_from_slice(&self.poses[from * self.stride..][..self.stride]);
        }
        *self = grown;
    }

    /// Writes the record of `tick`. A second record for the same tick replaces the first; a tick that is not after the newest
    /// one means that the clock was set back, and forgets all that was.
    fn record(
        &mut self,
        tick: Tick,
        capacity: usize,
        root: Isometry3d,
        hitboxes: &[RecordedHitbox],
        poses: &[Isometry3d],
    ) {
        self.reserve(capacity, poses.len());
        let slot = self.ring.push(tick);
        self.records[slot] =
            Record { root, bounds: bounds(root, hitboxes, poses), layout: self.layouts.number_of(hitboxes) };
        self.poses[slot * self.stride..][..poses.len()].copy_from_slice(poses);
        let oldest = self.ring.slot(self.len() - 1);
        self.layouts.forget_before(self.records[oldest].layout);
    }
}

impl Record {
    const EMPTY: Self = Self {
        root: Isometry3d::IDENTITY,
        bounds: BoundingSphere { center: Vec3A::ZERO, sphere: Sphere { radius: 0.0 } },
        layout: 0,
    };
}

fn bounds(root: Isometry3d, hitboxes: &[RecordedHitbox], poses: &[Isometry3d]) -> BoundingSphere {
    let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    for pose in poses {
        min = min.min(pose.translation);
        max = max.max(pose.translation);
    }
    let center = if poses.is_empty() { root.translation } else { (min + max) * 0.5 };
    let radius = hitboxes.iter().zip(poses).fold(0.0_f32, |radius, (hitbox, pose)| {
        radius.max(pose.translation.distance(center) + hitbox.shape.bounding_radius())
    });
    BoundingSphere::new(center, radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, Zone, time::ViewTime};

    fn hitbox(index: u32) -> RecordedHitbox {
        let entity = Entity::from_raw_u32(index).unwrap();
        RecordedHitbox { entity, zone: Zone::Torso, shape: Shape::Ball { radius: 0.5 } }
    }

    fn at(x: f32) -> Isometry3d {
        Isometry3d::from_translation(Vec3::X * x)
    }

    fn x_at(history: &HistoryBuffer, view: ViewTime) -> Option<f32> {
        Some(history.sample(view)?.hitboxes().next()?.pose.translation.x)
    }

    /// B16: a capacity that is no power of two, with ticks that wrap.
    #[test]
    fn b16_samples_are_right_across_the_tick_wrap() {
        let mut history = HistoryBuffer::default();
        for k in 0..12 {
            let pose = at(0.125 * k as f32);
            history.record(Tick(u32::MAX - 5) + k, 12, pose, &[hitbox(1)], &[pose]);
        }
        assert_eq!(x_at(&history, ViewTime::before(Tick(2), 4.0)), Some(0.5));
        assert_eq!(x_at(&history, ViewTime::before(Tick(1), 2.5)), Some(0.5625));
    }

    #[test]
    fn the_oldest_record_makes_room() {
        let mut history = HistoryBuffer::default();
        for tick in 0..200 {
            history.record(Tick(tick), 65, at(tick as f32), &[hitbox(1)], &[at(tick as f32)]);
        }
        assert_eq!((history.len(), history.oldest(), history.newest()), (65, Some(Tick(135)), Some(Tick(199))));
    }

    #[test]
    fn growing_keeps_what_was_recorded() {
        let mut history = HistoryBuffer::default();
        for tick in 0..10 {
            history.record(Tick(tick), 8, at(tick as f32), &[hitbox(1)], &[at(tick as f32)]);
        }
        history.record(Tick(10), 16, at(10.0), &[hitbox(1), hitbox(2)], &[at(10.0), at(20.0)]);
        assert_eq!((history.oldest(), history.len()), (Some(Tick(2)), 9));
        for tick in 2..=10 {
            assert_eq!(x_at(&history, ViewTime::at(Tick(tick))), Some(tick as f32));
        }
    }

    #[test]
    fn a_clock_set_back_forgets_the_future() {
        let mut history = HistoryBuffer::default();
        for tick in [10, 11, 12, 5] {
            history.record(Tick(tick), 8, at(tick as f32), &[hitbox(1)], &[at(tick as f32)]);
        }
        assert_eq!((history.oldest(), history.newest()), (Some(Tick(5)), Some(Tick(5))));
    }

    #[test]
    fn bounds_hold_all_hitboxes_in_any_rotation() {
        let mut history = HistoryBuffer::default();
        history.record(Tick(0), 4, at(0.0), &[hitbox(1), hitbox(2)], &[at(1.0), at(4.0)]);
        let bounds = history.sample(ViewTime::at(Tick(0))).unwrap().bounds();
        assert_eq!((bounds.center, bounds.radius()), (Vec3A::X * 2.5, 2.0));
    }
}
