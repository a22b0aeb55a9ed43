//! The parts of a body.

use bevy::reflect::Reflect;
use serde::{Deserialize, Serialize};

/// Which part of a body a [`Hitbox`](crate::Hitbox) is. The crate reports it; what a zone is worth is the game's rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum Zone {
    /// The head.
    Head,
    /// The neck.
    Neck,
    /// Chest and belly.
    #[default]
    Torso,
    /// The hips.
    Pelvis,
    /// An upper arm or forearm.
    Arm,
    /// A hand.
    Hand,
    /// A thigh or calf.
    Leg,
    /// A foot.
    Foot,
    /// A part that only the game knows: a wing, a turret, a weak spot.
    Custom(u16),
}
