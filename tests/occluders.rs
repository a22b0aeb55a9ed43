//! What moves and stops bullets does so where it stood at the view time.

use bevy::prelude::*;
use bevy_hindsight::{OccluderMotion, RejectReason, Tick, prelude::*, test_app::TestApp};
use bevy_rapier3d::prelude::*;

/// Where an occluder stands in each tick.
#[derive(Component)]
struct Path(fn(u32) -> Vec3);

fn follow(mut movers: Query<(&mut Transform, &Path)>, tick: Res<CurrentTick>) {
    for (mut transform, Path(place)) in &mut movers {
        transform.translation = place(tick.0.0);
    }
}

/// An app with physics, a shooter in the origin and a target 10 m along Z.
fn arena() -> (TestApp, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .add_systems(FixedUpdate, follow);
    app.finish();
    let shooter = app.world_mut().spawn(Rig).id();
    app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0)));
    (app, shooter)
}

/// A board of 2 × 2 m, 0.2 m thick.
fn board(path: fn(u32) -> Vec3) -> impl Bundle {
    (Path(path), Occluder::default(), RigidBody::KinematicPositionBased, Collider::cuboid(1.0, 1.0, 0.1))
}

/// Fires at tick 100 at what the screen showed `delay` ticks before, and tells at which distance the shot was blocked.
fn blocked_at(app: &mut TestApp, shooter: Entity, delay: f64) -> Option<f32> {
    let now = app.now() + 1;
    let shot = ShotEvent::new(shooter, now, Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(now, delay));
    match app.judge(shot) {
        Ok(_) => None,
        Err(rejection) => {
            assert_eq!(rejection.reason, RejectReason::Blocked);
            let blocker = rejection.evidence.blocker.expect("it names what blocked");
            assert!(blocker.rewound);
            Some(blocker.distance)
        }
    }
}

#[test]
fn a_moving_board_is_met_where_it_was_between_two_ticks() {
    let (mut app, shooter) = arena();
    app.world_mut().spawn(board(|tick| Vec3::Z * (8.1 - 0.05 * tick as f32)));
    app.run_to(Tick(99));
    let distance = blocked_at(&mut app, shooter, 4.5).unwrap();
    assert!((distance - (8.0 - 0.05 * 95.5)).abs() < 1e-4, "{distance}");
}

#[test]
fn a_discrete_door_stays_open_until_the_tick_in_which_it_shuts() {
    let shut = |motion| {
        let (mut app, shooter) = arena();
        let path = |tick| Vec3::new(if tick < 96 { 1.5 } else { 0.0 }, 0.0, 5.0);
        let door = app.world_mut().spawn(board(path)).id();
        app.world_mut().entity_mut(door).insert(Occluder { motion, ..default() });
        app.run_to(Tick(99));
        [95.9, 96.0].map(|instant| {
            let delay = f64::from(app.now().0 + 1) - instant;
            blocked_at(&mut app, shooter, delay).is_some()
        })
    };
    assert_eq!(shut(OccluderMotion::Discrete), [false, true]);
    assert_eq!(shut(OccluderMotion::Interpolated), [true, true]);
}

#[test]
fn a_jump_is_not_interpolated_with_or_without_being_told() {
    for told in [true, false] {
        let (mut app, shooter) = arena();
        // It jumps across the line of fire; 8 m in a tick is 512 m/s, 1 m is 64 m/s.
        let path: fn(u32) -> Vec3 = if told {
            |tick| Vec3::new(if tick < 96 { -1.6 } else { 1.6 }, 0.0, 5.0)
        } else {
            |tick| Vec3::new(if tick < 96 { -8.0 } else { 8.0 }, 0.0, 5.0)
        };
        app.world_mut().resource_mut::<LagCompensationConfig>().max_speed = (!told).then_some(150.0);
        let board = app.world_mut().spawn(board(path)).id();
        app.run_to(Tick(95));
        if told {
            app.world_mut().trigger(BeginSegment { entity: board });
        }
        app.run_to(Tick(99));
        assert_eq!(blocked_at(&mut app, shooter, 4.5), None, "told: {told}");
    }
}

