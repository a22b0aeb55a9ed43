//! The lab: how often does the server agree with what shooters saw?
//!
//! A server and clients play on a shooting range, on a simulated clock and network. The lab notes what each frame showed,
//! knows therefore what each shot met *on the screen of its shooter*, and compares that with the server's verdicts by several
//! policies. `cargo run --release -p lab` prints what they come to.

extern crate alloc;

pub mod cli;
pub mod digest;
pub mod error;
pub mod frames;
pub mod grid;
pub mod json;
pub mod judge;
pub mod outcome;
pub mod play;
pub mod plot;
pub mod policy;
pub mod scene;
pub mod screen;
pub mod shooter;
pub mod table;
pub mod workers;

use std::io::{self, Write};

use cli::Cli;
use error::LabError;

/// Does what the command line asks for.
///
/// # Errors
///
/// See [`LabError`].
pub fn run(cli: &Cli) -> Result<(), LabError> {
    let mut stdout = io::stdout().lock();
    if let Some(condition) = cli.condition {
        let run = play::play(condition, &cli.setup(condition)?);
        serde_json::to_writer(&mut stdout, &run).map_err(io::Error::from)?;
        return Ok(());
    }
    let runs = workers::play_all(cli, &cli.conditions())?;
    let cells: Vec<_> = runs.into_iter().flat_map(|run| run.cells).collect();
    write!(stdout, "{}", table::Table(&cells))?;
    if let Some(path) = &cli.json {
        json::write(path, &cells)?;
    }
    if let Some(path) = &cli.plot {
        plot::draw(path, &cells)?;
    }
    Ok(())
}
