//! How characters move.

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
use serde::{Deserialize, Serialize};

use super::arena;

/// How fast a character runs, in m/s.
pub const MAX_SPEED: f32 = 6.0;
/// How fast it changes its velocity, in m/s².
pub const ACCELERATION: f32 = 40.0;
/// How much room it takes, in metres from its middle.
pub const RADIUS: f32 = 0.35;

const EYE_HEIGHT: f32 = 1.62;

/// What a player wants in one tick.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct PlayerInput {
    /// Where to run, seen by the character: to the right and forward, at most 1 long.
    pub walk: Vec2,
    /// The direction of view, in radians from -Z.
    pub yaw: f32,
}

impl PlayerInput {
    /// The same input with whatever is not a number, or too much, taken out: it may have come over the network.
    fn tamed(self) -> Self {
        Self {
            walk: if self.walk.is_finite() { self.walk.clamp_length_max(1.0) } else { Vec2::ZERO },
            yaw: if self.yaw.is_finite() { self.yaw } else { 0.0 },
        }
    }
}

impl MapEntities for PlayerInput {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

/// How a character moves, in m/s.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default)]
pub struct Velocity(pub Vec3);

/// Moves a character by one tick of `dt` seconds. The server and the predicting client must agree on this to the last bit.
pub fn step(transform: &mut Transform, velocity: &mut Velocity, input: PlayerInput, dt: f32) {
    let PlayerInput { walk, yaw } = input.tamed();
    transform.rotation = Quat::from_rotation_y(yaw);
    let wanted = transform.rotation * Vec3::new(walk.x, 0.0, -walk.y) * MAX_SPEED;
    velocity.0 = velocity.0.move_towards(wanted, ACCELERATION * dt);
    let target = transform.translation + velocity.0 * dt;
    let reached = arena::push_out(target, RADIUS);
    if reached != target {
        // What an obstacle has stopped is gone.
        velocity.0 = (reached - transform.translation) / dt;
    }
    transform.translation = reached;
}

/// Where the eyes of a character are, and so where its shots begin.
pub fn eye(transform: &Transform) -> Vec3 {
    transform.translation + Vec3::Y * EYE_HEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f32 = 1.0 / 64.0;

    fn run(input: PlayerInput, ticks: u32) -> (Transform, Velocity) {
        let mut state = (Transform::default(), Velocity::default());
        for _ in 0..ticks {
            step(&mut state.0, &mut state.1, input, DT);
        }
        state
    }

    #[test]
    fn full_speed_is_reached_in_its_time_and_never_passed() {
        let forward = PlayerInput { walk: Vec2::Y, yaw: 0.0 };
        assert!((run(forward, 8).1.0.z + 5.0).abs() < 1e-4);
        assert_eq!(run(forward, 64).1.0, Vec3::NEG_Z * MAX_SPEED);
        assert_eq!(run(PlayerInput { walk: Vec2::Y * 100.0, ..forward }, 64).1.0, Vec3::NEG_Z * MAX_SPEED);
    }

    #[test]
    fn right_is_right_of_the_view() {
        let input = PlayerInput { walk: Vec2::X, yaw: core::f32::consts::PI };
        assert!(run(input, 32).0.translation.x < -1.0);
    }

    #[test]
    fn walls_stop_characters() {
        let (transform, velocity) = run(PlayerInput { walk: Vec2::X, yaw: 0.0 }, 64 * 10);
        assert!((transform.translation.x - (arena::HALF_SIZE - RADIUS)).abs() < 1e-3);
        assert!(velocity.0.length() < 0.1, "{velocity:?}");
    }

    #[test]
    fn hostile_input_does_no_harm() {
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            let (transform, velocity) = run(PlayerInput { walk: Vec2::new(bad, 1.0), yaw: bad }, 3);
            assert!(transform.is_finite() && velocity.0.length() <= MAX_SPEED, "{bad}");
        }
    }
}
