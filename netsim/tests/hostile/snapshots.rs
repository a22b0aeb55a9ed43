//! Lies about the snapshots that the screen was made of.

use bevy::prelude::*;
use bevy_hindsight::{
    DisplayedRig, Hitbox,
    RejectReason::{self, *},
    Rig, SentTicks, SnapshotPair, Tick, ViewTime,
    lightyear::ShotRequest,
};
use lightyear::prelude::{InterpolationTarget, NetworkTarget, Replicate};
use netsim::{Shooter, Target};

use crate::attacker::{Attacker, Outcome, aimed, before, view_of};

/// The attacker's own entity of the target.
fn target(attacker: &mut Attacker) -> Entity {
    attacker.on_screen::<Target>(|_| true)
}

/// The snapshots that were sent around an instant; on a server that does not send in each tick, they lie apart.
fn around(attacker: &Attacker, instant: ViewTime) -> (Tick, Tick) {
    let sent = attacker.sim.server.app.world().resource::<SentTicks>();
    let earlier = (0..64).map(|back| instant.tick - back).find(|tick| sent.contains(*tick));
    let later = (1..64).map(|ahead| instant.tick + ahead).find(|tick| sent.contains(*tick));
    (earlier.expect("something was sent"), later.expect("something was sent"))
}

/// A request that says what one rig was made of.
fn made_of(request: ShotRequest<()>, rigs: &[DisplayedRig]) -> ShotRequest<()> {
    let mut displayed = [None; 8];
    for (slot, rig) in displayed.iter_mut().zip(rigs) {
        *slot = Some(*rig);
    }
    ShotRequest { displayed: Some(displayed), ..request }
}

/// Holds that a screen made of these snapshots of the target is refused.
#[track_caller]
fn assert_refused(reason: RejectReason, pair: impl Fn(Tick, Tick) -> SnapshotPair) {
    let mut attacker = Attacker::sending_every(3);
    let target = target(&mut attacker);
    let honest = attacker.honest();
    let (earlier, later) = around(&attacker, view_of(&honest));
    let lying = made_of(honest, &[DisplayedRig::interpolated(target, pair(earlier, later))]);
    attacker.assert_refused(&lying, reason);
}

#[test]
fn the_true_snapshots_are_believed() {
    let mut attacker = Attacker::sending_every(3);
    let target = target(&mut attacker);
    let honest = attacker.honest();
    let (earlier, later) = around(&attacker, view_of(&honest));
    let honest = made_of(honest, &[DisplayedRig::interpolated(target, SnapshotPair::new(earlier, later))]);
    assert_eq!(attacker.ask(&honest).outcome, Outcome::Hit);
}

#[test]
fn snapshots_that_were_never_sent_are_refused() {
    assert_refused(SnapshotNotSent, |earlier, later| SnapshotPair::new(earlier - 1, later));
    assert_refused(SnapshotNotSent, |earlier, later| SnapshotPair::new(earlier, later + 1));
}

#[test]
fn snapshots_of_the_future_are_refused() {
    assert_refused(SnapshotNotSent, |earlier, _| SnapshotPair::new(earlier, Tick(earlier.0 + 3_000)));
}

#[test]
fn reversed_snapshots_are_refused() {
    assert_refused(SnapshotsDisordered, |earlier, later| SnapshotPair::new(later, earlier));
}

#[test]
fn a_snapshot_twice_is_refused() {
    assert_refused(SnapshotsDisordered, |earlier, _| SnapshotPair::new(earlier, earlier));
}

#[test]
fn snapshots_that_do_not_lie_around_the_view_are_refused() {
    assert_refused(SnapshotsDisordered, |earlier, _| SnapshotPair::new(earlier - 6, earlier - 3));
    assert_refused(SnapshotsDisordered, |_, later| SnapshotPair::new(later, later + 3));
}

#[test]
fn snapshots_at_both_ends_of_all_ticks_are_refused() {
    assert_refused(SnapshotsDisordered, |_, _| SnapshotPair::held(Tick(1 << 31)));
    assert_refused(SnapshotNotSent, |earlier, _| SnapshotPair::new(earlier, earlier + (1 << 30)));
}

#[test]
fn snapshots_too_far_apart_are_refused() {
    assert_refused(SnapshotsTooFarApart, |earlier, later| SnapshotPair::new(earlier - 36, later));
}

/// It runs 2 m in 21 ticks.
#[test]
fn a_held_snapshot_of_something_that_has_gone_on_is_refused() {
    assert_refused(SnapshotsDeviate, |earlier, _| SnapshotPair::held(earlier - 24));
}

