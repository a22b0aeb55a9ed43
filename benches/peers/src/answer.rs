//! What a ray meets.

use bevy::prelude::*;

/// The first thing on a ray.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Met {
    /// Nothing within its range.
    #[default]
    Nothing,
    /// A hitbox of a rig, both by their numbers in the scene.
    Hitbox {
        /// The number of the rig.
        rig: u32,
        /// The number of the hitbox within the rig.
        part: u32,
    },
    /// A static box.
    Wall(u32),
    /// A moving box.
    Occluder(u32),
}

/// How an approach answers for one ray.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Answer {
    /// What is met.
    pub met: Met,
    /// Metres from the origin; without meaning if nothing is met.
    pub distance: f32,
    /// Outwards from what is met; zero if nothing is, or if the ray begins inside. It is what everyone has to find, and is not
    /// judged.
    pub normal: Vec3,
}

impl Met {
    /// Whether it is a hitbox.
    pub fn is_hitbox(self) -> bool {
        matches!(self, Self::Hitbox { .. })
    }
}
