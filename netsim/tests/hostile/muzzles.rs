//! Shots from where the shooter is not.

use bevy::prelude::*;
use bevy_hindsight::{
    Muzzle,
    RejectReason::{MuzzleBlocked, MuzzleTooFar, TurnedTooFast},
    lightyear::ShotRequest,
};
use bevy_rapier3d::prelude::*;
use netsim::Carousel;

use crate::attacker::{Attacker, Outcome, view_of};

/// An attacker whose rig has this muzzle, in the origin.
fn armed(muzzle: Muzzle) -> Attacker {
    let mut attacker = Attacker::new();
    let rig = attacker.rig(0);
    attacker.server().entity_mut(rig).insert((muzzle, Transform::IDENTITY));
    attacker.run(100);
    attacker
}

/// A shot from elsewhere at the same target.
fn from(origin: Vec3, request: ShotRequest<()>) -> ShotRequest<()> {
    let direction = Carousel::place(view_of(&request)) - origin;
    ShotRequest { origin, direction, ..request }
}

#[test]
fn a_muzzle_leaned_through_a_wall_is_refused() {
    let mut attacker = armed(Muzzle::at(Vec3::ZERO));
    // A shell all around the shooter, and a lean out of it.
    for aside in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        let size = Vec3::splat(0.6) - 0.55 * aside.abs();
        let wall = (RigidBody::Fixed, Collider::cuboid(size.x, size.y, size.z));
        attacker.server().spawn((wall, Transform::from_translation(0.5 * aside)));
    }
    attacker.run(100);
    let behind = attacker.honest();
    assert_eq!(attacker.ask(&behind).outcome, Outcome::Refused(bevy_hindsight::RejectReason::Blocked));
    let honest = attacker.honest();
    let leaned = from(honest.direction.normalize() * 0.9, honest);
    attacker.assert_refused(&leaned, MuzzleBlocked);
}

#[test]
fn a_muzzle_elsewhere_is_refused() {
    let mut attacker = armed(Muzzle::at(Vec3::ZERO));
    for away in [Vec3::X * 1.1, Vec3::Y * 50.0, Carousel::place(view_of(&attacker.honest())), Vec3::splat(f32::MAX)] {
        let elsewhere = from(away, attacker.honest());
        let elsewhere = ShotRequest { direction: Vec3::Z, ..elsewhere };
        attacker.assert_refused(&elsewhere, MuzzleTooFar);
    }
    let near = from(Vec3::X * 0.9, attacker.honest());
    assert_eq!(attacker.ask(&near).outcome, Outcome::Hit);
}

#[test]
fn the_muzzle_of_another_player_is_none_of_ones_own() {
    let mut attacker = armed(Muzzle::at(Vec3::ZERO));
    let neighbour = attacker.rig(1);
    let place = Vec3::new(3.0, 0.0, 0.0);
    attacker.server().entity_mut(neighbour).insert(Transform::from_translation(place));
    let stolen = from(place, attacker.honest());
    attacker.assert_refused(&stolen, MuzzleTooFar);
}

/// A snapped muzzle takes nothing but the direction.
#[test]
fn a_snapped_muzzle_gains_nothing_from_leaning() {
    let mut attacker = armed(Muzzle::at(Vec3::ZERO).snapped());
    let leaned = from(Vec3::new(0.0, 0.9, 0.0), attacker.honest());
    // From the server's own muzzle the shot goes below the target, or above it.
    assert_eq!(attacker.ask(&leaned).outcome, Outcome::Missed);
    attacker.assert_honest_shots_hit();
}

#[test]
fn a_spin_between_two_shots_is_refused() {
    let mut attacker = armed(Muzzle::at(Vec3::ZERO).with_max_turn_rate(20.0));
    let away = attacker.honest();
    attacker.send(&ShotRequest { direction: -away.direction, ..away });
    attacker.run(16);
    let spun = attacker.honest();
    attacker.assert_refused(&spun, TurnedTooFast);
    attacker.assert_honest_shots_hit();
}
