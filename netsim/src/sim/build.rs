//! Builds the apps.

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

pub(super) fn client(config: &SimConfig, scene: &impl Scene, id: u64, server: &mut Peer, address: SocketAddr) -> Peer {
    let frame = frame(config.client_fps[id as usize - 1]);
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
    let mut peer = start(app, link, frame, first_frame(config, id, frame));
    peer.app.world_mut().trigger(Connect { entity: link });
    peer.app.world_mut().flush();
    peer
}
