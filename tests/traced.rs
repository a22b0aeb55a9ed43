//! What is told of a verdict to those who want to see it.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Beam, Blast, Bullet, PelletPattern, Projectile, ShotTraced, ShotTracing, Swing, Tick, TracedHitbox,
    TracedOutcome, prelude::*, test_app::TestApp,
};
use bevy_rapier3d::prelude::*;

/// Where something stands in each tick.
#[derive(Component)]
struct Path(fn(u32) -> Vec3);

fn follow(mut movers: Query<(&mut Transform, &Path)>, tick: Res<CurrentTick>) {
    for (mut transform, Path(place)) in &mut movers {
        transform.translation = place(tick.0.0);
    }
}

/// All that was told, in its order.
#[derive(Resource, Default)]
struct Told(Vec<ShotTraced>);

/// An app with physics and a shooter in the origin, which explains its verdicts.
fn arena() -> (TestApp, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .insert_resource(ShotTracing { enabled: true, ..default() })
        .init_resource::<Told>()
        .add_systems(FixedUpdate, follow)
        .add_systems(Update, |mut traced: MessageReader<ShotTraced>, mut told: ResMut<Told>| {
            told.0.extend(traced.read().cloned());
        });
    app.finish();
    let shooter = app.world_mut().spawn(Rig).id();
    (app, shooter)
}

/// Fires in the next tick at what stood on the screen so many ticks before, and returns what is told of it.
fn trace(app: &mut TestApp, shooter: Entity, aim: Vec3, delay: f64, attack: Attack) -> Vec<ShotTraced> {
    let now = app.now() + 1;
    let shot = ShotEvent::new(shooter, now, Vec3::ZERO, aim).seen_at(ViewTime::before(now, delay)).with_range(50.0);
    app.judge_all([shot.with_attack(attack)]);
    core::mem::take(&mut app.world_mut().resource_mut::<Told>().0)
}

const BULLET: Attack = Attack::Bullet(Bullet { pellets: None, piercing: None });

fn runner(tick: u32) -> Vec3 {
    Vec3::new(0.1 * tick as f32 - 5.0, 0.0, 10.0)
}

#[test]
fn nothing_is_told_unless_it_is_asked_for() {
    let (mut app, shooter) = arena();
    app.insert_resource(ShotTracing::default());
    app.run_to(Tick(20));
    assert_eq!(trace(&mut app, shooter, Vec3::Z, 0.0, BULLET), []);
    app.world_mut().resource_mut::<ShotTracing>().enabled = true;
    assert_eq!(trace(&mut app, shooter, Vec3::Z, 0.0, BULLET).len(), 1);
}

