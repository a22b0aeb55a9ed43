//! What a shot is fired with.

mod blast;
mod bullet;
mod pellets;
mod projectile;
mod swing;

use bevy::prelude::*;

pub use blast::Blast;
pub use bullet::{Bullet, Piercing, Resistance};
pub use pellets::PelletPattern;
#[cfg(feature = "lightyear")]
pub(crate) use pellets::mix;
pub use projectile::{Ballistics, Projectile};
pub use swing::{Beam, Swing, SwingShape};

/// What a shot does on its way: the kind of its weapon.
///
/// A server says this of each shot, in a system between
/// [`LagCompensationSystems::ReceiveShots`](crate::LagCompensationSystems::ReceiveShots) and
/// [`AdmitShots`](crate::LagCompensationSystems::AdmitShots); a client has no say in it. All kinds pass the same checks, and
/// see the past as the same screen showed it.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{Attack, Blast, prelude::*};
///
/// #[derive(Component)]
/// struct HoldsDetonator;
///
/// fn arm(mut shots: MessageMutator<ShotEvent>, detonators: Query<(), With<HoldsDetonator>>) {
///     for shot in shots.read() {
///         if detonators.contains(shot.shooter) {
///             shot.attack = Attack::Blast(Blast::new(6.0));
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(arm);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
#[non_exhaustive]
pub enum Attack {
    /// What arrives at once: one bullet, or the pellets of a shotgun.
    Bullet(Bullet),
    /// A blow that takes a few ticks and meets each victim once.
    Swing(Swing),
    /// A ray that burns on, tick by tick.
    Beam(Beam),
    /// An explosion where the shot begins.
    Blast(Blast),
    /// Something that takes its time to arrive.
    Projectile(Projectile),
}

impl Default for Attack {
    fn default() -> Self {
        Self::Bullet(Bullet::default())
    }
}
