//! What can go wrong, in words for whoever started the program.

use std::{io, path::PathBuf, process::ExitStatus};

use thiserror::Error;

/// Why the program gave up.
#[derive(Error, Debug)]
pub enum LabError {
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    CannotWrite {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A process for a part of the grid could not be started.
    #[error("cannot start a process for a part of the grid: {0}")]
    CannotStart(io::Error),
    /// Such a process ended when it should not have.
    #[error("the process for {condition} ended too early ({status}); its own message, if any, is above")]
    WorkerDied {
        /// The condition that it played.
        condition: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// Such a process said something that it should not have.
    #[error("the process for {condition} gave no usable report: {source}")]
    BadReport {
        /// The condition that it played.
        condition: String,
        /// What is wrong with it.
        source: serde_json::Error,
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
