//! What is seen for a moment: tracers, sparks, explosions; and rockets.

use bevy::prelude::*;

use super::{look::LookMaterial, palette, viewmodel};
use crate::{
    game::weapon::{BLAST_RADIUS, Weapon},
    net::{
        client::ShotFired,
        protocol::{Exploded, RocketFlight},
    },
};

/// How long a tracer is seen, in seconds.
const TRACER: f32 = 0.14;
/// How long the muzzle flashes, in seconds.
const FLASH: f32 = 0.05;
/// How long an explosion takes, in seconds.
const PUFF: f32 = 0.45;
/// In how many steps it fades.
const STEPS: usize = 8;

/// Something bursts.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Puff {
    /// Where.
    pub place: Vec3,
    /// How far it reaches at last, in metres.
    pub radius: f32,
    /// Of what colour it is.
    pub color: Color,
}

/// The way of a bullet on the screen.
struct Tracer {
    weapon: Weapon,
    from: Vec3,
    to: Vec3,
    age: f32,
}

#[derive(Resource, Default)]
struct Tracers(Vec<Tracer>);

/// A burst that grows and fades.
#[derive(Component)]
struct Burst {
    age: f32,
    radius: f32,
    fading: [Handle<LookMaterial>; STEPS],
}

#[derive(Resource)]
struct EffectAssets {
    ball: Handle<Mesh>,
    rocket: Handle<LookMaterial>,
    /// Each colour once, from solid to nothing.
    fading: Vec<(Color, [Handle<LookMaterial>; STEPS])>,
}

/// Lines of light.
#[derive(GizmoConfigGroup, Reflect, Default)]
struct TracerGizmos;

/// The plugin of effects.
pub fn plugin(app: &mut App) {
    app.add_message::<Puff>()
        .init_resource::<Tracers>()
        .insert_gizmo_config(
            TracerGizmos,
            GizmoConfig { line: GizmoLineConfig { width: 2.5, ..default() }, ..default() },
        )
        .add_systems(Startup, load)
        .add_systems(Update, (dress_rockets, explode, puff, grow).chain())
        .add_systems(Update, (trace, draw_tracers).chain().after(viewmodel::carry));
}

fn load(mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<LookMaterial>>, mut commands: Commands) {
    let ball = meshes.add(Sphere::new(1.0).mesh().uv(20, 14));
    let rocket = materials.add(LookMaterial::glow(palette::FIRE));
    commands.insert_resource(EffectAssets { ball, rocket, fading: Vec::new() });
}

fn dress_rockets(
    rockets: Query<Entity, (With<RocketFlight>, With<Transform>, Without<Burning>)>,
    assets: Res<EffectAssets>,
    mut commands: Commands,
) {
    let radius = Weapon::Rocket.projectile().map_or(0.1, |rocket| rocket.radius);
    for entity in &rockets {
        let ball = (Mesh3d(assets.ball.clone()), MeshMaterial3d(assets.rocket.clone()));
        let size = Transform::from_scale(Vec3::splat(radius));
        commands.entity(entity).insert((Burning, Visibility::default())).with_child((ball, size));
    }
}

/// A rocket that has its mesh.
#[derive(Component)]
struct Burning;

fn explode(mut explosions: MessageReader<Exploded>, mut puffs: MessageWriter<Puff>) {
    puffs.write_batch(explosions.read().map(|explosion| Puff {
        place: explosion.place,
        radius: BLAST_RADIUS,
        color: palette::FIRE,
    }));
}

fn puff(
    mut puffs: MessageReader<Puff>,
    mut assets: ResMut<EffectAssets>,
    mut materials: ResMut<Assets<LookMaterial>>,
    mut commands: Commands,
) {
    for Puff { place, radius, color } in puffs.read().copied() {
        let known = assets.fading.iter().find(|(known, _)| *known == color).map(|(_, fading)| fading.clone());
        let fading = known.unwrap_or_else(|| {
            let made = core::array::from_fn(|step| {
                let alpha = 0.8 * (1.0 - (step as f32 + 0.5) / STEPS as f32);
                materials.add(LookMaterial::glow(color.with_alpha(alpha)))
            });
            assets.fading.push((color, made.clone()));
            made
        });
        let look = (Mesh3d(assets.ball.clone()), MeshMaterial3d(fading[0].clone()));
        let small = Transform::from_translation(place).with_scale(Vec3::splat(0.01));
        commands.spawn((Burst { age: 0.0, radius, fading }, look, small));
    }
}

fn grow(
    mut bursts: Query<(Entity, &mut Burst, &mut Transform, &mut MeshMaterial3d<LookMaterial>)>,
    time: Res<Time>,
    mut commands: Commands,
) {
    for (entity, mut burst, mut transform, mut material) in &mut bursts {
        burst.age += time.delta_secs();
        let share = burst.age / PUFF;
        let Some(fading) = burst.fading.get((share * STEPS as f32) as usize) else {
            commands.entity(entity).despawn();
            continue;
        };
        // Fast at first.
        transform.scale = Vec3::splat(burst.radius * (1.0 - (1.0 - share) * (1.0 - share)));
        if material.0 != *fading {
            material.0 = fading.clone();
        }
    }
}

fn trace(mut fired: MessageReader<ShotFired>, muzzle: viewmodel::Muzzle, mut tracers: ResMut<Tracers>) {
    for shot in fired.read() {
        let from = muzzle.place(shot.weapon).unwrap_or(shot.origin);
        tracers.0.extend(shot.traces.iter().map(|trace| Tracer { weapon: shot.weapon, from, to: trace.end, age: 0.0 }));
    }
}

fn draw_tracers(
    mut tracers: ResMut<Tracers>,
    muzzle: viewmodel::Muzzle,
    time: Res<Time>,
    mut gizmos: Gizmos<TracerGizmos>,
) {
    for tracer in &mut tracers.0 {
        let left = 1.0 - tracer.age / TRACER;
        let color = palette::TRACER.with_alpha(left);
        // The tail follows the bullet.
        gizmos.line_gradient(
            tracer.from.lerp(tracer.to, 0.6 * (1.0 - left)),
            tracer.to,
            color.with_alpha(0.1 * left),
            color,
        );
        gizmos.sphere(tracer.to, 0.04, color);
        if let Some(muzzle) = muzzle.place(tracer.weapon).filter(|_| tracer.age < FLASH) {
            gizmos.sphere(muzzle, 0.02, color);
        }
        tracer.age += time.delta_secs();
    }
    tracers.0.retain(|tracer| tracer.age < TRACER);
}
