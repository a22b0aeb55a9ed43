//! How characters move on the server.

use bevy::prelude::*;
use bevy_hindsight::{DisplayParameters, Muzzle, pose_bones};
use bevy_rapier3d::prelude::PhysicsSet;
use lightyear::prelude::{LocalTimeline, input::native::ActionState};

use crate::{
    game::{
        arena::Arena,
        character::{Body, PlayerInput},
        figure,
    },
    net::protocol::{Health, TICK, seconds_at},
};

/// All that moves in a tick, before the physics step.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MoveSystems;

/// The plugin of movement.
pub fn plugin(app: &mut App) {
    app.configure_sets(FixedUpdate, MoveSystems.before(PhysicsSet::SyncBackend))
        .add_systems(FixedUpdate, (move_characters, pose_bones).chain().in_set(MoveSystems));
}

fn move_characters(
    arena: Res<Arena>,
    local: Res<LocalTimeline>,
    mut characters: Query<(
        &mut Transform,
        &mut Body,
        &mut DisplayParameters,
        &mut Muzzle,
        &Health,
        &ActionState<PlayerInput>,
    )>,
) {
    let now = seconds_at(local.tick().0);
    for (mut transform, mut body, mut parameters, mut muzzle, health, input) in &mut characters {
        if health.is_alive() {
            body.step(&mut transform, &arena, now, input.0, TICK.as_secs_f32());
        }
        parameters.set_if_neq(body.parameters(&transform));
        muzzle.offset = Vec3::Y * figure::eye_height(body.crouch);
    }
}
