//! The server.

mod admission;
mod arena;
mod arsenal;
mod damage;
mod lifetime;
mod movement;
mod rockets;
mod shots;
mod tell;
mod tuning;
mod uncompensated;

use core::{net::SocketAddr, time::Duration};
use std::net::UdpSocket;

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, LagCompensationConfig, LagCompensationPlugin, ShotTracing,
    lightyear::{ShotServerConfig, ShotServerPlugin},
};
use bevy_rapier3d::prelude::{NoUserData, RapierPhysicsPlugin, TimestepMode};
use clap::Args;
use lightyear::prelude::{
    Link, LinkOf, LocalAddr, ReplicationSender,
    client::Client,
    input::native::NativeStateSequence,
    server::{
        NetcodeConfig, NetcodeServer, ServerPlugins, ServerUdpIo, Start,
        input::{InputValidationAppExt, authorize_controlled_targets},
    },
};

use super::{
    LinkConditions,
    headless::headless_app,
    protocol::{TICK, protocol},
};
use crate::{
    error::DuelError,
    game::{arena::Arena, character::PlayerInput, weapon::Weapon},
};

pub use lifetime::LISTENING;

/// Twice the tick rate: a tick then waits for its frame no longer than half a tick.
const FRAME_RATE: f64 = 128.0;

/// The oldest view that a shot is judged by. More than the library's default, for trying bad networks.
const MAX_REWIND: Duration = Duration::from_millis(800);

/// How far a claimed view may be from what the server has measured. More than the library's default: a client that draws in software
/// does so 15 times in a second, shows the past by three frames more than the server can know of, and is honest.
const VIEW_TOLERANCE: Duration = Duration::from_millis(400);

/// Run the server alone. It ends when the last player has left, or if none comes within a minute.
#[derive(Args, Clone, Debug)]
pub struct ServerArgs {
    /// The address to listen on; port 0 takes any that is free.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:5700")]
    pub address: SocketAddr,
    /// End after this time in any case.
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u32>,
    /// Let players see what each of their shots was judged by. Not for games that are played for their own sake: it shows
    /// players behind walls.
    #[arg(long)]
    pub evidence: bool,
    #[command(flatten)]
    pub conditions: LinkConditions,
    /// Write how long the systems of a frame take to standard output, a line of JSON in each second. For automatic checks.
    #[arg(long)]
    pub tell: bool,
}

/// What is done to the packets of each client that has not asked for anything else.
#[derive(Resource, Clone, Copy)]
struct Conditions(LinkConditions);

/// Runs until the duel is over.
pub fn run(args: &ServerArgs) -> Result<(), DuelError> {
    check_address(args.address)?;
    let arena = Arena::load()?;
    let mut app = headless_app(FRAME_RATE);
    app.add_plugins(ServerPlugins { tick_duration: TICK }).add_plugins((
        protocol,
        plugin(args.clone(), arena),
        lifetime::plugin(args.seconds),
    ));
    if args.tell {
        app.add_plugins(tell::plugin);
    }
    app.run();
    Ok(())
}

/// Lightyear would panic over an address that is taken.
pub fn check_address(address: SocketAddr) -> Result<(), DuelError> {
    UdpSocket::bind(address).map(drop).map_err(|source| DuelError::CannotListen { address, source })
}

/// The plugin of the server's side, also of a listen server. Comes after the [`protocol`].
pub fn plugin(args: ServerArgs, arena: Arena) -> impl Fn(&mut App) + Send + Sync + 'static {
    move |app| {
        let admission = AdmissionRules { max_rewind: MAX_REWIND, tolerance: VIEW_TOLERANCE, ..default() };
        app.insert_resource(arena.clone())
            .insert_resource(Conditions(args.conditions))
            .insert_resource(LagCompensationConfig { admission, ..default() })
            .insert_resource(ShotTracing { enabled: args.evidence, ..default() })
            .insert_resource(ShotServerConfig { stream_evidence: args.evidence, ..default() })
            .insert_resource(TimestepMode::Fixed { dt: TICK.as_secs_f32(), substeps: 1 })
            .add_plugins((
                RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
                LagCompensationPlugin::default(),
                ShotServerPlugin::<Weapon>::default(),
            ))
            .add_plugins((
                admission::plugin,
                arena::plugin,
                arsenal::plugin,
                damage::plugin,
                movement::plugin,
                rockets::plugin,
                shots::plugin,
                tuning::plugin,
                uncompensated::plugin,
            ))
            .add_input_validator(authorize_controlled_targets::<NativeStateSequence<PlayerInput>>)
            .add_observer(welcome_link)
            .add_systems(Startup, start(args.address));
    }
}

fn start(address: SocketAddr) -> impl Fn(Commands) {
    move |mut commands| {
        // Players come to any address of this machine, and not only to the one that it listens on.
        let netcode = NetcodeConfig { server_addr_check: false, ..default() };
        let server = commands.spawn((NetcodeServer::new(netcode), LocalAddr(address), ServerUdpIo::default()));
        let entity = server.id();
        commands.trigger(Start { entity });
    }
}

/// The host's own link is no network.
fn welcome_link(
    link: On<Add, LinkOf>,
    conditions: Res<Conditions>,
    mut links: Query<&mut Link, Without<Client>>,
    mut commands: Commands,
) {
    if let Ok(mut link_to_client) = links.get_mut(link.entity) {
        commands.entity(link.entity).insert(ReplicationSender);
        conditions.0.apply(&mut link_to_client);
    }
}
