//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::measure::Effort;

/// Ways to rewind hitboxes, side by side: how fast, how large, how often right.
///
/// Plays the same seeded scene for all: rigs of 19 hitboxes that run in 200 × 200 m among 2,000 static and 50 moving boxes, at 64 Hz.
/// Shots have view times of their own up to 250 ms back; one in four is a shotgun of eight pellets. Prints a table, and what of
/// the goals is met.
#[derive(Parser, Clone, Debug)]
#[command(name = "peers")]
pub struct Cli {
    /// Measure less, in a minute: for development.
    #[arg(long)]
    pub quick: bool,
    /// The seed of the scene and its shots.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the figures as JSON.
    #[arg(long, value_name = "PATH")]
    pub json: Option<PathBuf>,
    /// Draw the cost over rigs and shots as SVG. Default: `assets/peers.svg`, or nothing if `--quick`.
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
    /// Measure nothing, but write all that this crate answers to rays and shots, to the last bit: two builds of it are alike if
    /// these files are.
    #[arg(long, value_name = "PATH")]
    pub answers: Option<PathBuf>,
    /// Measure only this crate on so many threads, and print it as JSON: how the program starts its own workers.
    #[arg(long, hide = true)]
    pub threads: Option<usize>,
}

impl Cli {
    /// How thoroughly to measure.
    pub fn effort(&self) -> Effort {
        if self.quick { Effort { repetitions: [5, 3], judged: 1 } } else { Effort { repetitions: [11, 5], judged: 18 } }
    }

    /// Where to draw the plot.
    pub fn plot_path(&self) -> Option<PathBuf> {
        self.plot.clone().or_else(|| (!self.quick).then(|| "assets/peers.svg".into()))
    }

    /// The numbers of rigs.
    pub fn rigs(&self) -> &'static [usize] {
        if self.quick { &[64, 256] } else { &[16, 64, 256, 1_024] }
    }

    /// The numbers of shots in a tick.
    pub fn shots(&self) -> &'static [usize] {
        if self.quick { &[16, 128] } else { &[1, 16, 128, 1_024] }
    }
}
