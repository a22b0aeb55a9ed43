//! A rocket that catches up: it leaves the muzzle in the past that its shooter saw, is level with the shooter's screen when it
//! appears, and flies on in the present.
//!
//! `cargo run --example rocket`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{
    Attack, Blast, CompensatedProjectile, HitBy, Projectile, ProjectileEnded, ProjectileLaunched, Tick, prelude::*,
};
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
        .init_resource::<End>()
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (walk, shoot, watch, check).chain())
        .add_observer(dress)
        .add_observer(hurt)
        .add_observer(end)
        .run()
}

#[derive(Component)]
struct Shooter;

#[derive(Component)]
struct Health(f32);

/// Two figures who walk away from the shooter, side by side, and one who stands aside.
fn spawn(mut commands: Commands) {
    commands.spawn((Shooter, Rig));
    let figure = |name: &'static str, x, z| {
        let body = Hitbox::capsule(0.5, 0.3).with_offset(Vec3::Y * 0.8);
        (Name::new(name), Health(100.0), Rig, body, Transform::from_xyz(x, 0.0, z))
    };
    commands.spawn(figure("target", 0.0, 20.0));
    commands.spawn(figure("neighbour", 2.0, 20.0));
    commands.spawn(figure("bystander", 15.0, 30.0));
}

fn walk(mut figures: Query<&mut Transform, With<Health>>, time: Res<Time>) {
    for mut figure in figures.iter_mut().filter(|figure| figure.translation.x < 10.0) {
        figure.translation.z += SPEED * time.delta_secs();
    }
}

fn shoot(tick: Res<CurrentTick>, shooter: Single<Entity, With<Shooter>>, mut shots: MessageWriter<ShotEvent>) {
    if tick.0 == Tick(16) {
        let rocket = Projectile::new(100.0).with_radius(0.1).with_blast(Blast::new(4.0));
        let shot = ShotEvent::new(*shooter, tick.0, Vec3::Y, Vec3::Z).seen_at(ViewTime::before(tick.0, DELAY));
        shots.write(shot.with_attack(Attack::Projectile(rocket)));
    }
}

/// Here a game gives its rocket a mesh, and lightyear's `Replicate`.
fn dress(launched: On<ProjectileLaunched>, mut commands: Commands) {
    commands.entity(launched.projectile).insert(Name::new("rocket"));
}

fn watch(rockets: Query<(&Name, &CompensatedProjectile)>, mut has_appeared: Local<bool>) {
    for (name, rocket) in &rockets {
        info!("the {name} is {:.2} m away, after {:.1} ticks", rocket.place().z, rocket.flown());
        if !*has_appeared {
            // 6.4 ticks at 100 m/s.
            assert!((rocket.place().z - 10.0).abs() < 1e-3, "it has caught up by ten metres");
            assert!(rocket.is_live());
        }
        *has_appeared = true;
    }
}

fn hurt(hit: On<HitConfirmed>, mut health: Query<(&Name, &mut Health)>) {
    let Some((name, mut health)) = hit.living_target().and_then(|target| health.get_mut(target).ok()) else { return };
    let damage = match hit.by {
        HitBy::Projectile => 80.0,
        // The further from the centre, the less.
        _ => 60.0 * (1.0 - hit.hit.distance / 4.0),
    };
    health.0 -= damage;
    info!("the {name} takes {damage:.0} from the {:?}, {:.2} m away", hit.by, hit.hit.distance);
}

fn end(ended: On<ProjectileEnded>, mut end: ResMut<End>) {
    info!("the rocket ends {:.2} m away, after {:.1} ticks", ended.place.z, ended.flown);
    end.0 = true;
}

/// The rocket has come to its end.
#[derive(Resource, Default)]
struct End(bool);

/// After its end, in the next tick: the verdicts are in.
fn check(end: Res<End>, health: Query<(&Name, &Health)>, mut exit: MessageWriter<AppExit>) {
    if !end.0 {
        return;
    }
    for (name, health) in &health {
        match name.as_str() {
            "target" => assert_eq!(health.0, 20.0, "hit by the rocket, and not once more by its blast"),
            "neighbour" => assert!((40.0..90.0).contains(&health.0), "near the blast"),
            _ => assert_eq!(health.0, 100.0, "far from it"),
        }
    }
    exit.write(AppExit::Success);
}
