//! What clients may see of how their shots, and those that hit them, were judged.

use bevy::prelude::*;
use lightyear::prelude::{ControlledBy, MessageReceiver, MessageSender, client::Client, server::ClientOf};

use super::ShotServerConfig;
use crate::shot::{ShotId, ShotTraced};

/// The channel of evidence, from the server to clients: each message arrives, none waits for another, and all that is sent over
/// other channels goes first.
pub struct EvidenceChannel;

/// Whether a connection is sent evidence, on its link entity (lightyear's `ClientOf`): a [`ShotTraced`] for each verdict on its own
/// shots, and for each hit on a rig that it controls. Without it, [`ShotServerConfig::stream_evidence`] counts.
///
/// The server must have [`ShotTracing`](crate::ShotTracing) on. Clients cannot ask for it, and cannot send any.
///
/// A message takes about 400 bytes, and 77 more for each hitbox and occluder: with the default limits, 6 kB at most. The host of a
/// listen server reads what the server writes and is sent nothing.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::lightyear::EvidenceViewer;
/// use lightyear::prelude::{Connected, RemoteId, server::ClientOf};
///
/// #[derive(Resource)]
/// struct Moderators(Vec<RemoteId>);
///
/// fn permit(
///     joined: On<Add, Connected>,
///     links: Query<&RemoteId, With<ClientOf>>,
///     moderators: Res<Moderators>,
///     mut commands: Commands,
/// ) {
///     if links.get(joined.entity).is_ok_and(|id| moderators.0.contains(id)) {
///         commands.entity(joined.entity).insert(EvidenceViewer(true));
///     }
/// }
/// # App::new().add_observer(permit);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component)]
pub struct EvidenceViewer(pub bool);

/// Sends evidence to those whom it concerns, and who may see it.
pub(super) fn stream_evidence(
    mut traced: MessageReader<ShotTraced>,
    mut links: Query<(&mut MessageSender<ShotTraced>, Option<&EvidenceViewer>), (With<ClientOf>, Without<Client>)>,
    controlled: Query<&ControlledBy>,
    parents: Query<&ChildOf>,
    config: Res<ShotServerConfig>,
) {
    let mut send = |link: Entity, traced: &ShotTraced| {
        let Ok((mut sender, viewer)) = links.get_mut(link) else { return };
        if viewer.map_or(config.stream_evidence, |viewer| viewer.0) {
            sender.send::<EvidenceChannel>(traced.clone());
        }
    };
    let owner = |rig| {
        let mut ancestry = core::iter::once(rig).chain(parents.iter_ancestors(rig));
        ancestry.find_map(|entity| controlled.get(entity).ok()).map(|by| by.owner)
    };
    for traced in traced.read() {
        let shooter = Entity::try_from_bits(traced.shot.connection);
        if let Some(link) = shooter {
            // As the client has numbered it.
            send(link, &ShotTraced { shot: ShotId::local(traced.shot.sequence), ..traced.clone() });
        }
        let victim = traced.victim().and_then(owner);
        if let Some(link) = victim.filter(|link| Some(*link) != shooter) {
            send(link, traced);
        }
    }
}

/// Takes what the server has sent.
pub(super) fn receive_evidence(
    mut links: Query<&mut MessageReceiver<ShotTraced>, With<Client>>,
    mut traced: MessageWriter<ShotTraced>,
) {
    for mut link in &mut links {
        traced.write_batch(link.receive());
    }
}
