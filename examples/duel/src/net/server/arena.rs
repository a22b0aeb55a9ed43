//! What stands and moves in the arena.

use bevy::prelude::*;
use bevy_hindsight::{Occluder, Rig, RigId};
use bevy_rapier3d::prelude::{Collider, RigidBody};
use lightyear::prelude::{DisableReplicateHierarchy, InterpolationTarget, LocalTimeline, NetworkTarget, Replicate};

use super::movement::MoveSystems;
use crate::{
    game::{
        arena::{Arena, MoverKind},
        figure,
    },
    net::protocol::{FULL_HEALTH, Health, MoverNumber, seconds_at},
};

/// Beyond the ids of all players.
const FIRST_TARGET_ID: u64 = 1 << 32;

/// The plugin that builds it and sets it in motion.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, build_arena).add_systems(FixedUpdate, move_movers.in_set(MoveSystems));
}

fn build_arena(arena: Res<Arena>, mut commands: Commands) {
    for block in &arena.blocks {
        let Vec3 { x, y, z } = block.solid.half_extents;
        commands.spawn((RigidBody::Fixed, Collider::cuboid(x, y, z), Transform::from_translation(block.solid.center)));
    }
    for (number, mover) in (0..).zip(&arena.movers) {
        let mut entity = commands.spawn((
            MoverNumber(number),
            Transform::from_translation(mover.path.at(0.0)),
            (Replicate::to_clients(NetworkTarget::All), DisableReplicateHierarchy),
            InterpolationTarget::to_clients(NetworkTarget::All),
        ));
        match mover.kind {
            MoverKind::Door | MoverKind::Lift => {
                let Vec3 { x, y, z } = mover.half_extents;
                entity.insert((Occluder::default(), Collider::cuboid(x, y, z)));
            }
            MoverKind::Target => {
                // It looks at whoever shoots.
                entity.insert((
                    (Rig, RigId(FIRST_TARGET_ID + u64::from(number)), Health(FULL_HEALTH)),
                    Transform::from_translation(mover.path.at(0.0))
                        .with_rotation(Quat::from_rotation_y(core::f32::consts::PI)),
                ));
                figure::attach(&mut entity);
            }
        }
    }
}

fn move_movers(arena: Res<Arena>, local: Res<LocalTimeline>, mut movers: Query<(&MoverNumber, &mut Transform)>) {
    let now = seconds_at(local.tick().0);
    for (number, mut transform) in &mut movers {
        if let Some(mover) = arena.movers.get(number.0 as usize) {
            transform.translation = mover.path.at(now);
        }
    }
}
