//! What a shooter does while a shot goes on.

use bevy::prelude::*;

/// Where a shooter aims, on the shooter's entity: the direction in which a [`Beam`](crate::Beam) goes on after its first tick. The
/// game writes it in each tick, from the shooter's inputs.
///
/// Without it, a beam turns as its shooter's entity does, which has no pitch in most games.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component)]
pub struct Aim(pub Dir3);

/// Ends all [`Beam`](crate::Beam)s of a shooter; in this tick, if it comes before
/// [`LagCompensationSystems::TraceShots`](crate::LagCompensationSystems::TraceShots).
#[derive(EntityEvent, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseTrigger {
    /// The shooter.
    pub entity: Entity,
}
