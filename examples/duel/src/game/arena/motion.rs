//! How doors, lifts and targets move: to and fro, by the clock.

use bevy::prelude::*;

/// A way to and fro between two places, with a wait at each of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    from: Vec3,
    to: Vec3,
    wait: f64,
    travel: f64,
    begin: f64,
}

impl Path {
    /// A way that takes `travel` seconds and starts after `wait` seconds, `begin` seconds into its course; both positive.
    pub fn new(from: Vec3, to: Vec3, wait: f64, travel: f64, begin: f64) -> Option<Self> {
        let is_sound = wait > 0.0 && travel > 0.0 && begin.is_finite() && wait.is_finite() && travel.is_finite();
        is_sound.then_some(Self { from, to, wait, travel, begin })
    }

    /// Where it is. The same on every machine: nothing is summed up.
    pub fn at(&self, seconds: f64) -> Vec3 {
        let leg = self.wait + self.travel;
        let time = (seconds + self.begin).rem_euclid(2.0 * leg);
        let (out, time) = if time < leg { (true, time) } else { (false, time - leg) };
        let share = ((time - self.wait) / self.travel).clamp(0.0, 1.0);
        // Sets off and arrives gently.
        let share = share * share * (3.0 - 2.0 * share);
        let share = if out { share } else { 1.0 - share };
        self.from.lerp(self.to, share as f32)
    }

    /// How fast it moves at most, in metres per second.
    #[cfg(test)]
    pub fn max_speed(&self) -> f64 {
        1.5 * f64::from(self.from.distance(self.to)) / self.travel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        Path::new(Vec3::ZERO, Vec3::X * 4.0, 1.0, 2.0, 0.0).unwrap()
    }

    #[test]
    fn it_waits_goes_waits_and_comes_back() {
        let at = [0.0, 1.0, 2.0, 3.0, 3.9, 5.0, 6.0].map(|seconds| path().at(seconds).x);
        assert_eq!(at, [0.0, 0.0, 2.0, 4.0, 4.0, 2.0, 0.0]);
    }

    #[test]
    fn it_never_jumps() {
        let step = 1.0 / 64.0;
        for tick in 0..1_000 {
            let seconds = f64::from(tick) * step;
            let way = path().at(seconds + step).distance(path().at(seconds));
            assert!(f64::from(way) <= path().max_speed() * step + 1e-6, "{seconds}");
        }
    }

    #[test]
    fn what_would_never_arrive_is_none() {
        assert_eq!(Path::new(Vec3::ZERO, Vec3::X, 1.0, 0.0, 0.0), None);
        assert_eq!(Path::new(Vec3::ZERO, Vec3::X, f64::NAN, 1.0, 0.0), None);
    }
}
