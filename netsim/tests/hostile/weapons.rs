//! More shots than the weapon has.

use core::time::Duration;

use bevy_hindsight::{
    FireControl,
    RejectReason::{self, FiredTooFast, OutOfAmmunition, Reloading},
    Reload, Tick,
    lightyear::{ShotRequest, ShotServerConfig},
};

use crate::attacker::{Attacker, Outcome};

fn armed(weapon: FireControl) -> Attacker {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    attacker.server().entity_mut(rig).insert(weapon);
    attacker
}

/// Sends shots that name no view, each of a command tick that is so many ticks away from the honest one; their numbers.
fn send(attacker: &mut Attacker, ticks: impl IntoIterator<Item = i32>) -> Vec<u32> {
    let mut sent = Vec::new();
    for ticks in ticks {
        let honest = attacker.honest();
        let command_tick = Tick(honest.command_tick.0.wrapping_add_signed(ticks));
        let shot = ShotRequest { command_tick, view_time: None, ..honest };
        attacker.send(&shot);
        sent.push(shot.sequence);
    }
    sent
}

fn outcomes(attacker: &mut Attacker, sent: &[u32]) -> Vec<Outcome> {
    let outcome = |sequence: &u32| attacker.answer(*sequence).expect("it was answered").outcome;
    sent.iter().map(outcome).collect()
}

/// Sends shots like [`send`], and waits for their outcomes.
fn fire(attacker: &mut Attacker, ticks: impl IntoIterator<Item = i32>) -> Vec<Outcome> {
    let sent = send(attacker, ticks);
    attacker.run(800);
    outcomes(attacker, &sent)
}

fn refused(outcomes: &[Outcome], reason: RejectReason) -> usize {
    outcomes.iter().filter(|outcome| **outcome == Outcome::Refused(reason)).count()
}

#[test]
fn faster_than_the_weapon_fires() {
    let mut attacker = armed(FireControl::default().with_rate(8.0));
    let outcomes = fire(&mut attacker, 0..24);
    assert_eq!(refused(&outcomes, FiredTooFast), 24 - 3, "{outcomes:?}");
}

/// The gaps between shots that were fired long ago are no room for more.
#[test]
fn back_dated_shots_do_not_fill_the_gaps() {
    let mut attacker = armed(FireControl::default().with_rate(8.0));
    assert_eq!(refused(&fire(&mut attacker, [0, 8, 16]), FiredTooFast), 0);
    let outcomes = fire(&mut attacker, [-51, -47, -43, -39]);
    assert_eq!(refused(&outcomes, FiredTooFast) + refused(&outcomes, RejectReason::TooLate), 4, "{outcomes:?}");
}

/// A weapon so fast that it fires a lot within the time for which late shots are judged.
#[test]
fn back_dated_shots_of_a_fast_weapon_do_not_come_again_and_again() {
    let mut attacker = armed(FireControl::default().with_rate(64.0));
    attacker.server().resource_mut::<ShotServerConfig>().max_per_tick = 32;
    let recent = send(&mut attacker, -15..=0);
    attacker.run(60);
    let late = send(&mut attacker, [-24; 8]);
    attacker.run(400);
    let is_fired = |outcome: &&Outcome| !matches!(outcome, Outcome::Refused(_));
    let fired = |outcomes: Vec<Outcome>| outcomes.iter().filter(is_fired).count();
    assert_eq!(fired(outcomes(&mut attacker, &recent)), 16);
    let late = outcomes(&mut attacker, &late);
    assert!(fired(late.clone()) <= 1, "no more than one shot was still free: {late:?}");
}

#[test]
fn with_an_empty_magazine() {
    let mut attacker = armed(FireControl::default().with_magazine(3, Duration::from_secs(1)));
    let outcomes = fire(&mut attacker, 0..8);
    assert_eq!(refused(&outcomes, OutOfAmmunition), 5, "{outcomes:?}");
}

#[test]
fn while_the_magazine_is_being_changed() {
    let mut attacker = armed(FireControl::default().with_magazine(3, Duration::from_secs(2)));
    let rig = attacker.rig(0);
    attacker.server().trigger(Reload { entity: rig });
    let outcomes = fire(&mut attacker, 0..4);
    assert_eq!(refused(&outcomes, Reloading), 4, "{outcomes:?}");
    attacker.run(2_000);
    attacker.assert_honest_shots_hit();
}

/// The rounds that are left are those of shots from before the change began, and no more than there are.
#[test]
fn back_dated_to_before_the_change_began() {
    let mut attacker = armed(FireControl::default().with_magazine(2, Duration::from_secs(2)));
    let rig = attacker.rig(0);
    attacker.server().trigger(Reload { entity: rig });
    let outcomes = fire(&mut attacker, [-12, -11, -10, -9]);
    assert_eq!(refused(&outcomes, OutOfAmmunition), 2, "{outcomes:?}");
}

#[test]
fn further_than_the_weapon_reaches() {
    let mut attacker = armed(FireControl::default().with_range(8.0));
    let honest = attacker.honest();
    assert_eq!(attacker.ask(&honest).outcome, Outcome::Missed);
}
