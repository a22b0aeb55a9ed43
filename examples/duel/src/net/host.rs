//! A listen server: one process that is the server and plays, too.

use core::net::SocketAddr;
use std::sync::mpsc;

use bevy::prelude::*;
use clap::Args;
use lightyear::prelude::{
    Link, LinkOf, Linked, PredictionManager,
    client::{Client, ClientPlugins, Connect},
    server::{ServerPlugins, Started},
};

use super::{
    client::{self, ClientArgs},
    headless::headless_app,
    protocol::{TICK, protocol},
    server::{self, ServerArgs},
};
use crate::{
    error::DuelError,
    game::arena::Arena,
    process::Bots,
    report::{Output, Report},
    view,
};

/// Run a listen server: a server that plays, too, in a window of its own. Others join with `duel client --connect`.
#[derive(Args, Clone, Debug)]
pub struct HostArgs {
    /// The address to listen on.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:5700")]
    address: SocketAddr,
    /// How many bots join, each a process of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(..=6))]
    bots: u8,
    /// Let those who join see what each of their shots was judged by: it shows players behind walls.
    #[arg(long)]
    evidence: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// Runs until the window is closed.
pub fn run(args: &HostArgs) -> Result<(), DuelError> {
    args.client.screen.tell_of_missing_display();
    server::check_address(args.address)?;
    let arena = Arena::load()?;
    let (outcome, result) = mpsc::channel();
    let has_view = args.client.screen.is_wanted();
    let mut app = if has_view {
        view::windowed_app(&args.client.screen.settings(&args.client.name))?
    } else {
        headless_app(client::FRAME_RATE)
    };
    let output = Output::open(args.client.json.as_deref())?;
    let server = ServerArgs {
        address: args.address,
        seconds: None,
        evidence: args.evidence,
        conditions: args.client.conditions,
        tell: false,
    };
    app.add_plugins((ServerPlugins { tick_duration: TICK }, ClientPlugins { tick_duration: TICK }))
        .insert_resource(PredictionManager::default())
        .add_plugins(protocol)
        .add_plugins((server::plugin(server, arena), client::plugin(&args.client, outcome)))
        .add_observer(join);
    if has_view {
        app.add_plugins((view::plugin, args.client.screen.plugin()));
    }
    let bots = Bots::start(args.bots, args.client.seed, args.address, &args.client.conditions)?;
    app.run();
    drop(bots);
    match result.try_recv() {
        Ok(client) => output.publish(&Report { clients: vec![client?] }),
        Err(_) => Ok(()),
    }
}

/// The host is a client whose link is no network.
fn join(server: On<Add, Started>, mut commands: Commands) {
    let link = LinkOf { server: server.entity };
    let host = commands.spawn((Client, link, Link::default(), Linked)).id();
    commands.trigger(Connect { entity: host });
}
