//! Numbers of shots that come twice, in no order, or from nowhere.

use crate::attacker::{Answer, Attacker, Outcome, aimed, back_dated, view_of};

#[test]
fn a_replayed_shot_is_answered_once() {
    let mut attacker = Attacker::new();
    let honest = attacker.honest();
    for _ in 0..20 {
        attacker.send(&honest);
    }
    assert_eq!(attacker.ask(&honest).outcome, Outcome::Hit);
    // Nor later, nor with another aim.
    attacker.send(&honest);
    let mut other = attacker.honest();
    other.sequence = honest.sequence;
    attacker.send(&other);
    attacker.run(500);
    assert!(attacker.answer(honest.sequence).is_some(), "and no second time");
    assert_eq!(attacker.sim.server_log().judged.len(), 1);
}

#[test]
fn shots_that_overtook_each_other_are_all_judged() {
    let mut attacker = Attacker::new();
    let mut shots: Vec<_> = (0..4)
        .map(|_| {
            attacker.run(32);
            attacker.honest()
        })
        .collect();
    shots.swap(0, 2);
    shots.swap(1, 3);
    for shot in &shots {
        attacker.send(shot);
        attacker.run(16);
    }
    attacker.run(500);
    for shot in shots {
        assert_eq!(attacker.answer(shot.sequence).map(|answer| answer.outcome), Some(Outcome::Hit));
    }
}

#[test]
fn a_number_from_long_ago_is_dropped_and_takes_nothing_with_it() {
    let mut attacker = Attacker::new();
    let mut recent = attacker.honest();
    recent.sequence = 5_000;
    assert_eq!(attacker.ask(&recent).outcome, Outcome::Hit);
    let old = attacker.honest();
    attacker.send(&old);
    attacker.run(500);
    assert_eq!(attacker.answer(old.sequence), None);
    let mut next = attacker.honest();
    next.sequence = 5_001;
    assert_eq!(attacker.ask(&next).outcome, Outcome::Hit);
}

#[test]
fn numbers_wrap() {
    let mut attacker = Attacker::new();
    for sequence in [u32::MAX - 1, u32::MAX, 0, 1] {
        let mut shot = attacker.honest();
        shot.sequence = sequence;
        assert_eq!(attacker.ask(&shot).outcome, Outcome::Hit, "{sequence}");
    }
}

/// Numbers that fall while time passes are no shots that overtook each other: the view would run backwards unseen.
#[test]
fn falling_numbers_do_not_let_a_view_run_backwards() {
    let mut attacker = Attacker::new();
    let mut sent = Vec::new();
    for number in 0..16_u32 {
        // From shot to shot, two thirds of a tick pass, and the view goes back by one third.
        let mut falling = back_dated(attacker.honest(), f64::from(number));
        falling.sequence = 900 - number;
        let claimed = view_of(&falling);
        attacker.send(&aimed(falling, claimed));
        sent.push(900 - number);
        attacker.run(10);
    }
    attacker.run(500);
    let believed = believed(&mut attacker, &sent);
    assert!(believed <= 2, "{believed} of 16 were believed");
}

/// Once more shots have been fired than the server compares with, one more from before them cannot be compared.
#[test]
fn a_number_from_before_all_that_is_remembered_buys_no_choice_among_pasts() {
    let mut attacker = Attacker::new();
    let mut sent = Vec::new();
    for round in 0..40_u32 {
        // Each one is a little different, so that all have to be remembered.
        for number in 0..7 {
            let mut forward = back_dated(attacker.honest(), -0.01 * f64::from(number));
            forward.sequence = 1_000 + 7 * round + number;
            attacker.send(&forward);
        }
        let mut old = back_dated(attacker.honest(), if round % 2 == 0 { 9.0 } else { 5.0 });
        old.sequence = 300 + round;
        let claimed = view_of(&old);
        attacker.send(&aimed(old, claimed));
        sent.push(300 + round);
        attacker.run(16);
    }
    attacker.run(500);
    let believed = believed(&mut attacker, &sent[10..]);
    assert!(believed <= 1, "{believed} of 30 pasts were believed");
}

/// How many of these shots were judged by what they claimed, and hit there.
fn believed(attacker: &mut Attacker, sequences: &[u32]) -> usize {
    let believed = |answer: Answer| answer.outcome == Outcome::Hit && answer.adjusted.is_none();
    sequences.iter().filter_map(|sequence| attacker.answer(*sequence)).filter(|answer| believed(*answer)).count()
}
