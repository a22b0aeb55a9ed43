//! Blows last some ticks and meet each victim once; beams burn on and are judged tick by tick.

#[path = "fixture/runner.rs"]
#[expect(dead_code, reason = "nobody fires bullets here")]
mod runner;

#[path = "fixture/blows.rs"]
mod blows;

use core::{f32::consts::FRAC_PI_4, time::Duration};

use bevy::prelude::*;
use bevy_hindsight::{
    Aim, Attack, Beam, CeaseFire, FireControl, HitBy, RejectReason, ReleaseTrigger, Swing, Tick, prelude::*,
    test_app::TestApp,
};
use bevy_rapier3d::prelude::*;
use blows::{blow, physics, range, run, told};
use runner::{Range, Runner, assert_near};

#[test]
fn b63_a_blow_meets_what_is_in_its_arc_where_the_screen_showed_it_and_not_beside_or_behind_a_wall() {
    let mut far = range();
    let verdicts = far.app.judge_all([blow(&far, Swing::arc(2.0, FRAC_PI_4))]);
    let [Ok(hit)] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!((hit.target, hit.by, hit.part), (far.target, HitBy::Swing, 0));
    assert_near(hit.hit.distance, 1.0);
    assert_eq!((hit.evidence.view_time, hit.evidence.range), (ViewTime::at(Tick(94)), 2.0));

    let mut aside = range();
    let turned = Quat::from_rotation_y(120_f32.to_radians()) * Vec3::Z;
    let shot = ShotEvent { direction: turned, ..blow(&aside, Swing::arc(2.0, FRAC_PI_4)) };
    assert_eq!(told(&aside.app.judge_all([shot])), [(0, Err(RejectReason::Missed))]);

    for (swing, hits) in [(Swing::arc(2.0, FRAC_PI_4), false), (Swing::arc(2.0, FRAC_PI_4).through_walls(), true)] {
        let mut covered = Range::new(Hitbox::ball(0.5));
        physics(&mut covered.app);
        let wall = (RigidBody::Fixed, Collider::cuboid(30.0, 2.0, 0.05), Transform::from_xyz(11.75, 0.0, 9.2));
        covered.app.world_mut().spawn(wall);
        covered.app.run_to(Tick(99));
        let expected = if hits { Ok(covered.target) } else { Err(RejectReason::Blocked) };
        assert_eq!(told(&covered.app.judge_all([blow(&covered, swing)])), [(0, expected)]);
    }
}

#[test]
fn a_blow_meets_each_victim_once_in_the_tick_in_which_they_come_into_reach() {
    let mut range = range();
    // It runs 4 m behind F, and so comes by 32 ticks later; F is in reach from the start.
    let follower = Runner { metres_per_tick: 0.125, start: Tick(8) };
    let follower = range.app.world_mut().spawn((follower, Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0)));
    let follower = follower.id();
    for _ in 0..20 {
        range.app.tick();
    }
    let now = range.app.now() + 1;
    // In 94 + 20, F stands at 14.375, the other one at 13.375: 0.9 m are too few for it.
    let origin = Vec3::new(14.875, 0.0, 9.0);
    let shot = ShotEvent::new(range.shooter, now, origin, Vec3::Z).seen_at(ViewTime::before(now, 6.0));
    let verdicts = run(&mut range.app, vec![shot.with_attack(Attack::Swing(Swing::arc(1.2, 0.6).lasting(16)))], 20);
    let told = told(&verdicts);
    assert_eq!((told.len(), told[0]), (2, (0, Ok(range.target))), "{told:?}");
    let (part, met) = told[1];
    assert!(met == Ok(follower) && (3..12).contains(&part), "{told:?}");
    let hit = verdicts[1].as_ref().unwrap();
    assert_eq!(hit.evidence.view_time, ViewTime::before(now + part, 6.0));
    assert_near(hit.hit.pose.translation.x, 0.125 * (now.0 + part - 6 - 8) as f32);
}

#[test]
fn a_thrust_reaches_as_far_as_its_ball_goes_and_no_further() {
    for (reach, radius, hits) in [(0.8, 0.25, true), (0.7, 0.25, false), (1.01, 0.0, true), (0.99, 0.0, false)] {
        let mut range = range();
        let verdicts = range.app.judge_all([blow(&range, Swing::thrust(reach, radius))]);
        assert_eq!(verdicts[0].is_ok(), hits, "{reach} m, {radius} m");
    }
}

#[test]
fn a_blow_turns_and_walks_with_its_shooter() {
    let mut app = TestApp::new(64.0);
    let shooter = app.world_mut().spawn((Rig, Transform::default())).id();
    let target = app.world_mut().spawn((Rig, Hitbox::ball(0.2), Transform::from_xyz(1.0, 0.0, 3.0))).id();
    app.add_systems(FixedUpdate, move |mut transforms: Query<&mut Transform>, tick: Res<CurrentTick>| {
        let mut own = transforms.get_mut(shooter).unwrap();
        // 2 m along Z, and a quarter to the left, in ten ticks.
        let part = tick.0.since(Tick(20)).clamp(0, 10) as f32 / 10.0;
        *own = Transform::from_xyz(0.0, 0.0, 3.0 * part);
        own.rotation = Quat::from_rotation_y(core::f32::consts::FRAC_PI_2 * part);
    });
    app.run_to(Tick(19));
    let shot = ShotEvent::new(shooter, Tick(20), Vec3::Z * 0.1, Vec3::Z);
    let verdicts = run(&mut app, vec![shot.with_attack(Attack::Swing(Swing::arc(1.2, 0.3).lasting(12)))], 16);
    let [Ok(hit)] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert!(hit.target == target && hit.part >= 7, "{hit:?}");
    let direction = hit.evidence.direction;
    let expected = Quat::from_rotation_y(core::f32::consts::FRAC_PI_2 * (hit.part as f32 / 10.0)) * Vec3::Z;
    assert!(direction.abs_diff_eq(expected, 1e-5), "{direction}");
}

