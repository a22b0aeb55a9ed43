//! Blows and beams: what lasts several ticks.

use bevy::prelude::*;

/// A blow with a blade, a fist, the butt of a gun: for some ticks it meets what comes into its reach, each victim once.
///
/// In its tick k, counted from 0, it begins where the shooter stands at the command tick + k, turned as the shooter has turned since,
/// and meets rigs and walls of the view time + k.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Swing {
    /// What it sweeps over in each tick.
    pub shape: SwingShape,
    /// How many ticks it lasts, the first one included; at least 1.
    pub ticks: u32,
    /// Whether walls and occluders protect those behind them. Default: `true`.
    pub blocked_by_walls: bool,
}

/// What a [`Swing`] sweeps over.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
#[non_exhaustive]
pub enum SwingShape {
    /// All within `reach` metres and `half_angle` radians of the direction of the shot.
    Arc {
        /// How far it reaches, in metres.
        reach: f32,
        /// Half its opening angle, in radians; more than a right angle is all around.
        half_angle: f32,
    },
    /// A ball of this radius, thrust `reach` metres along the direction of the shot: a capsule.
    Thrust {
        /// How far its centre goes, in metres.
        reach: f32,
        /// Its radius, in metres.
        radius: f32,
    },
}

impl Swing {
    /// A blow within `reach` metres and `half_angle` radians of the aim that lasts one tick.
    pub const fn arc(reach: f32, half_angle: f32) -> Self {
        Self { shape: SwingShape::Arc { reach, half_angle }, ticks: 1, blocked_by_walls: true }
    }

    /// A thrust of a ball of this radius, `reach` metres far, that lasts one tick.
    pub const fn thrust(reach: f32, radius: f32) -> Self {
        Self { shape: SwingShape::Thrust { reach, radius }, ticks: 1, blocked_by_walls: true }
    }

    /// How far it reaches at most, in metres.
    pub fn reach(&self) -> f32 {
        match self.shape {
            SwingShape::Arc { reach, .. } => reach,
            SwingShape::Thrust { reach, radius } => reach + radius,
        }
    }

    /// The same blow over so many ticks, at least 1.
    pub const fn lasting(self, ticks: u32) -> Self {
        Self { ticks, ..self }
    }

    /// The same blow, through walls.
    pub const fn through_walls(self) -> Self {
        Self { blocked_by_walls: false, ..self }
    }
}

/// A ray that burns on: admitted once, and traced in each tick until it ends. Each of its ticks ends in a verdict of its own.
///
/// In its tick k, counted from 0, it begins where the shooter stands at the command tick + k, turned as the shooter has turned since
/// (or along the shooter's [`Aim`](crate::Aim), if there is one), and is traced at the view time + k.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Beam {
    /// How many ticks it lasts at most, the first one included; at least 1. [`ReleaseTrigger`](crate::ReleaseTrigger) ends it
    /// sooner.
    pub ticks: u32,
}
