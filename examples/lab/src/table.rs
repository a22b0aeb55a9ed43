//! The figures as a table for people.

use alloc::collections::BTreeMap;
use core::fmt::{self, Display, Formatter};

use crate::{
    outcome::{Cause, Cell, Distances, Tally},
    policy::Policy,
};

/// All figures of a measurement.
pub struct Table<'a>(pub &'a [Cell]);

const NAME: usize = 29;
const COLUMN: usize = 22;

impl Display for Table<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Verdicts that agree with the shooter's screen; and where the server tested the target, in metres"
        )?;
        writeln!(f, "from where the screen showed it: mean / longest.\n")?;
        write!(f, "{:<NAME$} {:>6}  {:>7}", "network, snapshots", "shots", "starved")?;
        for policy in Policy::ALL {
            write!(f, "  {policy:>COLUMN$}")?;
        }
        writeln!(f)?;
        for network in self.0.chunk_by(|a, b| a.condition == b.condition) {
            row(f, &network[0].condition.to_string(), network.iter())?;
        }
        for fps in crate::play::CLIENT_FPS {
            row(f, &format!("all, at {fps} frames per second"), self.0.iter().filter(|cell| cell.fps == fps))?;
        }
        row(f, "all", self.0.iter())?;
        writeln!(f)?;
        bones(f, "Bones of walkers with a display rule", self.sum_bones(0))?;
        bones(f, "Bones of walkers without one", self.sum_bones(1))?;
        self.disagreements(f)
    }
}

impl Table<'_> {
    fn sum_bones(&self, which: usize) -> Distances {
        let mut sum = Distances::default();
        self.0.iter().for_each(|cell| sum.merge(cell.bones[which]));
        sum
    }

    /// Each cause of disagreements, with the first few of its shots.
    fn disagreements(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const EXAMPLES: usize = 5;
        let mut causes = BTreeMap::<&Cause, Vec<_>>::new();
        for cell in self.0 {
            for disagreement in &cell.disagreements {
                causes.entry(&disagreement.cause).or_default().push((cell, &disagreement.detail));
            }
        }
        if causes.is_empty() {
            return writeln!(
                f,
                "\nNo verdict by as_displayed disagrees with the screen, nor does any rest on another pose."
            );
        }
        for (cause, shots) in causes {
            writeln!(f, "\n{} × {cause}", shots.len())?;
            for (cell, detail) in shots.iter().take(EXAMPLES) {
                writeln!(f, "    {}, {} frames per second: {detail}", cell.condition, cell.fps)?;
            }
        }
        Ok(())
    }
}

fn row<'a>(f: &mut Formatter<'_>, name: &str, cells: impl Iterator<Item = &'a Cell> + Clone) -> fmt::Result {
    let tally = |policy: Policy| {
        let mut sum = Tally::default();
        cells.clone().for_each(|cell| sum.merge(cell.tallies[policy as usize]));
        sum
    };
    let sum = |count: fn(&Cell) -> u32| cells.clone().map(count).map(f64::from).sum::<f64>();
    let starved = 100.0 * sum(|cell| cell.starved) / sum(|cell| cell.frames).max(1.0);
    write!(f, "{name:<NAME$} {:>6}  {starved:>5.2} %", tally(Policy::AsDisplayed).shots)?;
    for policy in Policy::ALL {
        write!(f, "  {:>COLUMN$}", figures(tally(policy)))?;
    }
    writeln!(f)
}

fn figures(tally: Tally) -> String {
    let agreement = 100.0 * tally.agree as f64 / (tally.shots as f64).max(1.0);
    // Never rounded up to all.
    let agreement = if tally.agree == tally.shots { agreement } else { agreement.min(99.99) };
    format!("{agreement:.2}  {:.4} / {:.3}", tally.pose_error.mean(), tally.pose_error.max)
}

fn bones(f: &mut Formatter<'_>, name: &str, distances: Distances) -> fmt::Result {
    let (mean, max, number) = (distances.mean(), distances.max, distances.number);
    writeln!(f, "{name}: {mean:.6} m off in the mean, {max:.6} m at most ({number} hits).")
}
