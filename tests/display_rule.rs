//! Bones that client and server pose by one rule stand where the client poses them.

use bevy::{
    math::{Vec3A, ops},
    prelude::*,
};
use bevy_hindsight::{
    Bone, DisplayParameters, DisplayRule, DisplayedRig, SentTicks, SnapshotPair, Tick, interpolate, pose_bones,
    prelude::*, test_app::TestApp,
};

const SWING: usize = 0;
const LEAN: usize = 1;

/// A head that leans, and a fist that swings around it.
fn pose(parameters: &DisplayParameters, Bone(bone): Bone) -> Isometry3d {
    let lean = Quat::from_rotation_z(parameters.get(LEAN));
    let (sin, cos) = ops::sin_cos(core::f32::consts::TAU * parameters.get(SWING));
    match bone {
        0 => Isometry3d::new(lean * Vec3::Y * 1.7, lean),
        _ => Isometry3d::new(lean * Vec3::new(cos, 1.5, sin), lean),
    }
}

fn parameters(tick: f32) -> DisplayParameters {
    DisplayParameters::default().with_cycle(SWING, (tick / 20.0).fract()).with(LEAN, 0.01 * tick)
}

fn root(tick: f32) -> Isometry3d {
    Isometry3d::new(Vec3::new(0.02 * tick, 0.0, 10.0), Quat::from_rotation_y(0.05 * tick))
}

fn walk(mut figures: Query<(&mut Transform, &mut DisplayParameters), With<Rig>>, tick: Res<CurrentTick>) {
    for (mut transform, mut now) in &mut figures {
        *transform = Transform::from_isometry(root(tick.0.0 as f32)).with_scale(transform.scale);
        *now = parameters(tick.0.0 as f32);
    }
}

/// A figure whose fist is a ball of 5 cm a bit beside its bone; with a backpack that is no bone.
fn figure(app: &mut TestApp, scale: f32) -> Entity {
    let rule = DisplayRule::new(pose, 2.5);
    let figure = app.world_mut().spawn((Rig, rule, Transform::from_scale(Vec3::splat(scale)))).id();
    let fist = Hitbox::ball(0.05).in_zone(Zone::Hand).with_offset(Vec3::Y * 0.1);
    app.world_mut().spawn_batch([
        (Hitbox::ball(0.12).in_zone(Zone::Head), Bone(0), ChildOf(figure)),
        (fist, Bone(1), ChildOf(figure)),
    ]);
    app.world_mut().spawn((Hitbox::ball(0.2), Transform::from_xyz(0.0, 1.0, -0.3), ChildOf(figure)));
    figure
}

/// The middle of the fist on the screen of a client that has blended root and parameters.
fn fist(root: Isometry3d, parameters: DisplayParameters, scale: f32) -> Vec3 {
    let bone = pose(&parameters, Bone(1));
    root * (scale * (bone * (Vec3::Y * 0.1)))
}

fn zone_at(app: &mut TestApp, shooter: Entity, place: Vec3, shot: impl Fn(ShotEvent) -> ShotEvent) -> Option<Zone> {
    let now = app.now() + 1;
    let (from, way) = (place - 3.0 * Vec3::Z, Vec3::Z);
    app.judge(shot(ShotEvent::new(shooter, now, from, way))).ok().map(|hit| {
        assert!((hit.hit.pose.translation - Vec3A::from(place)).length() < 1e-4, "{hit:?} instead of {place}");
        hit.hit.zone
    })
}

#[test]
fn between_two_ticks_the_pose_follows_from_the_blend_of_the_parameters() {
    for scale in [1.0, 1.5] {
        let mut app = TestApp::new(64.0);
        app.add_systems(FixedUpdate, walk);
        let shooter = app.world_mut().spawn(Rig).id();
        figure(&mut app, scale);
        app.run_to(Tick(99));
        let shown = DisplayParameters::interpolate(parameters(91.0), parameters(92.0), 0.5);
        let expected = fist(interpolate(root(91.0), root(92.0), 0.5), shown, scale);
        let view = ViewTime::new(Tick(91), 0x8000);
        assert_eq!(zone_at(&mut app, shooter, expected, |shot| shot.seen_at(view)), Some(Zone::Hand), "scale {scale}");
    }
}

