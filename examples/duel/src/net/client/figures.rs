//! The figures of others: what comes over the network is a place and a few numbers.

use bevy::prelude::*;
use bevy_hindsight::{DisplayRule, Rig, lightyear::ShotClientSystems, pose_bones};
use bevy_rapier3d::prelude::{Collider, RigidBody};

use crate::{
    game::{arena::Arena, figure},
    net::protocol::Health,
};

/// The plugin that gives them bones, and this world its walls.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, build_walls)
        .add_systems(Update, (attach_figures, pose_bones).chain().after(ShotClientSystems::RememberDisplayed));
}

/// Bullets of this client stop at them at once.
fn build_walls(arena: Res<Arena>, mut commands: Commands) {
    for block in &arena.blocks {
        let Vec3 { x, y, z } = block.solid.half_extents;
        commands.spawn((RigidBody::Fixed, Collider::cuboid(x, y, z), Transform::from_translation(block.solid.center)));
    }
}

fn attach_figures(
    figures: Query<Entity, (With<Health>, With<Transform>, Without<DisplayRule>)>,
    mut commands: Commands,
) {
    for figure in &figures {
        let mut figure = commands.entity(figure);
        figure.insert(Rig);
        figure::attach(&mut figure);
    }
}
