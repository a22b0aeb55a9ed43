//! Random histories against a reference that is too simple to be wrong: a list of all records, searched from its start, in
//! `f64`.

use core::time::Duration;

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};
use proptest::{prelude::*, test_runner::Config};

use super::{
    HistoryBuffer, Lineage, PoseStorage, RecordedHitbox, SpeedLimit,
    pose_list::PoseList,
    write::{Retention, RigRecord, tests::reaches},
};
use crate::{
    Shape, Zone,
    hitbox::Life,
    time::{Tick, ViewTime},
};

/// 10,000 histories, or as many as `PROPTEST_CASES` says.
pub(super) fn cases() -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    Config::with_cases(cases.unwrap_or(10_000))
}

/// What happens in a tick before it is recorded.
#[derive(Clone, Copy, Debug)]
enum Change {
    Walk(Vec3),
    /// Farther than the speed limit allows, in any direction.
    Jump(Vec3),
    BeginSegment,
    Die,
    Respawn,
    /// Another size for all hitboxes.
    Stance(f32),
    /// A hitbox comes, or goes.
    Toggle(u32),
    /// A hitbox can be hit no more, or again.
    Guard(u32),
    /// The whole rig can be hit no more, or again.
    Hide,
    Reparent,
    /// This many ticks are not recorded.
    Skip(u32),
    /// The game changes the length of the history.
    Resize(usize),
}

fn changes() -> impl Strategy<Value = Change> {
    let step = || prop::array::uniform3(-1.0_f32..1.0).prop_map(Vec3::from);
    prop_oneof![
        12 => step().prop_map(Change::Walk),
        1 => step().prop_map(|v| Change::Jump(v.normalize_or(Vec3::Y) * 50.0)),
        1 => Just(Change::BeginSegment),
        1 => Just(Change::Die),
        1 => Just(Change::Respawn),
        // No closer to each other than what counts as rounding.
        1 => (1_u8..10).prop_map(|tenths| Change::Stance(0.1 * f32::from(tenths))),
        2 => (0_u32..4).prop_map(Change::Toggle),
        1 => (0_u32..4).prop_map(Change::Guard),
        1 => Just(Change::Hide),
        1 => Just(Change::Reparent),
        1 => (1_u32..5).prop_map(Change::Skip),
        1 => (2_usize..20).prop_map(Change::Resize),
    ]
}

/// The rig as it is.
#[derive(Clone, Debug)]
struct Now {
    /// Counted up without end, unlike ticks.
    at: i64,
    place: Vec3,
    turns: u32,
    life: Life,
    hidden: bool,
    vehicle: u64,
    radius: f32,
    /// Numbers of the hitboxes, and whether they are guarded.
    hitboxes: Vec<(u32, bool)>,
    capacity: usize,
}

/// What the reference remembers of a tick.
#[derive(Clone, Debug)]
struct Remembered {
    at: i64,
    segment: u32,
    alive: bool,
    life: u32,
    root: (DVec3, DQuat),
    /// By entity: place and rotation relative to the root, radius, and whether it can be hit.
    hitboxes: Vec<(Entity, DVec3, DQuat, f32, bool)>,
}

fn entity(number: u32) -> Entity {
    Entity::from_raw_u32(number + 1).expect("the number should be small")
}

fn pose_of(now: &Now, number: u32) -> Isometry3d {
    // Far from the poses around it, on purpose: each hitbox turns at a pace of its own, through all hemispheres.
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 0.4 * (number + 1) as f32 * now.turns as f32);
    Isometry3d::new(now.place + Vec3::new(0.0, number as f32 * 0.5, 0.2), turn)
}

