//! The directions of pellets.

use core::f32::consts::{FRAC_PI_2, TAU};

use bevy::{math::ops, prelude::*};

/// Where the pellets of a shot fly: a function of the aim and a seed, which client and server both run, so that nobody has to
/// send directions, and no client can choose them.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::PelletPattern;
///
/// let pattern = PelletPattern::cone(8, 0.05).seeded(7);
/// let pellets: Vec<Dir3> = pattern.directions(Dir3::Z).collect();
/// assert_eq!(pellets.len(), 8);
/// assert!(pellets.iter().all(|pellet| pellet.angle_between(*Dir3::Z) <= 0.0501));
/// assert!(pellets.iter().eq(pattern.directions(Dir3::Z).collect::<Vec<_>>().iter()));
/// ```
#[derive(Clone, Copy, Debug, Reflect)]
pub struct PelletPattern {
    count: u8,
    spread: f32,
    seed: u32,
    /// Where on the disc of the pattern a pellet flies; at random if there is no rule.
    #[reflect(ignore)]
    rule: Option<fn(u32, u32) -> Vec2>,
}

impl PelletPattern {
    /// The most pellets of a shot.
    pub const MOST: usize = 64;

    /// `count` pellets, evenly at random in the cone of this half opening angle, in radians.
    ///
    /// # Panics
    ///
    /// If `count` is 0 or more than [`PelletPattern::MOST`], or `spread` is not in `0.0..=PI / 2`.
    pub fn cone(count: u8, spread: f32) -> Self {
        assert!(
            (1..=Self::MOST).contains(&usize::from(count)),
            "a shot of {count} pellets; there can be 1 to {}",
            Self::MOST
        );
        assert!((0.0..=FRAC_PI_2).contains(&spread), "a spread of {spread} radians; it can be 0 to a right angle");
        Self { count, spread, seed: 0, rule: None }
    }

    /// `count` pellets where a rule of the game's own puts them: for a pellet's number and a seed, a point of the unit disc, X to
    /// the right and Y up, whose rim lies `spread` radians from the aim. What it puts outside flies along the rim.
    ///
    /// The rule must be pure; use [`bevy::math::ops`] for sines and the like.
    ///
    /// # Panics
    ///
    /// As [`PelletPattern::cone`].
    pub fn by_rule(count: u8, spread: f32, rule: fn(u32, u32) -> Vec2) -> Self {
        Self { rule: Some(rule), ..Self::cone(count, spread) }
    }

    /// The same pattern with another seed. A [`FireControl`](crate::FireControl) takes the number of the shot.
    pub const fn seeded(self, seed: u32) -> Self {
        Self { seed, ..self }
    }

    /// The number of pellets.
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The half opening angle of the cone in which all pellets fly, in radians.
    pub const fn spread(&self) -> f32 {
        self.spread
    }

    /// The directions of all pellets of a shot in the direction `aim`. A pattern stays upright: its X is level, unless the aim is
    /// vertical.
    pub fn directions(self, aim: Dir3) -> impl Iterator<Item = Dir3> {
        let right = Dir3::new(aim.cross(Vec3::Y)).unwrap_or(Dir3::X);
        let up = right.cross(*aim);
        (0..u32::from(self.count)).map(move |pellet| {
            let place = self.rule.unwrap_or(at_random)(pellet, self.seed);
            let (radius, outwards) = (place.length(), place.normalize_or_zero());
            let (sin, cos) = ops::sin_cos(radius.min(1.0) * self.spread);
            Dir3::new(*aim * cos + (*right * outwards.x + up * outwards.y) * sin).unwrap_or(aim)
        })
    }
}

impl PartialEq for PelletPattern {
    /// Rules are compared by where they put the pellets.
    fn eq(&self, other: &Self) -> bool {
        let numbers = |pattern: &Self| (pattern.count, pattern.spread, pattern.seed);
        numbers(self) == numbers(other) && self.directions(Dir3::Z).eq(other.directions(Dir3::Z))
    }
}

/// A point of the unit disc, each as likely as any other.
fn at_random(pellet: u32, seed: u32) -> Vec2 {
    let bits = mix(u64::from(seed) << 32 | u64::from(pellet));
    let unit = |bits: u64| (bits >> 40) as f32 / (1_u32 << 24) as f32;
    let (sin, cos) = ops::sin_cos(TAU * unit(bits << 24));
    Vec2::new(cos, sin) * unit(bits).sqrt()
}

/// Scatters the bits of a number: `SplitMix64`, <https://doi.org/10.1145/2714064.2660195>.
pub(crate) fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pellets_fill_their_cone_evenly_and_stay_within_it() {
        let mut inner = 0;
        for seed in 0..1_000 {
            for pellet in PelletPattern::cone(8, 0.1).seeded(seed).directions(Dir3::NEG_X) {
                let angle = pellet.angle_between(Vec3::NEG_X);
                assert!(angle <= 0.1 + 1e-4, "{angle}");
                inner += u32::from(angle < 0.05);
            }
        }
        // A quarter of the disc lies within half its radius.
        assert!((1_900..2_100).contains(&inner), "{inner} of 8000");
    }

    #[test]
    fn each_seed_has_a_pattern_of_its_own_and_always_the_same() {
        let pattern = PelletPattern::cone(16, 0.2);
        assert_eq!(pattern.seeded(3), pattern.seeded(3));
        assert!(!pattern.seeded(3).directions(Dir3::Z).eq(pattern.seeded(4).directions(Dir3::Z)));
    }

    #[test]
    fn a_rule_of_the_games_own_stays_upright_and_within_the_spread() {
        let pattern = PelletPattern::by_rule(3, 0.1, |pellet, _| [Vec2::X, Vec2::Y, Vec2::Y * 9.0][pellet as usize]);
        for aim in [Dir3::Z, Dir3::NEG_X] {
            let [right, up, far] = pattern.directions(aim).collect::<Vec<_>>()[..] else { panic!("three pellets") };
            assert!(right.y.abs() < 1e-6 && (right.angle_between(*aim) - 0.1).abs() < 1e-4);
            assert!(right.dot(aim.cross(Vec3::Y)) > 0.0);
            assert!((up.y - ops::sin(0.1)).abs() < 1e-6, "{up:?}");
            assert_eq!(up, far);
        }
        assert!(pattern.directions(Dir3::Y).all(|pellet| (pellet.angle_between(Vec3::Y) - 0.1).abs() < 1e-4));
    }
}
