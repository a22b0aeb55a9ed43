//! A shotgun: one shot, twelve pellets, one look at the past, and one report by victim.
//!
//! `cargo run --example shotgun`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{FireControl, PelletPattern, Tick, VolleyJudged, prelude::*};
use core::time::Duration;

/// Ticks between what the shooter's screen shows and the server's present: 100 ms at 64 Hz.
const DELAY: f64 = 6.4;
const SPEED: f32 = 8.0;

fn main() -> AppExit {
    App::new()
        .add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(Duration::ZERO)),
            LogPlugin::default(),
            TransformPlugin,
            LagCompensationPlugin::default(),
        ))
        // As fast as it goes: one tick in each update.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (run, shoot).chain())
        .add_observer(hurt)
        .add_observer(tell)
        .run()
}

#[derive(Component)]
struct Runner;

#[derive(Component)]
struct Health(f32);

#[derive(Component)]
struct Shooter;

fn spawn(mut commands: Commands) {
    // Twelve pellets within three degrees, and two rounds.
    let shotgun =
        FireControl::default().with_pellets(PelletPattern::cone(12, 0.052)).with_magazine(2, Duration::from_secs(2));
    commands.spawn((Shooter, Rig, shotgun));
    for x in [-8.0, -7.2] {
        commands.spawn((
            Runner,
            Health(100.0),
            Rig,
            Hitbox::capsule(0.5, 0.3).with_offset(Vec3::Y * 0.8),
            Transform::from_xyz(x, 0.0, 12.0),
            children![(Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 1.7, 0.0))],
        ));
    }
}

fn run(mut runners: Query<&mut Transform, With<Runner>>, time: Res<Time>) {
    for mut runner in &mut runners {
        runner.translation.x += SPEED * time.delta_secs();
    }
}

/// Fires once, between the two runners as the screen shows them.
fn shoot(
    tick: Res<CurrentTick>,
    shooter: Single<Entity, With<Shooter>>,
    runners: Query<&Transform, With<Runner>>,
    mut shots: MessageWriter<ShotEvent>,
) {
    if tick.0 == Tick(64) {
        let middle = runners.iter().map(|runner| runner.translation).sum::<Vec3>() / 2.0;
        let on_screen = middle - Vec3::X * SPEED * DELAY as f32 / 64.0 + Vec3::Y;
        let origin = Vec3::Y * 1.6;
        let shot = ShotEvent::new(*shooter, tick.0, origin, on_screen - origin);
        shots.write(shot.seen_at(ViewTime::before(tick.0, DELAY)));
    }
}

/// The same rule as for a rifle: each pellet that hits is a hit.
fn hurt(hit: On<HitConfirmed>, mut health: Query<&mut Health>) {
    if let Some(target) = hit.living_target()
        && let Ok(mut health) = health.get_mut(target)
    {
        health.0 -= if hit.hit.zone == Zone::Head { 15.0 } else { 8.0 };
    }
}

fn tell(volley: On<VolleyJudged>, health: Query<&Health>, mut exit: MessageWriter<AppExit>) {
    let mut accounted = volley.missed() + volley.blocked();
    for victim in volley.victims() {
        let heads = victim.pellets_in(Zone::Head);
        let left = health.get(victim.rig).map_or(0.0, |health| health.0);
        info!(
            "{} pellets hit {}, {heads} of them the head; {left} of its health is left",
            victim.pellets(),
            victim.rig
        );
        accounted += victim.pellets();
    }
    info!("{} pellets missed", volley.missed());
    assert_eq!(volley.victims().count(), 2, "the shot went between two runners, and wide");
    assert_eq!(accounted, 12, "every pellet is accounted for");
    exit.write(AppExit::Success);
}
