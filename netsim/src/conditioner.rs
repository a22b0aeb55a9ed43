//! Latency, jitter and loss from a seed. Lightyear's own conditioner cannot be seeded.

use alloc::collections::BTreeMap;

use bevy::prelude::*;
use lightyear::{
    connection::ConnectionSystems,
    link::RecvPayload,
    prelude::{Link, LinkSystems},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// What a link does to each packet, one way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Network {
    /// Milliseconds on the way.
    pub latency: f64,
    /// Milliseconds more or less, evenly spread; packets may overtake each other.
    pub jitter: f64,
    /// The part of packets that never arrives, in `0.0..1.0`.
    pub loss: f64,
}

impl Network {
    /// A cable: nothing is lost or late.
    pub const PERFECT: Self = Self { latency: 0.0, jitter: 0.0, loss: 0.0 };
    /// What the duel simulates by default.
    pub const TYPICAL: Self = Self { latency: 60.0, jitter: 10.0, loss: 0.02 };
}

/// Holds back what a link has received, until it is due.
#[derive(Component)]
pub(crate) struct Conditioner {
    network: Network,
    random: SmallRng,
    /// By due time in nanoseconds, then by order of arrival.
    held: BTreeMap<(u64, u64), RecvPayload>,
    received: u64,
}

impl Conditioner {
    pub(crate) fn new(network: Network, seed: u64) -> Self {
        Self { network, random: SmallRng::seed_from_u64(seed), held: BTreeMap::new(), received: 0 }
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.add_systems(PreUpdate, hold_packets.after(LinkSystems::Receive).before(ConnectionSystems::Receive));
}

/// Sets what happens to packets from now on, on all links of an app.
pub(crate) fn set_network(app: &mut App, network: Network) {
    let world = app.world_mut();
    for mut conditioner in world.query::<&mut Conditioner>().iter_mut(world) {
        conditioner.network = network;
    }
}

fn hold_packets(time: Res<Time<Real>>, mut links: Query<(&mut Link, &mut Conditioner)>) {
    let now = time.elapsed().as_nanos() as u64;
    for (mut link, mut conditioner) in &mut links {
        let Conditioner { network, random, held, received } = &mut *conditioner;
        for payload in link.recv.drain() {
            let lost = random.random::<f64>() < network.loss;
            let deviation = network.jitter * (2.0 * random.random::<f64>() - 1.0);
            if !lost {
                let delay = (network.latency + deviation).max(0.0) * 1e6;
                *received += 1;
                held.insert((now + delay as u64, *received), payload);
            }
        }
        while let Some(first) = held.first_entry().filter(|first| first.key().0 <= now) {
            link.recv.push_raw(first.remove());
        }
    }
}
