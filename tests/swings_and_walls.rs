//! Blows and walls: whom they protect, until when, and what the evidence tells; and blows that are cut short.

#[path = "fixture/runner.rs"]
#[expect(dead_code, reason = "nobody fires bullets here")]
mod runner;

#[path = "fixture/blows.rs"]
mod blows;

use core::f32::consts::FRAC_PI_4;

use bevy::prelude::*;
use bevy_hindsight::{Attack, RejectReason, Swing, Tick, prelude::*, test_app::TestApp};
use bevy_rapier3d::prelude::*;
use blows::{blow, physics, range, run, told};
use runner::{Range, assert_near};

#[test]
fn a_blow_that_a_wall_has_stopped_names_the_wall_and_whom_it_protects() {
    let mut range = Range::new(Hitbox::ball(0.5));
    physics(&mut range.app);
    let wall = (RigidBody::Fixed, Collider::cuboid(30.0, 2.0, 0.05), Transform::from_xyz(11.75, 0.0, 9.2));
    let wall = range.app.world_mut().spawn(wall).id();
    range.app.run_to(Tick(99));
    let shot = blow(&range, Swing::arc(2.0, FRAC_PI_4));
    let rejection = range.app.judge(shot).unwrap_err();
    assert_eq!(rejection.reason, RejectReason::Blocked);
    let (blocker, hidden) = (rejection.evidence.blocker.unwrap(), rejection.evidence.hit.unwrap());
    assert_eq!((blocker.entity, hidden.rig), (Some(wall), range.target));
    assert_near(blocker.distance, 0.65);
}

#[test]
fn a_blow_that_missed_tells_which_rigs_it_tested() {
    let mut range = range();
    let shot = ShotEvent { direction: Vec3::NEG_Z, ..blow(&range, Swing::arc(2.0, FRAC_PI_4)) };
    let rejection = range.app.judge(shot).unwrap_err();
    assert_eq!(rejection.evidence.rigs[0].map(|rig| rig.rig), Some(range.target));
}

#[test]
fn a_clock_that_is_set_back_leaves_no_blow_unanswered() {
    let mut range = range();
    let shot = ShotEvent { origin: Vec3::ZERO, ..blow(&range, Swing::arc(1.0, 0.5).lasting(5)) };
    let mut verdicts = run(&mut range.app, vec![shot], 2);
    range.app.world_mut().resource_mut::<CurrentTick>().0 = Tick(20);
    verdicts.extend(run(&mut range.app, vec![], 40));
    assert_eq!(verdicts.len(), 1);
}

#[test]
fn a_late_blow_of_a_shooter_who_has_respawned_since_ends_where_one_in_time_did() {
    let verdicts = |late: u32| {
        let mut range = range();
        // F comes into reach in the sixth tick or so.
        let shot = ShotEvent { origin: Vec3::new(13.9, 0.0, 9.0), ..blow(&range, Swing::arc(1.2, 0.6).lasting(30)) };
        let mut verdicts = if late == 0 { run(&mut range.app, vec![shot], 3) } else { run(&mut range.app, vec![], 3) };
        // Dies and is back in the very same tick.
        let shooter = range.shooter;
        range.app.world_mut().get_mut::<Life>(shooter).unwrap().begin();
        verdicts.extend(run(&mut range.app, vec![], 12));
        if late > 0 {
            verdicts.extend(run(&mut range.app, vec![shot], 1));
        }
        verdicts.extend(run(&mut range.app, vec![], 30));
        told(&verdicts)
    };
    assert_eq!(verdicts(12), verdicts(0));
}

#[test]
fn if_the_nearest_hitbox_is_hidden_the_next_one_of_that_rig_is_met() {
    let mut app = TestApp::new(64.0);
    physics(&mut app);
    let shooter = app.world_mut().spawn(Rig).id();
    let target = app.world_mut().spawn((Rig, Transform::from_xyz(0.0, 0.0, 1.5))).id();
    let part = |zone, y| (Hitbox::ball(0.2).in_zone(zone), Transform::from_xyz(0.0, y, 0.0), ChildOf(target));
    app.world_mut().spawn(part(Zone::Torso, 0.0));
    app.world_mut().spawn(part(Zone::Head, 1.0));
    let wall = (RigidBody::Fixed, Collider::cuboid(0.5, 0.3, 0.05), Transform::from_xyz(0.0, 0.0, 1.0));
    app.world_mut().spawn(wall);
    app.run_to(Tick(19));
    let shot = ShotEvent::new(shooter, Tick(20), Vec3::ZERO, Vec3::Z);
    let hit = app.judge(shot.with_attack(Attack::Swing(Swing::arc(2.5, 1.0)))).unwrap();
    assert_eq!((hit.target, hit.hit.zone), (target, Zone::Head));
}

#[test]
fn the_shooters_own_shield_stops_no_blow_unless_it_blocks_its_owner() {
    for blocks_owner in [false, true] {
        let mut range = Range::new(Hitbox::ball(0.5));
        physics(&mut range.app);
        let shooter = range.shooter;
        let world = range.app.world_mut();
        world.entity_mut(shooter).insert(Transform::from_xyz(11.75, 0.0, 8.5));
        let shield = (Occluder { blocks_owner, ..default() }, Collider::cuboid(1.0, 1.0, 0.05), ChildOf(shooter));
        world.spawn((shield, Transform::from_xyz(0.0, 0.0, 0.5)));
        range.app.run_to(Tick(99));
        let shot = blow(&range, Swing::arc(2.0, FRAC_PI_4).lasting(2));
        let expected = if blocks_owner { Err(RejectReason::Blocked) } else { Ok(range.target) };
        assert_eq!(told(&run(&mut range.app, vec![shot], 4)), [(0, expected)]);
    }
}

#[test]
fn whom_a_wall_hides_is_met_in_a_later_tick_when_it_hides_them_no_more() {
    let mut range = Range::new(Hitbox::ball(0.5));
    physics(&mut range.app);
    // F comes out from behind it.
    let wall = (RigidBody::Fixed, Collider::cuboid(0.75, 2.0, 0.05), Transform::from_xyz(11.5, 0.0, 9.2));
    range.app.world_mut().spawn(wall);
    range.app.run_to(Tick(99));
    let shot = blow(&range, Swing::arc(3.0, 1.0).lasting(16));
    let verdicts = run(&mut range.app, vec![shot], 20);
    let [Ok(hit)] = &verdicts[..] else { panic!("{:?}", told(&verdicts)) };
    assert!(hit.target == range.target && hit.part > 0, "{:?}", told(&verdicts));
}
