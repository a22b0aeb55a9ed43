//! What a shooter does while a shot goes on.

use bevy::prelude::*;

/// Where a shooter aims, on the shooter's entity: the direction in which a [`Beam`](crate::Beam) goes on after its first tick. The
/// game writes it in each tick, from the shooter's inputs.
///
/// Without it, a beam turns as its shooter's entity does, which has no pitch in most games. It is not recorded: a beam that comes late
/// catches up along the aim of the tick in which it comes.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component)]
pub struct Aim(pub Dir3);

/// Ends all [`Beam`](crate::Beam)s that a shooter fired in an earlier tick, also those that come later than this; in this tick, if it
/// comes before [`LagCompensationSystems::TraceShots`](crate::LagCompensationSystems::TraceShots), or else in the next one.
///
/// A beam whose command tick is this one goes on: its trigger has been pulled anew.
#[derive(EntityEvent, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseTrigger {
    /// The shooter.
    pub entity: Entity,
}
