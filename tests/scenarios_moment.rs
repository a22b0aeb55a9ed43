//! Section A of the public faults of hit registration: which moment is rewound to.
//!
//! Written elsewhere:
//!
//! * B08 (constant or multiplied ping), B13 (round-trip samples with server frames in them), B14 (jitter turns compensation
//!   off): `src/shot/connection.rs`; B09 (interpolation per class ignored): `tests/displayed.rs`.
//! * B07 (delay in wrong units): `src/time.rs`; B16 (tick wrap) also in `src/history.rs`.
//!
//! Still missing:
//!
//! * B04 (latest delay overwrites), the part where messages wait for their tick: the end-to-end test belongs to the client
//!   edge. Here is its core: each shot has a view time of its own.

#[path = "fixture/runner.rs"]
mod fixture;

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{RejectReason::Missed, Tick, prelude::*};
use bevy_rapier3d::prelude::*;
use fixture::{Range, Runner, assert_near, x};

/// The first ticks of a server and of one that has been up for seven days.
const STARTS: [Tick; 2] = [Tick(0), Tick(38_707_200)];

/// F of radius 0.05 at 0.25 m per tick, just before the 100th tick after `start`.
fn fast(hz: f64, start: Tick) -> Range {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.insert_resource(Time::<Fixed>::from_hz(hz)).insert_resource(CurrentTick(start));
    range.app.world_mut().entity_mut(range.target).insert(Runner { metres_per_tick: 0.25, start });
    range.app.run_to(start + 99);
    range
}

/// F of this radius, just before tick 100.
fn range(radius: f32) -> Range {
    let mut range = Range::new(Hitbox::ball(radius));
    range.app.run_to(Tick(99));
    range
}

/// B01: a view of tick 94 is tick 94, and not the one before or after.
fn assert_exact_tick(hz: f64, start: Tick) {
    let [hit, early, late] = fast(hz, start).fire([(x(23.5), 6.0), (x(23.25), 6.0), (x(23.75), 6.0)]);
    assert_near(hit.expect("F is there").distance, 9.95);
    assert_eq!((early, late), (Err(Missed), Err(Missed)), "{hz} Hz from {start:?}");
}

/// B03: a view between two ticks is between them.
fn assert_half_tick(hz: f64, start: Tick) {
    let [hit, early, late] = fast(hz, start).fire([(x(23.625), 5.5), (x(23.5), 5.5), (x(23.75), 5.5)]);
    assert_near(hit.expect("F is there").distance, 9.95);
    assert_eq!((early, late), (Err(Missed), Err(Missed)), "{hz} Hz from {start:?}");
}

/// B01: off by one tick.
#[test]
fn b01_a_view_of_a_tick_is_that_tick() {
    assert_exact_tick(64.0, Tick(0));
}

/// B02: history recorded a phase early. What is replicated is what stands in the world when the tick is over.
#[test]
fn b02_history_is_the_pose_that_replication_sends_bit_for_bit() {
    let mut range = Range::new(Hitbox::ball(0.5));
    let app = &mut range.app;
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    let spin = Velocity { angular: Vec3::new(3.0, 1.0, 0.2), ..default() };
    let falling = (Rig, Hitbox::ball(0.2), RigidBody::Dynamic, Collider::ball(0.2), spin, Transform::default());
    let falling = app.world_mut().spawn(falling).id();
    for tick in 1..=100 {
        app.tick();
        for rig in [range.target, falling] {
            let live = app.world().get::<Transform>(rig).unwrap();
            let history = app.world().get::<HistoryBuffer>(rig).unwrap();
            assert_eq!(history.newest(), Some(Tick(tick)));
            assert_eq!(history.sample(ViewTime::at(Tick(tick))).unwrap().root(), live.to_isometry());
        }
    }
    let fallen = app.world().get::<Transform>(falling).unwrap();
    assert!(fallen.translation.y < -5.0 && fallen.rotation != Quat::IDENTITY, "physics should have run: {fallen:?}");
}

/// B03: whole-tick delay only.
#[test]
fn b03_a_view_between_two_ticks_is_between_them() {
    assert_half_tick(64.0, Tick(0));
}

