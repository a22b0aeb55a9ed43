//! The smallest server: one shot at a running target, judged by what the shooter saw.
//!
//! `cargo run --example minimal`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
};
use bevy_hindsight::{Tick, prelude::*};
use core::time::Duration;

/// Ticks between what the shooter's screen shows and the server's present: 100 ms at 64 Hz.
const DELAY: f64 = 6.4;
const SPEED: f32 = 8.0;

fn main() -> AppExit {
    App::new()
        .add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(Duration::from_millis(5))),
            LogPlugin::default(),
            TransformPlugin,
            LagCompensationPlugin::default(),
        ))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (run, shoot).chain())
        .add_observer(report_hit)
        .add_observer(report_miss)
        .run()
}

#[derive(Component)]
struct Runner;

#[derive(Component)]
struct Shooter;

fn spawn(mut commands: Commands) {
    commands.spawn((Shooter, Rig));
    commands.spawn((
        Runner,
        Rig,
        Hitbox::capsule(0.5, 0.3).with_offset(Vec3::Y * 0.8),
        Transform::from_xyz(-8.0, 0.0, 10.0),
        children![(Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 1.7, 0.0))],
    ));
}

fn run(mut runner: Single<&mut Transform, With<Runner>>, time: Res<Time>) {
    runner.translation.x += SPEED * time.delta_secs();
}

/// Fires twice at tick 64: where the screen shows the target, and where the target is by now.
fn shoot(
    tick: Res<CurrentTick>,
    shooter: Single<Entity, With<Shooter>>,
    runner: Single<&Transform, With<Runner>>,
    mut shots: MessageWriter<ShotEvent>,
) {
    if tick.0 != Tick(64) {
        return;
    }
    let now = runner.translation + Vec3::Y;
    let on_screen = now - Vec3::X * SPEED * DELAY as f32 / 64.0;
    for (sequence, aim) in [(1, on_screen), (2, now)] {
        let origin = Vec3::Y * 1.6;
        shots.write(
            ShotEvent::new(*shooter, tick.0, origin, aim - origin)
                .with_id(ShotId::local(sequence))
                .seen_at(ViewTime::before(tick.0, DELAY)),
        );
    }
}

fn report_hit(hit: On<HitConfirmed>, mut exit: MessageWriter<AppExit>) {
    info!("shot {} hit the {:?} at {:.2} m", hit.shot.sequence, hit.hit.zone, hit.hit.distance);
    exit.write(AppExit::Success);
}

fn report_miss(rejection: On<HitRejected>) {
    info!("shot {} hit nothing: {:?}", rejection.shot.sequence, rejection.reason);
}
