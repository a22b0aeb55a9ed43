//! Builds the apps and drives them in lockstep.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::{
    net::UdpSocket,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*, state::app::StatesPlugin, time::TimeUpdateStrategy};
use bevy_hindsight::{
    LagCompensationPlugin, Rig,
    lightyear::{ShotChannel, ShotClientPlugin, ShotRequest, ShotServerPlugin},
};
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{
        client::{Client, ClientPlugins, Connect, Connected, NetcodeClient, NetcodeConfig},
        server::{ClientOf, NetcodeServer, ServerPlugins, ServerUdpIo, Start},
        *,
    },
};
use mock_instant::global::MockClock;

use crate::{
    conditioner::{self, Conditioner, Network},
    log::{ClientLog, ServerLog, log_hit, log_rejection, log_verdicts},
    scene::{CeaseFire, Shooter, count_starved_frames, protocol, shoot, spawn_target, strafe},
};

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Where the rigs of the clients stand, next to each other.
const SHOOTER_SPACING: f32 = 3.0;

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
    /// Whether clients shoot, until they are told to [`CeaseFire`].
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
        let address = free_address();
        let mut server = server(&config, address);
        let clients =
            (1..=config.client_fps.len() as u64).map(|id| client(&config, id, &mut server, address)).collect();
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

fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback interface should have a free port");
    socket.local_addr().expect("a bound socket should have an address")
}

fn frame(fps: f64) -> Duration {
    Duration::from_nanos((1e9 / fps).round() as u64)
}

fn base_app(frame: Duration) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, TransformPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app
}

fn start(mut app: App, link: Entity, frame: Duration, first: Duration) -> Peer {
    app.finish();
    app.cleanup();
    // With several threads, the order of lightyear's systems differs from run to run.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    Peer { app, link, frame, next: first }
}

fn server(config: &SimConfig, address: SocketAddr) -> Peer {
    let frame = frame(config.server_fps);
    let mut app = base_app(frame);
    app.add_plugins(ServerPlugins { tick_duration: TICK });
    if config.listen_server {
        app.add_plugins(ClientPlugins { tick_duration: TICK }).insert_resource(PredictionManager::default());
    }
    app.insert_resource(ReplicationMetadata::new(config.send_interval));
    protocol(&mut app);
    app.add_plugins((LagCompensationPlugin::default(), ShotServerPlugin::<()>::default(), conditioner::plugin))
        .init_resource::<ServerLog>()
        .add_observer(log_hit)
        .add_observer(log_rejection)
        .add_systems(FixedUpdate, strafe);
    if config.spawn_shooters {
        app.add_observer(spawn_shooter);
    }
    if config.listen_server {
        add_client_systems(&mut app, config);
    }
    let (network, seed) = (config.network, config.seed);
    app.add_observer(
        move |link: On<Add, LinkOf>,
              hosts: Query<(), With<Client>>,
              links: Query<(), With<LinkOf>>,
              mut commands: Commands| {
            if !hosts.contains(link.entity) {
                let salt = 1_000 + links.iter().count() as u64;
                commands
                    .entity(link.entity)
                    .insert((ReplicationSender, Conditioner::new(network, seed ^ (salt << 32))));
            }
        },
    );
    let server = app
        .world_mut()
        .spawn(NetcodeServer::new(server::NetcodeConfig {
            server_addr_check: config.transport == Transport::Udp,
            ..default()
        }))
        .id();
    if config.transport == Transport::Udp {
        app.world_mut().entity_mut(server).insert((LocalAddr(address), ServerUdpIo::default()));
    }
    spawn_target(app.world_mut(), config.seed);
    let mut peer = start(app, server, frame, Duration::from_millis(1));
    peer.app.world_mut().trigger(Start { entity: server });
    if config.listen_server {
        let host = peer.app.world_mut().spawn((Client, LinkOf { server }, Link::default(), Linked)).id();
        peer.app.world_mut().flush();
        peer.app.world_mut().trigger(Connect { entity: host });
    }
    peer.app.world_mut().flush();
    peer
}

/// Gives each client a rig of its own.
fn spawn_shooter(
    connected: On<Add, Connected>,
    links: Query<&RemoteId, With<ClientOf>>,
    shooters: Query<(), With<Shooter>>,
    mut commands: Commands,
) {
    let Ok(id) = links.get(connected.entity) else { return };
    let place = Vec3::X * SHOOTER_SPACING * shooters.iter().count() as f32;
    commands.spawn((
        Shooter(id.0.to_bits()),
        Rig,
        Transform::from_translation(place),
        Replicate::to_clients(NetworkTarget::All),
        InterpolationTarget::to_clients(NetworkTarget::All),
        ControlledBy { owner: connected.entity, lifetime: default() },
    ));
}

fn add_client_systems(app: &mut App, config: &SimConfig) {
    app.add_plugins(ShotClientPlugin::<()>::default().with_fed_interpolation(config.feed_interpolation))
        .init_resource::<ClientLog>()
        .add_systems(PreUpdate, log_verdicts.after(bevy_hindsight::lightyear::ShotClientSystems::ReceiveVerdicts))
        .add_systems(Update, count_starved_frames.after(InterpolationSystems::Prepare));
    if config.shoot {
        // On a listen server: at what was drawn, before it moves on.
        app.add_systems(FixedUpdate, shoot.before(strafe).run_if(not(resource_exists::<CeaseFire>)));
    }
}

fn client(config: &SimConfig, id: u64, server: &mut Peer, address: SocketAddr) -> Peer {
    let frame = frame(config.client_fps[id as usize - 1]);
    let mut app = base_app(frame);
    app.add_plugins((ClientPlugins { tick_duration: TICK }, conditioner::plugin))
        .insert_resource(PredictionManager::default());
    protocol(&mut app);
    add_client_systems(&mut app, config);
    let authentication =
        Authentication::Manual { server_addr: address, client_id: id, private_key: default(), protocol_id: 0 };
    let client = NetcodeClient::new(authentication, NetcodeConfig::default()).expect("the token should be valid");
    let conditioner = Conditioner::new(config.network, config.seed ^ (id << 32));
    let link = app.world_mut().spawn((client, ReplicationReceiver, conditioner)).id();
    match config.transport {
        Transport::Udp => {
            let local = LocalAddr(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
            app.world_mut().entity_mut(link).insert((local, PeerAddr(address), UdpIo::default()));
        }
        Transport::Memory => {
            let (here, there) = CrossbeamIo::new_pair();
            app.world_mut().entity_mut(link).insert(here);
            let peer = PeerAddr(SocketAddr::from((Ipv4Addr::LOCALHOST, id as u16)));
            server.app.world_mut().spawn((LinkOf { server: server.link }, Link::default(), peer, Linked, there));
        }
    }
    let mut peer = start(app, link, frame, Duration::from_millis(1 + id));
    peer.app.world_mut().trigger(Connect { entity: link });
    peer.app.world_mut().flush();
    peer
}