#[test]
fn all_that_a_shot_came_near_is_told_as_it_was_tested_and_as_it_stands() {
    let (mut app, shooter) = arena();
    let world = app.world_mut();
    let legs = (Hitbox::capsule(0.3, 0.2).in_zone(Zone::Leg), Transform::from_xyz(0.0, -1.0, 0.0));
    let runner = world.spawn((Rig, Hitbox::ball(0.5), Path(runner), children![legs])).id();
    let bystander = world.spawn((Rig, Hitbox::ball(0.4), Transform::from_xyz(1.0, 0.0, 6.0))).id();
    world.spawn((Rig, Hitbox::ball(0.4), Transform::from_xyz(3.0, 0.0, 6.0)));
    let door = (Occluder::default(), RigidBody::KinematicPositionBased, Collider::cuboid(0.5, 1.0, 0.1));
    let door = world.spawn((door, Path(|tick| Vec3::new(0.0, 0.06 * tick as f32 - 3.0, 12.0)))).id();
    app.run_to(Tick(55));
    let (now, delay) = (Tick(56), 6.5);
    let [told] = &trace(&mut app, shooter, Vec3::Z, delay, BULLET)[..] else { panic!("one verdict") };
    assert_eq!((told.victim(), told.shooter), (Some(runner), shooter));
    assert!((told.end().z - 9.5).abs() < 0.01, "{}", told.end());
    assert!((told.rewind_ticks() - delay).abs() < 1e-4 && (told.rewind_ms() - delay * 15.625).abs() < 1e-2);
    let history = app.world().get::<HistoryBuffer>(runner).unwrap();
    let [then, live] = [ViewTime::before(now, delay), ViewTime::at(now)].map(|at| history.sample(at).unwrap());
    let expected =
        then.hitboxes().zip(live.hitboxes()).map(|(then, live)| (runner, then.entity, then.pose, Some(live.pose)));
    let found = |hitbox: &TracedHitbox| (hitbox.rig, hitbox.hitbox, hitbox.pose, hitbox.live);
    assert_eq!(told.hitboxes[0].rig, bystander, "the nearest comes first");
    assert_eq!(told.hitboxes[0].live, Some(told.hitboxes[0].pose), "it has not moved");
    assert!(told.hitboxes[1..].iter().map(found).eq(expected), "{:?}", told.hitboxes);
    assert_eq!(told.occluders, [], "the door stands behind the victim");

    // Beside the runner.
    let [told] = &trace(&mut app, shooter, Vec3::new(-0.09, 0.0, 1.0), delay, BULLET)[..] else {
        panic!("one verdict")
    };
    assert_eq!((told.rejected(), told.length), (Some(RejectReason::Missed), 50.0));
    let [told_door] = &told.occluders[..] else { panic!("one door: {:?}", told.occluders) };
    assert_eq!(
        (told_door.occluder, told_door.shape),
        (Some(door), Shape::Cuboid { half_extents: Vec3::new(0.5, 1.0, 0.1) })
    );
    let lifted = Vec3::from(told_door.live.unwrap().translation - told_door.pose.translation);
    assert!(lifted.distance(Vec3::Y * 0.06 * delay as f32) < 1e-4, "{lifted}");
}

#[test]
fn it_is_told_for_how_long_a_victim_has_been_behind_cover() {
    let (mut app, shooter) = arena();
    app.world_mut().spawn((Rig, Hitbox::ball(0.3), Path(runner)));
    // From x = 0.4 on, half-way.
    app.world_mut().spawn((RigidBody::Fixed, Collider::cuboid(5.0, 2.0, 0.1), Transform::from_xyz(5.4, 0.0, 5.0)));
    app.run_to(Tick(63));
    // On the screen, the victim stands in the open.
    for (delay, hits) in [(9.0, true), (14.25, true), (3.0, false)] {
        let now = app.now() + 1;
        let seen = runner(0) + Vec3::X * 0.1 * (f64::from(now.0) - delay) as f32;
        let [told] = &trace(&mut app, shooter, seen, delay, BULLET)[..] else { panic!("one verdict") };
        assert_eq!(told.hit().is_some(), hits, "{delay}: {:?}", told.outcome);
        let Some(hit) = told.hit() else {
            assert_eq!(told.cover, None);
            continue;
        };
        let cover = told.cover.expect("by now, the wall is in between");
        // The victim is covered as soon as the line meets the far edge of the wall.
        let point = hit.point - seen;
        let edge = 0.4 / 5.1 * (10.0 + point.z) - point.x;
        let since = f64::from((edge + 5.0) / 0.1);
        let behind = f64::from(now.0) - since;
        let found = cover.time.as_secs_f64() * 64.0;
        assert!((found - behind).abs() < 0.01, "{found} ticks instead of {behind}");
        assert!((cover.since.ticks_before(now) - found).abs() < 1e-3);
        assert!(cover.point.distance(runner(now.0) + point) < 1e-4);
        assert!((cover.blocker.distance - 4.9).abs() < 0.3 && !cover.blocker.rewound);
    }
}

#[test]
fn nobody_is_in_cover_whom_the_muzzle_still_sees() {
    let (mut app, shooter) = arena();
    app.world_mut().spawn((Rig, Hitbox::ball(0.3), Path(runner)));
    app.run_to(Tick(50));
    let [told] = &trace(&mut app, shooter, Vec3::Z, 1.0, BULLET)[..] else { panic!("one verdict") };
    assert!(told.hit().is_some() && told.cover.is_none());
}

