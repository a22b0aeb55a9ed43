//! See the library of this package, or `peers --help`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use peers::cli::Cli;

fn main() -> ExitCode {
    match peers::run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If not even that can be said, the exit code has to do.
            let _ = writeln!(io::stderr(), "peers: {error}");
            ExitCode::FAILURE
        }
    }
}
