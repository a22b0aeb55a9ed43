//! Builds the apps.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::net::UdpSocket;

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*, state::app::StatesPlugin, time::TimeUpdateStrategy};
use bevy_hindsight::{
    LagCompensationPlugin, Rig,
    lightyear::{ShotClientPlugin, ShotServerPlugin},
};
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{
        client::{Client, ClientPlugins, Connect, Connected, NetcodeClient, NetcodeConfig},
        server::{ClientOf, NetcodeServer, ServerPlugins, ServerUdpIo, Start},
        *,
    },
};

use super::{Peer, SimConfig, TICK, Transport};
use crate::{
    conditioner::{self, Conditioner},
    log::{ClientLog, ServerLog, log_hit, log_rejection, log_verdicts},
    scene::{CeaseFire, Shooter, count_starved_frames, protocol, shoot, spawn_target, strafe},
};

/// Where the rigs of the clients stand, next to each other.
const SHOOTER_SPACING: f32 = 3.0;

pub(super) fn free_address() -> SocketAddr {
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

pub(super) fn server(config: &SimConfig, address: SocketAddr) -> Peer {
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

pub(super) fn client(config: &SimConfig, id: u64, server: &mut Peer, address: SocketAddr) -> Peer {
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
