//! Section E of the public faults of hit registration, the part with walls, doors and shields.
//!
//! Written elsewhere: B55 (walls ignored by the hit mask) in `tests/walls.rs`.

#[path = "fixture/runner.rs"]
mod fixture;

use bevy::prelude::*;
use bevy_hindsight::{RejectReason::Blocked, Tick, prelude::*, test_app::Verdict};
use bevy_rapier3d::prelude::*;
use fixture::{Range, assert_near, x};

/// The hitbox of F in a world with physics, before the first tick.
fn range(hitbox: Hitbox) -> Range {
    let mut range = Range::new(hitbox);
    range.app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    range.app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    range.app.finish();
    range
}

/// A kinematic box, tracked in history or not.
fn spawn_box(range: &mut Range, half_extents: Vec3, place: Vec3, tracked: bool) -> Entity {
    let collider = Collider::cuboid(half_extents.x, half_extents.y, half_extents.z);
    let body = (RigidBody::KinematicPositionBased, collider, Transform::from_translation(place));
    let mut entity = range.app.world_mut().spawn(body);
    if tracked {
        entity.insert(Occluder::default());
    }
    entity.id()
}

/// The verdict of tick 100 on a shot at F as it stood at view 94, with a door that moves between ticks 95 and 96. When
/// closed, the door faces the shooter at z = 5.
fn shoot_at_door(closed_before: bool, closed_after: bool, tracked: bool) -> (Entity, Entity, Verdict) {
    let place = |closed| Vec3::new(if closed { 11.75 } else { 20.0 }, 0.0, 5.1);
    let mut range = range(Hitbox::ball(0.5));
    let door = spawn_box(&mut range, Vec3::new(1.0, 1.0, 0.1), place(closed_before), tracked);
    range.app.run_to(Tick(95));
    range.app.world_mut().get_mut::<Transform>(door).expect("the door has a place").translation = place(closed_after);
    range.app.run_to(Tick(99));
    let shot = range.shot(x(11.75), 6.0);
    (range.target, door, range.app.judge(shot))
}

fn assert_blocked_at(verdict: Verdict, by: Entity, distance: f32, rewound: bool) {
    let rejection = verdict.expect_err("it stands in the way");
    let blocker = rejection.evidence.blocker.expect("the evidence names it");
    assert_eq!((rejection.reason, blocker.entity, blocker.rewound), (Blocked, Some(by), rewound));
    assert_near(blocker.distance, distance);
}

/// B54: shooter's own hitboxes.
#[test]
fn b54_the_shooters_own_are_skipped_by_ownership_but_a_blocking_shield_is_not() {
    for (blocks_owner, radius) in [(None, 0.5), (Some(false), 0.5), (Some(true), 0.5)] {
        let mut range = range(Hitbox::ball(radius));
        let world = range.app.world_mut();
        world.entity_mut(range.shooter).insert(Transform::from_xyz(11.75, -1.6, 0.0));
        let part = |hitbox, place, parent| (hitbox, Transform::from_translation(place), ChildOf(parent));
        world.spawn(part(Hitbox::capsule(0.5, 0.3), Vec3::Y * 0.8, range.shooter));
        let head = part(Hitbox::ball(0.2).in_zone(Zone::Head), Vec3::Y * 1.6, range.shooter);
        let head = world.spawn(head).id();
        // The hat has a collider, too.
        let brim = Hitbox::cuboid(Vec3::splat(0.1)).in_zone(Zone::Custom(1));
        world.spawn((part(brim, Vec3::Z * 0.3, head), Collider::cuboid(0.1, 0.1, 0.1)));
        let shield = blocks_owner.map(|blocks_owner| {
            let place = part(Hitbox::ball(0.01), Vec3::new(0.5, 1.6, 1.1), range.shooter);
            let shield = (Occluder { blocks_owner, ..default() }, Collider::cuboid(1.0, 1.0, 0.1), place);
            world.spawn(shield).id()
        });
        range.app.run_to(Tick(99));
        let verdict = range.app.judge(range.shot(x(11.75), 6.0));
        if let (Some(shield), Some(true)) = (shield, blocks_owner) {
            assert_blocked_at(verdict, shield, 1.0, true);
        } else {
            let hit = verdict.unwrap().hit;
            assert_eq!(hit.rig, range.target);
            assert_near(hit.distance, 9.5);
        }
    }
}

/// B56, test 1: a door that was closed at the view, and is open now.
#[test]
fn b56_a_door_that_has_opened_since_still_blocks() {
    let (_, door, tracked) = shoot_at_door(true, false, true);
    assert_blocked_at(tracked, door, 5.0, true);
    let (target, _, untracked) = shoot_at_door(true, false, false);
    assert_eq!(untracked.map(|hit| hit.target).ok(), Some(target));
}

/// B56, test 2: a door that was open at the view, and is closed now.
#[test]
fn b56_a_door_that_has_closed_since_blocks_nothing() {
    let (target, _, tracked) = shoot_at_door(false, true, true);
    let hit = tracked.unwrap().hit;
    assert_eq!(hit.rig, target);
    assert_near(hit.distance, 9.5);
    let (_, door, untracked) = shoot_at_door(false, true, false);
    assert_blocked_at(untracked, door, 5.0, false);
}

/// B56, test 3: a lift and who stands on it are rewound to the same moment.
#[test]
fn b56_feet_are_hit_above_the_lift_that_has_risen_since() {
    /// Its top is at y = 0.0625 · T (4 m/s).
    #[derive(Component)]
    struct Riding(f32);
    fn rise(mut riding: Query<(&mut Transform, &Riding)>, tick: Res<CurrentTick>) {
        for (mut transform, Riding(offset)) in &mut riding {
            transform.translation.y = 0.0625 * tick.0.0 as f32 + offset;
        }
    }
    for tracked in [true, false] {
        let body = Hitbox::cuboid(Vec3::new(0.3, 0.9, 0.3)).with_offset(Vec3::Y * 0.9);
        let mut range = range(body);
        range.app.add_systems(FixedUpdate, rise.before(PhysicsSet::SyncBackend));
        range.app.world_mut().entity_mut(range.target).insert(Riding(0.0));
        let lift = spawn_box(&mut range, Vec3::new(2.0, 0.5, 2.0), Vec3::new(12.0, 0.0, 10.0), tracked);
        range.app.world_mut().entity_mut(lift).insert(Riding(-0.5));
        range.app.run_to(Tick(99));

        let from = |above: f32| (Vec3::new(11.75, 0.0625 * 94.0 + above, 0.0), 6.0);
        let [above, below] = range.fire([from(0.05), from(-0.05)]);
        if tracked {
            let hit = above.unwrap();
            assert_eq!(hit.rig, range.target);
            assert_near(hit.distance, 9.7);
        } else {
            assert_eq!(above, Err(Blocked), "by the lift as it stands now");
        }
        assert_eq!(below, Err(Blocked));
    }
}
