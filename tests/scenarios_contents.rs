//! Section B of the public faults of hit registration: what history holds.
//!
//! Written elsewhere: B20 also in `src/shot/admit.rs`.
//!
//! Still missing:
//!
//! * B21 and B28, the answers under a policy that clamps to the oldest record and flags it: there is no such policy yet, and
//!   a rig is not hit outside its history.

#[path = "fixture/runner.rs"]
mod fixture;

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_hindsight::{
    RejectReason::{Missed, ViewTimeTooOld},
    Tick, ViewSource,
    prelude::*,
};
use fixture::{Range, assert_near, x};

/// B20: pruning threshold truncated to whole seconds.
#[test]
fn b20_one_second_of_history_is_64_ticks_and_not_one_less() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(199));
    let [oldest, older] = range.fire([(x(17.0), 64.0), (x(16.9875), 64.1)]);
    assert_near(oldest.unwrap().pose.translation.x, 17.0);
    assert_eq!(older, Err(ViewTimeTooOld));
    let history = range.app.world().get::<HistoryBuffer>(range.target).unwrap();
    assert_eq!((history.oldest(), history.len()), (Some(Tick(136)), 65));
}

/// B21: a query older than history extrapolates without bound.
#[test]
fn b21_nothing_is_hit_before_the_oldest_record() {
    // Once the window ends with the history of F, once it is longer.
    for (window, reason) in [(Duration::from_millis(625), ViewTimeTooOld), (Duration::from_secs(2), Missed)] {
        let mut range = Range::new(Hitbox::ball(0.5));
        range.app.insert_resource(CurrentTick(Tick(59)));
        range.app.world_mut().resource_mut::<LagCompensationConfig>().history = window;
        range.app.run_to(Tick(99));
        // From where a straight line through the oldest two records would have F to where it is now.
        let answers = range.fire([2.5, 5.0, 7.5, 10.0, 12.5].map(|place| (x(place), 80.0)));
        assert_eq!(answers, [Err(reason); 5], "window of {window:?}");
        let history = range.app.world().get::<HistoryBuffer>(range.target).unwrap();
        assert_eq!(history.oldest(), Some(Tick(60)));
        assert!(history.sample(ViewTime::at(Tick(20))).is_none());
    }
}

/// B24: several fixed ticks in one frame. Bones follow in each of them.
#[test]
fn b24_four_ticks_of_one_frame_are_four_records_with_their_bones() {
    let mut range = Range::new(Hitbox::ball(0.5));
    let app = &mut range.app;
    let spine = app.world_mut().spawn((Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(range.target))).id();
    let head = (Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 0.6, 0.0), ChildOf(spine));
    let head = app.world_mut().spawn(head).id();
    // The bone leans one more centimetre in each tick.
    app.add_systems(FixedUpdate, move |mut bones: Query<&mut Transform>, tick: Res<CurrentTick>| {
        if let Ok(mut spine) = bones.get_mut(spine) {
            spine.translation.z = 0.01 * tick.0.since(Tick(100)) as f32;
        }
    });
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(4)).insert_resource(CurrentTick(Tick(99)));
    app.tick();
    assert_eq!(app.now(), Tick(103), "all in one frame");
    let history = app.world().get::<HistoryBuffer>(range.target).unwrap();
    assert_eq!(history.len(), 4);
    for (tick, place) in (100..).zip([12.5, 12.625, 12.75, 12.875]) {
        let sample = history.sample(ViewTime::at(Tick(tick))).unwrap();
        let poses: Vec<_> = sample.hitboxes().map(|hitbox| (hitbox.entity, hitbox.pose)).collect();
        let lean = 0.01 * (tick - 100) as f32;
        let head_pose = Isometry3d::from_xyz(place, 1.6, 10.0 + lean);
        assert_eq!(poses, [(range.target, Isometry3d::from_xyz(place, 0.0, 10.0)), (head, head_pose)]);
    }
}

/// B25: lookup of a client without samples panics, or drops the shot.
#[test]
fn b25_a_shooter_of_whom_no_delay_is_known_is_judged_in_the_present() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(99));
    let stranger = range.app.world_mut().spawn_empty().id();
    let hit = range.app.judge(ShotEvent::new(stranger, Tick(100), x(12.5), Vec3::Z)).unwrap();
    assert_near(hit.hit.pose.translation.x, 12.5);
    // The one diagnostic: the evidence says that nothing was compensated.
    let evidence = hit.evidence;
    assert_eq!((evidence.view_source, evidence.view_time), (ViewSource::None, ViewTime::at(Tick(100))));
}

/// B26: collider missing when history starts.
#[test]
fn b26_a_rig_whose_hitbox_comes_later_is_hit_from_then_on() {
    let mut range = Range::new(Hitbox::ball(0.05));
    let late = range.app.world_mut().spawn((Rig, Transform::from_xyz(-5.0, 0.0, 10.0))).id();
    range.app.run_to(Tick(9));
    range.app.world_mut().entity_mut(late).insert(Hitbox::ball(0.5));
    range.app.run_to(Tick(13));
    let [before, at, bystander] = range.fire([(x(-5.0), 4.5), (x(-5.0), 4.0), (x(1.0), 6.0)]);
    assert_eq!(before, Err(Missed));
    assert_eq!(at.unwrap().rig, late);
    assert_eq!(bystander.unwrap().rig, range.target);
    let history = range.app.world().get::<HistoryBuffer>(late).unwrap();
    for half_tick in 2..=28 {
        let sample = history.sample(ViewTime::before(Tick(0), f64::from(half_tick) * -0.5)).unwrap();
        assert!(sample.bounds().center.is_finite() && sample.bounds().radius().is_finite());
        // Between the records of ticks 9 and 10, the bounds hold both.
        assert!(sample.bounds().radius() <= if half_tick < 19 { 0.0 } else { 0.5 }, "{half_tick}");
    }
}

/// B28: new entity, short history. A rig is not hit before it was there.
#[test]
fn b28_a_rig_is_not_hit_at_views_before_its_spawn() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.insert_resource(CurrentTick(Tick(96)));
    range.app.run_to(Tick(99));
    let history = range.app.world().get::<HistoryBuffer>(range.target).unwrap();
    assert_eq!(history.oldest(), Some(Tick(97)));
    let [there_then, at_spawn, in_spawn_tick] = range.fire([(x(11.75), 6.0), (x(12.125), 6.0), (x(12.125), 3.0)]);
    assert_eq!((there_then, at_spawn), (Err(Missed), Err(Missed)));
    assert_near(in_spawn_tick.unwrap().pose.translation.x, 12.125);
}
