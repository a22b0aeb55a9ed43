//! The rockets on the screen: the own ones fly from the moment they are fired.

use bevy::prelude::*;
use bevy_hindsight::{
    Tick,
    lightyear::{Displayed, ShotClientSystems, ShotReach},
};
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    prelude::{LocalTimeline, PreSpawned},
};

use crate::net::protocol::RocketFlight;

/// How many ticks a rocket that was fired is remembered, for a rollback: two seconds.
const REMEMBERED: i32 = 128;

/// The rockets that this client has fired of late.
#[derive(Resource, Default)]
pub struct Fired(Vec<(Tick, u64, RocketFlight)>);

impl Fired {
    /// Remembers one, with its tick and its hash.
    pub fn note(&mut self, tick: Tick, hash: u64, flight: RocketFlight) {
        self.0.retain(|(before, ..)| tick.since(*before) < REMEMBERED);
        self.0.push((tick, hash, flight));
    }
}

/// The plugin of rockets.
pub fn plugin(app: &mut App) {
    app.init_resource::<Fired>()
        .add_observer(dress)
        .add_systems(FixedPostUpdate, spawn_own.run_if(not(is_host)))
        .add_systems(Update, draw.after(ShotClientSystems::RememberDisplayed));
}

fn is_host(network: Res<NetworkingMetadata>) -> bool {
    matches!(network.mode, NetworkTopology::HostClient { .. })
}

/// Spawns the rockets of this tick, each time that it is simulated: a rollback despawns what was spawned after the tick that it
/// goes back to.
fn spawn_own(fired: Res<Fired>, local: Res<LocalTimeline>, mut commands: Commands) {
    for (_, hash, flight) in fired.0.iter().filter(|(tick, ..)| tick.0 == local.tick().0) {
        commands.spawn((*flight, PreSpawned::new(*hash)));
    }
}

/// No shot can hit it.
fn dress(rocket: On<Add, RocketFlight>, mut commands: Commands) {
    commands.entity(rocket.entity).insert_if_new((Transform::default(), Visibility::default(), ShotReach::NONE));
}

fn draw(mut rockets: Query<(&RocketFlight, &mut Transform)>, displayed: Res<Displayed>) {
    let Some(view) = displayed.view_time() else { return };
    for (flight, mut transform) in &mut rockets {
        transform.translation = flight.place(view);
        transform.look_to(flight.velocity, Vec3::Y);
    }
}
