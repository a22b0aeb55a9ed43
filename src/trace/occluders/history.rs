//! The past of one occluder.

use alloc::sync::Arc;

use bevy::{math::bounding::BoundingSphere, prelude::*};
use bevy_rapier3d::{
    geometry::Collider,
    rapier::{geometry::InteractionGroups, prelude::SharedShape},
};

use crate::{
    history::{Lineage, SpeedLimit, TickRing, Whereabout},
    hitbox::{Occluder, OccluderMotion},
    pose::{interpolate, interpolate_place},
    shot::{PoseBasis, SnapshotPair},
    time::{Tick, ViewTime},
    trace::screen::{Past, Recipe, Stood},
};

/// Where an [`Occluder`] stood after each tick, and what it was.
#[derive(Component, Default)]
pub(crate) struct OccluderHistory {
    pub(super) ring: TickRing,
    /// One for each slot of the ring.
    records: Vec<OccluderRecord>,
    /// What the newest record is compared with to find the end of a segment.
    lineage: Option<Lineage>,
    pub(super) segment_ends: bool,
    /// Where the collider stood before it became an occluder, until the first record.
    pub(super) stood: Option<Isometry3d>,
    scaled: Option<Scaled>,
    /// Its number in the index of all occluders.
    pub(super) number: Option<u32>,
}

/// An occluder in one tick.
#[derive(Clone)]
pub(super) struct OccluderRecord {
    pub(super) pose: Isometry3d,
    /// `None` if it stopped nothing: a sensor, disabled, unhittable, or without a collider.
    pub(super) shape: Option<SharedShape>,
    /// A ball around the shape, in its own space.
    pub(super) ball: BoundingSphere,
    pub(super) occluder: Occluder,
    /// Its collision groups.
    pub(super) groups: InteractionGroups,
    /// The rig that it belonged to, if any.
    pub(super) owner: Option<Entity>,
    pub(super) segment: u32,
}

impl Default for OccluderRecord {
    fn default() -> Self {
        Self {
            pose: default(),
            shape: None,
            ball: BoundingSphere::new(Vec3::ZERO, 0.0),
            occluder: default(),
            groups: default(),
            owner: None,
            segment: 0,
        }
    }
}

/// A collider's shape at a scale that rapier has not applied to it yet.
struct Scaled {
    /// The shape at the scale that rapier has.
    of: SharedShape,
    scale: Vec3,
    shape: SharedShape,
}

/// How records are kept.
#[derive(Clone, Copy)]
pub(super) struct Retention {
    pub(super) window: u32,
    pub(super) speed_limit: SpeedLimit,
}

/// An occluder at an instant of the past.
pub(super) struct Rewound<'a> {
    /// What its pose is blended from; the same twice if it is held.
    from: Isometry3d,
    to: Isometry3d,
    t: f32,
    pub(super) shape: &'a SharedShape,
    pub(super) record: &'a OccluderRecord,
}

impl Rewound<'_> {
    pub(super) fn pose(&self) -> Isometry3d {
        interpolate(self.from, self.to, self.t)
    }

    /// A ball that holds it, and is found without its rotation.
    pub(super) fn rough_bounds(&self) -> BoundingSphere {
        let place = interpolate_place(self.from.translation, self.to.translation, self.t);
        let ball = self.record.ball;
        BoundingSphere::new(place, ball.center.length() + ball.radius())
    }
}

impl OccluderHistory {
    pub(super) fn record(&mut self, tick: Tick, record: OccluderRecord, lineage: Lineage, retention: Retention) {
        let Retention { window, speed_limit } = retention;
        if self.ring.capacity() != window as usize + 1 {
            self.resize(window as usize + 1);
        }
        let record = OccluderRecord { ball: self.ball_of(record.shape.as_ref()), ..record };
        if let Some(stood) = self.stood.take() {
            // It has stood there all the time, and was tracked only now.
            self.push(tick - window, OccluderRecord { pose: stood, ..record.clone() });
            self.push(tick - 1, OccluderRecord { pose: stood, ..record.clone() });
            self.lineage = Some(lineage);
        }
        let segment = self.ring.newest().map_or(0, |newest| {
            let latest = &self.records[self.ring.slot(0)];
            let (from, to) = (latest.pose.translation, record.pose.translation);
            let goes_on = !self.segment_ends
                && self.lineage == Some(lineage)
                && latest.shape.is_some() == record.shape.is_some()
                && speed_limit.allows(from.into(), to.into(), tick.since(newest));
            latest.segment.wrapping_add(u32::from(!goes_on))
        });
        (self.segment_ends, self.lineage) = (false, Some(lineage));
        self.push(tick, OccluderRecord { segment, ..record });
    }

