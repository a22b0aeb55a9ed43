//! Builds the apps.

use alloc::collections::BTreeMap;
use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::net::UdpSocket;

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*, state::app::StatesPlugin};
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{
        client::{Client, ClientPlugins, Connect, NetcodeClient, NetcodeConfig},
        server::{NetcodeServer, ServerPlugins, ServerUdpIo, Start},
        *,
    },
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{Peer, SimConfig, TICK, Transport};
use crate::{
    Scene,
    conditioner::{self, Conditioner},
};

/// Where each client sends from, and its id: links come in another order over UDP than in memory, and chance must not.
#[derive(Resource, Default)]
struct ClientAddresses(BTreeMap<SocketAddr, u64>);

pub(super) fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback interface should have a free port");
    socket.local_addr().expect("a bound socket should have an address")
}

fn frame(fps: f64) -> Duration {
    Duration::from_nanos((1e9 / fps).round() as u64)
}

fn base_app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, TransformPlugin));
    app
}

/// When a peer draws its first frame.
fn first_frame(config: &SimConfig, id: u64, frame: Duration) -> Duration {
    const EARLIEST: Duration = Duration::from_millis(1);
    if config.random_phase {
        let mut random = SmallRng::seed_from_u64(config.seed ^ (id << 48));
        EARLIEST + frame.mul_f64(random.random())
    } else {
        EARLIEST + Duration::from_millis(id)
    }
}

fn start(mut app: App, link: Entity, frame: Duration, first: Duration) -> Peer {
    app.finish();
    app.cleanup();
    // With several threads, the order of lightyear's systems differs from run to run.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    Peer { app, link, frame, last: None, next: first }
}

pub(super) fn server(config: &SimConfig, scene: &impl Scene, address: SocketAddr) -> Peer {
    let frame = frame(config.server_fps);
    let mut app = base_app();
    // A hostile client makes some of lightyear's systems fail.
    app.set_error_handler(bevy::ecs::error::debug);
    app.add_plugins(ServerPlugins { tick_duration: TICK });
    if config.listen_server {
        app.add_plugins(ClientPlugins { tick_duration: TICK }).insert_resource(PredictionManager::default());
    }
    app.insert_resource(ReplicationMetadata::new(config.send_interval));
    scene.protocol(&mut app);
    app.add_plugins(conditioner::plugin);
    scene.server(&mut app, config);
    if config.listen_server {
        scene.client(&mut app, config, 0);
    }
    let (network, seed) = (config.network, config.seed);
    app.init_resource::<ClientAddresses>().add_observer(
        move |link: On<Add, LinkOf>,
              peers: Query<&PeerAddr, Without<Client>>,
              addresses: Res<ClientAddresses>,
              mut commands: Commands| {
            if let Ok(peer) = peers.get(link.entity) {
                // Whoever else finds the way here is no client of ours, and has no chances of its own.
                let salt = 1_000 + addresses.0.get(&peer.0).copied().unwrap_or_default();
                let conditioner = Conditioner::new(network, seed ^ (salt << 32));
                commands.entity(link.entity).insert((ReplicationSender, conditioner));
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
    let mut peer = start(app, server, frame, first_frame(config, 0, frame));
    peer.app.world_mut().trigger(Start { entity: server });
    if config.listen_server {
        let host = peer.app.world_mut().spawn((Client, LinkOf { server }, Link::default(), Linked)).id();
        peer.app.world_mut().flush();
        peer.app.world_mut().trigger(Connect { entity: host });
    }
    peer.app.world_mut().flush();
    peer
}

pub(super) fn client(
    config: &SimConfig,
    scene: &impl Scene,
    id: u64,
    fps: f64,
    server: &mut Peer,
    address: SocketAddr,
) -> Peer {
    let frame = frame(fps);
    let mut app = base_app();
    app.add_plugins((ClientPlugins { tick_duration: TICK }, conditioner::plugin))
        .insert_resource(PredictionManager::default());
    scene.protocol(&mut app);
    scene.client(&mut app, config, id);
    let authentication =
        Authentication::Manual { server_addr: address, client_id: id, private_key: default(), protocol_id: 0 };
    let client = NetcodeClient::new(authentication, NetcodeConfig::default()).expect("the token should be valid");
    let conditioner = Conditioner::new(config.network, config.seed ^ (id << 32));
    let link = app.world_mut().spawn((client, ReplicationReceiver, conditioner)).id();
    let own_address = match config.transport {
        Transport::Udp => free_address(),
        Transport::Memory => SocketAddr::from((Ipv4Addr::LOCALHOST, id as u16)),
    };
    let server_world = server.app.world_mut();
    server_world.resource_mut::<ClientAddresses>().0.insert(own_address, id);
    match config.transport {
        Transport::Udp => {
            app.world_mut().entity_mut(link).insert((LocalAddr(own_address), PeerAddr(address), UdpIo::default()));
        }
        Transport::Memory => {
            let (here, there) = CrossbeamIo::new_pair();
            app.world_mut().entity_mut(link).insert(here);
            let peer = PeerAddr(own_address);
            server_world.spawn((LinkOf { server: server.link }, Link::default(), peer, Linked, there));
        }
    }
    let mut peer = start(app, link, frame, first_frame(config, id, frame));
    peer.app.world_mut().trigger(Connect { entity: link });
    peer.app.world_mut().flush();
    peer
}
