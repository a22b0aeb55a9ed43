//! Explosions.

use bevy::prelude::*;

/// An explosion: it meets each rig once, at the hitbox that lies nearest to its centre of those that no wall hides from it.
///
/// How much it hurts is the game's rule; [`RewoundHit::distance`](crate::RewoundHit::distance) says how far from the centre the
/// victim was.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Blast {
    /// How far it reaches, in metres; at least 0.
    pub radius: f32,
    /// Whether it meets victims where the shooter's screen showed them, instead of where they are. Default: `false`: who has
    /// run on is out of it.
    ///
    /// The blast of a [`Projectile`](crate::Projectile) is always of the instant of its impact, so that who was hit and who was
    /// near stand where they stood together.
    pub rewound: bool,
    /// Whether walls and occluders give cover. Default: `true`.
    pub blocked_by_walls: bool,
    /// Whether the shooter's own rig is met, too. Default: `true`.
    pub hurts_shooter: bool,
}

impl Blast {
    /// A blast of this radius in metres, in the present.
    pub const fn new(radius: f32) -> Self {
        Self { radius, rewound: false, blocked_by_walls: true, hurts_shooter: true }
    }

    /// The same blast at the view time of its shot.
    pub const fn rewound(self) -> Self {
        Self { rewound: true, ..self }
    }

    /// The same blast, through walls.
    pub const fn through_walls(self) -> Self {
        Self { blocked_by_walls: false, ..self }
    }

    /// The same blast, which spares the shooter.
    pub const fn sparing_shooter(self) -> Self {
        Self { hurts_shooter: false, ..self }
    }
}
