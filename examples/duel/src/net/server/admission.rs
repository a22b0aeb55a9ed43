//! How players come in.

use bevy::prelude::*;
use bevy_hindsight::{Muzzle, Rig, RigId};
use lightyear::prelude::{
    Connected, ControlledBy, DisableReplicateHierarchy, InterpolationTarget, MessageReceiver, MessageSystems,
    NetworkTarget, PredictionTarget, RemoteId, Replicate, input::native::ActionState, server::ClientOf,
};

use super::{arsenal::Arsenal, damage::Newcomer};
use crate::{
    game::{
        arena::Arena,
        character::{Body, PlayerInput},
        figure,
    },
    net::protocol::{FULL_HEALTH, Health, Join, LONGEST_NAME, Loadout, Player, Score},
};

/// How far from the server's eye a shot may begin, in metres: a crouch that the server has not seen yet, and a frame's way.
const MUZZLE_TOLERANCE: f32 = 0.7;

/// The plugin that lets them in.
pub fn plugin(app: &mut App) {
    app.add_systems(PreUpdate, admit_players.after(MessageSystems::Receive));
}

/// Gives each client that asks for it a character, once.
fn admit_players(
    mut links: Query<(Entity, &RemoteId, &mut MessageReceiver<Join>), (With<ClientOf>, With<Connected>)>,
    characters: Query<&ControlledBy, With<Player>>,
    arena: Res<Arena>,
    mut admitted: Local<u32>,
    mut commands: Commands,
) {
    for (link, peer, mut receiver) in &mut links {
        // Whoever asks twice in one frame gets one answer.
        let Some(join) = receiver.receive().last() else { continue };
        if characters.iter().any(|controlled| controlled.owner == link) {
            continue;
        }
        let number = *admitted;
        *admitted += 1;
        let at = arena.spawn_points[number as usize % arena.spawn_points.len()];
        let place = Transform::from_translation(at).with_rotation(Quat::from_rotation_y(arena.yaw_at(at)));
        let name = join.name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect();
        let mut character = commands.spawn((
            (Player { name, number }, Health(FULL_HEALTH), Score::default(), Newcomer),
            (Arsenal::default(), Loadout::default()),
            (place, Body::default(), ActionState::<PlayerInput>::default()),
            (Rig, RigId(u64::from(number)), Muzzle::at(Vec3::Y * figure::EYE_HEIGHT).within(MUZZLE_TOLERANCE)),
            // Clients know the figure by heart; its parts are not replicated.
            (Replicate::to_clients(NetworkTarget::All), DisableReplicateHierarchy),
            PredictionTarget::to_clients(NetworkTarget::Single(peer.0)),
            InterpolationTarget::to_clients(NetworkTarget::AllExceptSingle(peer.0)),
            ControlledBy { owner: link, lifetime: default() },
        ));
        figure::attach(&mut character);
    }
}
