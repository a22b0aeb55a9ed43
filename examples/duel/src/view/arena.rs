//! What the arena looks like.

use bevy::prelude::*;

use super::{look::LookMaterial, palette};
use crate::{
    game::arena::{Arena, MoverKind},
    net::protocol::MoverNumber,
};

/// The plugin that draws what is no figure.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_blocks).add_systems(Update, dress_movers);
}

/// A box of a size; each has its own mesh, so that the lines along its edges are as wide as those of all others.
fn cuboid(half_extents: Vec3) -> Cuboid {
    Cuboid { half_size: half_extents }
}

fn spawn_blocks(
    arena: Res<Arena>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<LookMaterial>>,
    mut commands: Commands,
) {
    for block in &arena.blocks {
        commands.spawn((
            Mesh3d(meshes.add(cuboid(block.solid.half_extents))),
            MeshMaterial3d(materials.add(palette::block(block.look))),
            Transform::from_translation(block.solid.center),
        ));
    }
}

/// Doors and lifts are replicated; what they look like is in the arena.
fn dress_movers(
    movers: Query<(Entity, &MoverNumber), Without<Mesh3d>>,
    arena: Res<Arena>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<LookMaterial>>,
    mut commands: Commands,
) {
    for (entity, number) in &movers {
        let Some(mover) = arena.movers.get(number.0 as usize) else { continue };
        if mover.kind != MoverKind::Target {
            commands.entity(entity).insert((
                Mesh3d(meshes.add(cuboid(mover.half_extents))),
                MeshMaterial3d(materials.add(palette::mover(mover.kind))),
            ));
        }
    }
}