    fn push(&mut self, tick: Tick, record: OccluderRecord) {
        let slot = self.ring.push(tick);
        self.records[slot] = record;
    }

    /// The ball around a shape, which for a mesh takes a look at all of it.
    fn ball_of(&self, shape: Option<&SharedShape>) -> BoundingSphere {
        let nothing = OccluderRecord::default().ball;
        let Some(shape) = shape else { return nothing };
        let latest = self.ring.newest().map(|_| &self.records[self.ring.slot(0)]);
        let is_same = |record: &&OccluderRecord| record.shape.as_ref().is_some_and(|own| Arc::ptr_eq(&own.0, &shape.0));
        latest.filter(is_same).map_or_else(
            || {
                let ball = shape.compute_local_bounding_sphere();
                BoundingSphere::new(ball.center(), ball.radius())
            },
            |record| record.ball,
        )
    }

    /// How many ticks are remembered.
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Where it stood in a record.
    pub(super) fn whereabout(&self, age: usize) -> Whereabout {
        let OccluderRecord { pose, ball, .. } = &self.records[self.ring.slot(age)];
        let reach = ball.center.length() + ball.radius();
        Whereabout { tick: self.ring.tick(age), place: pose.translation.into(), reach }
    }

    /// Ends the history: from `tick` on, or from the one after if `tick` has been recorded already, nothing is stopped.
    pub(super) fn end(&mut self, tick: Tick) {
        let Some(newest) = self.ring.newest() else { return };
        let tick = if tick == newest { tick + 1 } else { tick };
        if tick.since(newest) > 0 {
            let segment = self.records[self.ring.slot(0)].segment.wrapping_add(1);
            self.push(tick, OccluderRecord { segment, ..default() });
        }
    }

    /// Whether `view` lies before the end of the history.
    pub(super) fn reaches(&self, view: ViewTime) -> bool {
        self.ring.newest().is_some_and(|newest| !view.is_after(newest))
    }

    fn resize(&mut self, capacity: usize) {
        let old = core::mem::replace(&mut self.ring, TickRing::with_capacity(capacity));
        let old_records = core::mem::replace(&mut self.records, vec![OccluderRecord::default(); capacity]);
        for age in (0..old.len()).rev() {
            self.push(old.tick(age), old_records[old.slot(age)].clone());
        }
    }