#[test]
fn the_dead_stand_nowhere_and_take_no_cover() {
    let (mut app, shooter) = arena();
    let victim = app.world_mut().spawn((Rig, Hitbox::ball(0.3), Path(runner))).id();
    app.world_mut().spawn((RigidBody::Fixed, Collider::cuboid(5.0, 2.0, 0.1), Transform::from_xyz(5.4, 0.0, 5.0)));
    app.run_to(Tick(63));
    app.world_mut().get_mut::<Life>(victim).unwrap().end();
    let [told] = &trace(&mut app, shooter, runner(55), 9.0, BULLET)[..] else { panic!("one verdict") };
    assert_eq!(told.victim(), Some(victim));
    assert_eq!((told.hitboxes[0].live, told.cover), (None, None));
}

#[test]
fn every_weapon_is_told_up_to_what_it_met() {
    let (mut app, shooter) = arena();
    let target = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 3.0))).id();
    app.run_to(Tick(30));
    let pellets = Bullet::default().with_pellets(PelletPattern::cone(6, 0.01));
    let attacks = [
        (BULLET, 1),
        (Attack::Bullet(pellets), 6),
        (Attack::Swing(Swing::arc(4.0, 0.5)), 1),
        (Attack::Beam(Beam { ticks: 1 }), 1),
        (Attack::Blast(Blast::new(4.0)), 1),
        (Attack::Projectile(Projectile::new(500.0)), 1),
    ];
    for (attack, parts) in attacks {
        let told = trace(&mut app, shooter, Vec3::Z, 2.0, attack);
        assert_eq!(told.len(), parts, "{attack:?}");
        for told in told {
            let TracedOutcome::Hit { hit, .. } = told.outcome else { panic!("{attack:?}: {:?}", told.outcome) };
            assert!(told.end().distance(hit.point) < 1e-4, "{attack:?}: {} instead of {}", told.end(), hit.point);
            assert!(told.hitboxes.iter().any(|hitbox| hitbox.rig == target && hitbox.pose == hit.pose), "{attack:?}");
            assert_eq!(told.timestep, Duration::from_nanos(15_625_000));
        }
    }
}

#[test]
fn refused_shots_are_told_without_a_world_around_them() {
    let (mut app, shooter) = arena();
    app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0)));
    app.run_to(Tick(30));
    let [told] = &trace(&mut app, shooter, Vec3::ZERO, 2.0, BULLET)[..] else { panic!("one verdict") };
    assert_eq!(told.rejected(), Some(RejectReason::DirectionZero));
    assert_eq!((told.direction, told.hitboxes.len(), told.cover), (Vec3::ZERO, 0, None));
    let [told] = &trace(&mut app, shooter, Vec3::NAN, 2.0, BULLET)[..] else { panic!("one verdict") };
    assert_eq!((told.rejected(), told.direction), (Some(RejectReason::DirectionNotFinite), Vec3::ZERO));
}

#[test]
fn no_more_is_told_than_was_asked_for() {
    let (mut app, shooter) = arena();
    app.insert_resource(ShotTracing { enabled: true, max_shots: 3, max_hitboxes: 2, ..default() });
    for n in 0..5 {
        app.world_mut().spawn((Rig, Hitbox::ball(0.3), Transform::from_xyz(0.7, 0.0, 5.0 + n as f32)));
    }
    app.run_to(Tick(30));
    let pellets = Bullet::default().with_pellets(PelletPattern::cone(8, 0.01));
    let told = trace(&mut app, shooter, Vec3::Z, 2.0, Attack::Bullet(pellets));
    assert!(told.iter().map(|told| (told.part, told.hitboxes.len())).eq([(0, 2), (1, 2), (2, 2)]));
    let along = |hitbox: &TracedHitbox| hitbox.pose.translation.z;
    assert!(told[0].hitboxes.iter().map(along).eq([5.0, 6.0]));
}
