//! What the server itself has measured of a connection.

use core::time::Duration;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use crate::time::{Tick, ViewTime};

/// What the server itself has measured of a connection, on the entity that stands for it.
///
/// The server half of the `lightyear` feature keeps it up to date; a game with a network of its own does that itself, and names
/// the entity in [`ShotEvent::link`](crate::ShotEvent::link).
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[require(super::ViewGuard, super::ShotCounters)]
pub struct ConnectionDelay {
    /// From the server to the client and back.
    pub round_trip: Duration,
    /// How much that varies; half of what two round trips differ by, on average.
    pub jitter: Duration,
    /// How far behind the newest snapshot the client shows others, for the time between two snapshots.
    pub interpolation: Duration,
    /// How much further behind, for jitter.
    pub jitter_margin: Duration,
    /// How long a shot of this client waits on the server until its command tick has come.
    pub wait: Duration,
}

impl ConnectionDelay {
    /// How long before a command tick the screen showed what its shot was aimed at: the shot has come one way and waited, and
    /// what was on the screen had gone the other way and been held back.
    pub fn rewind(&self) -> Duration {
        let held_back = self.interpolation.saturating_add(self.jitter_margin);
        self.round_trip.saturating_add(held_back).saturating_add(self.wait)
    }

    /// What the screen showed when a shot for `command_tick` was fired.
    pub fn estimate(&self, command_tick: Tick, timestep: Duration) -> ViewTime {
        ViewTime::before(command_tick, in_ticks(self.rewind(), timestep))
    }

    /// What the textbooks say that the screen showed for a shot that is judged `now`.
    pub fn textbook(&self, now: Tick, timestep: Duration) -> ViewTime {
        let held_back = self.interpolation.saturating_add(self.jitter_margin);
        ViewTime::before(now, in_ticks((self.round_trip / 2).saturating_add(held_back), timestep))
    }
}

/// A time in ticks.
pub(crate) fn in_ticks(time: Duration, timestep: Duration) -> f64 {
    time.as_nanos() as f64 / timestep.as_nanos().max(1) as f64
}

/// A round trip, estimated from samples of which some are wild.
///
/// No sample moves the estimate by more than a tick: a hitch of the server's or a client that holds back its answers changes
/// what is believed of a connection slowly, and never to nothing.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct RoundTripEstimate(Option<Duration>);

impl RoundTripEstimate {
    /// Takes a sample in; the first one is the estimate.
    pub fn observe(&mut self, sample: Duration, tick: Duration) {
        /// As in the estimate of TCP, RFC 6298.
        const GAIN: u32 = 8;
        let Some(estimate) = &mut self.0 else {
            self.0 = Some(sample);
            return;
        };
        *estimate = if sample > *estimate {
            *estimate + ((sample - *estimate) / GAIN).min(tick)
        } else {
            *estimate - ((*estimate - sample) / GAIN).min(tick)
        };
    }

    /// The estimate; zero before the first sample.
    pub fn get(&self) -> Duration {
        self.0.unwrap_or_default()
    }
}

/// Of what the rewind of a shot is made, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RewindBudget {
    /// From the server to the screen.
    pub way_down: f32,
    /// Held back for the time between two snapshots.
    pub interpolation: f32,
    /// Held back for jitter.
    pub jitter_margin: f32,
    /// From the trigger to the server: the client runs ahead by as much.
    pub way_up: f32,
    /// In the server's queue, until the command tick has come.
    pub wait: f32,
    /// What the shot claimed beyond the sum of those; negative if it claimed less.
    pub unexplained: f32,
}

impl RewindBudget {
    pub(crate) fn new(delay: &ConnectionDelay, claimed: ViewTime, command_tick: Tick, timestep: Duration) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f32() * 1e3;
        let claimed = claimed.ticks_before(command_tick) * timestep.as_secs_f64() * 1e3;
        Self {
            way_down: milliseconds(delay.round_trip / 2),
            interpolation: milliseconds(delay.interpolation),
            jitter_margin: milliseconds(delay.jitter_margin),
            way_up: milliseconds(delay.round_trip / 2),
            wait: milliseconds(delay.wait),
            unexplained: (claimed - delay.rewind().as_secs_f64() * 1e3) as f32,
        }
    }

    /// The whole rewind that the shot claimed, in milliseconds.
    pub fn total(&self) -> f32 {
        self.way_down + self.interpolation + self.jitter_margin + self.way_up + self.wait + self.unexplained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    /// B08: nothing but what was measured goes into the estimate.
    #[test]
    fn b08_estimates_differ_by_the_interpolation_delay_and_nothing_else() {
        let of = |interpolation| ConnectionDelay {
            round_trip: milliseconds(80),
            interpolation: milliseconds(interpolation),
            ..default()
        };
        let view = |delay: ConnectionDelay| delay.estimate(Tick(100), TICK).ticks_before(Tick(100));
        let difference = view(of(100)) - view(of(0));
        assert!((difference - 6.4).abs() < 1.0 / 256.0, "{difference}");
        assert!((view(of(0)) - 5.12).abs() < 1.0 / 256.0);
    }

    fn estimates(samples: &[u64]) -> Vec<f64> {
        let mut estimate = RoundTripEstimate::default();
        let after = |sample: &u64| {
            estimate.observe(milliseconds(*sample), TICK);
            estimate.get().as_secs_f64() * 1e3
        };
        samples.iter().map(after).collect()
    }

    /// B13: a sample with a hitch of the server's in it.
    #[test]
    fn b13_one_wild_sample_moves_the_estimate_by_a_tick_at_most() {
        let found = estimates(&[40, 40, 5_000, 40, 40]);
        assert!(found[4] <= 60.0, "{found:?}");
        assert!(found.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= 15.625), "{found:?}");
    }

    /// B14: jitter does not turn compensation off.
    #[test]
    fn b14_jitter_keeps_the_estimate_near_and_never_at_nothing() {
        for estimate in estimates(&[40, 40, 260, 40]) {
            assert!((40.0..=100.0).contains(&estimate), "{estimate}");
        }
    }

    #[test]
    fn estimates_follow_a_line_that_has_changed() {
        let found = estimates(&[[40; 5].as_slice(), &[120; 60]].concat());
        assert!((found[64] - 120.0).abs() < 1.0, "{}", found[64]);
    }

    #[test]
    fn the_parts_of_a_budget_add_up_to_what_was_claimed() {
        let delay = ConnectionDelay {
            round_trip: milliseconds(120),
            jitter: milliseconds(5),
            interpolation: milliseconds(56),
            jitter_margin: milliseconds(36),
            wait: milliseconds(50),
        };
        let budget = RewindBudget::new(&delay, ViewTime::before(Tick(100), 16.0), Tick(100), TICK);
        assert!((budget.total() - 250.0).abs() < 0.01, "{budget:?}");
        assert!((budget.unexplained + 12.0).abs() < 0.01, "{budget:?}");
    }

    #[test]
    fn endless_delays_are_as_long_as_ticks_can_say() {
        let endless = ConnectionDelay { round_trip: Duration::MAX, wait: Duration::MAX, ..default() };
        assert!(endless.estimate(Tick(0), TICK).ticks_before(Tick(0)) > 1e9);
        assert!(endless.textbook(Tick(0), Duration::ZERO).ticks_before(Tick(0)) > 1e9);
    }
}
