//! Plays several conditions at a time. The simulated clock is one for a whole process, so each has a process of its own.

use std::{
    env,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

use crate::{cli::Cli, error::LabError, grid::Condition, play::Run};

/// Plays all conditions; the runs come in the order of the conditions.
///
/// # Errors
///
/// If a process fails.
pub fn play_all(cli: &Cli, conditions: &[Condition]) -> Result<Vec<Run>, LabError> {
    let waiting = Mutex::new(conditions.iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let runs = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..cli.jobs().min(conditions.len()) {
            scope.spawn(|| {
                while let Some((number, condition)) = next() {
                    let run = play_apart(cli, *condition);
                    runs.lock().unwrap_or_else(PoisonError::into_inner).push((number, run));
                }
            });
        }
    });
    let mut runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.sort_unstable_by_key(|(number, _)| *number);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Plays one condition in a process of its own.
fn play_apart(cli: &Cli, condition: Condition) -> Result<Run, LabError> {
    let named = || condition.to_string();
    let json = serde_json::to_string(&condition);
    let json = json.map_err(|source| LabError::BadReport { condition: named(), source })?;
    let mut command = Command::new(env::current_exe().map_err(LabError::CannotStart)?);
    command.args(["--condition", &json]);
    command.args([format!("--seed={}", cli.seed), format!("--seconds={}", cli.seconds)]);
    command.args(cli.udp.then_some("--udp")).args(cli.realtime.then_some("--realtime"));
    if let Some(folder) = &cli.frames {
        command.arg("--frames").arg(folder);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(LabError::CannotStart)?;
    if !output.status.success() {
        return Err(LabError::WorkerDied { condition: named(), status: output.status });
    }
    serde_json::from_slice(&output.stdout).map_err(|source| LabError::BadReport { condition: named(), source })
}
