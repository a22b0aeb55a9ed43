//! Section D of the public faults of hit registration: shapes, hierarchy, scale, animation.
//!
//! Nothing of it is missing; B47 in the words of rapier (`ColliderDisabled`) stands in `tests/segments.rs`. B39's query with hitbox groups stands here as two shots of one tick: hitboxes have zones, and
//! no groups that a query could choose between.

#[path = "fixture/runner.rs"]
mod fixture;

use core::f32::consts::FRAC_PI_2;

use bevy::prelude::*;
use bevy_hindsight::{RejectReason::Missed, RewoundHitbox, Shape, Tick, prelude::*};
use bevy_rapier3d::geometry::ColliderScale;
use fixture::{Range, assert_near, x};

/// The target of `hitbox`, changed by `change` between ticks 95 and 96, just before tick 100.
fn changed_at_96(hitbox: Hitbox, change: impl FnOnce(EntityWorldMut)) -> Range {
    let mut range = Range::new(hitbox);
    range.app.run_to(Tick(95));
    let target = range.target;
    change(range.app.world_mut().entity_mut(target));
    range.app.run_to(Tick(99));
    range
}

/// Replaces the running target by one that has no motion and no hitboxes of its own, at x = 12.
fn stand_still(range: &mut Range) {
    range.app.world_mut().despawn(range.target);
    range.target = range.app.world_mut().spawn((Rig, Transform::from_xyz(12.0, 0.0, 10.0))).id();
}

/// All hitboxes of a rig at an instant.
fn hitboxes_at(range: &Range, rig: Entity, view: ViewTime) -> Vec<RewoundHitbox> {
    let history = range.app.world().get::<HistoryBuffer>(rig).expect("it is a rig");
    history.sample(view).expect("it was there").hitboxes().collect()
}

/// B38: bones not rewound with the body.
#[test]
fn b38_the_head_is_where_body_and_bone_were() {
    let mut range = Range::new(Hitbox::ball(0.12));
    let world = range.app.world_mut();
    world.entity_mut(range.target).remove::<Hitbox>();
    let head = (Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 1.6, 0.0), ChildOf(range.target));
    let head = world.spawn(head).id();
    range.app.run_to(Tick(95));
    range.app.world_mut().get_mut::<Transform>(head).unwrap().translation = Vec3::new(0.4, 1.2, 0.0);
    range.app.run_to(Tick(99));
    let ray = |x, y| (Vec3::new(x, y, 0.0), 6.0);
    let [hit, present_bone, present_head] = range.fire([ray(11.75, 1.6), ray(12.15, 1.2), ray(12.9, 1.2)]);
    let hit = hit.unwrap();
    assert_eq!((hit.hitbox, hit.zone, hit.rig), (head, Zone::Head, range.target));
    assert_near(hit.distance, 9.88);
    assert!(hit.pose.translation.distance(Vec3::new(11.75, 1.6, 10.0).into()) <= 1e-4);
    assert_eq!((present_bone, present_head), (Err(Missed), Err(Missed)));
}

/// B39: size and stance taken from the present.
#[test]
fn b39_a_target_that_has_crouched_since_is_hit_standing() {
    let standing = Hitbox::capsule(0.9, 0.3).with_offset(Vec3::Y * 1.2);
    let mut range = changed_at_96(standing, |mut target| {
        target.insert(Hitbox::capsule(0.4, 0.3).with_offset(Vec3::Y * 0.7));
    });
    let ray = |x, y| Vec3::new(x, y, 0.0);
    let shots = [(ray(11.75, 1.9), 6.0), (ray(11.75, 2.39), 6.0), (ray(11.75, 2.41), 6.0), (ray(12.5, 1.9), 0.0)];
    let [standing, top, above, crouched] = range.fire(shots);
    // Both casts of one rewind have the size of then.
    for hit in [standing.unwrap(), top.unwrap()] {
        assert_eq!(hit.shape, Shape::Capsule { half_height: 0.9, radius: 0.3 });
    }
    assert_near(standing.unwrap().distance, 9.7);
    assert_eq!((above, crouched), (Err(Missed), Err(Missed)));
}

/// B40: rotation ignored.
#[test]
fn b40_a_box_is_hit_as_it_was_turned() {
    let mut range = Range::new(Hitbox::ball(0.5));
    stand_still(&mut range);
    range.app.world_mut().entity_mut(range.target).insert(Hitbox::cuboid(Vec3::new(0.2, 0.9, 1.0)));
    range.app.run_to(Tick(95));
    let mut transform = range.app.world_mut().get_mut::<Transform>(range.target).unwrap();
    transform.rotation = Quat::from_rotation_y(FRAC_PI_2);
    range.app.run_to(Tick(99));
    let [before, now] = range.fire([(x(12.6), 6.0), (x(12.6), 0.0)]);
    assert_eq!(before, Err(Missed));
    assert_near(now.unwrap().distance, 9.8);
}

