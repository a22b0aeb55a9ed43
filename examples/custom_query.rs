//! A weapon of the game's own: a chain lightning that jumps from victim to victim, as the shooter's screen showed them.
//!
//! `cargo run --example custom_query`

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{LogPlugin, info},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{RewoundFilter, RewoundQuery, Shape, Tick, prelude::*};
use core::time::Duration;

/// Ticks between what the shooter's screen shows and the server's present: 100 ms at 64 Hz.
const DELAY: f64 = 6.4;
/// How far the lightning jumps, in metres.
const JUMP: f32 = 3.0;

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
        .add_systems(FixedUpdate, scatter)
        .add_systems(FixedPostUpdate, strike.after(LagCompensationSystems::RecordHistory))
        .run()
}

#[derive(Component, PartialEq)]
enum Team {
    Red,
    Blue,
}

fn spawn(mut commands: Commands) {
    commands.spawn((Name::new("shooter"), Team::Red, Rig));
    let figure = |name: &'static str, team, x, z| {
        (Name::new(name), team, Rig, Hitbox::capsule(0.5, 0.3), Transform::from_xyz(x, 1.0, z))
    };
    commands.spawn(figure("first", Team::Blue, 0.0, 8.0));
    commands.spawn(figure("mate", Team::Red, 1.0, 8.5));
    commands.spawn(figure("second", Team::Blue, 2.0, 9.5));
    commands.spawn(figure("third", Team::Blue, 4.5, 10.0));
    commands.spawn(figure("far", Team::Blue, 12.0, 10.0));
}

/// In the last moment, all run apart; the shooter does not see that yet.
fn scatter(tick: Res<CurrentTick>, mut figures: Query<&mut Transform, With<Hitbox>>) {
    if tick.0.0 > 60 {
        for (number, mut transform) in figures.iter_mut().enumerate() {
            transform.translation.x += 0.5 * (number as f32 - 2.0);
        }
    }
}

fn strike(
    tick: Res<CurrentTick>,
    query: RewoundQuery,
    shooter: Single<Entity, (With<Rig>, Without<Hitbox>)>,
    teams: Query<&Team>,
    names: Query<&Name>,
    mut exit: MessageWriter<AppExit>,
) {
    if tick.0 != Tick(64) {
        return;
    }
    let view = ViewTime::before(tick.0, DELAY);
    let own = teams.get(*shooter).ok();
    let is_enemy = |rig: Entity| teams.get(rig).ok() != own;
    let filter = RewoundFilter::new().fired_by(*shooter).rigs(&is_enemy);
    let aim = Ray3d::new(Vec3::Y, Dir3::Z);
    let mut victims: Vec<Entity> = Vec::new();
    let mut next = query.cast_ray(view, aim, 50.0, &filter).victim();
    while let Some(hit) = next {
        let name = names.get(hit.rig).map_or("someone", Name::as_str);
        info!("the {name} one is struck, {:.2} m away", hit.distance);
        victims.push(hit.rig);
        next = query.closest_point(view, hit.pose.translation.into(), JUMP, &filter.without(&victims)).victim();
    }
    let struck: Vec<&str> = victims.iter().filter_map(|victim| names.get(*victim).ok()).map(Name::as_str).collect();
    assert_eq!(struck, ["first", "second", "third"], "team mates are spared, and the last one is too far away");

    // The same at the present finds nobody before the muzzle.
    let now = query.cast_ray(ViewTime::at(tick.0), aim, 50.0, &filter);
    assert_eq!(now.victim(), None);

    // Who stood within a zone, then and now.
    let zone = Shape::Cuboid { half_extents: Vec3::new(3.0, 2.0, 2.0) };
    let place = Isometry3d::from_xyz(2.0, 1.0, 9.0);
    let mut found = Vec::new();
    let counts = [view, ViewTime::at(tick.0)].map(|view| {
        query.intersections_with_shape(view, zone, place, &RewoundFilter::new(), &mut found);
        found.len()
    });
    info!("{} stood in the zone, {} do now", counts[0], counts[1]);
    assert_eq!(counts, [4, 2]);
    exit.write(AppExit::Success);
}
