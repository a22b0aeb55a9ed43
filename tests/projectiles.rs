//! Projectiles catch up through the past, and then fly on in the present; each ends in one verdict.

#[path = "fixture/runner.rs"]
#[expect(dead_code, reason = "nobody fires bullets here")]
mod runner;

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Ballistics, Blast, CheckPolicy, CompensatedProjectile, HitBy, Projectile, ProjectileEnded,
    ProjectileLaunched, RejectReason, Tick,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;
use runner::{Range, Runner, assert_near, x};

/// What became of projectiles.
#[derive(Resource, Default)]
struct Told {
    launched: Vec<ProjectileLaunched>,
    ended: Vec<ProjectileEnded>,
}

fn listen(app: &mut App) {
    app.init_resource::<Told>()
        .add_observer(|launched: On<ProjectileLaunched>, mut told: ResMut<Told>| told.launched.push(*launched))
        .add_observer(|ended: On<ProjectileEnded>, mut told: ResMut<Told>| told.ended.push(*ended));
}

/// Target F at tick 99, with ears for projectiles.
fn range(hitbox: Hitbox) -> Range {
    let mut range = Range::new(hitbox);
    listen(&mut range.app);
    range.app.run_to(Tick(99));
    range
}

fn flight(app: &mut TestApp) -> Option<CompensatedProjectile> {
    let mut flights = app.world_mut().query::<&CompensatedProjectile>();
    flights.single(app.world()).ok().copied()
}

/// Runs ticks until all have been answered; the verdicts, and the tick of the last one.
fn answers(app: &mut TestApp, shots: Vec<ShotEvent>, most: usize) -> Vec<(Tick, Verdict)> {
    let mut found: Vec<_> = app.judge_all(shots).into_iter().map(|verdict| (app.now(), verdict)).collect();
    for _ in 0..most {
        let verdicts = app.judge_all([]);
        found.extend(verdicts.into_iter().map(|verdict| (app.now(), verdict)));
    }
    found
}

#[test]
fn b61_catching_up_covers_ten_metres_to_the_last_fraction_of_a_tick_and_then_it_is_live() {
    let mut range = range(Hitbox::ball(0.5));
    let shot = range.shot(x(-50.0), 6.4).with_attack(Attack::Projectile(Projectile::new(100.0)));
    assert_eq!(range.app.judge_all([shot]).len(), 0);
    let launched = flight(&mut range.app).unwrap();
    assert_near(launched.place().z, 10.0);
    assert!((launched.flown() - 6.4).abs() < 1e-4 && launched.is_live());
    assert_eq!(launched.view_time(), ViewTime::at(Tick(100)));
    let mut place = range.app.world_mut().query_filtered::<&Transform, With<CompensatedProjectile>>();
    assert_near(place.single(range.app.world()).unwrap().translation.z, 10.0);
    range.app.tick();
    let live = flight(&mut range.app).unwrap();
    assert_near(live.place().z, 10.0 + 100.0 / 64.0);
    assert_eq!(live.view_time(), ViewTime::at(Tick(101)));
    assert_eq!(range.app.world().resource::<Told>().launched.len(), 1);
}

/// In sub-step k, F stands where it stood at 93.6 + k: at x = 11.7 + 0.125 k.
#[test]
fn b61_each_sub_step_meets_what_stood_at_the_view_time_and_as_many_ticks() {
    // F stands at z = 10; from this far before it, it is reached in sub-step k.
    for (k, before) in [(0_u32, 1.0), (3, 5.5), (5, 8.6), (6, 9.9)] {
        for (at, hits) in [(11.7 + 0.125 * k as f32, true), (11.7 + 0.125 * k as f32 + 0.1, false)] {
            let mut range = range(Hitbox::ball(0.06));
            let origin = Vec3::new(at, 0.0, 10.0 - before);
            let shot = range.shot(origin, 6.4).with_attack(Attack::Projectile(Projectile::new(100.0).lasting(7)));
            let found = answers(&mut range.app, vec![shot], 8);
            assert_eq!(found.len(), 1);
            let verdict = &found[0].1;
            assert_eq!(verdict.is_ok(), hits, "sub-step {k}, x = {at}: {verdict:?}");
            if let Ok(hit) = verdict {
                assert_eq!(hit.evidence.view_time, ViewTime::before(Tick(100) + k, 6.4));
                assert_eq!((hit.by, hit.target, found[0].0), (HitBy::Projectile, range.target, Tick(100)));
            }
        }
    }
}

#[test]
fn the_way_through_the_past_is_no_longer_than_the_cap_and_the_evidence_says_so() {
    let mut range = range(Hitbox::ball(0.5));
    let capped = Projectile { max_catch_up: 4, ..Projectile::new(100.0).lasting(20) };
    let shot = range.shot(x(-50.0), 6.4).with_attack(Attack::Projectile(capped));
    assert!(range.app.judge_all([shot]).is_empty());
    assert_near(flight(&mut range.app).unwrap().place().z, 4.0 * 100.0 / 64.0);
    let found = answers(&mut range.app, vec![], 30);
    let [(_, Err(rejection))] = &found[..] else { panic!("{found:?}") };
    let adjusted = rejection.evidence.adjusted.unwrap();
    assert_eq!((adjusted.policy, adjusted.reason), (CheckPolicy::Clamp, RejectReason::ViewTimeTooOld));
}