/// B04: the latest delay overwrites the one belonging to the command; here each shot keeps its own.
#[test]
fn b04_a_later_shot_with_another_delay_changes_nothing_for_an_earlier_one() {
    let shots = [(x(11.75), 6.0), (x(11.5), 6.0), (x(11.5), 8.0), (x(11.75), 8.0)];
    let [hit, miss, hit_of_8, miss_of_8] = range(0.05).fire(shots);
    assert_near(hit.unwrap().pose.translation.x, 11.75);
    assert_near(hit_of_8.unwrap().pose.translation.x, 11.5);
    assert_eq!((miss, miss_of_8), (Err(Missed), Err(Missed)));
}

/// B06: delay sampled after the clock moved. The stamp of the frame that was shown counts, not where the clock is by now.
#[test]
fn b06_the_stamp_of_the_displayed_frame_is_what_is_tested() {
    let [shown, by_now] = range(0.5).fire([(x(11.275), 100.0 - 90.2), (x(11.275), 100.0 - 90.74)]);
    assert_near(shown.unwrap().pose.translation.x, 11.275);
    assert_near(by_now.unwrap().pose.translation.x, 11.3425);
}

/// B10: client with zero interpolation.
#[test]
fn b10_no_delay_is_the_command_tick_and_the_least_delay_is_just_before() {
    let mut range = range(0.05);
    let [none, least] = range.fire([(x(12.5), 0.0), (x(12.5), 1.0 / 256.0)]);
    assert_eq!(none.unwrap().pose.translation.x, 12.5, "without any of tick 99 in it");
    assert!((least.unwrap().pose.translation.x - (12.5 - 0.125 / 256.0)).abs() < 2e-6);
    let (none, least) = (ViewTime::before(Tick(100), 0.0), ViewTime::before(Tick(100), 1.0 / 256.0));
    assert_eq!((none, least), (ViewTime::at(Tick(100)), ViewTime::new(Tick(99), 65_280)));
}

/// B11: input delay makes the reported delay negative, and it is clamped to 0.
#[test]
fn b11_the_view_of_a_client_that_predicts_ahead_is_the_one_it_names() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(103));
    let shot = ShotEvent::new(range.shooter, Tick(104), x(12.25), Vec3::Z).seen_at(ViewTime::at(Tick(98)));
    assert_near(range.app.judge(shot).unwrap().hit.pose.translation.x, 12.25);
}

/// B15: long uptime loses precision.
#[test]
fn b15_after_seven_days_everything_is_as_exact_as_at_the_start() {
    for start in STARTS {
        assert_exact_tick(64.0, start);
        assert_half_tick(64.0, start);
    }
    let poses = STARTS.map(|start| fast(64.0, start).fire([(x(23.625), 5.5)])[0].unwrap().pose);
    assert_eq!(poses[0], poses[1]);
}

/// B16: tick wrap-around, with a history of 12 ticks.
#[test]
fn b16_views_are_right_across_the_tick_wrap() {
    for (last, origin, delay) in [(Tick(2), 0.5, 4.0), (Tick(1), 0.5625, 2.5)] {
        let mut range = Range::new(Hitbox::ball(0.01));
        let first = Tick(u32::MAX - 5);
        range.app.insert_resource(CurrentTick(first - 1));
        range.app.world_mut().resource_mut::<LagCompensationConfig>().history = Duration::from_secs(11) / 64;
        range.app.world_mut().get_mut::<Runner>(range.target).unwrap().start = first;
        range.app.run_to(last - 1);
        let [hit] = range.fire([(x(origin), delay)]);
        assert_near(hit.unwrap().pose.translation.x, origin);
    }
}

/// B17: subtraction below the first tick. There is no history before it, and so nothing to hit.
#[test]
fn b17_a_view_before_the_first_tick_is_answered_without_a_panic() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.insert_resource(CurrentTick(Tick(u32::MAX)));
    range.app.run_to(Tick(0));
    let [before, first] = range.fire([(x(0.0), 2.0), (x(0.0), 1.0)]);
    assert_eq!(before, Err(Missed));
    assert_eq!(first.unwrap().pose.translation.x, 0.0);
    let history = range.app.world().get::<HistoryBuffer>(range.target).unwrap();
    assert_eq!((history.oldest(), history.newest()), (Some(Tick(0)), Some(Tick(1))));
}

/// B72 (section H): low server rate.
#[test]
fn b72_hits_and_misses_are_the_same_at_any_tick_rate() {
    for hz in [20.0, 30.0, 64.0, 128.0] {
        for start in STARTS {
            assert_exact_tick(hz, start);
            assert_half_tick(hz, start);
        }
    }
}
