//! Drives the apps in lockstep.

mod build;

use core::{net::SocketAddr, time::Duration};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;
use bevy_hindsight::lightyear::{ShotChannel, ShotRequest};
use lightyear::prelude::MessageSender;
use mock_instant::global::MockClock;

use crate::{
    conditioner::Network,
    log::{ClientLog, ServerLog},
};

/// One tick of the server.
const TICK: Duration = Duration::from_nanos(15_625_000);

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

/// What is simulated.
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
    /// Whether the library keeps the clients' interpolation supplied.
    pub feed_interpolation: bool,
    /// Whether the server is a player, too.
    pub listen_server: bool,
    /// Whether clients get rigs of their own.
    pub spawn_shooters: bool,
    /// Whether clients shoot, until they are told to [`CeaseFire`](crate::CeaseFire).
    pub shoot: bool,
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
            feed_interpolation: true,
            listen_server: false,
            spawn_shooters: true,
            shoot: true,
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
    next: Duration,
}

/// A server and its clients.
pub struct Sim {
    /// The server.
    pub server: Peer,
    /// The clients, in the order of [`SimConfig::client_fps`]. Client n has the id n + 1.
    pub clients: Vec<Peer>,
    /// Where the server listens, with [`Transport::Udp`].
    pub address: SocketAddr,
    now: Duration,
    _clock: MutexGuard<'static, ()>,
}

impl Sim {
    /// Starts the server and connects the clients.
    pub fn new(config: SimConfig) -> Self {
        let clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        MockClock::set_time(Duration::ZERO);
        let address = build::free_address();
        let mut server = build::server(&config, address);
        let clients =
            (1..=config.client_fps.len() as u64).map(|id| build::client(&config, id, &mut server, address)).collect();
        Self { server, clients, address, now: Duration::ZERO, _clock: clock }
    }

    /// Lets `time` pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let peers = self.clients.iter_mut().chain([&mut self.server]);
            let Some(peer) = peers.min_by_key(|peer| peer.next).filter(|peer| peer.next <= end) else { break };
            MockClock::set_time(peer.next);
            peer.app.update();
            peer.next += peer.frame;
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

    /// Sends a request as it is, whatever it says.
    pub fn fire_raw(&mut self, client: usize, request: ShotRequest<()>) {
        let Peer { app, link, .. } = &mut self.clients[client];
        let sender = app.world_mut().get_mut::<MessageSender<ShotRequest<()>>>(*link);
        sender.expect("the link should be able to send shots").send::<ShotChannel>(request);
    }

    /// Sends bytes on the channel of shots.
    pub fn send_bytes(&mut self, client: usize, bytes: Vec<u8>) {
        let Peer { app, link, .. } = &mut self.clients[client];
        let transport = app.world_mut().get_mut::<lightyear::prelude::Transport>(*link);
        let sent = transport.expect("the link should have a transport").send::<ShotChannel>(bytes.into());
        sent.expect("the queue should have room");
    }

    /// What the server did so far.
    pub fn server_log(&self) -> &ServerLog {
        self.server.app.world().resource::<ServerLog>()
    }

    /// What a client did so far.
    pub fn client_log(&self, client: usize) -> &ClientLog {
        self.clients[client].app.world().resource::<ClientLog>()
    }
}