#[test]
fn what_falls_falls_by_half_of_g_t_squared_and_what_its_time_is_over_has_missed() {
    let mut range = range(Hitbox::ball(0.5));
    let flying = Ballistics { gravity: Vec3::NEG_Y * 9.81, drag: 0.0 };
    let grenade = Projectile::new(20.0).flying(flying).lasting(64);
    let shot = range.shot(x(-50.0), 0.0).with_attack(Attack::Projectile(grenade));
    let found = answers(&mut range.app, vec![shot], 70);
    let [(tick, Err(rejection))] = &found[..] else { panic!("{found:?}") };
    assert_eq!((*tick, rejection.reason), (Tick(164), RejectReason::Missed));
    assert_eq!((rejection.evidence.command_tick, rejection.evidence.judged_at), (Tick(100), Tick(164)));
    let told = range.app.world().resource::<Told>();
    let [ended] = told.ended[..] else { panic!("one end: {:?}", told.ended) };
    assert!(ended.place.abs_diff_eq(Vec3::new(-50.0, -9.81 / 2.0, 20.0), 1e-3), "{ended:?}");
    assert!((ended.flown - 64.0).abs() < 1e-6 && ended.normal.is_none());
    assert!(flight(&mut range.app).is_none(), "it is despawned");
}

/// A rocket at 100 m/s into F, which stands beside another figure; both where they stood in the sub-step of the impact.
#[test]
fn who_is_hit_and_who_is_near_stand_where_they_stood_in_the_same_instant() {
    let mut range = range(Hitbox::ball(0.5));
    let other = Runner { metres_per_tick: 0.125, start: Tick(0) };
    let place = Transform::from_xyz(0.0, 0.0, 11.5);
    let other = range.app.world_mut().spawn((other, Rig, Hitbox::ball(0.5), place)).id();
    for _ in 0..40 {
        range.app.tick();
    }
    let now = range.app.now() + 1;
    let rocket = Projectile::new(100.0).with_blast(Blast::new(2.0)).lasting(20);
    let origin = Vec3::new(0.125 * (now.0 as f32 - 6.4 + 2.0), 0.0, 6.0);
    let shot = ShotEvent::new(range.shooter, now, origin, Vec3::Z).seen_at(ViewTime::before(now, 6.4));
    let found = answers(&mut range.app, vec![shot.with_attack(Attack::Projectile(rocket))], 20);
    let hits: Vec<_> = found.iter().map(|(_, verdict)| verdict.as_ref().unwrap()).collect();
    let told: Vec<_> = hits.iter().map(|hit| (hit.target, hit.by)).collect();
    assert_eq!(told, [(range.target, HitBy::Projectile), (other, HitBy::Blast)], "the first one is not told twice");
    // 3.5 m at 100 m/s take 2.24 ticks.
    let at = ViewTime::before(now + 2, 6.4);
    for hit in &hits {
        assert_eq!(hit.evidence.view_time, at);
        assert_near(hit.hit.pose.translation.x, 0.125 * (now.0 as f32 - 4.4));
    }
    assert_eq!(range.app.world().resource::<Told>().ended.len(), 1);
}

/// An app with physics and a wall at z = 5.
fn walled() -> (TestApp, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    listen(&mut app);
    app.world_mut().spawn((RigidBody::Fixed, Collider::cuboid(3.0, 3.0, 0.5), Transform::from_xyz(0.0, 0.0, 5.5)));
    let shooter = app.world_mut().spawn(Rig).id();
    app.run_to(Tick(9));
    (app, shooter)
}

#[test]
fn a_projectile_bounces_as_often_as_it_may_and_then_stays_in_the_wall() {
    let (mut app, shooter) = walled();
    app.world_mut().spawn((RigidBody::Fixed, Collider::cuboid(3.0, 3.0, 0.5), Transform::from_xyz(0.0, 0.0, -5.5)));
    for (bounces, radius, expected, end) in
        [(0, 0.0, Vec3::NEG_Z, 5.0), (1, 0.0, Vec3::Z, -5.0), (1, 0.25, Vec3::Z, -4.75)]
    {
        app.tick();
        let now = app.now() + 1;
        let ball = Projectile::new(64.0).bouncing(bounces, 0.5).with_radius(radius).lasting(100);
        let shot = ShotEvent::new(shooter, now, Vec3::ZERO, Vec3::Z).with_attack(Attack::Projectile(ball));
        let found = answers(&mut app, vec![shot], 40);
        let [(_, Err(rejection))] = &found[..] else { panic!("{found:?}") };
        assert_eq!(rejection.reason, RejectReason::Blocked);
        let ended = app.world_mut().resource_mut::<Told>().ended.pop().unwrap();
        assert!(ended.normal.unwrap().abs_diff_eq(expected, 1e-4), "{ended:?}");
        assert!((ended.place.z - end).abs() < 2e-3, "{bounces} bounces: {ended:?}");
        // 5 m at a metre a tick, then 10 m at half of that.
        let flown = if bounces == 0 { 5.0 } else { 25.0 - 5.0 * f64::from(radius) };
        assert!((ended.flown - flown).abs() < 0.01, "{ended:?} {flown}");
    }
}

