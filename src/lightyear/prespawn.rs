//! Projectiles that the client spawns before the server's arrive.

use lightyear::prelude::PeerId;

use crate::{shot::ShotId, weapon::mix};

/// The hash for lightyear's `PreSpawned` on the projectile of a shot: the same number on both sides, and another one for each
/// shot of each client. By it, lightyear matches the server's projectile to the one that the client spawned when it fired.
///
/// The peer is the client: on its own side the `LocalId` of its connection, on the server the `RemoteId` of
/// [`ProjectileLaunched::link`](crate::ProjectileLaunched::link). Of the shot's id only the sequence number counts, which both
/// sides know.
///
/// How a projectile flies is known from its start: its muzzle, its velocity, and [the instant](crate::Projectile::leaves_at) at
/// which it left. This is all that has to be replicated, once for each. It flies as the client believes until the server's comes,
/// and then as that does; the two are the same, unless the server judges the shot by another instant than the screen showed.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{
///     Ballistics, CompensatedProjectile, Projectile, ProjectileLaunched, Tick, lightyear::*, prelude::*,
/// };
/// use lightyear::prelude::{
///     Controlled, LocalId, LocalTimeline, NetworkTarget, PreSpawned, RemoteId, Replicate, client::Client,
/// };
/// use serde::{Deserialize, Serialize};
///
/// const ROCKET: Projectile = Projectile::new(60.0).flying(Ballistics { gravity: Vec3::new(0.0, -2.0, 0.0), drag: 0.0 });
///
/// /// Registered on both sides: `app.component::<Flight>().replicate()`.
/// #[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
/// struct Flight {
///     muzzle: Vec3,
///     velocity: Vec3,
///     left_at: ViewTime,
/// }
///
/// /// The rockets of this client, each with its tick and its hash.
/// #[derive(Resource, Default)]
/// struct Fired(Vec<(Tick, u64, Flight)>);
///
/// /// Client, `FixedUpdate`.
/// fn fire(
///     mut shots: FireShots,
///     displayed: Res<Displayed>,
///     local: Res<LocalTimeline>,
///     client: Single<&LocalId, With<Client>>,
///     me: Single<&Transform, With<Controlled>>,
///     mut fired: ResMut<Fired>,
/// ) {
///     let (ray, tick) = (Ray3d::new(me.translation, me.forward()), Tick(local.tick().0));
///     let Some(view) = displayed.view_time() else { return };
///     if let Ok(shot) = shots.fire(ray, 200.0, ()) {
///         let velocity = ray.direction * ROCKET.speed;
///         let flight = Flight { muzzle: ray.origin, velocity, left_at: ROCKET.leaves_at(view, tick) };
///         fired.0.push((tick, prespawn_hash(client.0, shot), flight));
///     }
/// }
///
/// /// Client, `FixedUpdate`, after `fire`. A rollback despawns what was pre-spawned after the tick that it goes back to; when
/// /// that tick is simulated again, this spawns it once more.
/// fn spawn(fired: Res<Fired>, local: Res<LocalTimeline>, mut commands: Commands) {
///     for (_, hash, flight) in fired.0.iter().filter(|(tick, ..)| tick.0 == local.tick().0) {
///         commands.spawn((*flight, Transform::default(), PreSpawned::new(*hash)));
///     }
/// }
///
/// /// Client, `Update`, in [`ShotClientSystems::RememberDisplayed`] or after it.
/// fn draw(mut rockets: Query<(&mut Transform, &Flight)>, displayed: Res<Displayed>, time: Res<Time<Fixed>>) {
///     let Some(view) = displayed.view_time() else { return };
///     for (mut transform, flight) in &mut rockets {
///         let flown = flight.left_at.ticks_before(view.tick) + f64::from(view.fraction_f32());
///         let seconds = flown.max(0.0) * time.timestep().as_secs_f64();
///         transform.translation = ROCKET.ballistics.fly(flight.muzzle, flight.velocity, seconds as f32).0;
///     }
/// }
///
/// /// Server.
/// fn dress(
///     launched: On<ProjectileLaunched>,
///     rockets: Query<&CompensatedProjectile>,
///     clients: Query<&RemoteId>,
///     mut commands: Commands,
/// ) {
///     let Ok(rocket) = rockets.get(launched.projectile) else { return };
///     let flight = Flight { muzzle: rocket.place(), velocity: rocket.velocity(), left_at: rocket.view_time() };
///     let mut projectile = commands.entity(launched.projectile);
///     projectile.insert((flight, Replicate::to_clients(NetworkTarget::All)));
///     if let Some((link, client)) = launched.link.and_then(|link| Some((link, clients.get(link).ok()?))) {
///         projectile.insert(PreSpawned::new(prespawn_hash(client.0, launched.shot)).for_client(link));
///     }
/// }
/// # App::new().add_observer(dress).add_systems(FixedUpdate, (fire, spawn).chain()).add_systems(Update, draw);
/// ```
///
/// Drawn at the instant of [`Displayed`](super::Displayed), a rocket leaves the muzzle on the screen, and meets what the screen
/// shows when the server says that it does. Where it is in the client's own tick, `left_at` to that tick along its way, is where
/// the server's is in the same tick: [`max_catch_up`](crate::Projectile::max_catch_up) ahead of the muzzle when it is fired.
///
/// A shot that the server refuses gets no projectile, nor one that meets something in its first tick: lightyear despawns what
/// has not been matched after 50 ticks, and a game may do so when the verdict comes.
pub fn prespawn_hash(peer: PeerId, shot: ShotId) -> u64 {
    mix(mix(peer.to_bits()) ^ u64::from(shot.sequence))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_shot_of_each_client_has_a_hash_of_its_own_that_both_sides_know() {
        let mut hashes = HashSet::new();
        for peer in 0..100 {
            for sequence in 0..100 {
                let on = |connection| prespawn_hash(PeerId::Netcode(peer), ShotId { connection, sequence });
                assert_eq!(on(0), on(77), "the client does not know the server's number of its connection");
                hashes.insert(on(0));
            }
        }
        assert_eq!(hashes.len(), 10_000);
        assert_eq!(prespawn_hash(PeerId::Netcode(1), ShotId::local(1)), 16_860_738_450_190_168_606, "always the same");
    }
}
