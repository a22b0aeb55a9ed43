//! The duel: two players strafe around each other and shoot, over a network that is made bad on purpose.
//!
//! `cargo run -p duel` opens two windows on a server of their own, as processes of their own; without a display it plays two
//! bots, and tells how often the server agreed with what the shooters saw. See `duel --help` for running each part alone.

extern crate alloc;

mod error;
mod game;
mod local;
mod net;
mod process;
mod record;
mod report;
mod screen;
mod view;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// A duel under lag compensation, with the past made visible.
///
/// Without a subcommand, plays on this machine: a server and two clients, `red` and `blue`, as processes of their own, over UDP
/// on the loopback interface. On a desktop both are windows: the left one is yours, and in the right one a bot plays until you
/// click into it. Without a display, or with `--no-window`, both are bots, and a table tells of each client's shots: how many
/// were fired, how many were on target on the shooter's own screen, how many of those the server confirmed, and which share that
/// is; and that share for the same shots judged without compensation.
#[derive(Parser)]
#[command(name = "duel", args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    local: local::LocalArgs,
}

#[derive(Subcommand)]
enum Part {
    Server(net::server::ServerArgs),
    Client(net::client::ClientArgs),
    Host(net::host::HostArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.part {
        None => local::run(&cli.local),
        Some(Part::Server(args)) => net::server::run(args),
        Some(Part::Client(args)) => net::client::run(args),
        Some(Part::Host(args)) => net::host::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If not even that can be said, the exit code has to do.
            let _ = writeln!(io::stderr(), "duel: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn parts_and_local_flags_do_not_mix() {
        assert!(Cli::try_parse_from(["duel", "--seed=3", "--loss=0"]).is_ok());
        assert!(Cli::try_parse_from(["duel", "client", "--name=red", "--seed=3"]).is_ok());
        assert!(Cli::try_parse_from(["duel", "client", "--connect=127.0.0.1:1", "--position=-5,0"]).is_ok());
        assert!(Cli::try_parse_from(["duel", "host", "--bots=2"]).is_ok());
        assert!(Cli::try_parse_from(["duel", "--seed=3", "server"]).is_err());
        assert!(Cli::try_parse_from(["duel", "--seconds=5"]).is_err());
        assert!(Cli::try_parse_from(["duel", "--record=here", "--no-window"]).is_err());
    }
}
