//! Where the past is not blended, through the whole plugin.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_hindsight::{PoseStorage, RejectReason, Tick, prelude::*, test_app::TestApp};
use bevy_rapier3d::prelude::*;

/// Half a tick before the last one that was run.
fn half_a_tick_back(app: &TestApp) -> ViewTime {
    ViewTime::before(app.now(), 0.5)
}

/// Where the first hitbox of a rig stood.
fn x_of(app: &TestApp, rig: Entity, view: ViewTime) -> f32 {
    let history = app.world().get::<HistoryBuffer>(rig).expect("it is a rig");
    let sample = history.sample(view).expect("it is remembered");
    sample.hitboxes().next().expect("it can be hit").pose.translation.x
}

fn arena() -> TestApp {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    app
}

fn move_to(app: &mut TestApp, entity: Entity, x: f32) {
    app.world_mut().get_mut::<Transform>(entity).expect("it has a place").translation.x = x;
}

#[test]
fn steps_of_a_rig_are_blended_and_jumps_that_are_told_are_not_nor_are_those_of_what_it_carries() {
    let mut app = arena();
    let car = app.world_mut().spawn(Transform::default()).id();
    let driver = app.world_mut().spawn((Rig, Hitbox::ball(0.3), ChildOf(car))).id();
    for (told, expected) in [(false, 0.5), (true, 1.0)] {
        app.tick();
        let x = app.world().get::<Transform>(car).unwrap().translation.x;
        move_to(&mut app, car, x + 1.0);
        if told {
            app.world_mut().trigger(BeginSegment { entity: car });
        }
        app.tick();
        assert_eq!(x_of(&app, driver, half_a_tick_back(&app)), expected, "told: {told}");
    }
}

#[test]
fn another_vehicle_begins_a_segment_also_when_only_the_seat_moves() {
    let mut app = arena();
    let cars = [0.0, 1.0].map(|x| app.world_mut().spawn(Transform::from_xyz(x, 0.0, 0.0)).id());
    let seat = app.world_mut().spawn((Transform::default(), ChildOf(cars[0]))).id();
    let driver = app.world_mut().spawn((Rig, Hitbox::ball(0.3), ChildOf(seat))).id();
    app.run_to(Tick(5));
    app.world_mut().entity_mut(seat).insert(ChildOf(cars[1]));
    app.tick();
    assert_eq!(x_of(&app, driver, half_a_tick_back(&app)), 0.0);
    app.world_mut().entity_mut(driver).insert(ChildOf(cars[0]));
    app.tick();
    assert_eq!(x_of(&app, driver, half_a_tick_back(&app)), 1.0);
}

#[test]
fn a_hitbox_on_another_bone_is_not_blended_through_the_body() {
    let mut app = arena();
    let rig = app.world_mut().spawn(Rig).id();
    let bones = [0.0, 1.0].map(|x| app.world_mut().spawn((Transform::from_xyz(x, 0.0, 0.0), ChildOf(rig))).id());
    let blade = app.world_mut().spawn((Hitbox::ball(0.1), ChildOf(bones[0]))).id();
    app.run_to(Tick(5));
    app.world_mut().entity_mut(blade).insert(ChildOf(bones[1]));
    app.tick();
    assert_eq!(x_of(&app, rig, half_a_tick_back(&app)), 0.0);
    move_to(&mut app, bones[1], 2.0);
    app.tick();
    assert_eq!(x_of(&app, rig, half_a_tick_back(&app)), 1.5, "and is blended again");
}

#[test]
fn life_and_visibility_begin_segments() {
    let changes: [fn(&mut EntityWorldMut); 2] = [
        |rig| {
            rig.insert(Unhittable);
        },
        |rig| rig.get_mut::<Life>().unwrap().begin(),
    ];
    for change in changes {
        let mut app = arena();
        let rig = app.world_mut().spawn((Rig, Hitbox::ball(0.3))).id();
        app.run_to(Tick(5));
        change(&mut app.world_mut().entity_mut(rig));
        move_to(&mut app, rig, 1.0);
        app.tick();
        assert_eq!(x_of(&app, rig, half_a_tick_back(&app)), 0.0);
    }
}

