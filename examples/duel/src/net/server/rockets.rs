//! Rockets on their way, for clients to draw.

use bevy::prelude::*;
use bevy_hindsight::{CompensatedProjectile, ProjectileEnded, ProjectileLaunched, lightyear::prespawn_hash};
use lightyear::prelude::{MessageSender, NetworkTarget, PreSpawned, RemoteId, Replicate, server::ClientOf};

use crate::net::protocol::{Exploded, GameChannel, RocketFlight};

/// The plugin of rockets.
pub fn plugin(app: &mut App) {
    app.add_observer(dress).add_observer(tell_of_explosion);
}

/// Replicates the rocket; the shooter's client takes it for the one that it has spawned itself.
fn dress(
    launched: On<ProjectileLaunched>,
    flights: Query<&CompensatedProjectile>,
    peers: Query<&RemoteId>,
    mut commands: Commands,
) {
    let Ok(flight) = flights.get(launched.projectile) else { return };
    let flight = RocketFlight { muzzle: flight.place(), velocity: flight.velocity(), left_at: flight.view_time() };
    let mut rocket = commands.entity(launched.projectile);
    rocket.insert((flight, Replicate::to_clients(NetworkTarget::All)));
    if let Some(link) = launched.link
        && let Ok(peer) = peers.get(link)
    {
        rocket.insert(PreSpawned::new(prespawn_hash(peer.0, launched.shot)).for_client(link));
    }
}

fn tell_of_explosion(ended: On<ProjectileEnded>, mut links: Query<&mut MessageSender<Exploded>, With<ClientOf>>) {
    for mut link in &mut links {
        link.send::<GameChannel>(Exploded { place: ended.place });
    }
}
