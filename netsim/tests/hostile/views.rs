//! Lies about what the screen showed, and when.

use bevy_hindsight::{
    CheckPolicy::{self, Clamp, UseEstimate},
    ConnectionDelay, RejectReason, ViewTime,
    lightyear::ShotRequest,
};
use netsim::{Network, TICK};

use crate::attacker::{Answer, Attacker, LINE, Outcome, aimed, back_dated, before, view_of};

/// What happens to a view that the server's measurements do not explain.
const IMPLAUSIBLE: (CheckPolicy, RejectReason) = (UseEstimate, RejectReason::ViewTimeImplausible);
/// 400 ms in ticks.
const MAX_REWIND: f64 = 25.6;

#[test]
fn an_honest_shot_hits_what_the_screen_shows() {
    let mut attacker = Attacker::new();
    let honest = attacker.honest();
    let answer = attacker.ask(&honest);
    assert_eq!((answer.outcome, answer.adjusted), (Outcome::Hit, None));
    let wide = aimed(attacker.honest(), before(view_of(&honest), 6.0));
    assert_eq!(attacker.ask(&wide).outcome, Outcome::Missed);
}

#[test]
fn a_back_dated_view_gains_nothing() {
    Attacker::new().assert_gains_nothing(IMPLAUSIBLE, |honest| back_dated(honest, 20.0));
}

#[test]
fn a_view_from_the_future_is_refused() {
    let mut attacker = Attacker::new();
    let honest = attacker.honest();
    let future = ShotRequest { view_time: Some(ViewTime::at(honest.command_tick + 20)), ..honest };
    attacker.assert_refused(&future, RejectReason::ViewTimeAhead);
}

#[test]
fn a_shot_that_names_no_view_sees_the_present_and_no_past() {
    let mut attacker = Attacker::new();
    let blind = ShotRequest { view_time: None, ..attacker.honest() };
    assert_eq!(attacker.ask(&blind).outcome, Outcome::Missed);
    let honest = attacker.honest();
    let present = ViewTime::at(honest.command_tick);
    let leading = aimed(ShotRequest { view_time: None, ..honest }, present);
    assert_eq!(attacker.ask(&leading), Answer { outcome: Outcome::Hit, adjusted: None, rewind: 0.0 });
}

#[test]
fn a_view_that_runs_backwards_is_refused() {
    let mut attacker = Attacker::new();
    attacker.assert_honest_shots_hit();
    let first = attacker.honest();
    attacker.send(&first);
    attacker.run(50);
    let backwards = ShotRequest { view_time: Some(before(view_of(&first), 0.5)), ..attacker.honest() };
    attacker.assert_refused(&backwards, RejectReason::ViewTimeBackwards);
}

#[test]
fn a_view_that_runs_too_fast_gains_nothing() {
    let mut attacker = Attacker::new();
    let slow = back_dated(attacker.honest(), 12.0);
    attacker.send(&slow);
    attacker.run(16);
    let fast = back_dated(attacker.honest(), -8.0);
    let fast = aimed(fast.clone(), view_of(&fast));
    let answer = attacker.ask(&fast);
    let adjusted = Some((UseEstimate, RejectReason::ViewTimeTooFast));
    assert_eq!((answer.outcome, answer.adjusted), (Outcome::Missed, adjusted));
    assert_eq!(attacker.answer(slow.sequence).map(|answer| answer.adjusted), Some(None));
}

/// A view that goes back and forth is believed as often as a presentation may begin anew, and no more.
#[test]
fn a_new_epoch_for_each_shot_soon_gains_nothing() {
    let mut attacker = Attacker::new();
    let jumps = jump_about(&mut attacker, |_, honest| honest);
    assert!(jumps <= 6, "{jumps} jumps were believed");
}

/// Epochs are counted by the ticks that pass, and not by those that shots claim.
#[test]
fn back_and_forth_command_ticks_buy_no_epochs() {
    let mut attacker = Attacker::new();
    let jumps = jump_about(&mut attacker, |number, honest| {
        let late = if number % 2 == 0 { 0 } else { 24 };
        let request = ShotRequest { command_tick: honest.command_tick - late, ..honest };
        back_dated(request, f64::from(late))
    });
    assert!(jumps <= 6, "{jumps} jumps were believed");
}

/// Sends 400 shots within one and a half seconds, each of an epoch of its own, every other one six ticks back; how many of those hit.
fn jump_about(attacker: &mut Attacker, stamp: impl Fn(u32, ShotRequest<()>) -> ShotRequest<()>) -> usize {
    let mut back = Vec::new();
    for number in 0..400_u32 {
        let honest = ShotRequest { epoch: number as u16, ..attacker.honest() };
        let stamped = stamp(number / 2, honest);
        if number % 2 == 0 {
            let lying = back_dated(stamped, 6.0);
            let claimed = view_of(&lying);
            let lying = aimed(lying, claimed);
            back.push(lying.sequence);
            attacker.send(&lying);
        } else {
            attacker.send(&stamped);
        }
        if number % 4 == 3 {
            attacker.run(16);
        }
    }
    attacker.run(600);
    let hit = |sequence: &u32| attacker.answer(*sequence).is_some_and(|answer| answer.outcome == Outcome::Hit);
    back.iter().map(hit).filter(|hit| *hit).count()
}

