//! What became of the shots of a connection.

use core::time::Duration;

use bevy::prelude::*;

use super::{Adjustment, RejectReason};
use crate::policy::CheckPolicy;

/// What became of the shots of a connection so far, and how its claims looked; on the entity that stands for it.
///
/// A game reads it to decide whom to look at more closely. Nothing in it is proof: a bad line looks like a bad client for a
/// while, which is why the distribution is there.
#[derive(Component, Clone, Debug)]
pub struct ShotCounters {
    confirmed: u32,
    rejected: [u32; RejectReason::COUNT],
    clamped: u32,
    estimated: u32,
    claims: Claims,
}

/// How the claimed delays of a connection compare with the measured ones.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Claims {
    number: u32,
    at_edge: u32,
    /// The sum of differences and that of their squares, in milliseconds.
    sum: f64,
    squares: f64,
    buckets: [u32; Suspicion::BUCKETS],
}

/// How the claims of a connection look.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Suspicion {
    /// How many view times were claimed.
    pub claims: u32,
    /// The share of them that lay in the last quarter of what is allowed, or beyond; 0 to 1. An honest client comes near it
    /// when its line changes; one that lives there has moved in.
    pub at_edge: f32,
    /// Claimed minus measured delay, in milliseconds: mean and standard deviation. A mean far above 0 means that this client
    /// shoots at an older past than its line explains.
    pub mean: f32,
    /// See `mean`.
    pub deviation: f32,
    /// How often that difference was how large: from below −175 ms in steps of 50 ms to above 175 ms.
    pub distribution: [u32; Self::BUCKETS],
}

impl Suspicion {
    /// The number of steps of [`Suspicion::distribution`].
    pub const BUCKETS: usize = 9;
}

impl Default for ShotCounters {
    fn default() -> Self {
        Self { confirmed: 0, rejected: [0; _], clamped: 0, estimated: 0, claims: Claims::default() }
    }
}

impl ShotCounters {
    /// Shots that hit.
    pub fn confirmed(&self) -> u32 {
        self.confirmed
    }

    /// Shots that were rejected for this reason.
    pub fn rejected(&self, reason: RejectReason) -> u32 {
        self.rejected[reason.index()]
    }

    /// All shots that were answered.
    pub fn answered(&self) -> u32 {
        self.confirmed + self.rejected.iter().sum::<u32>()
    }

    /// Shots that were traced, whether they hit or not.
    pub fn admitted(&self) -> u32 {
        self.confirmed + self.rejected(RejectReason::Missed) + self.rejected(RejectReason::Blocked)
    }

    /// Traced shots whose claim was moved to a limit.
    pub fn clamped(&self) -> u32 {
        self.clamped
    }

    /// Traced shots that were judged by the server's own estimate.
    pub fn estimated(&self) -> u32 {
        self.estimated
    }

    /// How the claims of this connection look.
    pub fn suspicion(&self) -> Suspicion {
        let Claims { number, at_edge, sum, squares, buckets } = self.claims;
        let count = f64::from(number.max(1));
        let mean = sum / count;
        Suspicion {
            claims: number,
            at_edge: (f64::from(at_edge) / count) as f32,
            mean: mean as f32,
            deviation: (squares / count - mean * mean).max(0.0).sqrt() as f32,
            distribution: buckets,
        }
    }

    /// Notes a claim: how many milliseconds more than measured, where so many are allowed.
    pub(crate) fn note_claim(&mut self, difference: f64, allowed: Duration) {
        const EDGE: f64 = 0.75;
        const STEP: f64 = 50.0;
        let claims = &mut self.claims;
        claims.number = claims.number.saturating_add(1);
        claims.at_edge += u32::from(difference.abs() > EDGE * allowed.as_secs_f64() * 1e3);
        claims.sum += difference;
        claims.squares += difference * difference;
        let middle = (Suspicion::BUCKETS / 2) as f64;
        let bucket = ((difference / STEP).round() + middle).clamp(0.0, 2.0 * middle);
        claims.buckets[bucket as usize] += 1;
    }

    /// Counts a verdict.
    pub(crate) fn note_verdict(&mut self, rejected: Option<RejectReason>, adjusted: Option<Adjustment>) {
        match rejected {
            None => self.confirmed = self.confirmed.saturating_add(1),
            Some(reason) => {
                let counter = &mut self.rejected[reason.index()];
                *counter = counter.saturating_add(1);
            }
        }
        if rejected.is_none_or(RejectReason::was_traced) {
            match adjusted.map(|adjusted| adjusted.policy) {
                Some(CheckPolicy::Clamp) => self.clamped = self.clamped.saturating_add(1),
                Some(CheckPolicy::UseEstimate) => self.estimated = self.estimated.saturating_add(1),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_by_their_reason() {
        let mut counters = ShotCounters::default();
        let clamped = Adjustment { policy: CheckPolicy::Clamp, reason: RejectReason::ViewTimeTooOld };
        let estimated = Adjustment { policy: CheckPolicy::UseEstimate, reason: RejectReason::ViewTimeImplausible };
        counters.note_verdict(None, Some(clamped));
        counters.note_verdict(None, None);
        counters.note_verdict(Some(RejectReason::Missed), Some(estimated));
        counters.note_verdict(Some(RejectReason::MuzzleTooFar), Some(clamped));
        assert_eq!((counters.answered(), counters.admitted(), counters.confirmed()), (4, 3, 2));
        assert_eq!((counters.clamped(), counters.estimated()), (1, 1));
        assert_eq!(counters.rejected(RejectReason::MuzzleTooFar), 1);
        assert_eq!(counters.rejected(RejectReason::Blocked), 0);
    }

    #[test]
    fn suspicion_tells_an_honest_line_from_one_that_lives_at_the_edge() {
        let allowed = Duration::from_millis(200);
        let (mut honest, mut sly) = (ShotCounters::default(), ShotCounters::default());
        for n in 0..100 {
            honest.note_claim(f64::from(n % 21) - 10.0, allowed);
            sly.note_claim(180.0 + f64::from(n % 3), allowed);
        }
        let (honest, sly) = (honest.suspicion(), sly.suspicion());
        assert_eq!((honest.at_edge, sly.at_edge), (0.0, 1.0));
        assert!(honest.mean.abs() < 1.0 && (5.0..7.0).contains(&honest.deviation), "{honest:?}");
        assert!((sly.mean - 181.0).abs() < 0.1, "{sly:?}");
        assert_eq!((honest.distribution[4], sly.distribution[8]), (100, 100));
        let wild = |difference| {
            let mut counters = ShotCounters::default();
            counters.note_claim(difference, allowed);
            counters.suspicion().distribution
        };
        assert_eq!((wild(-1e9)[0], wild(1e9)[8], wild(30.0)[5]), (1, 1, 1));
    }
}
