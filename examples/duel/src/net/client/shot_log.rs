//! What became of each shot of this client.

use bevy::{platform::collections::HashMap, prelude::*};

use crate::report::ClientReport;

/// All shots of the match.
#[derive(Resource, Default)]
pub struct ShotLog(HashMap<u32, Shot>);

struct Shot {
    on_target: bool,
    confirmed: Option<bool>,
    confirmed_uncompensated: Option<bool>,
}

impl ShotLog {
    /// A shot has been fired; on the screen it has hit or not.
    pub fn fired(&mut self, sequence: u32, on_target: bool) {
        self.0.insert(sequence, Shot { on_target, confirmed: None, confirmed_uncompensated: None });
    }

    /// The server's verdict has come. Returns whether it agrees with the screen, if there was such a shot.
    pub fn judged(&mut self, sequence: u32, confirmed: bool) -> Option<bool> {
        let shot = self.0.get_mut(&sequence)?;
        shot.confirmed = Some(confirmed);
        Some(confirmed == shot.on_target)
    }

    /// The verdict without compensation has come.
    pub fn judged_uncompensated(&mut self, sequence: u32, confirmed: bool) {
        if let Some(shot) = self.0.get_mut(&sequence) {
            shot.confirmed_uncompensated = Some(confirmed);
        }
    }

    /// The counts so far.
    pub fn report(&self, name: &str) -> ClientReport {
        let count = |which: fn(&Shot) -> bool| self.0.values().filter(|shot| which(shot)).count();
        let on_target = count(|shot| shot.on_target);
        let confirmed = count(|shot| shot.on_target && shot.confirmed == Some(true));
        let uncompensated = count(|shot| shot.on_target && shot.confirmed_uncompensated == Some(true));
        let share = |part: usize| (on_target > 0).then(|| part as f64 / on_target as f64);
        ClientReport {
            name: name.into(),
            fired: self.0.len(),
            on_target,
            confirmed,
            agreement: share(confirmed),
            agreement_uncompensated: share(uncompensated),
            confirmed_off_target: count(|shot| !shot.on_target && shot.confirmed == Some(true)),
            unanswered: count(|shot| shot.confirmed.is_none()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            log.fired(sequence, on_target);
            if let Some(confirmed) = confirmed {
                assert_eq!(log.judged(sequence, confirmed), Some(confirmed == on_target));
            }
            if let Some(confirmed) = uncompensated {
                log.judged_uncompensated(sequence, confirmed);
            }
        }
        assert_eq!(log.judged(99, true), None);
        let expected = ClientReport {
            name: "red".into(),
            fired: 6,
            on_target: 4,
            confirmed: 2,
            agreement: Some(0.5),
            agreement_uncompensated: Some(0.25),
            confirmed_off_target: 1,
            unanswered: 1,
        };
        assert_eq!(log.report("red"), expected);
    }

    #[test]
    fn without_shots_on_target_there_is_no_agreement() {
        let mut log = ShotLog::default();
        log.fired(1, false);
        assert_eq!(log.report("red").agreement, None);
    }
}
