//! A client: a window for a person, or a bot without one.

mod conduct;
pub mod eye;
mod figures;
pub mod gun;
pub mod magazines;
mod movers;
mod news;
pub mod opponents;
mod pilot;
mod rockets;
pub mod session;
pub mod shot_log;
pub mod stats;
mod tell;
pub mod tuning;

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::{path::PathBuf, sync::mpsc};

use bevy::prelude::*;
use bevy_hindsight::{ShotTracing, lightyear::ShotClientPlugin};
use bevy_rapier3d::prelude::{NoUserData, RapierPhysicsPlugin, TimestepMode};
use clap::Args;
use lightyear::prelude::{
    Authentication, Link, LocalAddr, PeerAddr, PredictionManager, ReplicationReceiver, UdpIo,
    client::{ClientPlugins, Connect, NetcodeClient, NetcodeConfig},
};

use super::{
    LinkConditions, Policy,
    headless::headless_app,
    protocol::{LONGEST_NAME, TICK, TICK_RATE, protocol},
};
use crate::{
    error::DuelError,
    game::{
        arena::Arena,
        bot::Bot,
        chance,
        controls::{Controls, Pilot},
        weapon::Weapon,
    },
    report::{ClientReport, Output, Report},
    screen::ScreenArgs,
    view,
};
use session::{Outcome, Session};
use shot_log::ShotLog;
use tuning::Tuning;

pub use eye::{Eye, place_eye};
pub use gun::ShotFired;
pub use session::SHORTEST_MATCH;

/// How often a client without a window draws its frames, so to say.
pub const FRAME_RATE: f64 = 120.0;

/// Run one client alone: a window to play in, or, without a display or with `--no-window`, a bot that plays for `--seconds`
/// and prints its row of the table.
#[derive(Args, Clone, Debug)]
pub struct ClientArgs {
    /// What the player is called; a bot's decisions follow from it and the seed.
    #[arg(long, default_value = "player", value_parser = parse_name)]
    pub name: String,
    /// The address of the server.
    #[arg(long, alias = "server", value_name = "IP:PORT", default_value = "127.0.0.1:5700")]
    pub connect: SocketAddr,
    /// Length of the match, from the moment in which an opponent is there. A window stays open without it, and a bot alone
    /// plays for 20 seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(SHORTEST_MATCH..=3600))]
    pub seconds: Option<u32>,
    /// Where the bot's decisions come from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub conditions: LinkConditions,
    /// How the server looks back for this client's shots.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// Let a bot play until somebody clicks into the window.
    #[arg(long)]
    pub bot: bool,
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// Write what happens to standard output, a line of JSON four times in a second. For automatic checks.
    #[arg(long, conflicts_with = "json")]
    pub tell: bool,
    /// Write the report to this file as JSON, too; `-` writes it to standard output instead of the table.
    #[arg(long, value_name = "PATH")]
    pub json: Option<PathBuf>,
}

fn parse_name(name: &str) -> Result<String, String> {
    let length = name.chars().count();
    if (1..=LONGEST_NAME).contains(&length) && !name.contains(char::is_control) {
        Ok(name.into())
    } else {
        Err(format!("must be 1 to {LONGEST_NAME} letters or other signs"))
    }
}

/// How long a bot without a window plays if nobody says.
const USUAL_SECONDS: u32 = 20;

impl ClientArgs {
    /// Whether a person can watch.
    fn has_view(&self) -> bool {
        self.screen.is_wanted()
    }

    fn pilot(&self) -> Pilot {
        if self.bot || !self.has_view() || self.screen.is_scripted() { Pilot::Bot } else { Pilot::Nobody }
    }

    fn seconds(&self) -> Option<u32> {
        self.seconds.or((!self.has_view()).then_some(USUAL_SECONDS))
    }
}

/// Plays one match.
pub fn run(args: &ClientArgs) -> Result<(), DuelError> {
    args.screen.tell_of_missing_display();
    let output = Output::open(args.json.as_deref())?;
    let arena = Arena::load()?;
    let (outcome, result) = mpsc::channel();
    let mut app =
        if args.has_view() { view::windowed_app(&args.screen.settings(&args.name))? } else { headless_app(FRAME_RATE) };
    app.add_plugins(ClientPlugins { tick_duration: TICK })
        .add_plugins(protocol)
        .insert_resource(arena)
        .insert_resource(TimestepMode::Fixed { dt: TICK.as_secs_f32(), substeps: 1 })
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins((plugin(args, outcome), pilot::prediction_plugin, movers::plugin, figures::plugin))
        .insert_resource(PredictionManager::default());
    if args.has_view() {
        app.add_plugins((view::plugin, args.screen.plugin()));
    }
    connect(&mut app, args)?;
    app.run();
    let client = match result.try_recv() {
        Ok(client) => client?,
        // Whoever closes the window has had enough.
        Err(_) if args.has_view() => return Ok(()),
        Err(_) => return Err(DuelError::ConnectionLost { name: args.name.clone() }),
    };
    output.publish(&Report { clients: vec![client] })
}

/// The plugin of the client's side, also of a listen server. Comes after the [`protocol`].
pub fn plugin(
    args: &ClientArgs,
    outcome: mpsc::Sender<Result<ClientReport, DuelError>>,
) -> impl Fn(&mut App) + Send + Sync + 'static {
    let args = args.clone();
    move |app| {
        app.add_plugins(ShotClientPlugin::<Weapon>::default())
            .insert_resource(ShotTracing { enabled: args.has_view(), ..default() })
            .insert_resource(Controls::new(args.pilot()))
            .insert_resource(Bot::new(args.seed, &args.name, TICK_RATE))
            .insert_resource(Tuning { conditions: args.conditions, policy: args.policy })
            .insert_resource(ShotLog::default())
            .insert_resource(Session::new(args.name.clone(), args.seed, args.connect, args.seconds()))
            .insert_resource(Outcome(outcome.clone()))
            .add_plugins((
                conduct::plugin,
                eye::plugin,
                gun::plugin,
                magazines::plugin,
                news::plugin,
                pilot::plugin,
                rockets::plugin,
                session::plugin,
                stats::plugin,
                tuning::plugin,
            ));
        if args.tell {
            app.add_plugins(tell::plugin);
        }
    }
}

fn connect(app: &mut App, args: &ClientArgs) -> Result<(), DuelError> {
    let authentication = Authentication::Manual {
        server_addr: args.connect,
        // Unique as long as no two clients of the same name and process id play.
        client_id: chance::hash(std::process::id().into(), &args.name),
        private_key: default(),
        protocol_id: 0,
    };
    let client = NetcodeClient::new(authentication, NetcodeConfig::default())
        .map_err(|error| DuelError::CannotConnect(error.to_string()))?;
    let any_port = match args.connect {
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
            (LocalAddr(any_port), PeerAddr(args.connect), UdpIo::default()),
        ))
        .id();
    app.add_systems(Startup, move |mut commands: Commands| commands.trigger(Connect { entity }));
    Ok(())
}
