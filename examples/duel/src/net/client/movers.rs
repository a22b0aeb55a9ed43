//! Doors and lifts on the screen of a client.

use bevy::prelude::*;
use bevy_hindsight::Occluder;
use bevy_rapier3d::prelude::Collider;

use crate::{
    game::arena::{Arena, MoverKind},
    net::protocol::MoverNumber,
};

/// The plugin that makes of what the server sends what it is there.
pub fn plugin(app: &mut App) {
    app.add_systems(Update, build_movers);
}

fn build_movers(
    arrived: Query<(Entity, &MoverNumber), (With<Transform>, Without<Occluder>)>,
    arena: Res<Arena>,
    mut commands: Commands,
) {
    for (entity, number) in &arrived {
        let Some(mover) = arena.movers.get(number.0 as usize) else { continue };
        if mover.kind != MoverKind::Target {
            let Vec3 { x, y, z } = mover.half_extents;
            commands.entity(entity).insert((Occluder::default(), Collider::cuboid(x, y, z), Visibility::default()));
        }
    }
}
