//! An animated rig is remembered, and hit, in the pose that its animation has in each tick.

use bevy::{
    animation::{
        AnimatedBy, AnimationTargetId, advance_animations, animate_targets, animated_field,
        transition::{advance_transitions, expire_completed_transitions},
    },
    app::AnimationSystems,
    ecs::schedule::ScheduleCleanupPolicy,
    math::DVec3,
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{Tick, prelude::*, test_app::TestApp};
use core::time::Duration;

/// The duck, as (time in s, drop of the hips in m, lean of the spine in rad); steady between two of them.
const DUCK: [(f64, f64, f64); 4] = [(0.0, 0.0, 0.0), (0.04, 0.05, 0.5), (0.1, 0.3, 1.2), (0.2, 0.2, -0.4)];
/// The last tick before the duck; a whole frame, also with four ticks to the frame.
const UPRIGHT_UNTIL: Tick = Tick(12);
const LAST: Tick = Tick(44);

const RIG: Vec3 = Vec3::new(1.0, 0.0, 10.0);
const HIPS: Vec3 = Vec3::new(0.0, 1.0, 0.0);
/// From the spine to the head.
const NECK: Vec3 = Vec3::new(0.0, 0.7, 0.0);
const HEAD_RADIUS: f32 = 0.05;

#[derive(Component)]
struct Ducks(AnimationNodeIndex);

fn duck(tick: Res<CurrentTick>, target: Single<(&mut AnimationPlayer, &Ducks)>) {
    if tick.0 == UPRIGHT_UNTIL + 1 {
        let (mut player, duck) = target.into_inner();
        player.play(duck.0);
    }
}

/// The set-up that `examples/animated.rs` explains.
fn ticked_animation(app: &mut App) {
    app.add_plugins((AssetPlugin::default(), AnimationPlugin));
    for of_the_frame in [
        advance_transitions.into_system_set().intern(),
        advance_animations.into_system_set().intern(),
        animate_targets.into_system_set().intern(),
        expire_completed_transitions.into_system_set().intern(),
    ] {
        app.remove_systems_in_set(PostUpdate, of_the_frame, ScheduleCleanupPolicy::RemoveSystemsOnly)
            .expect("AnimationPlugin should have added this system");
    }
    app.add_systems(
        FixedPostUpdate,
        (advance_transitions, advance_animations, animate_targets, expire_completed_transitions)
            .chain()
            .in_set(AnimationSystems)
            .before(LagCompensationSystems::RecordHistory),
    );
}

/// An app before its first tick, with an animated rig that ducks, and a shooter.
fn range(hz: f64, ticks_per_frame: u32) -> (TestApp, Entity, Entity) {
    let mut app = TestApp::new(hz);
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(ticks_per_frame)).add_systems(FixedUpdate, duck);
    // All of the test stays in the history, also at 30 Hz.
    app.world_mut().resource_mut::<LagCompensationConfig>().history = Duration::from_secs(2);
    ticked_animation(&mut app);
    let shooter = app.world_mut().spawn(Rig).id();
    let rig = spawn_rig(app.world_mut());
    (app, shooter, rig)
}

/// The curve of what a bone does when the hips drop and the spine leans as [`DUCK`] says.
fn keyframes<T: Animatable>(of: impl Fn(f32, f32) -> T) -> AnimatableKeyframeCurve<T> {
    AnimatableKeyframeCurve::new(DUCK.map(|(time, drop, lean)| (time as f32, of(drop as f32, lean as f32))))
        .expect("the duck should be in the order of time")
}

fn spawn_rig(world: &mut World) -> Entity {
    let hips = AnimationTargetId::from_iter(["hips"]);
    let spine = AnimationTargetId::from_iter(["hips", "spine"]);
    let drops = keyframes(|drop, _| HIPS - Vec3::Y * drop);
    let leans = keyframes(|_, lean| Quat::from_rotation_z(-lean));
    let mut clip = AnimationClip::default();
    clip.add_curve_to_target(hips, AnimatableCurve::new(animated_field!(Transform::translation), drops));
    clip.add_curve_to_target(spine, AnimatableCurve::new(animated_field!(Transform::rotation), leans));
    let clip = world.resource_mut::<Assets<AnimationClip>>().add(clip);
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);

    let rig = world.spawn_empty().id();
    world.entity_mut(rig).insert((
        Rig,
        Transform::from_translation(RIG),
        AnimationPlayer::default(),
        AnimationGraphHandle(graph),
        Ducks(node),
        children![(
            Transform::from_translation(HIPS),
            hips,
            AnimatedBy(rig),
            children![(
                Transform::default(),
                spine,
                AnimatedBy(rig),
                Hitbox::capsule(0.2, 0.15).with_offset(Vec3::Y * 0.3),
                children![(Transform::from_translation(NECK), Hitbox::ball(HEAD_RADIUS).in_zone(Zone::Head))],
            )],
        )],
    ));
    rig
}

