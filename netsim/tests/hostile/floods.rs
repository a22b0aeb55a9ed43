//! More than anybody asked for.

use bevy_hindsight::{
    RejectReason::{CommandTickAhead, TooManyShots, TooManyWaiting},
    lightyear::{ShotOutcome, ShotRequest},
};

use crate::attacker::{Attacker, Outcome};

/// Lets the honest neighbour shoot at the target, and holds that it hits.
#[track_caller]
fn assert_neighbour_is_served(attacker: &mut Attacker, sequence: u32) {
    let honest = ShotRequest { sequence, ..attacker.honest() };
    attacker.sim.fire_raw(1, honest);
    attacker.run(500);
    let verdicts = &attacker.sim.client_log(1).verdicts;
    let verdict = verdicts.iter().find(|verdict| verdict.shot.sequence == sequence);
    assert!(matches!(verdict.map(|verdict| verdict.outcome), Some(ShotOutcome::Hit { .. })), "{verdict:?}");
}

#[test]
fn ten_thousand_shots_in_a_tick() {
    let mut attacker = Attacker::new();
    let sent: Vec<_> = (0..10_000).map(|_| attacker.honest()).collect();
    for shot in &sent {
        attacker.send(shot);
    }
    assert_neighbour_is_served(&mut attacker, 1);
    attacker.run(5_000);
    let link = attacker.link();
    let counters = attacker.server().get::<bevy_hindsight::ShotCounters>(link).expect("links count");
    assert!(counters.admitted() <= 64, "{} were traced", counters.admitted());
    assert!(counters.rejected(TooManyWaiting) >= 1_000);
    assert!(counters.answered() <= 10_000);
}

#[test]
fn more_shots_in_a_tick_than_are_judged() {
    let mut attacker = Attacker::new();
    let sent: Vec<_> = (0..12).map(|_| attacker.honest()).collect();
    for shot in &sent {
        attacker.send(shot);
    }
    attacker.run(500);
    let outcomes: Vec<_> = sent.iter().map(|shot| attacker.answer(shot.sequence).map(|found| found.outcome)).collect();
    assert_eq!(outcomes[..8], [Some(Outcome::Hit); 8]);
    assert_eq!(outcomes[8..], [Some(Outcome::Refused(TooManyShots)); 4]);
}

#[test]
fn a_queue_full_of_shots_from_far_ahead() {
    let mut attacker = Attacker::new();
    let ahead = |attacker: &mut Attacker, ticks| {
        let honest = attacker.honest();
        ShotRequest { command_tick: honest.command_tick + ticks, ..honest }
    };
    let sent: Vec<_> = (0..40).map(|_| ahead(&mut attacker, 50)).collect();
    let too_far = ahead(&mut attacker, 100);
    for shot in sent.iter().chain([&too_far]) {
        attacker.send(shot);
    }
    assert_neighbour_is_served(&mut attacker, 1);
    attacker.run(1_500);
    let mut outcome = |shot: &ShotRequest<()>| attacker.answer(shot.sequence).map(|answer| answer.outcome);
    let waited: Vec<_> = sent.iter().map(&mut outcome).collect();
    let count = |wanted| waited.iter().filter(|outcome| **outcome == Some(Outcome::Refused(wanted))).count();
    assert_eq!((count(TooManyWaiting), count(TooManyShots)), (40 - 32, 32 - 8), "{waited:?}");
    assert_eq!(outcome(&too_far), Some(Outcome::Refused(CommandTickAhead)));
}

/// A flood that goes on for a second, at a thousand shots per tick, with others' shots among it.
#[test]
fn a_flood_that_does_not_end() {
    let mut attacker = Attacker::new();
    for tick in 0..64 {
        for _ in 0..200 {
            let honest = attacker.honest();
            attacker.send(&honest);
        }
        if tick % 16 == 0 {
            assert_neighbour_is_served(&mut attacker, 1 + tick);
        }
        attacker.run(16);
    }
    assert_neighbour_is_served(&mut attacker, 1_000);
}
