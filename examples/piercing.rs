//! A bullet through a door: what a wall costs depends on what it is made of, and how thick it is.
//!
//! `cargo run --example piercing`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{Attack, Bullet, Piercing, Resistance, Tick, WallPierced, prelude::*};
use bevy_rapier3d::prelude::*;
use core::time::Duration;

/// In this game, energy is in joules.
const RIFLE: Piercing = Piercing { flesh: Resistance::new(50.0, 1_000.0), ..Piercing::new(1_700.0) };
const WOOD: Resistance = Resistance::new(20.0, 6_000.0);
const CONCRETE: Resistance = Resistance::new(200.0, 90_000.0);

fn main() -> AppExit {
    App::new()
        .add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(Duration::ZERO)),
            LogPlugin::default(),
            TransformPlugin,
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
            LagCompensationPlugin::default(),
        ))
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        // As fast as it goes: one tick in each update.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Struck>()
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (shoot, tell).chain())
        .add_observer(|hit: On<HitConfirmed>, mut struck: ResMut<Struck>| struck.hits.push(*hit))
        .add_observer(|miss: On<HitRejected>, mut struck: ResMut<Struck>| struck.misses.push(miss.reason))
        .run()
}

#[derive(Resource, Default)]
struct Struck {
    hits: Vec<HitConfirmed>,
    misses: Vec<RejectReason>,
}

/// Two lanes along Z: at x = 0 a wooden door, two figures and concrete; at x = 5 concrete first.
fn spawn(mut commands: Commands) {
    commands.spawn(Rig);
    let slab = |material, x, z, thickness: f32| {
        let collider = Collider::cuboid(1.0, 2.0, 0.5 * thickness);
        (RigidBody::Fixed, collider, material, Transform::from_xyz(x, 1.0, z))
    };
    let figure = |x, z| (Rig, Hitbox::capsule(0.6, 0.25), Transform::from_xyz(x, 1.0, z));
    commands.spawn(slab(WOOD, 0.0, 5.0, 0.04));
    commands.spawn(figure(0.0, 8.0));
    commands.spawn(figure(0.0, 10.0));
    commands.spawn(slab(CONCRETE, 0.0, 12.0, 0.2));
    commands.spawn(figure(0.0, 14.0));
    commands.spawn(slab(CONCRETE, 5.0, 5.0, 0.2));
    commands.spawn(figure(5.0, 8.0));
}

fn shoot(
    tick: Res<CurrentTick>,
    shooter: Single<Entity, (With<Rig>, Without<Hitbox>)>,
    mut shots: MessageWriter<ShotEvent>,
) {
    if tick.0 == Tick(8) {
        for (sequence, x) in [(0, 0.0), (1, 5.0)] {
            let shot = ShotEvent::new(*shooter, tick.0, Vec3::new(x, 1.2, 0.0), Vec3::Z);
            let attack = Attack::Bullet(Bullet::default().with_piercing(RIFLE));
            shots.write(shot.with_id(ShotId::local(sequence)).with_attack(attack));
        }
    }
}

fn tell(
    tick: Res<CurrentTick>,
    struck: Res<Struck>,
    mut walls: MessageReader<WallPierced>,
    mut exit: MessageWriter<AppExit>,
) {
    if tick.0 != Tick(9) {
        return;
    }
    let walls: Vec<_> = walls.read().collect();
    for WallPierced { shot, wall, penetration, .. } in &walls {
        let left = penetration.energy_left.map_or("it stays inside".into(), |left| format!("{left:.0} J are left"));
        info!(
            "shot {} goes {:.2} m into a wall at {:.2} m: {left}",
            shot.sequence, penetration.thickness, wall.distance
        );
    }
    for hit in &struck.hits {
        let left = hit.penetration.and_then(|penetration| penetration.energy_left);
        info!("shot {} hits {} at {:.2} m: {left:.0?} J are left", hit.shot.sequence, hit.target, hit.hit.distance);
    }
    assert_eq!(struck.hits.len(), 2, "both before the concrete, and nobody behind it");
    assert!(struck.hits.iter().all(|hit| hit.shot.sequence == 0));
    assert_eq!(struck.misses, [RejectReason::Blocked], "concrete stops the other shot");
    assert_eq!(walls.len(), 2, "through the door, and into the concrete");
    exit.write(AppExit::Success);
}