#[test]
fn a_rig_that_is_one_again_has_another_life() {
    let mut app = arena();
    app.world_mut().resource_mut::<LagCompensationConfig>().tombstones = true;
    let shooter = app.world_mut().spawn(Rig).id();
    let player = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    app.run_to(Tick(95));
    app.world_mut().entity_mut(player).remove::<Rig>();
    app.run_to(Tick(98));
    app.world_mut().entity_mut(player).insert(Rig);
    app.run_to(Tick(99));
    let shot = |view: f64| {
        ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(100), 100.0 - view))
    };
    let verdicts = app.judge_all([94.0, 95.5, 97.0, 99.5].map(shot));
    let said = |index: usize| verdicts[index].map(|hit| (hit.target, hit.living_target())).ok();
    assert_eq!(said(0), Some((player, None)), "the life before");
    assert_eq!(said(1), Some((player, None)), "until the tick in which it ended");
    assert_eq!(said(2), None, "in between");
    assert_eq!(said(3), Some((player, Some(player))), "the life after");
}

#[test]
fn tombstones_hold_to_the_end_of_their_last_tick_and_are_forgotten_after_the_window() {
    let mut app = arena();
    app.world_mut().resource_mut::<LagCompensationConfig>().tombstones = true;
    let shooter = app.world_mut().spawn(Rig).id();
    let player = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    let wall = (Occluder::default(), Collider::cuboid(1.0, 1.0, 0.1), Transform::from_xyz(20.0, 0.0, 5.0));
    let wall = app.world_mut().spawn(wall).id();
    app.run_to(Tick(95));
    // After the record of tick 95, as an observer of a hit would.
    app.world_mut().despawn(player);
    app.world_mut().despawn(wall);
    app.run_to(Tick(99));
    let fire = |app: &mut TestApp, x: f32, view: f64| {
        let now = app.now() + 1;
        let view = ViewTime::before(now, f64::from(now.0) - view);
        app.judge(ShotEvent::new(shooter, now, Vec3::X * x, Vec3::Z).seen_at(view)).map_err(|no| no.reason).is_ok()
    };
    assert!(fire(&mut app, 0.0, 95.5));
    assert!(!fire(&mut app, 0.0, 96.0));
    let now = app.now() + 1;
    let at_wall = ShotEvent::new(shooter, now, Vec3::X * 20.0, Vec3::Z);
    let view = |view: f64| at_wall.seen_at(ViewTime::before(now, f64::from(now.0) - view));
    let reasons = app.judge_all([view(95.5), view(96.0)]).map_reasons();
    assert_eq!(reasons, [RejectReason::Blocked, RejectReason::Missed]);

    // A new match at tick 0: what was has never been.
    app.world_mut().resource_mut::<CurrentTick>().0 = Tick(0);
    app.run_to(Tick(97));
    assert!(!fire(&mut app, 0.0, 95.5));
}

trait Reasons {
    fn map_reasons(self) -> Vec<RejectReason>;
}

impl Reasons for Vec<bevy_hindsight::test_app::Verdict> {
    fn map_reasons(self) -> Vec<RejectReason> {
        self.into_iter().filter_map(|verdict| verdict.err().map(|rejection| rejection.reason)).collect()
    }
}

/// B47, in the words of rapier.
#[test]
fn b47_disabled_colliders_and_their_scale_count_for_hitboxes_at_any_frame_rate() {
    let mut app = arena();
    // Three frames for each tick.
    app.insert_resource(TimeUpdateStrategy::ManualDuration(core::time::Duration::from_nanos(15_625_000 / 3 + 1)));
    let shooter = app.world_mut().spawn(Rig).id();
    let scale = ColliderScale::Absolute(Vec3::splat(4.0));
    let target = (Rig, Hitbox::ball(0.5), Collider::ball(0.5), scale, Transform::from_xyz(0.0, 0.0, 10.0));
    let target = app.world_mut().spawn(target).id();
    app.run_to(Tick(80));
    app.world_mut().entity_mut(target).remove::<ColliderScale>();
    app.run_to(Tick(90));
    app.world_mut().entity_mut(target).insert(ColliderDisabled);
    app.run_to(Tick(96));
    app.world_mut().entity_mut(target).remove::<ColliderDisabled>();
    app.run_to(Tick(99));
    let shot = |view: f64| {
        ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(100), 100.0 - view))
    };
    let verdicts = app.judge_all([79.0, 85.0, 93.0, 98.0].map(shot));
    let distances: Vec<_> = verdicts.iter().map(|verdict| verdict.map(|hit| hit.hit.distance).ok()).collect();
    assert_eq!(distances, [Some(8.0), Some(9.5), None, Some(9.5)]);
}

