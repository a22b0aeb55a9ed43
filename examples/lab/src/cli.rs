//! The command line.

use core::{num::NonZero, time::Duration};
use std::{path::PathBuf, thread};

use clap::Parser;
use netsim::{Pace, Transport};

use crate::{
    error::LabError,
    frames::FrameFiles,
    grid::{self, Condition},
    play::Setup,
};

/// Measures how often the server agrees with what shooters saw, policy by policy, network by network.
///
/// Plays a server and clients of 30, 60 and 144 frames per second on a simulated network, and compares the verdict on each
/// shot with what the shooter's screen showed. Prints one row for each network: how many verdicts agree, and how far the
/// server was off in where it tested the target (mean / longest).
#[derive(Parser, Clone, Debug)]
#[command(name = "lab")]
pub struct Cli {
    /// Measure the whole grid of 135 networks.
    #[arg(long, conflicts_with = "realtime")]
    pub full: bool,
    /// Play a few networks with the real clock, over UDP.
    #[arg(long)]
    pub realtime: bool,
    /// Send packets over UDP on the loopback interface. By default, they stay in memory.
    #[arg(long)]
    pub udp: bool,
    /// For how many seconds clients fire under each condition, at about eight shots a second.
    #[arg(long, default_value_t = 40.0, value_parser = seconds)]
    pub seconds: f64,
    /// The seed of all chance: the same one gives the same figures, except in real time.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many networks to play at a time, each in a process of its own. Default: one for each processor.
    #[arg(long)]
    pub jobs: Option<NonZero<usize>>,
    /// Write the figures as JSON.
    #[arg(long, value_name = "PATH")]
    pub json: Option<PathBuf>,
    /// Draw the figures as SVG.
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
    /// Write down each frame of each client, as JSON lines, into a folder with one folder for each network.
    #[arg(long, value_name = "FOLDER")]
    pub frames: Option<PathBuf>,
    /// Play only this condition, as JSON, and print what it comes to: how the program starts its own workers.
    #[arg(long, hide = true, value_parser = |text: &str| serde_json::from_str::<Condition>(text))]
    pub condition: Option<Condition>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (1.0..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 1 to 3600 is wanted".into()),
    }
}

impl Cli {
    /// The conditions to measure.
    pub fn conditions(&self) -> Vec<Condition> {
        match self {
            Self { full: true, .. } => grid::full(),
            Self { realtime: true, .. } => grid::realtime(),
            _ => grid::short(),
        }
    }

    /// How many conditions are played at a time.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), NonZero::get)
    }

    /// How one condition is played.
    ///
    /// # Errors
    ///
    /// If the folder for its frames cannot be made.
    pub fn setup(&self, condition: Condition) -> Result<Setup, LabError> {
        let frames = match &self.frames {
            Some(folder) => Some(FrameFiles::create(&folder.join(condition.number().to_string()))?),
            None => None,
        };
        Ok(Setup {
            firing: Duration::from_secs_f64(self.seconds),
            seed: self.seed,
            transport: if self.udp || self.realtime { Transport::Udp } else { Transport::Memory },
            pace: if self.realtime { Pace::RealTime } else { Pace::Lockstep },
            frames,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
        assert!(Cli::try_parse_from(["lab", "--full", "--realtime"]).is_err());
        assert!(Cli::try_parse_from(["lab", "--seconds=0"]).is_err());
    }

    #[test]
    fn a_condition_comes_back_from_its_json() {
        let condition = grid::short()[1];
        let json = serde_json::to_string(&condition).expect("it can be said");
        let cli = Cli::try_parse_from(["lab", "--condition", &json]).expect("it is understood");
        assert_eq!(cli.condition, Some(condition));
    }
}
