//! How players come in.

use bevy::prelude::*;
use bevy_hindsight::{Rig, RigId};
use lightyear::prelude::{
    Connected, ControlledBy, DisableReplicateHierarchy, InterpolationTarget, MessageReceiver, NetworkTarget,
    PredictionTarget, RemoteId, Replicate, input::native::ActionState, server::ClientOf,
};

use crate::{
    game::{
        arena::SPAWN_POINTS,
        character::{PlayerInput, Velocity},
        figure,
    },
    net::protocol::{Join, LONGEST_NAME, Player},
};

/// Gives each client that asks for it a character, once.
pub fn admit_players(
    mut links: Query<(Entity, &RemoteId, &mut MessageReceiver<Join>), (With<ClientOf>, With<Connected>)>,
    characters: Query<&ControlledBy, With<Player>>,
    mut admitted: Local<usize>,
    mut commands: Commands,
) {
    for (link, peer, mut receiver) in &mut links {
        // Whoever asks twice in one frame gets one answer.
        let Some(join) = receiver.receive().last() else { continue };
        if characters.iter().any(|controlled| controlled.owner == link) {
            continue;
        }
        let spawn = SPAWN_POINTS[*admitted % SPAWN_POINTS.len()];
        *admitted += 1;
        let place = Transform::from_translation(spawn.position).with_rotation(Quat::from_rotation_y(spawn.yaw));
        let mut character = commands.spawn((
            Player { name: join.name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect() },
            (place, Velocity::default(), ActionState::<PlayerInput>::default()),
            (Rig, RigId(*admitted as u64)),
            (Replicate::to_clients(NetworkTarget::All), DisableReplicateHierarchy),
            PredictionTarget::to_clients(NetworkTarget::Single(peer.0)),
            InterpolationTarget::to_clients(NetworkTarget::AllExceptSingle(peer.0)),
            ControlledBy { owner: link, lifetime: default() },
        ));
        // Clients know the figure by heart; its parts are not replicated.
        character.with_children(|parts| {
            for part in figure::parts() {
                parts.spawn((part.hitbox, part.place));
            }
        });
    }
}
