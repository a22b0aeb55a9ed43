//! The conditions under which the lab measures.

use core::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use netsim::{Network, TICK};
use serde::{Deserialize, Serialize};

/// How often the server sends snapshots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Send {
    /// After each tick.
    #[serde(rename = "every_tick")]
    EveryTick,
    /// After every third tick.
    #[serde(rename = "3_ticks")]
    ThreeTicks,
    /// Every 100 ms, which at 64 Hz is six or seven ticks.
    #[serde(rename = "100_ms")]
    TenthOfASecond,
}

impl Send {
    const ALL: [Self; 3] = [Self::EveryTick, Self::ThreeTicks, Self::TenthOfASecond];

    /// The time between two snapshots; zero for each tick.
    pub const fn interval(self) -> Duration {
        match self {
            Self::EveryTick => Duration::ZERO,
            Self::ThreeTicks => TICK.saturating_mul(3),
            Self::TenthOfASecond => Duration::from_millis(100),
        }
    }
}

impl Display for Send {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::EveryTick => "every tick",
            Self::ThreeTicks => "3 ticks",
            Self::TenthOfASecond => "100 ms",
        })
    }
}

/// One network condition; clients of all frame rates play under it at the same time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// Milliseconds one way.
    pub latency_ms: u32,
    /// Milliseconds more or less.
    pub jitter_ms: u32,
    /// Packets that never arrive, in percent.
    pub loss_percent: u32,
    /// How often snapshots are sent.
    pub send: Send,
}

impl Condition {
    /// What happens to packets.
    pub fn network(self) -> Network {
        Network {
            latency: self.latency_ms.into(),
            jitter: self.jitter_ms.into(),
            loss: f64::from(self.loss_percent) / 100.0,
        }
    }

    /// A number of its own, so that each condition has chances of its own.
    pub fn number(self) -> u64 {
        let Self { latency_ms, jitter_ms, loss_percent, send } = self;
        [latency_ms, jitter_ms, loss_percent, send as u32]
            .into_iter()
            .fold(0, |number, part| number << 10 | u64::from(part))
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { latency_ms, jitter_ms, loss_percent, send } = self;
        write!(f, "{latency_ms:>3} ± {jitter_ms:>2} ms, {loss_percent} %, {send:<10}")
    }
}

/// The whole grid.
pub fn full() -> Vec<Condition> {
    let mut grid = Vec::new();
    for send in Send::ALL {
        for latency_ms in [0, 15, 30, 60, 100] {
            for jitter_ms in [0, 10, 30] {
                for loss_percent in [0, 1, 5] {
                    grid.push(Condition { latency_ms, jitter_ms, loss_percent, send });
                }
            }
        }
    }
    grid
}

/// The corners of the grid, and a way through its middle.
pub fn short() -> Vec<Condition> {
    let mut conditions = Vec::new();
    for send in Send::ALL {
        let networks = [(0, 0, 0), (15, 0, 1), (60, 10, 1), (100, 30, 5)];
        conditions.extend(networks.map(|(latency_ms, jitter_ms, loss_percent)| Condition {
            latency_ms,
            jitter_ms,
            loss_percent,
            send,
        }));
    }
    conditions
}

/// What is worth playing in real time.
pub fn realtime() -> Vec<Condition> {
    let network = |latency_ms, jitter_ms, loss_percent, send| Condition { latency_ms, jitter_ms, loss_percent, send };
    vec![
        network(15, 0, 0, Send::EveryTick),
        network(60, 10, 1, Send::ThreeTicks),
        network(100, 30, 5, Send::TenthOfASecond),
    ]
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_short_version_is_part_of_the_grid_and_no_condition_comes_twice() {
        let numbers: BTreeSet<_> = full().into_iter().map(Condition::number).collect();
        assert_eq!(numbers.len(), 5 * 3 * 3 * 3);
        assert!(short().into_iter().chain(realtime()).all(|condition| numbers.contains(&condition.number())));
    }
}