/// The hitboxes that can be hit at an instant, counted from the first tick; `None` outside of history.
fn reference(records: &[Remembered], instant: f64) -> Option<Vec<(Entity, DVec3, DQuat, f32)>> {
    let older = records.iter().rfind(|record| record.at as f64 <= instant)?;
    let newer = records.iter().find(|record| record.at as f64 >= instant)?;
    let blend = older.segment == newer.segment && older.at != newer.at;
    let t = if blend { (instant - older.at as f64) / (newer.at - older.at) as f64 } else { 0.0 };
    let hittable = older.hitboxes.iter().filter(|hitbox| hitbox.4);
    let root = (older.root.0.lerp(newer.root.0, t), older.root.1.slerp(newer.root.1, t));
    let sample = hittable.map(|(entity, place, rotation, radius, _)| {
        let next = newer.hitboxes.iter().find(|next| next.0 == *entity).filter(|_| blend);
        let (place, rotation) = match next {
            Some((_, to, turned, ..)) => (place.lerp(*to, t), rotation.slerp(*turned, t)),
            None => (*place, *rotation),
        };
        (*entity, root.0 + root.1 * place, root.1 * rotation, *radius)
    });
    Some(sample.collect())
}

/// Metres per tick.
const SPEED_LIMIT: f32 = 6.0;

impl Now {
    /// Makes a change, and tells whether the game has asked for a new segment.
    fn change(&mut self, change: Change) -> bool {
        match change {
            Change::Walk(step) | Change::Jump(step) => self.place += step,
            Change::BeginSegment => return true,
            Change::Die => self.life.end(),
            Change::Respawn => self.life.begin(),
            Change::Stance(radius) => self.radius = radius,
            Change::Toggle(number) => match self.hitboxes.iter().position(|(known, _)| *known == number) {
                Some(index) => drop(self.hitboxes.remove(index)),
                None => self.hitboxes.insert(0, (number, false)),
            },
            Change::Guard(number) => {
                for (known, guarded) in &mut self.hitboxes {
                    *guarded ^= *known == number;
                }
            }
            Change::Hide => self.hidden = !self.hidden,
            Change::Reparent => self.vehicle = 1 - self.vehicle,
            Change::Skip(ticks) => self.at += i64::from(ticks),
            Change::Resize(capacity) => self.capacity = capacity,
        }
        false
    }

    fn listed(&self) -> Vec<RecordedHitbox> {
        let listed = self.hitboxes.iter().map(|(number, guarded)| RecordedHitbox {
            entity: entity(*number),
            zone: Zone::Custom(*number as u16),
            shape: Shape::Ball { radius: self.radius },
            hittable: !guarded && !self.hidden,
            is_fresh: false,
        });
        listed.collect()
    }
}

/// Plays the same script into a history and into the reference.
fn play(storage: PoseStorage, start: u32, script: &[Vec<Change>]) -> (HistoryBuffer, Vec<Remembered>, i64) {
    let mut now = Now {
        at: 0,
        place: Vec3::ZERO,
        turns: 0,
        life: Life::default(),
        hidden: false,
        vehicle: 0,
        radius: 0.5,
        hitboxes: vec![(0, false), (1, false)],
        capacity: 9,
    };
    let mut history = HistoryBuffer::default();
    let mut records: Vec<Remembered> = Vec::new();
    let (mut segment, mut last) = (0, None);
    for changes in script {
        let mut asked = false;
        for change in changes {
            asked |= now.change(*change);
        }
        if asked {
            history.begin_segment();
        }
        now.turns += 1;
        let (listed, poses) = (now.listed(), now.hitboxes.iter().map(|(number, _)| pose_of(&now, *number)));
        let poses: Vec<_> = poses.collect();
        let root = Isometry3d::new(now.place, Quat::from_rotation_y(0.7 * now.turns as f32));
        let rig = RigRecord {
            root,
            lineage: Lineage::NONE.below(now.vehicle),
            life: now.life,
            hittable: !now.hidden,
            hitboxes: Some(&listed),
            poses: &PoseList::of(root, &poses),
            reaches: &reaches(&listed),
            posing: None,
        };
        let speed_limit = SpeedLimit::new(Some(SPEED_LIMIT), Duration::from_secs(1));
        let tick = Tick(start.wrapping_add(now.at as u32));
        history.record(tick, &rig, Retention { capacity: now.capacity, storage, speed_limit });

        let identity = (now.life, now.hidden, now.vehicle);
        let goes_on = last.is_none_or(|(last, from, at): (_, Vec3, i64)| {
            let metres = from.as_dvec3().distance(now.place.as_dvec3());
            !asked && last == identity && metres <= f64::from(SPEED_LIMIT) * (now.at - at) as f64
        });
        segment += u32::from(!goes_on);
        last = Some((identity, now.place, now.at));
        let hitboxes = listed.iter().zip(&poses).map(|(hitbox, pose)| {
            let place = Vec3::from(pose.translation).as_dvec3() - now.place.as_dvec3();
            let to_root = root.rotation.as_dquat().normalize().inverse();
            let rotation = to_root * pose.rotation.as_dquat();
            (hitbox.entity, to_root * place, rotation, now.radius, hitbox.hittable)
        });
        let root = (now.place.as_dvec3(), root.rotation.as_dquat().normalize());
        let (alive, life) = (now.life.is_alive(), now.life.number().0);
        records.push(Remembered { at: now.at, segment, alive, life, root, hitboxes: hitboxes.collect() });
        // The window begins between two records, or at the first of two.
        let window = now.capacity as i64 - 1;
        while records.len() > now.capacity || (records.len() > 1 && now.at - records[1].at >= window) {
            records.remove(0);
        }
        now.at += 1;
    }
    (history, records, now.at)
}

