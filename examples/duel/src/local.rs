//! The whole duel on this machine: a server and two clients, each a process of its own.

mod table;
mod windows;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;

use crate::{
    error::DuelError,
    net::{LinkConditions, client::SHORTEST_MATCH},
    view::display_available,
};

/// The two clients.
const NAMES: [&str; 2] = ["red", "blue"];

/// Settings of a duel on this machine.
#[derive(Args, Clone, Debug)]
pub struct LocalArgs {
    /// Length of a match without windows.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(SHORTEST_MATCH..=3600))]
    seconds: u32,
    /// Where the bots' decisions come from. The network has its own chance, so figures still differ a little.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    conditions: LinkConditions,
    /// How many more bots join.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=6))]
    bots: u8,
    /// Open no windows: two bots play, and a table tells what they have hit.
    #[arg(long)]
    no_window: bool,
    /// Play a scripted duel without windows, and write pictures of it into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_window", "json", "require_agreement"])]
    record: Option<PathBuf>,
    /// Write the report of a match without windows to this file as JSON, too; `-` writes it to standard output instead of the
    /// table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Open no windows, and fail unless each client had shots on target, and the server confirmed at least this share of them,
    /// and more than it would have without compensation. For automatic checks.
    #[arg(long, value_name = "PER CENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    require_agreement: Option<u8>,
}

/// Plays a duel: in two windows if there is a display, or else for the figures.
pub fn run(args: &LocalArgs) -> Result<(), DuelError> {
    if args.record.is_some() {
        return windows::record(args);
    }
    if args.no_window || args.json.is_some() || args.require_agreement.is_some() {
        return table::play(args);
    }
    if display_available() {
        return windows::play(args);
    }
    // If not even that can be said, the table will tell.
    let _ = writeln!(io::stderr(), "duel: there is no display, so two bots play without windows");
    table::play(args)
}