#[test]
fn a_view_that_stands_still_for_seconds_ends() {
    let mut attacker = Attacker::new();
    let frozen = view_of(&attacker.honest());
    let mut answers = Vec::new();
    for _ in 0..20 {
        attacker.run(150);
        let lying = ShotRequest { view_time: Some(frozen), ..attacker.honest() };
        let lying = aimed(lying, frozen);
        attacker.send(&lying);
        answers.push(lying.sequence);
    }
    attacker.run(500);
    let found: Vec<_> = answers.iter().filter_map(|sequence| attacker.answer(*sequence)).collect();
    assert_eq!(found[0].outcome, Outcome::Hit, "a hitch of the client is believed");
    for answer in &found[2..5] {
        assert_eq!((answer.outcome, answer.adjusted), (Outcome::Missed, Some(IMPLAUSIBLE)));
    }
    let forgotten = Outcome::Refused(RejectReason::ViewTimeTooOld);
    assert!(found[7..].iter().all(|answer| answer.outcome == forgotten), "{found:?}");
}

/// The longer a client makes its line, the older a view it may claim, but never older than the longest rewind.
#[test]
fn delayed_packets_widen_the_window_no_further_than_the_cap() {
    let mut attacker = Attacker::new();
    attacker.sim.set_network(Network { latency: 230.0, ..LINE });
    attacker.run(12_000);
    let adjusted = (Clamp, RejectReason::ViewTimeTooOld);
    let lying = back_dated(attacker.honest(), 4.0);
    let claimed = view_of(&lying);
    let command_tick = lying.command_tick;
    attacker.send(&aimed(lying.clone(), claimed));
    attacker.run(1_000);
    let answer = attacker.answer(lying.sequence).expect("it was answered");
    assert_eq!((answer.outcome, answer.adjusted), (Outcome::Missed, Some(adjusted)), "{:?} {command_tick:?}", claimed);
    assert!((answer.rewind - MAX_REWIND).abs() < 0.01, "{answer:?}");
    let honest = attacker.honest();
    let oldest = ViewTime::before(honest.command_tick, MAX_REWIND);
    attacker.send(&aimed(honest.clone(), oldest));
    attacker.run(1_000);
    let answer = attacker.answer(honest.sequence).expect("it was answered");
    assert_eq!((answer.outcome, answer.adjusted), (Outcome::Hit, Some(adjusted)), "what stood there at the cap");
}

/// Shots that wait long on the server say that this client runs far ahead; that is believed up to the cap.
#[test]
fn shots_from_far_ahead_widen_the_window_no_further_than_the_cap() {
    let mut attacker = Attacker::new();
    for _ in 0..40 {
        let honest = attacker.honest();
        let ahead = ShotRequest { command_tick: honest.command_tick + 40, ..honest };
        attacker.send(&ahead);
        attacker.run(50);
    }
    let lying = back_dated(attacker.honest(), 30.0);
    let claimed = view_of(&lying);
    let answer = attacker.ask(&aimed(lying, claimed));
    assert_eq!(answer.outcome, Outcome::Missed, "{answer:?}");
    assert!(answer.rewind <= MAX_REWIND + 0.01, "{answer:?}");
}

/// What is allowed besides the measured delay shrinks with jitter, instead of growing.
#[test]
fn a_trembling_line_lowers_the_allowance() {
    let believed = |network| {
        let mut attacker = Attacker::on(network);
        // The server learns how long this client's shots wait.
        for _ in 0..40 {
            let honest = attacker.honest();
            attacker.send(&honest);
            attacker.run(150);
        }
        let (link, honest) = (attacker.link(), attacker.honest());
        let delay = attacker.server().get::<ConnectionDelay>(link).copied().expect("it is measured");
        let estimate = delay.estimate(honest.command_tick, TICK);
        // Of a presentation of its own, so that it is not compared with those before.
        let epoch = honest.epoch + 1;
        let older = ShotRequest { view_time: Some(before(estimate, 13.0)), epoch, ..honest };
        let answer = attacker.ask(&older);
        assert!(!matches!(answer.outcome, Outcome::Refused(_)), "{answer:?}");
        answer.adjusted != Some(IMPLAUSIBLE)
    };
    assert!(believed(LINE));
    assert!(!believed(Network { jitter: 40.0, latency: 40.0, ..LINE }));
}
