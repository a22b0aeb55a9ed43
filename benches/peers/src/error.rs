//! What can go wrong, in words for whoever started the program.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why the program gave up.
#[derive(Error, Debug)]
pub enum PeersError {
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    CannotWrite {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The process that measures with another number of threads failed.
    #[error("the process for {threads} threads failed: {reason}")]
    WorkerFailed {
        /// How many threads it was to use.
        threads: usize,
        /// What happened.
        reason: String,
    },
    /// The plot could not be drawn.
    #[error("cannot draw {}: {reason}", path.display())]
    CannotDraw {
        /// Where to.
        path: PathBuf,
        /// What the plotting library says.
        reason: String,
    },
    /// Standard output is closed.
    #[error("cannot print: {0}")]
    CannotPrint(#[from] io::Error),
}