#[test]
fn a_blast_on_a_wall_meets_who_stands_before_it_and_not_who_stands_behind() {
    let (mut app, shooter) = walled();
    let before = app.world_mut().spawn((Rig, Hitbox::ball(0.3), Transform::from_xyz(1.0, 0.0, 4.0))).id();
    app.world_mut().spawn((Rig, Hitbox::ball(0.3), Transform::from_xyz(0.0, 0.0, 6.5)));
    for _ in 0..3 {
        app.tick();
    }
    let rocket = Projectile::new(60.0).with_blast(Blast::new(3.0));
    let shot = ShotEvent::new(shooter, app.now() + 1, Vec3::ZERO, Vec3::Z).with_attack(Attack::Projectile(rocket));
    let found = answers(&mut app, vec![shot], 10);
    let targets: Vec<_> = found.iter().map(|(_, verdict)| verdict.as_ref().unwrap().target).collect();
    assert_eq!(targets, [before]);
}

/// Twelve shots at once, of all speeds and delays.
fn salvo(range: &Range) -> Vec<ShotEvent> {
    let shots = (0..12).map(|number: u32| {
        let delay = f64::from(number) * 0.7;
        let projectile = Projectile::new(40.0 + 10.0 * number as f32).lasting(40);
        let at = 12.5 - 0.125 * delay as f32 + 0.125 * 10.0 * 64.0 / projectile.speed;
        let shot = range.shot(x(at), delay).with_id(ShotId::local(number));
        shot.with_attack(Attack::Projectile(projectile))
    });
    shots.collect()
}

#[test]
fn slicing_the_way_through_the_past_changes_no_verdict() {
    let verdicts = |steps: u32| -> Vec<_> {
        let mut range = range(Hitbox::ball(0.3));
        range.app.world_mut().resource_mut::<LagCompensationConfig>().max_catch_up_steps = steps;
        let shots = salvo(&range);
        let found = answers(&mut range.app, shots, 80);
        let mut told: Vec<_> = found
            .into_iter()
            .map(|(_, verdict)| match verdict {
                Ok(hit) => (hit.shot.sequence, Some(hit.hit.point), hit.evidence.view_time),
                Err(rejection) => (rejection.shot.sequence, None, rejection.evidence.view_time),
            })
            .collect();
        told.sort_by_key(|(sequence, ..)| *sequence);
        told
    };
    let at_once = verdicts(4_096);
    assert_eq!(at_once.len(), 12);
    assert!(at_once.iter().filter(|(_, hit, _)| hit.is_some()).count() >= 6, "{at_once:?}");
    for steps in [7, 16] {
        assert_eq!(verdicts(steps), at_once, "{steps} steps in a tick");
    }
}

#[test]
fn every_projectile_ends_in_exactly_one_verdict_whatever_becomes_of_it_and_of_its_shooter() {
    let mut range = range(Hitbox::ball(0.5));
    let shots: Vec<_> = (0..200)
        .map(|number| {
            let aside = (number % 20) as f32 * 0.2 - 2.0;
            let projectile = Projectile::new(5.0 + number as f32).lasting(20 + number % 50);
            let blast = (number % 3 == 0).then_some(Blast::new(1.0));
            let projectile = Projectile { blast, ..projectile };
            let shot = range.shot(x(12.5 + aside), f64::from(number % 9)).with_id(ShotId::local(number));
            shot.with_attack(Attack::Projectile(projectile))
        })
        .collect();
    let mut counts = [0; 200];
    let mut count = |verdicts: Vec<Verdict>| {
        for verdict in verdicts {
            let id = verdict.as_ref().map_or_else(|rejection| rejection.shot, |hit| hit.shot);
            counts[id.sequence as usize] += 1;
        }
    };
    count(range.app.judge_all(shots));
    for tick in 0..90 {
        if tick == 5 {
            let mut all = range.app.world_mut().query_filtered::<Entity, With<CompensatedProjectile>>();
            let some: Vec<_> = all.iter(range.app.world()).step_by(3).collect();
            assert!(some.len() > 20);
            for projectile in some {
                range.app.world_mut().despawn(projectile);
            }
        }
        if tick == 8 {
            range.app.world_mut().despawn(range.shooter);
        }
        count(range.app.judge_all([]));
    }
    assert!(counts.iter().all(|count| *count == 1), "{counts:?}");
}
