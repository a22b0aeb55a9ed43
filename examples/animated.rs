//! Head shots at an animated skeleton: a shot hits the head where the pose on the shooter's screen had it.
//!
//! `cargo run --example animated`
//!
//! A server without a window needs three things for animation, all of them in [`TickedAnimationPlugin`]:
//!
//! 1. Bevy's feature `bevy_animation`, which brings no renderer, and the plugins `AssetPlugin` and `AnimationPlugin`.
//! 2. The systems that move bones in `FixedPostUpdate`, before the history is recorded. `AnimationPlugin` runs them in
//!    `PostUpdate`: once per frame, by the time of the frame, and after all ticks of the frame. The records would hold the
//!    bones of the frame before, several ticks of one frame would hold the same ones, and which ones would depend on the
//!    frame rate.
//! 3. The same systems removed from `PostUpdate`, or all animations would run at twice their speed.
//!
//! `AnimationPlugin` cannot be left out, as the system that prepares animation graphs is private to it. That one stays in
//! `PostUpdate`, so a graph moves bones from the second frame on after it was added. Build graphs when the server starts, and
//! let the characters share them.
//!
//! Start and stop animations in `FixedUpdate`. Of the events in clips, `AnimationClip::add_event` stays with the frame: the
//! system that triggers them is private, too. What the server counts on belongs in `AnimationClip::add_event_to_target`.

use bevy::{
    animation::{
        AnimatedBy, AnimationTargetId, advance_animations, animate_targets, animated_field,
        transition::{advance_transitions, expire_completed_transitions},
    },
    app::{AnimationSystems, ScheduleRunnerPlugin},
    ecs::schedule::ScheduleCleanupPolicy,
    log::{LogPlugin, info},
    prelude::*,
};
use bevy_hindsight::{Tick, prelude::*};
use core::{f32::consts::FRAC_PI_3, time::Duration};

const HZ: f64 = 64.0;
/// The last tick in which the target stands upright; from then on it leans to the side.
const UPRIGHT_UNTIL: Tick = Tick(60);
const FIRE_AT: Tick = Tick(68);
/// Ticks between what the shooter's screen shows and the server's present: 100 ms.
const DELAY: f64 = 6.4;

const LEAN: f32 = FRAC_PI_3;
const LEAN_SECONDS: f32 = 0.1;
const EYES: Vec3 = Vec3::new(0.0, 1.6, 0.0);
const TARGET: Vec3 = Vec3::new(0.0, 0.0, 10.0);
const HIPS: Vec3 = Vec3::new(0.0, 0.95, 0.0);
/// From the hips to the joint that leans.
const SPINE: Vec3 = Vec3::new(0.0, 0.1, 0.0);
/// From there to the middle of the head.
const HEAD: Vec3 = Vec3::new(0.0, 0.65, 0.0);
/// The spine in the clip and in the skeleton: its names from the hips down.
const SPINE_PATH: [&str; 2] = ["hips", "spine"];

fn main() -> AppExit {
    App::new()
        .add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(Duration::from_millis(5))),
            LogPlugin::default(),
            TransformPlugin,
            TickedAnimationPlugin,
            LagCompensationPlugin::default(),
        ))
        .insert_resource(Time::<Fixed>::from_hz(HZ))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (lean, shoot))
        .add_systems(FixedLast, leave)
        .add_observer(report_hit)
        .add_observer(report_miss)
        .run()
}

/// Bevy's animation player, once in each tick instead of once in each frame.
struct TickedAnimationPlugin;

impl Plugin for TickedAnimationPlugin {
    fn build(&self, app: &mut App) {
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
}

#[derive(Component)]
struct Shooter;

#[derive(Component)]
struct Leans(AnimationNodeIndex);

fn spawn(
    mut commands: Commands,
    mut clips: ResMut<Assets<AnimationClip>>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
) -> Result {
    commands.spawn((Shooter, Rig));

    let spine = AnimationTargetId::from_iter(SPINE_PATH);
    let mut clip = AnimationClip::default();
    clip.add_curve_to_target(
        spine,
        AnimatableCurve::new(
            animated_field!(Transform::rotation),
            AnimatableKeyframeCurve::new([(0.0, Quat::IDENTITY), (LEAN_SECONDS, lean_by(LEAN))])?,
        ),
    );
    let (graph, node) = AnimationGraph::from_clip(clips.add(clip));

    let target = commands.spawn_empty().id();
    commands.entity(target).insert((
        Rig,
        Transform::from_translation(TARGET),
        AnimationPlayer::default(),
        AnimationGraphHandle(graphs.add(graph)),
        Leans(node),
        children![(
            Transform::from_translation(HIPS),
            children![(
                Transform::from_translation(SPINE),
                spine,
                AnimatedBy(target),
                Hitbox::capsule(0.15, 0.2).with_offset(Vec3::Y * 0.25),
                children![(Transform::from_translation(HEAD), Hitbox::ball(0.12).in_zone(Zone::Head))],
            )],
        )],
    ));
    Ok(())
}

fn lean_by(angle: f32) -> Quat {
    Quat::from_rotation_z(-angle)
}

fn lean(tick: Res<CurrentTick>, target: Single<(&mut AnimationPlayer, &Leans)>) {
    if tick.0 == UPRIGHT_UNTIL + 1 {
        let (mut player, lean) = target.into_inner();
        player.play(lean.0);
    }
}

/// Where the head is after so many ticks of leaning.
fn head_after(ticks: f64) -> Vec3 {
    let played = (ticks / HZ) as f32 / LEAN_SECONDS;
    TARGET + HIPS + SPINE + lean_by(LEAN * played.clamp(0.0, 1.0)) * HEAD
}

/// Fires twice: where the screen shows the head, and where the head is by now.
fn shoot(tick: Res<CurrentTick>, shooter: Single<Entity, With<Shooter>>, mut shots: MessageWriter<ShotEvent>) {
    if tick.0 != FIRE_AT {
        return;
    }
    let leaning = f64::from(FIRE_AT.since(UPRIGHT_UNTIL));
    for (sequence, aim) in [(1, head_after(leaning - DELAY)), (2, head_after(leaning))] {
        info!("shot {sequence} is aimed at {aim:.2}");
        shots.write(
            ShotEvent::new(*shooter, tick.0, EYES, aim - EYES)
                .with_id(ShotId::local(sequence))
                .seen_at(ViewTime::before(tick.0, DELAY)),
        );
    }
}

fn report_hit(hit: On<HitConfirmed>) {
    let pose = hit.hit.pose.translation;
    info!("shot {} hit the {:?}, which was at {pose:.2} on the screen", hit.shot.sequence, hit.hit.zone);
}

fn report_miss(rejection: On<HitRejected>) {
    info!("shot {} hit nothing: {:?}", rejection.shot.sequence, rejection.reason);
}

/// Ends the example with the tick in which the verdicts have come.
fn leave(tick: Res<CurrentTick>, mut exit: MessageWriter<AppExit>) {
    if tick.0 == FIRE_AT {
        exit.write(AppExit::Success);
    }
}