#[test]
fn a_destroyed_wall_still_covers_whoever_was_behind_it() {
    let (mut app, shooter) = arena();
    let board = app.world_mut().spawn(board(|_| Vec3::Z * 5.0)).id();
    app.run_to(Tick(95));
    app.world_mut().despawn(board);
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 6.0), Some(4.9));
    app.run_to(Tick(110));
    assert_eq!(blocked_at(&mut app, shooter, 0.0), None);
    let now = app.now();
    assert_eq!(blocked_at(&mut app, shooter, f64::from(now.since(Tick(97)))), None);
    app.run_to(Tick(300));
    assert_eq!(blocked_at(&mut app, shooter, 0.0), None);
}

#[test]
fn disabled_and_sensor_states_are_those_of_the_view_time() {
    for disable in [true, false] {
        let (mut app, shooter) = arena();
        let board = app.world_mut().spawn(board(|_| Vec3::Z * 5.0)).id();
        app.run_to(Tick(95));
        if disable {
            app.world_mut().entity_mut(board).insert(ColliderDisabled);
        } else {
            app.world_mut().entity_mut(board).insert(Sensor);
        }
        app.run_to(Tick(99));
        assert_eq!(blocked_at(&mut app, shooter, 6.0), Some(4.9));
        assert_eq!(blocked_at(&mut app, shooter, 2.0), None);
    }
}

#[test]
fn the_scale_is_that_of_the_view_time_and_counts_from_the_first_tick() {
    let (mut app, shooter) = arena();
    let board = app.world_mut().spawn((board(|_| Vec3::Z * 5.0), Transform::from_scale(Vec3::splat(3.0)))).id();
    app.run_to(Tick(50));
    app.world_mut().get_mut::<Transform>(board).unwrap().scale = Vec3::ONE;
    app.run_to(Tick(99));
    let blocked_in = |app: &mut TestApp, tick| {
        let delay = f64::from((app.now() + 1).since(Tick(tick)));
        blocked_at(app, shooter, delay)
    };
    assert_eq!(blocked_in(&mut app, 99), Some(4.9));
    assert!((blocked_in(&mut app, 45).unwrap() - 4.7).abs() < 1e-4);

    let (mut app, shooter) = arena();
    app.run_to(Tick(9));
    let path: fn(u32) -> Vec3 = |_| Vec3::Z * 5.0;
    let fresh = (Path(path), Occluder::default(), Collider::ball(0.5), Transform::from_scale(Vec3::splat(2.0)));
    let fresh = app.world_mut().spawn(fresh).id();
    assert_eq!(blocked_at(&mut app, shooter, 0.0), Some(4.0), "before rapier's first step with it");
    app.world_mut().entity_mut(fresh).insert(ColliderScale::Absolute(Vec3::splat(1.0)));
    assert_eq!(blocked_at(&mut app, shooter, 0.0), Some(4.5));
}

#[test]
fn a_shield_stops_others_and_its_owner_only_on_request() {
    for blocks_owner in [false, true] {
        let (mut app, shooter) = arena();
        let shield = (
            Occluder { blocks_owner, ..default() },
            Collider::cuboid(0.5, 0.5, 0.1),
            Transform::from_xyz(0.0, 0.0, 1.1),
        );
        app.world_mut().spawn((shield, ChildOf(shooter)));
        let other = app.world_mut().spawn(Rig).id();
        app.run_to(Tick(99));
        assert_eq!(blocked_at(&mut app, shooter, 3.0), blocks_owner.then_some(1.0));
        assert_eq!(blocked_at(&mut app, other, 3.0), Some(1.0));
    }
}

#[test]
fn a_pole_that_moves_is_met_by_the_closed_form_for_capsules() {
    let (mut app, shooter) = arena();
    let path: fn(u32) -> Vec3 = |tick| Vec3::new(0.0, 0.01 * tick as f32 - 0.8, 5.0);
    app.world_mut().spawn((Path(path), Occluder::default(), Collider::capsule_y(0.2, 0.05)));
    app.run_to(Tick(99));
    assert!((blocked_at(&mut app, shooter, 4.5).unwrap() - 4.95).abs() < 1e-5);
}

