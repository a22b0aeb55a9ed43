//! Who is shot at.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// A target, named by what it does; there is one of each.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Runs from side to side.
    Strafes,
    /// Jumps again and again.
    Jumps,
    /// Runs at full speed from one tick to the next, and stops as suddenly.
    StopsAndGoes,
    /// Turns on the spot with its arms stretched out.
    Turns,
    /// Ducks: its hitbox changes shape.
    Crouches,
    /// Is somewhere else at once, every few seconds.
    Teleports,
    /// Stands on a lift.
    RidesLift,
    /// Walks behind a door.
    PassesDoor,
    /// Walks on legs that client and server pose by the same display rule.
    Walks,
    /// The same figure without the display rule: the server blends the recorded poses of its bones.
    WalksWithoutRule,
}

impl Role {
    /// All of them, from left to right.
    pub const ALL: [Self; 10] = [
        Self::Strafes,
        Self::Jumps,
        Self::StopsAndGoes,
        Self::Turns,
        Self::Crouches,
        Self::Teleports,
        Self::RidesLift,
        Self::PassesDoor,
        Self::Walks,
        Self::WalksWithoutRule,
    ];

    /// The middle of the place where it moves: far enough from the next one's that neither covers the other for long. The
    /// figure without a display rule moves behind the shooters, where no shot at another one can meet it.
    pub fn home(self) -> Vec3 {
        const SPACING: f32 = 6.0;
        if self == Self::WalksWithoutRule {
            return Vec3::new(0.0, 1.0, -15.0);
        }
        let from_middle = self as usize as f32 - 0.5 * (Self::ALL.len() - 2) as f32;
        Vec3::new(SPACING * from_middle, 1.0, 15.0)
    }

    /// Whether it is a figure with bones.
    pub const fn has_bones(self) -> bool {
        matches!(self, Self::Walks | Self::WalksWithoutRule)
    }
}
