//! Shots of those who may not shoot.

use bevy::prelude::*;
use bevy_hindsight::{
    CeaseFire, LagCompensationConfig, Life, Muzzle,
    RejectReason::{self, MuzzleTooFar, ShooterDead, ShooterNotControlled, ShooterUnknown, TooLate},
    Rig,
    lightyear::ShotRequest,
};
use lightyear::prelude::{ControlledBy, NetworkTarget, Replicate};
use netsim::{Shooter, Target};

use crate::attacker::{Attacker, Outcome, back_dated};

/// The same request in the name of another entity.
fn in_the_name_of(shooter: Entity, request: ShotRequest<()>) -> ShotRequest<()> {
    ShotRequest { shooter: Some(shooter), ..request }
}

#[test]
fn in_the_name_of_another_player() {
    let mut attacker = Attacker::new();
    let neighbour = attacker.rig(1);
    let id = attacker.server().get::<Shooter>(neighbour).expect("it is a shooter").0;
    let neighbour = attacker.on_screen::<Shooter>(|shooter| shooter.0 == id);
    let forged = in_the_name_of(neighbour, attacker.honest());
    attacker.assert_refused(&forged, ShooterNotControlled);
}

#[test]
fn in_the_name_of_the_target_or_of_nobody() {
    let mut attacker = Attacker::new();
    let target = attacker.on_screen::<Target>(|_| true);
    for shooter in [target, Entity::PLACEHOLDER, Entity::from_bits((3 << 32) | 5)] {
        let forged = in_the_name_of(shooter, attacker.honest());
        attacker.assert_refused(&forged, ShooterNotControlled);
    }
}

/// What a client controls besides its rig has no muzzle, no weapon and no life; it cannot shoot.
#[test]
fn in_the_name_of_something_that_is_no_rig() {
    let mut attacker = Attacker::new();
    let (rig, owner) = (attacker.rig(0), attacker.link());
    attacker.server().entity_mut(rig).insert(Muzzle::at(Vec3::ZERO));
    attacker.server().spawn((
        Shooter(99),
        ControlledBy { owner, lifetime: default() },
        Transform::default(),
        Replicate::to_clients(NetworkTarget::All),
    ));
    attacker.run(300);
    let drone = attacker.on_screen::<Shooter>(|shooter| shooter.0 == 99);
    let far = ShotRequest { origin: Vec3::X * 5.0, ..attacker.honest() };
    attacker.assert_refused(&far, MuzzleTooFar);
    let forged = in_the_name_of(drone, ShotRequest { origin: Vec3::X * 5.0, ..attacker.honest() });
    attacker.assert_refused(&forged, ShooterNotControlled);
}

#[test]
fn before_the_first_spawn() {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    attacker.server().entity_mut(rig).remove::<Rig>();
    let early = attacker.honest();
    attacker.send(&early);
    attacker.run(300);
    let verdicts = &attacker.sim.client_log(0).verdicts;
    assert_eq!(verdicts[0].outcome, bevy_hindsight::lightyear::ShotOutcome::Rejected(ShooterUnknown));
    attacker.server().entity_mut(rig).insert(Rig);
    attacker.run(300);
    attacker.assert_honest_shots_hit();
}

#[test]
fn after_death() {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    attacker.server().get_mut::<Life>(rig).expect("rigs live").end();
    attacker.run(100);
    let dead = attacker.honest();
    attacker.assert_refused(&dead, ShooterDead);
    attacker.server().get_mut::<Life>(rig).expect("rigs live").begin();
    attacker.run(100);
    attacker.assert_honest_shots_hit();
}

#[test]
fn fired_before_death_and_still_on_the_way() {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    let honest = attacker.honest();
    attacker.send(&honest);
    // It dies after the command tick, but the shot comes late.
    attacker.sim.set_network(netsim::Network { latency: 200.0, jitter: 0.0, loss: 0.0 });
    let dies = honest.command_tick + 1;
    while attacker.now().since(dies) < 0 {
        attacker.run(4);
    }
    attacker.server().get_mut::<Life>(rig).expect("rigs live").end();
    attacker.run(600);
    assert_eq!(attacker.answer(honest.sequence).map(|answer| answer.outcome), Some(Outcome::Hit));
}

/// A dead shooter may say that a shot was fired before its death, but not for long.
#[test]
fn back_dated_to_before_death() {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    let alive = attacker.honest().command_tick;
    attacker.run(100);
    attacker.server().get_mut::<Life>(rig).expect("rigs live").end();
    attacker.run(600);
    let honest = attacker.honest();
    let ago = honest.command_tick.since(alive);
    let late = back_dated(ShotRequest { command_tick: alive, ..honest }, f64::from(ago));
    attacker.assert_refused(&late, TooLate);
}

#[test]
fn during_cease_fire() {
    let mut attacker = Attacker::new();
    attacker.server().resource_mut::<LagCompensationConfig>().cease_fire = true;
    let forbidden = attacker.honest();
    attacker.assert_refused(&forbidden, RejectReason::CeaseFire);
    attacker.server().resource_mut::<LagCompensationConfig>().cease_fire = false;
    attacker.assert_honest_shots_hit();
}

#[test]
fn as_a_spectator() {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    attacker.server().entity_mut(rig).insert(CeaseFire);
    let forbidden = attacker.honest();
    attacker.assert_refused(&forbidden, RejectReason::CeaseFire);
}

#[test]
fn after_disconnecting() {
    let mut attacker = Attacker::new();
    for ahead in 0..32 {
        let honest = attacker.honest();
        attacker.send(&ShotRequest { command_tick: honest.command_tick + ahead, ..honest });
    }
    attacker.run(40);
    let left = attacker.sim.leave(0);
    let judged = attacker.sim.server_log().judged.len();
    attacker.run(2_000);
    // Those that were waiting have died with their connection, or found no shooter.
    let later = &attacker.sim.server_log().judged[judged..];
    assert!(later.iter().all(|judged| judged.rejected.is_some()), "{later:?}");
    drop(left);
}
