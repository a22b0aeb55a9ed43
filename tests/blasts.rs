//! Explosions meet who stands near, where they stand, unless a wall covers them.

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Blast, HitBy, RejectReason, Tick,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;

/// An app with physics at tick 99 and a runner at 8 m/s along X, a ball of 0.5 m: in tick T at x = T / 8, z = 10.
fn range() -> (TestApp, Entity, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.add_systems(FixedUpdate, |mut runner: Query<&mut Transform, With<Hitbox>>, tick: Res<CurrentTick>| {
        for mut transform in runner.iter_mut().filter(|transform| transform.translation.z == 10.0) {
            transform.translation.x = 0.125 * tick.0.0 as f32;
        }
    });
    app.finish();
    let shooter = app.world_mut().spawn(Rig).id();
    let runner = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    app.run_to(Tick(99));
    (app, shooter, runner)
}

fn explosion(shooter: Entity, x: f32, blast: Blast) -> ShotEvent {
    let view = ViewTime::before(Tick(100), 6.0);
    ShotEvent::new(shooter, Tick(100), Vec3::new(x, 0.0, 10.0), Vec3::Z).seen_at(view).with_attack(Attack::Blast(blast))
}

fn reasons(verdicts: &[Verdict]) -> Vec<Result<Entity, RejectReason>> {
    verdicts.iter().map(|verdict| verdict.as_ref().map(|hit| hit.target).map_err(|no| no.reason)).collect()
}

#[test]
fn a_blast_is_of_the_present_unless_it_says_otherwise() {
    // The runner is at 12.5 now and was at 11.75 on the screen.
    for (x, blast, hits) in [
        (11.0, Blast::new(0.9), false),
        (11.0, Blast::new(1.1), true),
        (11.0, Blast::new(0.3).rewound(), true),
        (11.0, Blast::new(0.2).rewound(), false),
    ] {
        let (mut app, shooter, runner) = range();
        let verdicts = app.judge_all([explosion(shooter, x, blast)]);
        assert_eq!(reasons(&verdicts), [if hits { Ok(runner) } else { Err(RejectReason::Missed) }], "{blast:?}");
        let evidence = match &verdicts[0] {
            Ok(hit) => hit.evidence,
            Err(rejection) => rejection.evidence,
        };
        let expected = if blast.rewound { ViewTime::at(Tick(94)) } else { ViewTime::at(Tick(100)) };
        assert_eq!((evidence.view_time, evidence.range), (expected, blast.radius));
    }
}

#[test]
fn victims_are_told_with_their_distance_nearest_first_and_the_shooter_among_them() {
    let (mut app, shooter, runner) = range();
    let body = Hitbox::ball(0.25).in_zone(Zone::Pelvis);
    app.world_mut().entity_mut(shooter).insert((body, Transform::from_xyz(14.0, 0.0, 9.0)));
    let all = app.judge_all([explosion(shooter, 14.0, Blast::new(2.0))]);
    assert_eq!(reasons(&all), [Ok(shooter), Ok(runner)]);
    let near = all[0].as_ref().unwrap();
    assert_eq!((near.by, near.hit.zone, near.hit.distance), (HitBy::Blast, Zone::Pelvis, 0.75));
    assert_eq!(near.hit.point, Vec3::new(14.0, 0.0, 9.25));
    let (mut app, shooter, runner) = range();
    app.world_mut().entity_mut(shooter).insert((body, Transform::from_xyz(14.0, 0.0, 9.0)));
    let others = app.judge_all([explosion(shooter, 14.0, Blast::new(2.0).sparing_shooter())]);
    assert_eq!(reasons(&others), [Ok(runner)]);
}

#[test]
fn a_wall_covers_who_is_wholly_behind_it() {
    for (height, blast, expected) in [
        (2.0, Blast::new(3.0), false),
        (2.0, Blast::new(3.0).through_walls(), true),
        // Over a low wall, the head looks out.
        (0.3, Blast::new(3.0), true),
    ] {
        let (mut app, shooter, runner) = range();
        let head = (Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(runner));
        app.world_mut().spawn(head);
        let wall = Collider::cuboid(0.1, height, 3.0);
        app.world_mut().spawn((RigidBody::Fixed, wall, Transform::from_xyz(13.5, 0.0, 10.0)));
        app.tick();
        let shot = ShotEvent { command_tick: Tick(101), ..explosion(shooter, 14.5, blast) };
        let verdicts = app.judge_all([shot]);
        assert_eq!(reasons(&verdicts), [if expected { Ok(runner) } else { Err(RejectReason::Blocked) }], "{height} m");
        if height < 1.0 {
            assert_eq!(verdicts[0].as_ref().unwrap().hit.zone, Zone::Head);
        }
    }
}

#[test]
fn a_blast_within_a_body_meets_it_at_no_distance() {
    let (mut app, shooter, runner) = range();
    let verdicts = app.judge_all([explosion(shooter, 12.5, Blast::new(0.1))]);
    assert_eq!(reasons(&verdicts), [Ok(runner)]);
    assert_eq!(verdicts[0].as_ref().unwrap().hit.distance, 0.0);
}
