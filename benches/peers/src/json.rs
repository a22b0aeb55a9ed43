//! The figures as JSON.

use std::{fs::File, io::BufWriter, path::Path};

use serde::Serialize;

use crate::{error::PeersError, goals::Goal, measure::Row, threads::Threaded};

/// What is written.
#[derive(Serialize)]
pub struct Report<'a> {
    /// In the wide arena.
    pub rows: &'a [Row],
    /// In the crowded one.
    pub crowd: &'a [Row],
    /// On one and on two threads.
    pub threads: &'a [Threaded],
    /// What was wanted.
    pub goals: &'a [Goal],
}

/// Writes all figures; what was not measured is `null`.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, report: &Report) -> Result<(), PeersError> {
    let cannot_write = |source| PeersError::CannotWrite { path: path.into(), source };
    let file = BufWriter::new(File::create(path).map_err(cannot_write)?);
    serde_json::to_writer_pretty(file, report).map_err(|error| cannot_write(error.into()))
}