    /// The occluder as the screen showed it, if it stopped anything then; from the full history if the snapshots are not
    /// remembered.
    pub(super) fn rebuild(&self, recipe: Recipe) -> Option<Rewound<'_>> {
        match recipe {
            Recipe::History(view, _) => self.at(view),
            Recipe::Snapshots { pair, places, view, .. } => match self.between(pair, places, view) {
                Some(rewound) => rewound,
                None => self.at(view),
            },
            Recipe::NotYetShown => None,
        }
    }

    /// The occluder at `view`, if it stopped anything then.
    pub(super) fn at(&self, view: ViewTime) -> Option<Rewound<'_>> {
        if !self.reaches(view) {
            return None;
        }
        let age = self.ring.age_at_or_before(view.tick)?;
        let start = self.ring.tick(age);
        // If it is not at this record and not after the newest one, there is a later one.
        let end = (view != ViewTime::at(start)).then(|| age - 1);
        self.blend(age, end, view)
    }

    /// The occluder as a client shows it that has received the states of two ticks; the outer `None` if one of them is not
    /// remembered.
    fn between(&self, pair: SnapshotPair, places: SnapshotPair, view: ViewTime) -> Option<Option<Rewound<'_>>> {
        let age_of = |tick| self.ring.age_at_or_before(tick).filter(|age| self.ring.tick(*age) == tick);
        let ages = |pair: SnapshotPair| {
            let start = age_of(pair.start)?;
            match pair.end {
                Some(end) => Some((start, Some(age_of(end)?))),
                None => Some((start, None)),
            }
        };
        let (start, end) = ages(pair)?;
        let shown = self.blend(start, end, view);
        if places == pair {
            return Some(shown);
        }
        let (older, newer) = ages(places)?;
        let pose_of = |age: usize| self.records[self.ring.slot(age)].pose;
        let moved = shown.map(|shown| {
            // Blended is what was blended before.
            let t = end.map_or(0.0, |end| self.way(start, end, view));
            let is_held = shown.pose() == shown.record.pose;
            let to = newer.filter(|_| !is_held).map_or(pose_of(older), pose_of);
            Rewound { from: pose_of(older), to, t, ..shown }
        });
        Some(moved)
    }

    /// The part of the way from one record to another, in `0.0..=1.0`.
    fn way(&self, older: usize, newer: usize, view: ViewTime) -> f32 {
        let start = self.ring.tick(older);
        let span = self.ring.tick(newer).since(start).max(1);
        ((view.tick.since(start) as f32 + view.fraction_f32()) / span as f32).clamp(0.0, 1.0)
    }

    /// The blend of two records of these ages, unless they must not be blended.
    fn blend(&self, older: usize, newer: Option<usize>, view: ViewTime) -> Option<Rewound<'_>> {
        let record = &self.records[self.ring.slot(older)];
        let held = Rewound { from: record.pose, to: record.pose, t: 0.0, shape: record.shape.as_ref()?, record };
        let Some(newer) = newer.filter(|_| record.occluder.motion == OccluderMotion::Interpolated) else {
            return Some(held);
        };
        let t = self.way(older, newer, view);
        let follows = self.ring.tick(newer).since(self.ring.tick(older)) > 0;
        let newer = &self.records[self.ring.slot(newer)];
        if !follows || newer.segment != record.segment {
            return Some(held);
        }
        Some(Rewound { to: newer.pose, t, ..held })
    }

    /// The number of the segment that the newest record belongs to.
    #[cfg(feature = "lightyear")]
    pub(crate) fn segment(&self) -> Option<u32> {
        self.ring.newest()?;
        Some(self.records[self.ring.slot(0)].segment)
    }

    /// The shape at this scale; rapier applies a scale only in its next step.
    pub(super) fn shape_at(&mut self, collider: &Collider, scale: Vec3) -> SharedShape {
        // Rapier rounds scales to four digits.
        if collider.scale().abs_diff_eq(scale, 1e-4) {
            return collider.raw.clone();
        }
        let known =
            self.scaled.as_ref().filter(|known| known.scale == scale && Arc::ptr_eq(&known.of.0, &collider.raw.0));
        if let Some(known) = known {
            return known.shape.clone();
        }
        // As many pieces as rapier itself takes for round shapes under uneven scales.
        const SUBDIVISIONS: u32 = 20;
        let mut copy = collider.clone();
        copy.set_scale(scale, SUBDIVISIONS);
        self.scaled = Some(Scaled { of: collider.raw.clone(), scale, shape: copy.raw.clone() });
        copy.raw
    }
}

impl Past for OccluderHistory {
    fn oldest(&self) -> Option<Tick> {
        self.ring.oldest()
    }

    fn stood(&self, recipe: Recipe) -> Option<Stood> {
        let rewound = self.rebuild(recipe)?;
        let (pose, record) = (rewound.pose(), rewound.record);
        let bounds = BoundingSphere::new(pose * record.ball.center, record.ball.radius());
        Some(Stood { bounds, segment: record.segment, lever: record.ball.radius(), rotation: pose.rotation })
    }

    fn newest(&self) -> Option<Stood> {
        self.stood(Recipe::History(ViewTime::at(self.ring.newest()?), PoseBasis::History))
    }
}