/// Where the head belongs so many seconds into the duck, by school geometry and without anything of Bevy's.
fn head_after(seconds: f64) -> DVec3 {
    let (first, last) = (DUCK[0], DUCK[DUCK.len() - 1]);
    let time = seconds.clamp(first.0, last.0);
    let step = DUCK.windows(2).find(|step| time <= step[1].0).expect("the time should be within the duck");
    let share = (time - step[0].0) / (step[1].0 - step[0].0);
    let drop = step[0].1 + share * (step[1].1 - step[0].1);
    let lean = step[0].2 + share * (step[1].2 - step[0].2);
    let neck = f64::from(NECK.y);
    RIG.as_dvec3() + HIPS.as_dvec3() + DVec3::new(neck * lean.sin(), neck * lean.cos() - drop, 0.0)
}

fn ticks() -> impl Iterator<Item = Tick> {
    (1..=LAST.0).map(Tick)
}

fn history(app: &TestApp, rig: Entity) -> &HistoryBuffer {
    app.world().get(rig).expect("a rig should have a history")
}

fn head_at(history: &HistoryBuffer, tick: Tick) -> Option<DVec3> {
    let sample = history.sample(ViewTime::at(tick))?;
    let head = sample.hitboxes().find(|hitbox| hitbox.zone == Zone::Head)?;
    Some(Vec3::from(head.pose.translation).as_dvec3())
}

#[test]
fn the_recorded_head_is_where_the_animation_curve_has_it_in_that_tick() {
    for hz in [30.0, 60.0, 64.0, 128.0] {
        let (mut app, _, rig) = range(hz, 1);
        let timestep = app.world().resource::<Time<Fixed>>().timestep().as_secs_f64();
        app.run_to(LAST);
        for tick in ticks() {
            let expected = head_after(f64::from(tick.since(UPRIGHT_UNTIL)) * timestep);
            let recorded = head_at(history(&app, rig), tick).unwrap();
            let apart = recorded.distance(expected);
            assert!(apart < 1e-4, "{hz} Hz, {tick:?}: {recorded} instead of {expected}, {apart} m apart");
        }
    }
}

#[test]
fn a_head_shot_is_decided_by_the_animated_pose_at_the_view_time() {
    const HZ: f64 = 64.0;
    // Ticks before the shot: in the present, within the duck (also between two records), and upright.
    const DELAYS: [f64; 5] = [0.0, 2.0, 3.5, 5.0, 9.0];
    let (mut app, shooter, _) = range(HZ, 1);
    let fired = UPRIGHT_UNTIL + 7;
    app.run_to(Tick(fired.0 - 1));
    let head = |delay| head_after((f64::from(fired.since(UPRIGHT_UNTIL)) - delay) / HZ).as_vec3();
    let cases: Vec<_> = DELAYS.iter().flat_map(|view| DELAYS.map(|aim| (*view, aim))).collect();
    let shots = (0..).zip(&cases).map(|(sequence, (view, aim))| {
        // Straight on, so that a shot passes the rig in the plane of its bones at the place that it is aimed at.
        ShotEvent::new(shooter, fired, head(*aim).with_z(0.0), Vec3::Z)
            .with_id(ShotId::local(sequence))
            .seen_at(ViewTime::before(fired, *view))
    });
    let verdicts = app.judge_all(shots);
    assert_eq!(verdicts.len(), cases.len(), "each shot should have one verdict");
    for verdict in verdicts {
        let (id, zone) = match &verdict {
            Ok(hit) => (hit.shot, Some(hit.hit.zone)),
            Err(rejection) => (rejection.shot, None),
        };
        let (view, aim) = cases[id.sequence as usize];
        let is_head_shot = zone == Some(Zone::Head);
        assert_eq!(is_head_shot, view == aim, "seen {view} ticks ago, aimed at {aim} ticks ago, hit {zone:?}");
    }
}

#[test]
fn four_ticks_in_a_frame_record_the_same_poses_as_four_frames_bit_for_bit() {
    let recorded = |ticks_per_frame| {
        let (mut app, _, rig) = range(60.0, ticks_per_frame);
        app.run_to(LAST);
        let history = history(&app, rig);
        let bits_at = |tick| -> Vec<_> {
            let poses = history.sample(ViewTime::at(tick)).unwrap().hitboxes().map(|hitbox| hitbox.pose);
            poses
                .map(|pose| (pose.rotation.to_array().map(f32::to_bits), pose.translation.to_array().map(f32::to_bits)))
                .collect()
        };
        ticks().map(bits_at).collect::<Vec<_>>()
    };
    let (one, four) = (recorded(1), recorded(4));
    for ((tick, one), four) in ticks().zip(&one).zip(&four) {
        assert_eq!(one, four, "{tick:?}");
    }
    // The duck takes 12 ticks; in each of them the rig has moved.
    let duck = &one[UPRIGHT_UNTIL.0 as usize - 1..][..=12];
    assert!(duck.windows(2).all(|poses| poses[0] != poses[1]), "the rig should move: {duck:?}");
}
