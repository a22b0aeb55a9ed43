//! A client, played by a bot.

mod gun;
mod pilot;
mod session;
mod shot_log;

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::{path::PathBuf, sync::mpsc};

use bevy::prelude::*;
use bevy_hindsight::lightyear::ShotClientPlugin;
use clap::Args;
use lightyear::prelude::{
    Authentication, Link, LocalAddr, PeerAddr, PredictionManager, ReplicationReceiver, UdpIo,
    client::{ClientPlugins, Connect, NetcodeClient, NetcodeConfig},
};

use super::{
    LinkConditions,
    headless::headless_app,
    protocol::{LONGEST_NAME, TICK, TICK_RATE, protocol},
};
use crate::{
    error::DuelError,
    game::{bot::Bot, chance},
    report::{Output, Report},
};
use session::{Outcome, Session};
use shot_log::ShotLog;

pub use session::SHORTEST_MATCH;

const FRAME_RATE: f64 = 120.0;

/// Run one bot client alone. It waits for an opponent, plays, and prints its row of the table.
#[derive(Args, Clone, Debug)]
pub struct ClientArgs {
    /// What the player is called; the bot's decisions follow from it and the seed.
    #[arg(long, value_parser = parse_name)]
    name: String,
    /// The address of the server.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:5700")]
    server: SocketAddr,
    /// Length of the match, from the moment in which both players are there.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(SHORTEST_MATCH..=3600))]
    seconds: u32,
    /// Where the bot's decisions come from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    conditions: LinkConditions,
    /// Write the report to this file as JSON, too; `-` writes it to standard output instead of the table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

fn parse_name(name: &str) -> Result<String, String> {
    let length = name.chars().count();
    if (1..=LONGEST_NAME).contains(&length) && !name.contains(char::is_control) {
        Ok(name.into())
    } else {
        Err(format!("must be 1 to {LONGEST_NAME} letters or other signs"))
    }
}

/// Plays one match.
pub fn run(args: &ClientArgs) -> Result<(), DuelError> {
    let output = Output::open(args.json.as_deref())?;
    let (outcome, result) = mpsc::channel();
    let mut app = headless_app(FRAME_RATE);
    app.add_plugins((ClientPlugins { tick_duration: TICK }, protocol))
        .add_plugins((ShotClientPlugin::<()>::default(), pilot::plugin, gun::plugin, session::plugin))
        .insert_resource(PredictionManager::default())
        .insert_resource(Bot::new(args.seed, &args.name, TICK_RATE))
        .insert_resource(ShotLog::default())
        .insert_resource(Session::new(args.name.clone(), args.server, args.seconds))
        .insert_resource(Outcome(outcome));
    connect(&mut app, args)?;
    app.run();
    let client = result.try_recv().unwrap_or_else(|_| Err(DuelError::ConnectionLost { name: args.name.clone() }))?;
    output.publish(&Report { clients: vec![client] })
}

fn connect(app: &mut App, args: &ClientArgs) -> Result<(), DuelError> {
    let authentication = Authentication::Manual {
        server_addr: args.server,
        // Unique as long as no two clients of the same name and process id play.
        client_id: chance::hash(std::process::id().into(), &args.name),
        private_key: default(),
        protocol_id: 0,
    };
    let client = NetcodeClient::new(authentication, NetcodeConfig::default())
        .map_err(|error| DuelError::CannotConnect(error.to_string()))?;
    let any_port = match args.server {
        SocketAddr::V4(server) if server.ip().is_loopback() => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let entity = app
        .world_mut()
        .spawn((
            client,
            ReplicationReceiver,
            Link::default().with_conditioner(args.conditions.conditioner()),
            (LocalAddr(any_port), PeerAddr(args.server), UdpIo::default()),
        ))
        .id();
    app.add_systems(Startup, move |mut commands: Commands| commands.trigger(Connect { entity }));
    Ok(())
}