#[test]
fn a_blow_that_comes_late_meets_whom_it_would_have_met_in_time() {
    let verdicts = |late: u32| {
        let mut range = range();
        let shot = blow(&range, Swing::arc(2.0, FRAC_PI_4).lasting(8));
        let shot = ShotEvent { origin: Vec3::new(12.75, 0.0, 9.0), ..shot };
        for _ in 0..late {
            range.app.tick();
        }
        let verdicts = run(&mut range.app, vec![shot], 12);
        let places: Vec<_> = verdicts.iter().map(|verdict| verdict.as_ref().unwrap().hit.point).collect();
        (told(&verdicts), places)
    };
    let in_time = verdicts(0);
    assert_eq!(in_time.0.len(), 1);
    for late in [1, 4, 12] {
        assert_eq!(verdicts(late), in_time, "{late} ticks late");
    }
}

#[test]
fn a_blow_ends_with_its_shooter_and_is_answered_once() {
    let ends: [fn(&mut World, Entity); 3] = [
        |world, shooter| world.get_mut::<Life>(shooter).unwrap().end(),
        |world, shooter| {
            world.entity_mut(shooter).insert(CeaseFire);
        },
        |world, shooter| {
            world.despawn(shooter);
        },
    ];
    for end in ends {
        let mut range = range();
        // F comes into reach in its sixth tick or so.
        let shot = ShotEvent { origin: Vec3::new(13.9, 0.0, 9.0), ..blow(&range, Swing::arc(1.2, 0.6).lasting(30)) };
        let mut verdicts = run(&mut range.app, vec![shot], 3);
        end(range.app.world_mut(), range.shooter);
        verdicts.extend(run(&mut range.app, vec![], 30));
        assert_eq!(told(&verdicts), [(0, Err(RejectReason::Missed))]);
    }
}

#[test]
fn every_blow_ends_in_exactly_one_verdict_for_each_victim_or_in_one_rejection() {
    let mut range = range();
    let shots = (0..200).map(|number: u32| {
        let origin = Vec3::new(11.0 + 0.02 * number as f32, 0.0, 8.6);
        let swing = Swing::arc(1.5, 0.2 + 0.01 * number as f32).lasting(1 + number % 12);
        ShotEvent { origin, ..blow(&range, swing) }.with_id(ShotId::local(number))
    });
    let shots: Vec<_> = shots.collect();
    let mut counts = [0; 200];
    for verdict in run(&mut range.app, shots, 20) {
        let id = verdict.as_ref().map_or_else(|rejection| rejection.shot, |hit| hit.shot);
        counts[id.sequence as usize] += 1;
    }
    assert!(counts.iter().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn a_beam_is_admitted_once_and_judged_in_each_tick_by_its_own_instant() {
    let mut range = range();
    let weapon = FireControl::default().with_magazine(3, Duration::from_secs(1)).with_range(60.0);
    range.app.world_mut().entity_mut(range.shooter).insert(weapon);
    // F passes x = 12.5 in the ticks 96 to 104 of the screen.
    let shot = range.shot(Vec3::X * 12.5, 6.0).with_attack(Attack::Beam(Beam { ticks: 16 }));
    let verdicts = run(&mut range.app, vec![shot], 20);
    let told = told(&verdicts);
    assert_eq!(told.iter().map(|(part, _)| *part).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    for (verdict, (part, outcome)) in verdicts.iter().zip(&told) {
        let shown = 0.125 * (94 + part) as f32;
        assert_eq!(outcome.is_ok(), (shown - 12.5).abs() <= 0.5, "part {part}: {outcome:?}");
        if let Ok(hit) = verdict {
            assert_eq!((hit.by, hit.evidence.view_time), (HitBy::Beam, ViewTime::at(Tick(94 + part))));
        }
    }
    assert_eq!(range.app.world().get::<FireControl>(range.shooter).unwrap().ammunition(), Some(2));
}

#[test]
fn a_beam_follows_the_aim_and_ends_when_the_trigger_is_released() {
    let mut range = range();
    range.app.world_mut().entity_mut(range.shooter).insert(Aim(Dir3::NEG_Z));
    let shot = range.shot(Vec3::X * 12.0, 6.0).with_attack(Attack::Beam(Beam { ticks: 100 }));
    let mut verdicts = run(&mut range.app, vec![shot], 4);
    assert!(verdicts[0].is_ok(), "its first tick is the shot itself");
    assert!(verdicts[1..].iter().all(Result::is_err));
    let entity = range.shooter;
    range.app.world_mut().trigger(ReleaseTrigger { entity });
    verdicts.extend(run(&mut range.app, vec![], 10));
    assert_eq!(verdicts.len(), 4);
}
