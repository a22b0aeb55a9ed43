//! The duel: two bots strafe around each other and shoot, over a network that is made bad on purpose.
//!
//! `cargo run -p duel` plays a server and two clients as processes of their own, and tells how often the server agreed with
//! what the shooters saw. See `duel --help` for running each part alone.

mod error;
mod game;
mod local;
mod net;
mod report;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// Measures how often a lag-compensating server agrees with what shooters see.
///
/// Without a subcommand, plays a whole duel on this machine: a server and two bot clients, `red` and `blue`, as processes
/// of their own, over UDP on the loopback interface. Ends with a table of each client's shots: how many were fired, how
/// many were on target on the shooter's own screen, how many of those the server confirmed, and which share that is; and
/// that share for the same shots judged without compensation.
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
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.part {
        None => local::run(&cli.local),
        Some(Part::Server(args)) => net::server::run(args),
        Some(Part::Client(args)) => net::client::run(args),
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
        assert!(Cli::try_parse_from(["duel", "--seed=3", "server"]).is_err());
        assert!(Cli::try_parse_from(["duel", "--seconds=5"]).is_err());
    }
}
