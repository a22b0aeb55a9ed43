//! A rig at an instant of the past.

use bevy::{
    math::bounding::{BoundingSphere, BoundingVolume},
    prelude::*,
};

use super::{HistoryBuffer, RecordedHitbox};
use crate::{hitbox::Zone, pose::interpolate, shape::Shape, time::ViewTime};

/// A rig as it stood at a [`ViewTime`]: the blend of two records, or one record itself.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    history: &'a HistoryBuffer,
    /// Slots of the records around the instant; the same one twice if it is the instant of a record.
    older: usize,
    newer: usize,
    /// The way from the older to the newer one, in `0.0..1.0`.
    t: f32,
}

/// A hitbox at an instant of the past, in the world.
#[derive(Clone, Copy, PartialEq, Debug)]
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

impl HistoryBuffer {
    /// The rig at `view`, or `None` if that lies before the oldest or after the newest record: nothing is extrapolated.
    ///
    /// At the instant of a record this is that record to the last bit. In between, poses are blended by
    /// [`interpolate`]; zones and shapes are those of the earlier record until the instant of the later one.
    /// Costs a look-up in constant time (logarithmic if ticks are missing).
    pub fn sample(&self, view: ViewTime) -> Option<Sample<'_>> {
        let newest = self.newest()?;
        if view.is_after(newest) {
            return None;
        }
        let age = self.ring.age_at_or_before(view.tick)?;
        let start = self.ring.tick(age);
        let older = self.ring.slot(age);
        if view == ViewTime::at(start) {
            return Some(Sample { history: self, older, newer: older, t: 0.0 });
        }
        // Not after the newest record, and not at this one: there is a later one.
        let span = self.ring.tick(age - 1).since(start) as f32;
        let t = (view.tick.since(start) as f32 + view.fraction_f32()) / span;
        Some(Sample { history: self, older, newer: self.ring.slot(age - 1), t })
    }
}

impl<'a> Sample<'a> {
    /// Where the rig's own entity stood.
    pub fn root(&self) -> Isometry3d {
        let records = &self.history.records;
        interpolate(records[self.older].root, records[self.newer].root, self.t)
    }

    /// A ball that holds all hitboxes.
    pub fn bounds(&self) -> BoundingSphere {
        let (older, newer) = (&self.history.records[self.older], &self.history.records[self.newer]);
        if older.layout != newer.layout {
            // A hitbox that only one of them has stays where it is.
            return older.bounds.merge(&newer.bounds);
        }
        BoundingSphere::new(
            older.bounds.center.lerp(newer.bounds.center, self.t),
            older.bounds.radius().max(newer.bounds.radius()),
        )
    }

    /// Every hitbox that the rig had, in the order of its hierarchy.
    pub fn hitboxes(&self) -> impl ExactSizeIterator<Item = RewoundHitbox> + 'a {
        let (from, to) = (self.record(self.older), self.record(self.newer));
        let t = self.t;
        from.hitboxes.iter().zip(from.poses).enumerate().map(move |(index, (hitbox, pose))| RewoundHitbox {
            entity: hitbox.entity,
            zone: hitbox.zone,
            shape: hitbox.shape,
            pose: to.pose_of(hitbox.entity, index).map_or(*pose, |to| interpolate(*pose, to, t)),
        })
    }

    fn record(&self, slot: usize) -> RecordView<'a> {
        let history = self.history;
        let hitboxes = history.layouts.get(history.records[slot].layout);
        let poses = &history.poses[slot * history.stride..][..hitboxes.len()];
        RecordView { hitboxes, poses }
    }
}

/// The hitboxes of one record with their poses.
#[derive(Clone, Copy)]
struct RecordView<'a> {
    hitboxes: &'a [RecordedHitbox],
    poses: &'a [Isometry3d],
}

impl RecordView<'_> {
    /// The pose of a hitbox, which is probably the one with this index.
    fn pose_of(&self, entity: Entity, index: usize) -> Option<Isometry3d> {
        let index = if self.hitboxes.get(index).is_some_and(|hitbox| hitbox.entity == entity) {
            index
        } else {
            self.hitboxes.iter().position(|hitbox| hitbox.entity == entity)?
        };
        Some(self.poses[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Tick;

    fn hitbox(index: u32, radius: f32) -> RecordedHitbox {
        let entity = Entity::from_raw_u32(index).unwrap();
        RecordedHitbox { entity, zone: Zone::Torso, shape: Shape::Ball { radius } }
    }

    fn at(x: f32) -> Isometry3d {
        Isometry3d::from_translation(Vec3::X * x)
    }

    fn xs(history: &HistoryBuffer, view: ViewTime) -> Option<Vec<f32>> {
        Some(history.sample(view)?.hitboxes().map(|hitbox| hitbox.pose.translation.x).collect())
    }

    #[test]
    fn nothing_is_extrapolated_beyond_either_end() {
        let mut history = HistoryBuffer::default();
        assert!(history.sample(ViewTime::at(Tick(0))).is_none());
        for tick in 60..=100 {
            history.record(Tick(tick), 64, at(tick as f32), &[hitbox(1, 0.5)], &[at(tick as f32)]);
        }
        assert_eq!(xs(&history, ViewTime::new(Tick(59), u16::MAX)), None);
        assert_eq!(xs(&history, ViewTime::at(Tick(60))), Some(vec![60.0]));
        assert_eq!(xs(&history, ViewTime::new(Tick(99), 0x4000)), Some(vec![99.25]));
        assert_eq!(xs(&history, ViewTime::at(Tick(100))), Some(vec![100.0]));
        assert_eq!(xs(&history, ViewTime::new(Tick(100), 1)), None);
    }

    #[test]
    fn missing_ticks_are_interpolated_across() {
        let mut history = HistoryBuffer::default();
        for tick in [90, 94] {
            history.record(Tick(tick), 64, at(tick as f32), &[hitbox(1, 0.5)], &[at(tick as f32)]);
        }
        assert_eq!(xs(&history, ViewTime::new(Tick(91), 0x8000)), Some(vec![91.5]));
    }

    #[test]
    fn sizes_hold_until_the_tick_in_which_they_change() {
        let mut history = HistoryBuffer::default();
        for (tick, radius) in [(94, 0.9), (95, 0.9), (96, 0.4)] {
            history.record(Tick(tick), 64, at(tick as f32), &[hitbox(1, radius)], &[at(tick as f32)]);
        }
        let sample = history.sample(ViewTime::new(Tick(95), 0x8000)).unwrap();
        let hitbox = sample.hitboxes().next().unwrap();
        assert_eq!(hitbox.shape, Shape::Ball { radius: 0.9 });
        assert_eq!(hitbox.pose.translation.x, 95.5);
    }

    #[test]
    fn hitboxes_are_matched_by_entity_when_their_order_changes() {
        let mut history = HistoryBuffer::default();
        history.record(Tick(0), 8, at(0.0), &[hitbox(1, 0.5), hitbox(2, 0.5)], &[at(0.0), at(10.0)]);
        history.record(Tick(1), 8, at(0.0), &[hitbox(2, 0.5), hitbox(3, 0.5)], &[at(12.0), at(30.0)]);
        assert_eq!(xs(&history, ViewTime::new(Tick(0), 0x8000)), Some(vec![0.0, 11.0]));
    }
}
