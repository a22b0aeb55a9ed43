//! Drives the apps in lockstep.

mod build;

use core::{net::SocketAddr, time::Duration};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use lightyear::prelude::client::Disconnect;
use mock_instant::global::MockClock;

use crate::{
    Scene,
    conditioner::{self, Network},
};

/// One tick of the server.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// The simulated clock is one for the whole process.
static CLOCK: Mutex<()> = Mutex::new(());

/// How packets travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Channels in memory.
    Memory,
    /// Datagrams over the loopback interface.
    Udp,
}

/// How fast the simulated clock goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// From frame to frame without a pause: runs are fast, and repeat to the bit.
    Lockstep,
    /// With the real clock: each frame is drawn when it is due, or as soon as the machine has the time.
    RealTime,
}

/// What is simulated, whatever the scene.
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// How packets travel.
    pub transport: Transport,
    /// What happens to them on the way, in each direction.
    pub network: Network,
    /// Frames per second of each client; its length is the number of clients.
    pub client_fps: Vec<f64>,
    /// Frames per second of the server, which runs 64 ticks per second.
    pub server_fps: f64,
    /// Time between two snapshots; zero for one each frame with a tick.
    pub send_interval: Duration,
    /// Whether the server is a player, too.
    pub listen_server: bool,
    /// Whether clients draw their first frames at random moments; else they follow each other by a millisecond.
    pub random_phase: bool,
    /// How fast the clock goes.
    pub pace: Pace,
    /// The seed of all chance.
    pub seed: u64,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            transport: Transport::Memory,
            network: Network::TYPICAL,
            client_fps: vec![144.0],
            server_fps: 64.0,
            send_interval: Duration::ZERO,
            listen_server: false,
            random_phase: false,
            pace: Pace::Lockstep,
            seed: 1,
        }
    }
}

/// One app, and when it draws its next frame.
pub struct Peer {
    /// The app itself.
    pub app: App,
    /// Its link to the server, or the server.
    pub link: Entity,
    frame: Duration,
    last: Option<Duration>,
    next: Duration,
}

impl Peer {
    /// Draws the frame that is due at `now`.
    fn draw(&mut self, now: Duration) {
        let passed = self.last.map_or(self.frame, |last| now - last);
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(passed));
        self.app.update();
        self.last = Some(now);
        // A machine that has fallen behind does not catch up frame by frame.
        self.next = (self.next + self.frame).max(now);
    }
}

/// A server and its clients.
pub struct Sim {
    /// The server.
    pub server: Peer,
    /// The clients, in the order of [`SimConfig::client_fps`]. Client n has the id n + 1.
    pub clients: Vec<Peer>,
    /// Where the server listens, with [`Transport::Udp`].
    pub address: SocketAddr,
    config: SimConfig,
    /// The id of the client that joined last.
    newest: u64,
    now: Duration,
    /// The real time at the simulated time 0, for [`Pace::RealTime`].
    started: Option<Instant>,
    _clock: MutexGuard<'static, ()>,
}

impl Sim {
    /// Starts the server of `scene` and connects the clients.
    pub fn new(config: SimConfig, scene: impl Scene) -> Self {
        let clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        MockClock::set_time(Duration::ZERO);
        let address = build::free_address();
        let server = build::server(&config, &scene, address);
        let started = (config.pace == Pace::RealTime).then(Instant::now);
        let (now, clients) = (Duration::ZERO, Vec::new());
        let mut sim = Self { server, clients, address, config, newest: 0, now, started, _clock: clock };
        for client in 0..sim.config.client_fps.len() {
            sim.join(&scene, sim.config.client_fps[client]);
        }
        sim
    }

    /// Connects one more client, the last of [`Sim::clients`].
    pub fn join(&mut self, scene: &impl Scene, fps: f64) {
        self.newest += 1;
        let mut client = build::client(&self.config, scene, self.newest, fps, &mut self.server, self.address);
        client.next += self.now;
        self.clients.push(client);
    }

    /// Disconnects a client. The ones after it move up.
    pub fn leave(&mut self, client: usize) -> Peer {
        let mut peer = self.clients.remove(client);
        peer.app.world_mut().trigger(Disconnect { entity: peer.link });
        peer.draw(self.now);
        peer
    }

    /// What happens to packets from now on, in each direction.
    pub fn set_network(&mut self, network: Network) {
        self.config.network = network;
        for peer in self.clients.iter_mut().chain([&mut self.server]) {
            conditioner::set_network(&mut peer.app, network);
        }
    }

    /// Lets `time` pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let peers = self.clients.iter_mut().chain([&mut self.server]);
            let Some(peer) = peers.min_by_key(|peer| peer.next).filter(|peer| peer.next <= end) else { break };
            let now = match self.started {
                None => peer.next,
                Some(started) => {
                    thread::sleep(peer.next.saturating_sub(started.elapsed()));
                    started.elapsed()
                }
            };
            MockClock::set_time(now);
            peer.draw(now);
        }
        self.now = end;
    }

    /// Lets time pass until `done`, and panics with `what` if it takes more than `limit`.
    pub fn run_until(&mut self, what: &str, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) {
        let end = self.now + limit;
        while !done(self) {
            assert!(self.now < end, "still waiting for {what} after {limit:?}");
            self.run(TICK);
        }
    }
}
