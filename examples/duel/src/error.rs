//! What can go wrong, in words for whoever started the program.

use core::{net::SocketAddr, time::Duration};
use std::{io, path::PathBuf, process::ExitStatus};

use thiserror::Error;

use crate::{game::arena::ArenaError, view::NoScreen};

/// Why the program gave up.
#[derive(Error, Debug)]
pub enum DuelError {
    /// The server's address is taken, or not of this machine.
    #[error("cannot listen on {address}: {source}")]
    CannotListen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The client could not make use of its address or key.
    #[error("cannot prepare the connection: {0}")]
    CannotConnect(String),
    /// No connection came about.
    #[error("`{name}` found no server at {server} within {} s; is `duel server` running there?", waited.as_secs())]
    NoServer {
        /// The client.
        name: String,
        /// Where it looked.
        server: SocketAddr,
        /// How long.
        waited: Duration,
    },
    /// The connection stands, but there is nobody to shoot at.
    #[error("`{name}` has waited {} s for an opponent; start a second `duel client`", waited.as_secs())]
    NoOpponent {
        /// The client.
        name: String,
        /// How long it waited.
        waited: Duration,
    },
    /// The connection broke in the middle of the match.
    #[error("`{name}` has lost its connection to the server")]
    ConnectionLost {
        /// The client.
        name: String,
    },
    /// A process could not be started.
    #[error("cannot start the {part}: {source}")]
    CannotStart {
        /// Which process.
        part: String,
        /// What the system says.
        source: io::Error,
    },
    /// A process ended when it should not have.
    #[error("the {part} ended too early ({status}); its own message, if any, is above")]
    PartDied {
        /// Which process.
        part: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A process did not do its part in time.
    #[error("the {part} has not {what} within {} s and was stopped", waited.as_secs())]
    PartTooSlow {
        /// Which process.
        part: String,
        /// What it should have done.
        what: &'static str,
        /// How long it had.
        waited: Duration,
    },
    /// A process said something that it should not have.
    #[error("the {part} gave no usable report: {reason}")]
    BadReport {
        /// Which process.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server did not see what a client saw.
    #[error(
        "`{name}` had {on_target} shots on target, of which too few were confirmed, or none more than without compensation"
    )]
    Disagreement {
        /// The client.
        name: String,
        /// How many shots were on target on its screen.
        on_target: usize,
    },
    /// The arena is missing or broken.
    #[error("there is no arena to play in: {}: {source}", path.display())]
    NoArena {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ArenaError>,
    },
    /// There is nothing to draw on.
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    /// The report could not be written.
    #[error("cannot write {}: {source}", path.display())]
    CannotWrite {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