fn assert_agrees(
    storage: PoseStorage,
    start: u32,
    script: &[Vec<Change>],
    instants: &[f64],
) -> Result<(), TestCaseError> {
    let (history, records, end) = play(storage, start, script);
    let (place_error, angle_error) = match storage {
        PoseStorage::Full => (1e-4, 1e-3),
        PoseStorage::Compact => (1e-3, 0.1_f64.to_radians()),
    };
    // Across the window and a little beyond both of its ends.
    let span = records.len().max(1) as f64 + 6.0;
    for instant in instants.iter().map(|part| end as f64 + 1.0 - part * span) {
        // To what a view time can say.
        let instant = (instant * 65_536.0).round() / 65_536.0;
        let view = ViewTime::before(Tick(start), -instant);
        let expected = reference(&records, instant);
        let sample = history.sample(view);
        prop_assert_eq!(sample.is_some(), expected.is_some(), "at {} of {:?}", instant, records);
        let (Some(sample), Some(expected)) = (sample, expected) else { continue };
        let older = records.iter().rfind(|record| record.at as f64 <= instant).expect("there is one");
        prop_assert_eq!((sample.life().0, sample.is_alive()), (older.life, older.alive));
        let found: Vec<_> = sample.hitboxes().collect();
        prop_assert_eq!(found.len(), expected.len());
        let bounds = sample.bounds();
        for (found, (entity, place, rotation, radius)) in found.iter().zip(expected) {
            prop_assert_eq!(found.entity, entity);
            prop_assert_eq!(found.shape, Shape::Ball { radius });
            let at = Vec3::from(found.pose.translation);
            prop_assert!(at.as_dvec3().distance(place) < place_error, "{found:?} instead of {place}");
            let angle = found.pose.rotation.as_dquat().normalize().angle_between(rotation.normalize());
            prop_assert!(angle < angle_error, "{found:?} instead of {rotation}");
            let rough = sample.rough_bounds();
            let reach = found.pose.translation.distance(rough.center) + radius;
            prop_assert!(reach <= rough.radius() + place_error as f32, "{found:?} lies outside of {rough:?}");
            let reach = found.pose.translation.distance(bounds.center) + radius;
            prop_assert!(reach <= bounds.radius() + place_error as f32, "{found:?} lies outside of {bounds:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_history_samples_as_the_reference_does(
        start in prop_oneof![Just(0), Just(u32::MAX - 12), any::<u32>()],
        script in prop::collection::vec(prop::collection::vec(changes(), 0..3), 1..40),
        instants in prop::collection::vec(0.0_f64..1.0, 1..12),
        compact in any::<bool>(),
    ) {
        let storage = if compact { PoseStorage::Compact } else { PoseStorage::Full };
        assert_agrees(storage, start, &script, &instants)?;
    }
}
