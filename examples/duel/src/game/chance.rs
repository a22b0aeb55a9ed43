//! Random numbers that are the same in each run.

use core::f32::consts::TAU;

use bevy::math::ops;
use fastrand::Rng;

/// A number that stands for a name, and with another `salt` for the same name in another run. FNV-1a.
pub fn hash(salt: u64, name: &str) -> u64 {
    let salted = salt.to_le_bytes().into_iter().chain(name.bytes());
    salted.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A random number from `low` to `high`.
pub fn between(rng: &mut Rng, low: f32, high: f32) -> f32 {
    low + (high - low) * rng.f32()
}

/// A random number around 0 with a standard deviation of 1.
pub fn gaussian(rng: &mut Rng) -> f32 {
    // Box and Muller; the logarithm of 0 is none.
    let radius = (-2.0 * ops::ln(1.0 - rng.f32())).sqrt();
    radius * ops::cos(TAU * rng.f32())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_numbers_spread_as_they_should() {
        let mut rng = Rng::with_seed(7);
        let numbers: Vec<f32> = (0..20_000).map(|_| gaussian(&mut rng)).collect();
        let mean = numbers.iter().sum::<f32>() / 20_000.0;
        let variance = numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn names_and_salts_give_numbers_of_their_own() {
        assert_eq!(hash(1, "red"), hash(1, "red"));
        assert_ne!(hash(1, "red"), hash(2, "red"));
        assert_ne!(hash(1, "red"), hash(1, "blue"));
    }
}
