//! This crate on more than one thread.
//!
//! Bevy's task pools are made once for a whole program, so each number of threads has a process of its own.

use std::{env, io::Write, process::Command};

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use serde::{Deserialize, Serialize};

use crate::{
    approach::Kind,
    arena::{Arena, Volleys},
    cli::Cli,
    clock::Took,
    error::PeersError,
    measure::median,
};

/// The rigs of the scene.
pub const RIGS: usize = 256;
const KINDS: [Kind; 2] = [Kind::Messages, Kind::Query];
/// Processes for each number of threads, by turns.
const ROUNDS: usize = 3;

/// Nanoseconds for each ray.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub struct Threaded {
    /// Through messages, or through `RewoundQuery`.
    pub approach: String,
    /// The shots in a tick.
    pub shots: usize,
    /// For 1 and 2 threads; in a worker, only for its own number of threads.
    pub ns_per_ray: Vec<f64>,
}

/// Makes the compute pool of the whole program; apps that come later use it.
pub fn init_pool(threads: usize) {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
}

/// Measures in this process, and prints it.
///
/// # Errors
///
/// If it cannot be printed.
pub fn work(cli: &Cli, out: &mut impl Write) -> Result<(), PeersError> {
    let mut arena = Arena::play(RIGS, false, &KINDS, cli.seed);
    let mut found = Vec::new();
    let mut answers = Vec::new();
    for shots in cli.shots() {
        let ticks: Vec<_> =
            (0..64_usize.div_ceil(*shots)).map(|tick| Volleys::new(&arena, *shots, 1_000 + tick as u64)).collect();
        let mut samples = KINDS.map(|_| Vec::new());
        for repetition in 0..=cli.effort().repetitions[0] {
            for ((entrant, scene), samples) in arena.each().zip(&mut samples) {
                let (mut time, mut rays) = (Took::default(), 0);
                for tick in &ticks {
                    let shots = tick.all(entrant.kind);
                    time += entrant.approach.trace(scene, shots, &mut answers);
                    rays += shots.rays.len();
                }
                // The first one fills caches.
                samples.extend((repetition > 0).then(|| time.wall.as_secs_f64() * 1e9 / rays as f64));
            }
        }
        found.extend(KINDS.iter().zip(&samples).map(|(kind, samples)| Threaded {
            approach: kind.name().into(),
            shots: *shots,
            ns_per_ray: vec![median(samples)],
        }));
    }
    let text = serde_json::to_string(&found).map_err(std::io::Error::from)?;
    Ok(writeln!(out, "{text}")?)
}

/// Measures on one and on two threads, by turns.
///
/// # Errors
///
/// If the program cannot start itself again, or that fails.
pub fn measure(cli: &Cli) -> Result<Vec<Threaded>, PeersError> {
    let mut rounds = Vec::new();
    for _ in 0..if cli.quick { 1 } else { ROUNDS } {
        rounds.push([run(cli, 1)?, run(cli, 2)?]);
    }
    let row = |number: usize| {
        let of = |threads: usize| {
            let samples = rounds.iter().filter_map(|round| round[threads][number].ns_per_ray.first().copied());
            median(&samples.collect::<Vec<_>>())
        };
        Threaded { ns_per_ray: vec![of(0), of(1)], ..rounds[0][0][number].clone() }
    };
    Ok((0..rounds[0][0].len()).map(row).collect())
}

fn run(cli: &Cli, threads: usize) -> Result<Vec<Threaded>, PeersError> {
    let failed = |reason: String| PeersError::WorkerFailed { threads, reason };
    let program = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["--threads", &threads.to_string(), "--seed", &cli.seed.to_string()]);
    command.args(cli.quick.then_some("--quick"));
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}
