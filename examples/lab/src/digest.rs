//! A number by which two runs are told apart.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// A hash (FNV-1a, 64 bits) that is the same on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// Takes in a number.
    pub fn write(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Takes in a pose, to the last bit.
    pub fn write_pose(&mut self, pose: Isometry3d) {
        for number in pose.translation.to_array().into_iter().chain(pose.rotation.to_array()) {
            self.write(u64::from(number.to_bits()));
        }
    }

    /// Takes in a text.
    pub fn write_str(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.write(u64::from(byte)));
    }

    /// Takes in another digest.
    pub fn write_digest(&mut self, other: Self) {
        self.write(other.0);
    }
}
