//! A sword: a blow that takes eight ticks, meets each victim once, and nobody behind a wall.
//!
//! `cargo run --example melee`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{Attack, Swing, Tick, prelude::*};
use bevy_rapier3d::prelude::*;
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
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
            LagCompensationPlugin::default(),
        ))
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        // As fast as it goes: one tick in each update.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Wounds>()
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (run, strike, check).chain())
        .add_observer(hurt)
        .run()
}

#[derive(Component)]
struct Fencer;

#[derive(Component)]
struct Runner;

/// Who was hit, and in which tick of the blow.
#[derive(Resource, Default)]
struct Wounds(Vec<(String, u32)>);

fn spawn(mut commands: Commands) {
    commands.spawn((Fencer, Rig, Transform::from_xyz(0.0, 1.0, 0.0)));
    let figure =
        |name: &'static str, x, z| (Name::new(name), Rig, Hitbox::capsule(0.5, 0.3), Transform::from_xyz(x, 1.0, z));
    commands.spawn(figure("standing", 0.5, 1.5));
    commands.spawn(figure("hidden", -0.8, 1.8));
    commands.spawn((RigidBody::Fixed, Collider::cuboid(0.4, 2.0, 0.05), Transform::from_xyz(-0.6, 1.0, 1.0)));
    // Comes from the right, and is in reach on the screen when the blow is half over.
    commands.spawn((Runner, figure("running", 12.0, 1.6)));
}

fn run(mut runner: Single<&mut Transform, With<Runner>>, time: Res<Time>) {
    runner.translation.x -= SPEED * time.delta_secs();
}

fn strike(
    tick: Res<CurrentTick>,
    fencer: Single<(Entity, &Transform), With<Fencer>>,
    mut shots: MessageWriter<ShotEvent>,
) {
    if tick.0 == Tick(85) {
        let (fencer, place) = *fencer;
        // Two metres far, 45° to both sides, an eighth of a second.
        let sword = Swing::arc(2.0, core::f32::consts::FRAC_PI_4).lasting(8);
        let shot = ShotEvent::new(fencer, tick.0, place.translation, Vec3::Z).with_attack(Attack::Swing(sword));
        shots.write(shot.seen_at(ViewTime::before(tick.0, DELAY)));
    }
}

fn hurt(hit: On<HitConfirmed>, names: Query<&Name>, mut wounds: ResMut<Wounds>) {
    let Ok(name) = names.get(hit.target) else { return };
    info!("the {name} one is hit in tick {} of the blow, {:.2} m away", hit.part, hit.hit.distance);
    wounds.0.push((name.to_string(), hit.part));
}

fn check(tick: Res<CurrentTick>, wounds: Res<Wounds>, mut exit: MessageWriter<AppExit>) {
    if tick.0 == Tick(100) {
        let names: Vec<&str> = wounds.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["standing", "running"], "once each, and a wall protects the third");
        assert_eq!(wounds.0[0].1, 0);
        assert!(wounds.0[1].1 > 2, "not before it has come");
        exit.write(AppExit::Success);
    }
}