#[test]
fn snapshots_far_apart_are_posed_by_the_rule_and_not_blended() {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, walk);
    let shooter = app.world_mut().spawn(Rig).id();
    let figure = figure(&mut app, 1.0);
    app.run_to(Tick(99));
    for tick in [80, 88, 96] {
        app.world_mut().resource_mut::<SentTicks>().note(Tick(tick), 64);
    }
    let blend = |start: f32, end: f32| DisplayParameters::interpolate(parameters(start), parameters(end), 0.5);
    let between = interpolate(root(88.0), root(96.0), 0.5);
    let expected = fist(between, blend(88.0, 96.0), 1.0);
    let view = ViewTime::at(Tick(92));
    let pair = |start, end| SnapshotPair::new(Tick(start), Tick(end));
    let rig = DisplayedRig::interpolated(figure, pair(88, 96));
    let zone = zone_at(&mut app, shooter, expected, |shot| shot.seen_at(view).made_of(&[rig]));
    assert_eq!(zone, Some(Zone::Hand));
    // A straight blend of the fist would be 0.6 m off.
    let straight = fist(root(88.0), parameters(88.0), 1.0).midpoint(fist(root(96.0), parameters(96.0), 1.0));
    assert!(straight.distance(expected) > 0.5, "{}", straight.distance(expected));
}

#[test]
fn parameters_are_blended_between_their_own_snapshots() {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, walk);
    let shooter = app.world_mut().spawn(Rig).id();
    let figure = figure(&mut app, 1.0);
    app.run_to(Tick(99));
    for tick in [84, 88, 96] {
        app.world_mut().resource_mut::<SentTicks>().note(Tick(tick), 64);
    }
    let shown = DisplayParameters::interpolate(parameters(84.0), parameters(96.0), 8.0 / 12.0);
    let expected = fist(interpolate(root(88.0), root(96.0), 0.5), shown, 1.0);
    let pair = |start, end| SnapshotPair::new(Tick(start), Tick(end));
    let rig = DisplayedRig::interpolated(figure, pair(88, 96)).with_parameters(pair(84, 96));
    let view = ViewTime::at(Tick(92));
    let zone = zone_at(&mut app, shooter, expected, |shot| shot.seen_at(view).made_of(&[rig]));
    assert_eq!(zone, Some(Zone::Hand));
}

/// A rule that comes later than its rig: a shot that names parameters from before is judged by what is known.
#[test]
fn parameters_from_before_there_was_a_rule_are_none() {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, walk);
    let shooter = app.world_mut().spawn(Rig).id();
    let late = app.world_mut().spawn(Rig).id();
    app.run_to(Tick(89));
    let rule = (DisplayRule::new(pose, 2.5), parameters(89.0), Transform::default());
    app.world_mut().entity_mut(late).insert(rule);
    app.world_mut().spawn((Hitbox::ball(0.05).in_zone(Zone::Hand).with_offset(Vec3::Y * 0.1), Bone(1), ChildOf(late)));
    app.run_to(Tick(99));
    for tick in [80, 92, 96] {
        app.world_mut().resource_mut::<SentTicks>().note(Tick(tick), 64);
    }
    let rig = DisplayedRig::interpolated(late, SnapshotPair::new(Tick(92), Tick(96)));
    let rig = rig.with_parameters(SnapshotPair::held(Tick(80)));
    let expected = fist(root(94.0), parameters(94.0), 1.0);
    let view = ViewTime::at(Tick(94));
    assert_eq!(zone_at(&mut app, shooter, expected, |shot| shot.seen_at(view).made_of(&[rig])), Some(Zone::Hand));
}

#[test]
fn the_history_of_a_rule_is_smaller_and_bones_posed_by_it_agree_with_it() {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, (walk, pose_bones).chain());
    let ruled = figure(&mut app, 1.0);
    let plain = figure(&mut app, 1.0);
    app.world_mut().entity_mut(plain).remove::<DisplayRule>();
    app.run_to(Tick(99));
    let place = |app: &TestApp, rig| {
        let history = app.world().get::<HistoryBuffer>(rig).expect("it is a rig");
        let sample = history.sample(ViewTime::at(Tick(90))).expect("it was there");
        let places: Vec<_> = sample.hitboxes().map(|hitbox| Vec3::from(hitbox.pose.translation)).collect();
        (places, history.bytes())
    };
    let ((by_rule, small), (_, large)) = (place(&app, ruled), place(&app, plain));
    assert!(small < large, "{small} of {large} bytes");
    assert!(by_rule[1].distance(fist(root(90.0), parameters(90.0), 1.0)) < 1e-5);
    let backpack = root(90.0) * Vec3::new(0.0, 1.0, -0.3);
    assert!(by_rule[2].distance(backpack) < 1e-5, "what is no bone stays on the rig");
    // The bones of the live figure, in the present.
    let bones = app.world().get::<Children>(ruled).expect("it has bones");
    let local = app.world().get::<Transform>(bones[1]).expect("it has one").to_isometry();
    assert_eq!(local, pose(&parameters(99.0), Bone(1)));
}
