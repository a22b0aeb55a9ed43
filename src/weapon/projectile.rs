//! What takes its time to arrive.

use bevy::{math::ops, prelude::*};

use super::Blast;

/// A rocket, a grenade, an arrow.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Projectile {
    /// How it flies.
    pub ballistics: Ballistics,
    /// Metres per second with which it leaves the muzzle, in the direction of the shot.
    pub speed: f32,
    /// Its radius, in metres. Default: 0, a point.
    pub radius: f32,
    /// How many ticks it flies at most. Default: 640, ten seconds at 64 Hz. Then its shot ends as a miss, or its blast goes off.
    pub ticks: u32,
    /// How often it bounces off walls before it stays in one. Default: 0.
    pub bounces: u32,
    /// What is left of its speed after a bounce, in `0.0..=1.0`. Default: 0.5.
    pub restitution: f32,
    /// The longest way through the past, in ticks: its flight is tested against no earlier instant than this before its command
    /// tick. Default: 8, an eighth of a second at 64 Hz.
    ///
    /// Too high, and a victim meets a rocket that appears before their nose; too low, and shooters on slow connections have to aim
    /// ahead of what they see.
    pub max_catch_up: u32,
    /// What happens where it ends. Default: `None`.
    pub blast: Option<Blast>,
}

impl Projectile {
    /// A point that flies straight on with this speed, in metres per second.
    pub const fn new(speed: f32) -> Self {
        Self {
            ballistics: Ballistics { gravity: Vec3::ZERO, drag: 0.0 },
            speed,
            radius: 0.0,
            ticks: 640,
            bounces: 0,
            restitution: 0.5,
            max_catch_up: 8,
            blast: None,
        }
    }

    /// The same with an explosion at its end.
    pub const fn with_blast(self, blast: Blast) -> Self {
        Self { blast: Some(blast), ..self }
    }
}

/// How something flies: under gravity, and with a drag in proportion to its speed.
///
/// The way is computed in closed form, so that it is the same however it is cut into steps.
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct Ballistics {
    /// Acceleration in metres per second squared. Default: none.
    pub gravity: Vec3,
    /// The share of its speed that it loses per second, at least 0: after t seconds, e^(−drag · t) of it is left. Default: 0.
    pub drag: f32,
}

impl Ballistics {
    /// Where something is `seconds` later, and its velocity in metres per second.
    ///
    /// The solution of v' = gravity − drag · v.
    pub fn fly(&self, place: Vec3, velocity: Vec3, seconds: f32) -> (Vec3, Vec3) {
        if self.drag <= 0.0 {
            let velocity_then = velocity + self.gravity * seconds;
            return (place + (velocity + velocity_then) * (0.5 * seconds), velocity_then);
        }
        // The speed at which drag and gravity are even.
        let terminal = self.gravity / self.drag;
        let lost = -ops::exp_m1(-self.drag * seconds);
        let velocity_then = velocity + (terminal - velocity) * lost;
        (place + terminal * seconds + (velocity - terminal) * (lost / self.drag), velocity_then)
    }
}
