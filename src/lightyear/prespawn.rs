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
/// # On the client
///
/// The projectile flies from [`Projectile::leaves_at`](crate::Projectile::leaves_at) on, as the server's does: so the two are in
/// the same place in each tick, unless the server judges the shot by another instant than the screen showed. Lightyear despawns
/// in a rollback what was pre-spawned after the tick that it goes back to. So remember what was fired, and spawn it in its tick,
/// each time that this is simulated:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{Ballistics, Projectile, Tick, lightyear::*, prelude::*};
/// use lightyear::prelude::{Controlled, LocalId, LocalTimeline, PreSpawned, client::Client};
///
/// /// Known on both sides.
/// const ROCKET: Projectile = Projectile::new(60.0).flying(Ballistics { gravity: Vec3::new(0.0, -2.0, 0.0), drag: 0.0 });
///
/// /// How a rocket flies.
/// #[derive(Component, Clone, Copy)]
/// struct Flight {
///     muzzle: Vec3,
///     velocity: Vec3,
///     left_at: ViewTime,
/// }
///
/// impl Flight {
///     /// Where it is at an instant; in the muzzle until it leaves that.
///     fn place(&self, at: ViewTime, time: &Time<Fixed>) -> Vec3 {
///         let flown = self.left_at.ticks_before(at.tick) + f64::from(at.fraction_f32());
///         let seconds = flown.max(0.0) * time.timestep().as_secs_f64();
///         ROCKET.ballistics.fly(self.muzzle, self.velocity, seconds as f32).0
///     }
/// }
///
/// /// The rockets of this client, each with the tick of its shot and its hash.
/// #[derive(Resource, Default)]
/// struct Fired(Vec<(Tick, u64, Flight)>);
///
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
/// fn spawn(fired: Res<Fired>, local: Res<LocalTimeline>, mut commands: Commands) {
///     for (_, hash, flight) in fired.0.iter().filter(|(tick, ..)| tick.0 == local.tick().0) {
///         let place = Transform::from_translation(flight.muzzle);
///         commands.spawn((*flight, place, PreSpawned::new(*hash), ShotReach::NONE));
///     }
/// }
///
/// fn fly(mut rockets: Query<(&mut Transform, &Flight)>, local: Res<LocalTimeline>, time: Res<Time<Fixed>>) {
///     let now = ViewTime::at(Tick(local.tick().0));
///     for (mut transform, flight) in &mut rockets {
///         transform.translation = flight.place(now, &time);
///     }
/// }
/// # App::new().add_systems(FixedUpdate, (fire.run_if(|| true), spawn, fly).chain());
/// ```
///
/// This place is that of the client's present, some ticks ahead of the others on the screen, and of the muzzle. Draw the rocket
/// at `flight.place(view, &time)` for the `view` of [`Displayed`](super::Displayed): there it leaves the muzzle, and meets what the
/// screen shows when the server says that it does.
///
/// A shot that the server refuses gets no projectile, nor one that meets something in its first tick: lightyear despawns what
/// has not been matched after 50 ticks, and a game may do so when the verdict comes.
///
/// # On the server
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{ProjectileLaunched, lightyear::prespawn_hash};
/// use lightyear::prelude::{InterpolationTarget, NetworkTarget, PreSpawned, PredictionTarget, RemoteId, Replicate};
///
/// fn dress(launched: On<ProjectileLaunched>, clients: Query<&RemoteId>, mut commands: Commands) {
///     let Some((link, client)) = launched.link.and_then(|link| Some((link, clients.get(link).ok()?))) else { return };
///     commands.entity(launched.projectile).insert((
///         PreSpawned::new(prespawn_hash(client.0, launched.shot)).for_client(link),
///         Replicate::to_clients(NetworkTarget::All),
///         PredictionTarget::to_clients(NetworkTarget::Single(client.0)),
///         InterpolationTarget::to_clients(NetworkTarget::AllExceptSingle(client.0)),
///     ));
/// }
/// # App::new().add_observer(dress);
/// ```
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