#[test]
fn untracked_colliders_block_in_the_present() {
    let (mut app, shooter) = arena();
    let door = app.world_mut().spawn(board(|tick| Vec3::new(if tick < 96 { 1.5 } else { 0.0 }, 0.0, 5.0))).id();
    app.world_mut().entity_mut(door).remove::<Occluder>();
    app.run_to(Tick(99));
    let shot = ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(100), 8.0));
    let blocker = app.judge(shot).unwrap_err().evidence.blocker.unwrap();
    assert_eq!((blocker.entity, blocker.rewound), (Some(door), false));
}

#[test]
fn a_door_that_becomes_an_occluder_has_stood_where_it_stood() {
    let (mut app, shooter) = arena();
    let path: fn(u32) -> Vec3 = |tick| Vec3::new(if tick < 96 { 0.0 } else { 1.5 }, 0.0, 5.0);
    let body = (RigidBody::KinematicPositionBased, Collider::cuboid(1.0, 1.0, 0.1), Transform::default());
    let door = app.world_mut().spawn((Path(path), body)).id();
    app.run_to(Tick(95));
    app.world_mut().entity_mut(door).insert(Occluder::default());
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 12.0), Some(4.9), "before it was an occluder");
    assert_eq!(blocked_at(&mut app, shooter, 1.0), None);

    // And when it is none any more, it does not block where it is now as well.
    let (mut app, shooter) = arena();
    let path: fn(u32) -> Vec3 = |tick| Vec3::new(if tick < 96 { 1.5 } else { 0.0 }, 0.0, 5.0);
    let door = app.world_mut().spawn(board(path)).id();
    app.run_to(Tick(98));
    app.world_mut().entity_mut(door).remove::<Occluder>();
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 6.0), None);
}

#[test]
fn a_shield_belongs_to_whom_it_belonged_then() {
    let (mut app, shooter) = arena();
    let shield = (Occluder::default(), Collider::cuboid(0.5, 0.5, 0.1), Transform::from_xyz(0.0, 0.0, 1.1));
    let shield = app.world_mut().spawn((shield, ChildOf(shooter))).id();
    app.run_to(Tick(95));
    app.world_mut().entity_mut(shield).remove::<ChildOf>();
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 6.0), None, "in the shooter's own hand");
    assert_eq!(blocked_at(&mut app, shooter, 2.0), Some(1.0), "on the ground");
}

#[test]
fn a_shield_that_changes_hands_is_not_swept_from_one_to_the_other() {
    let (mut app, shooter) = arena();
    let hands = [-1.2, 1.2].map(|x| app.world_mut().spawn((Rig, Transform::from_xyz(x, 0.0, 5.0))).id());
    let shield = app.world_mut().spawn((Occluder::default(), Collider::cuboid(0.5, 0.5, 0.1), ChildOf(hands[0]))).id();
    app.run_to(Tick(95));
    app.world_mut().entity_mut(shield).insert(ChildOf(hands[1]));
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 4.5), None);
}

#[test]
fn unhittable_occluders_and_those_of_disabled_bodies_stop_nothing() {
    let (mut app, shooter) = arena();
    let ghost = app.world_mut().spawn(board(|_| Vec3::Z * 5.0)).id();
    app.world_mut().entity_mut(ghost).insert(Unhittable);
    let body = app.world_mut().spawn((RigidBody::KinematicPositionBased, RigidBodyDisabled, Transform::default())).id();
    app.world_mut().spawn((
        Occluder::default(),
        Collider::ball(0.5),
        Transform::from_xyz(0.0, 0.0, 5.0),
        ChildOf(body),
    ));
    app.run_to(Tick(99));
    assert_eq!(blocked_at(&mut app, shooter, 3.0), None);
}