/// B43: a re-parented collider keeps its old body.
#[test]
fn b43_a_hitbox_belongs_to_the_rig_that_it_was_on() {
    let mut range = Range::new(Hitbox::ball(0.5));
    let world = range.app.world_mut();
    world.entity_mut(range.target).remove::<Hitbox>();
    let other = world.spawn((Rig, Transform::from_xyz(-8.0, 0.0, 10.0))).id();
    let backpack = (Hitbox::ball(0.2), Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(range.target));
    let backpack = world.spawn(backpack).id();
    range.app.run_to(Tick(95));
    range.app.world_mut().entity_mut(backpack).insert(ChildOf(other));
    range.app.run_to(Tick(99));
    let ray = |x, delay| (Vec3::new(x, 1.0, 0.0), delay);
    let shots = [ray(11.75, 6.0), ray(-8.0, 6.0), ray(12.25, 2.0), ray(-8.0, 2.0), ray(11.9375, 4.5), ray(-8.0, 4.5)];
    let [on_first, not_yet, no_longer, on_other, between, not_between] = range.fire(shots);
    assert_eq!(on_first.map(|hit| (hit.rig, hit.hitbox)), Ok((range.target, backpack)));
    assert_near(on_first.unwrap().pose.translation.x, 11.75);
    assert_eq!(on_other.map(|hit| (hit.rig, hit.hitbox)), Ok((other, backpack)));
    assert_near(on_other.unwrap().pose.translation.x, -8.0);
    assert_eq!((not_yet, no_longer, not_between), (Err(Missed), Err(Missed), Err(Missed)));
    // Between ticks 95 and 96 it is on the first rig still, and flies to no other.
    assert_eq!(between.map(|hit| hit.rig), Ok(range.target));
}

/// B45: scale ignored on the first frame; offsets not scaled.
#[test]
fn b45_scale_counts_from_the_first_tick_for_size_and_offset() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.run_to(Tick(94));
    for (scale, radius) in [
        (None, 1.0),
        (Some(ColliderScale::Absolute(Vec3::splat(1.5))), 0.75),
        (Some(ColliderScale::Relative(Vec3::splat(1.5))), 1.5),
    ] {
        let place = Transform::from_xyz(30.0, 0.0, 10.0).with_scale(Vec3::splat(2.0));
        let world = range.app.world_mut();
        let rig = world.spawn((Rig, place)).id();
        let ball = world.spawn((Hitbox::ball(0.5), Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(rig))).id();
        if let Some(scale) = scale {
            world.entity_mut(ball).insert(scale);
        }
        range.app.tick();
        let hitboxes = hitboxes_at(&range, rig, ViewTime::at(range.app.now()));
        let [hitbox] = hitboxes[..] else { panic!("there is one hitbox: {hitboxes:?}") };
        let Shape::Ball { radius: found } = hitbox.shape else { panic!("it is a ball: {hitbox:?}") };
        assert_near(found, radius);
        assert_eq!(hitbox.pose, Isometry3d::from_xyz(30.0, 2.0, 10.0));
    }
}

/// B46: a collider spawned this tick is not queryable.
#[test]
fn b46_a_target_is_hit_in_the_tick_of_its_spawn() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.run_to(Tick(99));
    let new = range.app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(30.0, 0.0, 10.0))).id();
    let [hit] = range.fire([(x(30.0), 0.0)]);
    let hit = hit.unwrap();
    assert_eq!(hit.rig, new);
    assert_near(hit.distance, 9.5);
}

/// B47: a disabled or removed collider still answers, or panics.
#[test]
fn b47_a_hitbox_that_was_there_is_hit_and_one_that_is_gone_is_not() {
    let disabled = |mut target: EntityWorldMut| {
        target.insert(Unhittable);
    };
    let removed = |mut target: EntityWorldMut| {
        target.remove::<Hitbox>();
    };
    for mut range in [changed_at_96(Hitbox::ball(0.5), disabled), changed_at_96(Hitbox::ball(0.5), removed)] {
        let [before, after] = range.fire([(x(11.75), 6.0), (x(12.25), 2.0)]);
        let before = before.unwrap();
        assert_eq!(before.rig, range.target);
        assert_near(before.distance, 9.5);
        assert_eq!(after, Err(Missed));
    }
}

/// B48: spectators stop bullets.
#[test]
fn b48_a_spectator_in_the_line_stops_nothing() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.world_mut().spawn((Rig, Unhittable, Hitbox::ball(0.5), Transform::from_xyz(11.75, 0.0, 5.0)));
    range.app.run_to(Tick(99));
    let [hit] = range.fire([(x(11.75), 6.0)]);
    let hit = hit.unwrap();
    assert_eq!(hit.rig, range.target);
    assert_near(hit.distance, 9.5);
}
