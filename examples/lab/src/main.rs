//! See the library of this package, or `lab --help`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use lab::cli::Cli;

fn main() -> ExitCode {
    match lab::run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If not even that can be said, the exit code has to do.
            let _ = writeln!(io::stderr(), "lab: {error}");
            ExitCode::FAILURE
        }
    }
}