#[test]
fn a_snapshot_that_is_held_for_seconds_gains_nothing() {
    let mut attacker = Attacker::sending_every(3);
    let target = target(&mut attacker);
    let first = attacker.honest();
    let (held, _) = around(&attacker, view_of(&first));
    let mut sent = Vec::new();
    for _ in 0..20 {
        let honest = attacker.honest();
        let lying = made_of(honest, &[DisplayedRig::interpolated(target, SnapshotPair::held(held))]);
        let lying = aimed(lying, ViewTime::at(held));
        attacker.send(&lying);
        sent.push(lying.sequence);
        attacker.run(150);
    }
    attacker.run(400);
    let outcome = |sequence: &u32| attacker.answer(*sequence).expect("each is answered").outcome;
    let outcomes: Vec<_> = sent.iter().map(outcome).collect();
    assert_eq!(outcomes[0], Outcome::Hit, "for a moment it is believed");
    assert_eq!(outcomes[3], Outcome::Refused(SnapshotsDeviate));
    assert_eq!(outcomes[4], Outcome::Refused(ViewFrozen));
    // The server does not remember whether it was sent, and takes what was sent around the view time.
    assert!(outcomes[7..].iter().all(|outcome| *outcome == Outcome::Missed), "{outcomes:?}");
}

#[test]
fn a_snapshot_from_before_a_rig_was_there_is_refused() {
    let mut attacker = Attacker::sending_every(3);
    let old = attacker.honest();
    let (before_birth, _) = around(&attacker, view_of(&old));
    attacker.server().spawn((
        Rig,
        Shooter(77),
        Hitbox::ball(0.3),
        Transform::from_xyz(5.0, 0.0, 0.0),
        Replicate::to_clients(NetworkTarget::All),
        InterpolationTarget::to_clients(NetworkTarget::All),
    ));
    attacker.run(400);
    let newcomer = attacker.on_screen::<Shooter>(|shooter| shooter.0 == 77);
    let screen = [DisplayedRig::interpolated(newcomer, SnapshotPair::held(before_birth))];
    let lying = ShotRequest { direction: Vec3::X, ..made_of(attacker.honest(), &screen) };
    attacker.assert_refused(&lying, SnapshotOfAnotherRig);
}

#[test]
fn a_rig_called_predicted_that_is_not_is_refused() {
    let mut attacker = Attacker::new();
    let target = target(&mut attacker);
    let honest = attacker.honest();
    let lying = made_of(honest, &[DisplayedRig::predicted(target, ViewTime::at(attacker.now()))]);
    attacker.assert_refused(&lying, RigNotPredicted);
}

/// Of two claims about one rig, the first one counts; and both have to be true.
#[test]
fn two_claims_about_one_rig_gain_nothing() {
    let mut attacker = Attacker::sending_every(3);
    let target = target(&mut attacker);
    let honest = attacker.honest();
    let view = view_of(&honest);
    let (earlier, later) = around(&attacker, view);
    let truth = DisplayedRig::interpolated(target, SnapshotPair::new(earlier, later));
    let lie = DisplayedRig::interpolated(target, SnapshotPair::held(earlier - 12));
    let aimed_at_the_lie = aimed(made_of(honest, &[truth, lie]), ViewTime::at(earlier - 12));
    assert_eq!(attacker.ask(&aimed_at_the_lie).outcome, Outcome::Missed);
}

/// The shooter's own rig is never tested, whatever is said of it.
#[test]
fn claims_about_the_own_rig_harm_nobody() {
    let mut attacker = Attacker::sending_every(3);
    let rig = attacker.rig(0);
    let id = attacker.server().get::<Shooter>(rig).expect("it is a shooter").0;
    let me = attacker.on_screen::<Shooter>(|shooter| shooter.0 == id);
    let honest = attacker.honest();
    let (earlier, _) = around(&attacker, view_of(&honest));
    let honest = made_of(honest, &[DisplayedRig::interpolated(me, SnapshotPair::held(earlier))]);
    assert_eq!(attacker.ask(&honest).outcome, Outcome::Hit);
}

#[test]
fn claims_about_what_is_no_rig_harm_nobody() {
    let mut attacker = Attacker::new();
    let honest = attacker.honest();
    let now = attacker.now();
    for nothing in [Entity::PLACEHOLDER, Entity::from_bits(7), Entity::from_bits((9 << 32) | 7)] {
        let request = made_of(honest.clone(), &[DisplayedRig::interpolated(nothing, SnapshotPair::held(now - 12))]);
        let honest = ShotRequest { displayed: request.displayed, ..attacker.honest() };
        assert_eq!(attacker.ask(&honest).outcome, Outcome::Hit);
    }
}

/// Only a game may show a rig with a delay of its own.
#[test]
fn an_instant_of_its_own_for_one_rig_is_refused() {
    let mut attacker = Attacker::sending_every(3);
    let target = target(&mut attacker);
    for ticks in [20.0, 30.0, 45.0] {
        let honest = attacker.honest();
        let past = before(view_of(&honest), ticks);
        let (earlier, later) = around(&attacker, past);
        let pair = SnapshotPair::new(earlier, later);
        let lying = aimed(made_of(honest, &[DisplayedRig::interpolated_at(target, pair, past)]), past);
        attacker.assert_refused(&lying, ViewTimeImplausible);
    }
}
