//! What became of each shot of this client.

use alloc::collections::{BTreeMap, VecDeque};

use bevy::prelude::*;
use bevy_hindsight::{RejectReason, lightyear::ShotOutcome};

use crate::report::ClientReport;

/// How many parts of shots wait for their verdicts at most; the oldest are then given up.
const MOST_OPEN: usize = 1024;
/// How many of the last parts on target are remembered one by one.
const MOST_RECENT: usize = 1000;

/// All bullets and pellets of the match: each is a part of a shot.
#[derive(Resource, Default)]
pub struct ShotLog {
    /// Those that have not got all their verdicts, by shot and part.
    open: BTreeMap<(u32, u32), Shot>,
    closed: Counts,
    /// Whether the last ones on target were confirmed.
    recent: VecDeque<bool>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Shot {
    on_target: bool,
    verdict: Option<Verdict>,
    confirmed_uncompensated: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Verdict {
    Confirmed,
    Rejected,
    /// Fired by who was dead already.
    Void,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Counts {
    fired: usize,
    on_target: usize,
    confirmed: usize,
    confirmed_uncompensated: usize,
    confirmed_off_target: usize,
    void: usize,
    unanswered: usize,
}

impl Counts {
    fn add(&mut self, shot: &Shot) {
        self.fired += 1;
        let verdict = match shot.verdict {
            Some(Verdict::Void) => {
                self.void += 1;
                return;
            }
            verdict => verdict,
        };
        self.unanswered += usize::from(verdict.is_none());
        let confirmed = verdict == Some(Verdict::Confirmed);
        if shot.on_target {
            self.on_target += 1;
            self.confirmed += usize::from(confirmed);
            self.confirmed_uncompensated += usize::from(shot.confirmed_uncompensated == Some(true));
        } else {
            self.confirmed_off_target += usize::from(confirmed);
        }
    }
}

impl ShotLog {
    /// A bullet or pellet has been fired; on the screen it has hit or not.
    pub fn fired(&mut self, sequence: u32, part: u32, on_target: bool) {
        if self.open.len() >= MOST_OPEN
            && let Some((_, oldest)) = self.open.pop_first()
        {
            self.closed.add(&oldest);
        }
        self.open.insert((sequence, part), Shot { on_target, verdict: None, confirmed_uncompensated: None });
    }

    /// The server's verdict has come.
    pub fn judged(&mut self, sequence: u32, part: u32, outcome: &ShotOutcome) {
        let verdict = match outcome {
            ShotOutcome::Rejected(RejectReason::ShooterDead) => Verdict::Void,
            outcome if outcome.is_hit() => Verdict::Confirmed,
            _ => Verdict::Rejected,
        };
        // What was not traced is answered as a whole.
        let as_a_whole = matches!(outcome, ShotOutcome::Rejected(reason) if !reason.was_traced());
        let parts = if as_a_whole { 0..=u32::MAX } else { part..=part };
        let mut closed = Vec::new();
        for (key, shot) in self.open.range_mut((sequence, *parts.start())..=(sequence, *parts.end())) {
            if shot.verdict.is_none() {
                shot.verdict = Some(verdict);
                if shot.on_target && verdict != Verdict::Void {
                    if self.recent.len() == MOST_RECENT {
                        self.recent.pop_front();
                    }
                    self.recent.push_back(verdict == Verdict::Confirmed);
                }
            }
            if shot.confirmed_uncompensated.is_some() {
                closed.push(*key);
            }
        }
        self.close(closed);
    }

    /// The verdict without compensation has come.
    pub fn judged_uncompensated(&mut self, sequence: u32, part: u32, confirmed: bool) {
        let Some(shot) = self.open.get_mut(&(sequence, part)) else { return };
        shot.confirmed_uncompensated = Some(confirmed);
        if shot.verdict.is_some() {
            self.close([(sequence, part)]);
        }
    }

    fn close(&mut self, keys: impl IntoIterator<Item = (u32, u32)>) {
        for key in keys {
            if let Some(shot) = self.open.remove(&key) {
                self.closed.add(&shot);
            }
        }
    }

    /// Which share of the last `most` bullets and pellets on target was confirmed, from 0 to 1.
    pub fn recent_agreement(&self, most: usize) -> Option<f32> {
        let recent = self.recent.iter().rev().take(most);
        let (all, confirmed) = recent.fold((0, 0), |(all, sum), confirmed| (all + 1, sum + i32::from(*confirmed)));
        (all > 0).then(|| confirmed as f32 / all as f32)
    }

    /// The counts so far.
    pub fn report(&self, name: &str) -> ClientReport {
        let mut counts = self.closed;
        self.open.values().for_each(|shot| counts.add(shot));
        let share = |part: usize| (counts.on_target > 0).then(|| part as f64 / counts.on_target as f64);
        ClientReport {
            name: name.into(),
            fired: counts.fired,
            on_target: counts.on_target,
            confirmed: counts.confirmed,
            agreement: share(counts.confirmed),
            agreement_uncompensated: share(counts.confirmed_uncompensated),
            confirmed_off_target: counts.confirmed_off_target,
            void: counts.void,
            unanswered: counts.unanswered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISS: ShotOutcome = ShotOutcome::Rejected(RejectReason::Missed);
    const DEAD: ShotOutcome = ShotOutcome::Rejected(RejectReason::ShooterDead);

    /// A rejected, confirmed or void part, without a hit: [`ShotOutcome::Hit`] is the library's to make.
    fn judge(log: &mut ShotLog, sequence: u32, confirmed: bool) {
        log.judged(sequence, 0, &MISS);
        if confirmed {
            let shot = log.open.get_mut(&(sequence, 0)).unwrap();
            shot.verdict = Some(Verdict::Confirmed);
        }
    }

    #[test]
    fn only_shots_on_target_count_for_agreement() {
        let mut log = ShotLog::default();
        for (sequence, on_target, confirmed, uncompensated) in [
            (1, true, Some(true), Some(false)),
            (2, true, Some(true), Some(true)),
            (3, true, Some(false), None),
            (4, true, None, None),
            (5, false, Some(true), Some(true)),
            (6, false, Some(false), Some(false)),
        ] {
            log.fired(sequence, 0, on_target);
            if let Some(confirmed) = confirmed {
                judge(&mut log, sequence, confirmed);
            }
            if let Some(confirmed) = uncompensated {
                log.judged_uncompensated(sequence, 0, confirmed);
            }
        }
        log.judged(99, 0, &MISS);
        let expected = ClientReport {
            name: "red".into(),
            fired: 6,
            on_target: 4,
            confirmed: 2,
            agreement: Some(0.5),
            agreement_uncompensated: Some(0.25),
            confirmed_off_target: 1,
            void: 0,
            unanswered: 1,
        };
        assert_eq!(log.report("red"), expected);
    }

    #[test]
    fn shots_of_the_dead_count_for_nothing() {
        let mut log = ShotLog::default();
        for part in 0..3 {
            log.fired(1, part, true);
        }
        log.judged(1, 0, &DEAD);
        let report = log.report("red");
        assert_eq!((report.void, report.on_target, report.agreement), (3, 0, None));
        assert_eq!(log.recent_agreement(100), None);
    }

    #[test]
    fn the_log_of_a_long_match_stays_small_and_loses_nothing() {
        let mut log = ShotLog::default();
        for sequence in 0..10_000 {
            log.fired(sequence, 0, true);
            if sequence % 2 == 0 {
                log.judged(sequence, 0, &MISS);
                log.judged_uncompensated(sequence, 0, false);
            }
        }
        assert!(log.open.len() <= MOST_OPEN && log.recent.len() <= MOST_RECENT);
        let report = log.report("red");
        assert_eq!((report.fired, report.on_target, report.unanswered), (10_000, 10_000, 5_000));
        assert_eq!(log.recent_agreement(100), Some(0.0));
    }
}