/// A shooter, and ten metres before them a rig with a head of half a metre and, two metres above it, a finger: after ten ticks.
fn finger_and_head(storage: PoseStorage) -> (TestApp, [Entity; 4]) {
    let mut app = arena();
    app.world_mut().resource_mut::<LagCompensationConfig>().storage = storage;
    let shooter = app.world_mut().spawn(Rig).id();
    let rig = app.world_mut().spawn((Rig, Transform::from_xyz(0.0, 0.0, 10.0))).id();
    let head = app.world_mut().spawn((Hitbox::ball(0.5), ChildOf(rig))).id();
    let finger = app.world_mut().spawn((Hitbox::ball(0.1), Transform::from_xyz(0.0, 2.0, 0.0), ChildOf(rig))).id();
    app.run_to(Tick(10));
    (app, [shooter, rig, head, finger])
}

#[test]
fn a_broken_bone_does_not_take_the_head_with_it() {
    for storage in [PoseStorage::Full, PoseStorage::Compact] {
        let (mut app, [shooter, rig, head, finger]) = finger_and_head(storage);
        app.world_mut().get_mut::<Transform>(finger).unwrap().translation.x = f32::NAN;
        app.world_mut().spawn((Hitbox::ball(f32::INFINITY), ChildOf(rig)));
        app.tick();
        let now = app.now() + 1;
        let at = |y: f32, view| ShotEvent::new(shooter, now, Vec3::Y * y, Vec3::Z).seen_at(view);
        let half = ViewTime::before(now, 1.5);
        let shots = [at(0.0, ViewTime::at(now)), at(0.0, half), at(2.0, half), at(2.0, ViewTime::at(now))];
        let hitboxes: Vec<_> =
            app.judge_all(shots).iter().map(|verdict| verdict.map(|hit| hit.hit.hitbox).ok()).collect();
        assert_eq!(hitboxes, [Some(head), Some(head), Some(finger), None], "{storage:?}");
    }
}

/// So far away that the square of the distance is no number any more.
#[test]
fn a_bone_beyond_the_edge_of_the_world_does_not_take_the_head_with_it() {
    for storage in [PoseStorage::Full, PoseStorage::Compact] {
        let (mut app, [shooter, _, head, finger]) = finger_and_head(storage);
        app.world_mut().get_mut::<Transform>(finger).unwrap().translation.x = 1e30;
        app.tick();
        let now = app.now() + 1;
        let at = |tick: Tick| ShotEvent::new(shooter, now, Vec3::ZERO, Vec3::Z).seen_at(ViewTime::at(tick));
        let struck: Vec<_> = app
            .judge_all([at(now - 1), at(now - 2)])
            .iter()
            .map(|verdict| verdict.map(|hit| hit.hit.hitbox).ok())
            .collect();
        // Places that are stored relative to that are worth nothing.
        let is_there = (storage == PoseStorage::Full).then_some(head);
        assert_eq!(struck, [is_there, Some(head)], "{storage:?}");
    }
}

#[test]
fn switching_the_storage_and_the_tick_rate_keeps_the_past() {
    let mut app = arena();
    let rig = app.world_mut().spawn((Rig, Hitbox::ball(0.3).with_offset(Vec3::X))).id();
    app.run_to(Tick(40));
    for storage in [PoseStorage::Compact, PoseStorage::Full, PoseStorage::Compact] {
        app.world_mut().resource_mut::<LagCompensationConfig>().storage = storage;
        app.world_mut().resource_mut::<Time<Fixed>>().set_timestep_hz(128.0);
        app.tick();
        assert!((x_of(&app, rig, ViewTime::at(Tick(20))) - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_zone_is_that_of_the_view_time() {
    let mut app = arena();
    let shooter = app.world_mut().spawn(Rig).id();
    let target = (Rig, Hitbox::ball(0.5).in_zone(Zone::Head), Transform::from_xyz(0.0, 0.0, 10.0));
    let target = app.world_mut().spawn(target).id();
    app.run_to(Tick(95));
    // The head becomes a helmet.
    app.world_mut().get_mut::<Hitbox>(target).unwrap().zone = Zone::Custom(7);
    app.run_to(Tick(99));
    let shot = |view: f64| {
        ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(100), 100.0 - view))
    };
    let verdicts = app.judge_all([95.0, 95.5, 96.0].map(shot));
    let zones: Vec<_> = verdicts.iter().map(|verdict| verdict.map(|hit| hit.hit.zone).ok()).collect();
    assert_eq!(zones, [Some(Zone::Head), Some(Zone::Head), Some(Zone::Custom(7))]);
}
