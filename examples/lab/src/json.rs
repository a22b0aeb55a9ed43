//! The figures as JSON.

use std::{fs::File, io::BufWriter, path::Path};

use serde::Serialize;

use crate::{error::LabError, grid::Send, outcome::Cell, policy::Policy};

#[derive(Serialize)]
struct Report {
    cells: Vec<Figures>,
}

/// One client under one network, judged by one policy.
#[derive(Serialize)]
struct Figures {
    latency_ms: u32,
    jitter_ms: u32,
    /// The part of packets that never arrives.
    loss: f64,
    send: Send,
    fps: u32,
    policy: Policy,
    shots: u64,
    /// How many of the shots got the verdict that the screen gives.
    agree: u64,
    pose_error_mean_m: f64,
    pose_error_max_m: f64,
    /// The part of frames in which a target stood still for want of a newer snapshot.
    starved: f64,
}

/// Writes the figures of all cells.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, cells: &[Cell]) -> Result<(), LabError> {
    let cannot_write = |source| LabError::CannotWrite { path: path.into(), source };
    let cells = cells.iter().flat_map(|cell| Policy::ALL.map(|policy| figures(cell, policy))).collect();
    let file = BufWriter::new(File::create(path).map_err(cannot_write)?);
    serde_json::to_writer_pretty(file, &Report { cells }).map_err(|error| cannot_write(error.into()))
}

fn figures(cell: &Cell, policy: Policy) -> Figures {
    let tally = cell.tallies[policy as usize];
    Figures {
        latency_ms: cell.condition.latency_ms,
        jitter_ms: cell.condition.jitter_ms,
        loss: cell.condition.network().loss,
        send: cell.condition.send,
        fps: cell.fps,
        policy,
        shots: tally.shots,
        agree: tally.agree,
        pose_error_mean_m: tally.pose_error.mean(),
        pose_error_max_m: tally.pose_error.max,
        starved: f64::from(cell.starved) / f64::from(cell.frames.max(1)),
    }
}
