//! What takes its time to arrive.

use bevy::{math::ops, prelude::*};

use super::Blast;
use crate::time::{Tick, ViewTime};

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

    /// The same under gravity, in metres per second squared, and with drag, per second: see [`Ballistics`].
    pub const fn flying(self, ballistics: Ballistics) -> Self {
        Self { ballistics, ..self }
    }

    /// The same as a ball of this radius, in metres.
    pub const fn with_radius(self, radius: f32) -> Self {
        Self { radius, ..self }
    }

    /// The same, which flies so many ticks at most.
    pub const fn lasting(self, ticks: u32) -> Self {
        Self { ticks, ..self }
    }

    /// The same, which bounces off so many walls and keeps this part of its speed each time.
    pub const fn bouncing(self, bounces: u32, restitution: f32) -> Self {
        Self { bounces, restitution, ..self }
    }

    /// The same with an explosion at its end.
    pub const fn with_blast(self, blast: Blast) -> Self {
        Self { blast: Some(blast), ..self }
    }

    /// The instant at which it leaves the muzzle: the view time of its shot, or [`max_catch_up`](Self::max_catch_up) before the
    /// command tick if that is later.
    ///
    /// Server and client find the same. In each tick from then on, the projectile has flown since this instant, however late
    /// its shot reached the server.
    pub fn leaves_at(&self, view: ViewTime, command_tick: Tick) -> ViewTime {
        let earliest = ViewTime::at(command_tick - self.max_catch_up);
        if view.is_before(earliest) { earliest } else { view }
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
    /// Where something is `seconds` later, and its velocity in metres per second: the solution of v' = gravity − drag · v.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::Ballistics;
    ///
    /// let grenade = Ballistics { gravity: Vec3::NEG_Y * 9.81, drag: 0.0 };
    /// let (place, velocity) = grenade.fly(Vec3::Y * 2.0, Vec3::Z * 20.0, 0.5);
    /// assert!(place.abs_diff_eq(Vec3::new(0.0, 2.0 - 9.81 / 8.0, 10.0), 1e-5));
    /// assert!(velocity.abs_diff_eq(Vec3::new(0.0, -4.905, 20.0), 1e-5));
    /// ```
    pub fn fly(&self, place: Vec3, velocity: Vec3, seconds: f32) -> (Vec3, Vec3) {
        let seconds = f64::from(seconds);
        let lost = f64::from(self.drag.max(0.0)) * seconds;
        let (mean, mean_of_mean) = decay(lost);
        let (gravity, velocity) = (self.gravity.as_dvec3(), velocity.as_dvec3());
        let way = (velocity * mean + gravity * (seconds * mean_of_mean)) * seconds;
        let velocity_then = velocity * (1.0 - lost * mean) + gravity * (seconds * mean);
        ((place.as_dvec3() + way).as_vec3(), velocity_then.as_vec3())
    }
}

/// (1 − e^−x) / x, and (1 − that) / x: what is left of a speed on average, and of one that grows.
fn decay(x: f64) -> (f64, f64) {
    if x < 0.5 {
        // By their series, since the closed forms cancel; x ≤ 0.5 leaves 1e-16.
        let (mut mean, mut mean_of_mean, mut term) = (0.0, 0.0, 1.0);
        for n in 1..16 {
            // The n-th term over n!, and over (n + 1)!.
            term /= f64::from(n);
            mean += term;
            mean_of_mean += term / f64::from(n + 1);
            term *= -x;
        }
        (mean, mean_of_mean)
    } else {
        let mean = -f64::from(ops::exp_m1(-x as f32)) / x;
        (mean, (1.0 - mean) / x)
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::DVec3;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_flight_is_the_same_however_it_is_cut_into_steps(
            velocity in prop::array::uniform3(-100.0_f32..100.0),
            drag in prop_oneof![Just(0.0_f32), 1e-6_f32..1e-3, 1e-3_f32..40.0],
            steps in 1_u16..100,
        ) {
            let flight = Ballistics { gravity: Vec3::new(0.5, -9.81, 0.0), drag };
            let velocity = Vec3::from(velocity);
            let whole = flight.fly(Vec3::ZERO, velocity, 1.5);
            let step = 1.5 / f32::from(steps);
            let cut = (0..steps).fold((Vec3::ZERO, velocity), |(place, velocity), _| flight.fly(place, velocity, step));
            prop_assert!(whole.0.distance(cut.0) < 2e-3 && whole.1.distance(cut.1) < 2e-3, "{whole:?} {cut:?}");
        }

        /// Against small steps of the law itself.
        #[test]
        fn a_flight_obeys_its_law(velocity in prop::array::uniform3(-50.0_f64..50.0), drag in 0.0_f64..8.0) {
            let flight = Ballistics { gravity: Vec3::NEG_Y * 9.81, drag: drag as f32 };
            let start = Vec3::new(velocity[0] as f32, velocity[1] as f32, velocity[2] as f32);
            let (mut place, mut now) = (DVec3::ZERO, start.as_dvec3());
            let step = 1e-4;
            for _ in 0..10_000 {
                let force = |v: DVec3| DVec3::NEG_Y * 9.81 - v * f64::from(flight.drag);
                let half = now + force(now) * (0.5 * step);
                place += half * step;
                now += force(half) * step;
            }
            let (found, speed) = flight.fly(Vec3::ZERO, start, 1.0);
            prop_assert!(found.as_dvec3().distance(place) < 1e-3, "{found} {place}");
            prop_assert!(speed.as_dvec3().distance(now) < 1e-3);
        }
    }
}
