//! Lives: what tells a respawned player from the one who died.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// The number of a life of one rig; each respawn has the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct LifeNumber(pub u32);

/// Whether a [`Rig`](crate::Rig) is alive, and in which of its lives; every rig has it.
///
/// It is recorded in each tick. The dead are not hit, and a hit on an earlier life is not a hit on this one: see
/// [`HitConfirmed::living_target`](crate::HitConfirmed::living_target). A game whose players die without being despawned
/// tells it here:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn die(mut players: Query<(&Health, &mut Life), Changed<Health>>) {
///     for (health, mut life) in &mut players {
///         if health.0 <= 0.0 {
///             life.end();
///         }
///     }
/// }
///
/// fn respawn(mut players: Query<(&mut Health, &mut Life, &mut Transform)>) {
///     for (mut health, mut life, mut transform) in players.iter_mut().filter(|(_, life, _)| !life.is_alive()) {
///         health.0 = 100.0;
///         *transform = Transform::default();
///         life.begin();
///     }
/// }
/// # bevy::ecs::system::assert_is_system(die);
/// # bevy::ecs::system::assert_is_system(respawn);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Default)]
pub struct Life {
    number: LifeNumber,
    alive: bool,
}

impl Default for Life {
    /// The first life, alive.
    fn default() -> Self {
        Self { number: LifeNumber(0), alive: true }
    }
}

impl Life {
    /// Which life this is, or, of the dead, was.
    pub const fn number(&self) -> LifeNumber {
        self.number
    }

    /// Whether it has not ended.
    pub const fn is_alive(&self) -> bool {
        self.alive
    }

    /// The rig dies. It begins a new segment of its history, and cannot be hit from this tick on.
    pub const fn end(&mut self) {
        self.alive = false;
    }

    /// What comes now is another life, whether it has begun or not.
    pub(crate) const fn renumber(&mut self) {
        self.number.0 = self.number.0.wrapping_add(1);
    }

    /// The rig begins its next life, also if it has died in this very tick or not at all.
    pub const fn begin(&mut self) {
        self.renumber();
        self.alive = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_life_has_a_number_of_its_own() {
        let mut life = Life::default();
        life.end();
        assert_eq!((life.number(), life.is_alive()), (LifeNumber(0), false));
        life.begin();
        assert_eq!((life.number(), life.is_alive()), (LifeNumber(1), true));
        life.begin();
        assert_eq!((life.number(), life.is_alive()), (LifeNumber(2), true));
    }
}
