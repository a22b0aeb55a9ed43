//! The answer to a shot, and what it rests on.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Blocker, Evidence, RewoundHit, ShotId};

/// A shot has hit a rig.
///
/// Written as a message and triggered on the rig, so that a game can read all hits of a tick at once or observe a target.
/// The crate decides what was hit; what that does to the target as it is *now* is the game's rule.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn hurt(hit: On<HitConfirmed>, mut health: Query<&mut Health>) {
///     if let Some(target) = hit.living_target() && let Ok(mut health) = health.get_mut(target) {
///         health.0 -= if hit.hit.zone == Zone::Head { 100.0 } else { 30.0 };
///     }
/// }
/// # App::new().add_observer(hurt);
/// ```
#[derive(Message, EntityEvent, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct HitConfirmed {
    /// The rig that was hit. It may have been despawned since.
    #[event_target]
    pub target: Entity,
    /// Who shot.
    pub shooter: Entity,
    /// Which shot this answers.
    pub shot: ShotId,
    /// Which part of it: the number of the pellet, or the tick of a [`Swing`](crate::Swing) or [`Beam`](crate::Beam); counted
    /// from 0.
    pub part: u32,
    /// How the target was met.
    pub by: HitBy,
    /// Where it was hit.
    pub hit: RewoundHit,
    /// How a bullet that can pass through things went on.
    pub penetration: Option<Penetration>,
    /// What the verdict rests on.
    pub evidence: Evidence,
}

impl HitConfirmed {
    /// The rig, if it is still in the life that was hit: who should take the damage.
    ///
    /// `None` if the target has died or was despawned since, or has respawned.
    pub fn living_target(&self) -> Option<Entity> {
        self.hit.still_alive.then_some(self.target)
    }
}

/// How a rig was met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum HitBy {
    /// A bullet or a pellet.
    Bullet,
    /// A [`Swing`](crate::Swing).
    Swing,
    /// A [`Beam`](crate::Beam).
    Beam,
    /// A [`Projectile`](crate::Projectile) that has met the rig itself.
    Projectile,
    /// A [`Blast`](crate::Blast), or that of a projectile.
    Blast,
}

/// How a bullet went through something.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Penetration {
    /// How many rigs and walls it had passed through before.
    pub order: u8,
    /// Metres from the origin of the shot to where it would leave what it met; infinite if that has no far side.
    pub exit: f32,
    /// Metres of its way within it.
    pub thickness: f32,
    /// What it has left; `None` if it has stayed inside.
    pub energy_left: Option<f32>,
}

/// A bullet has passed through a wall or an occluder, or has stayed in one after it passed through something else. For decals
/// and splinters.
///
/// Written as a message, besides the verdict.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct WallPierced {
    /// Who shot.
    pub shooter: Entity,
    /// Which shot.
    pub shot: ShotId,
    /// Which pellet.
    pub part: u32,
    /// Where it went in.
    pub wall: Blocker,
    /// How it went on.
    pub penetration: Penetration,
}

/// A shot, or a part of it, has hit no rig; or it was not admitted.
///
/// Written as a message and triggered on the shooter. A plain miss is a rejection, too: each shot gets its answer.
#[derive(Message, EntityEvent, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct HitRejected {
    /// Who shot. May be an entity that does not exist.
    #[event_target]
    pub shooter: Entity,
    /// Which shot this answers.
    pub shot: ShotId,
    /// Which part of it, counted from 0: the number of the pellet, or the tick of a [`Beam`](crate::Beam). Of a
    /// [`Swing`](crate::Swing), the first tick in which a wall protected someone, or else 0. A shot that
    /// [was not traced](RejectReason::was_traced) is answered as a whole, with part 0.
    pub part: u32,
    /// Why.
    pub reason: RejectReason,
    /// What the verdict rests on.
    pub evidence: Evidence,
}

/// Why a shot hit nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum RejectReason {
    /// The shot was traced, and met nothing within its range.
    Missed,
    /// The shot was traced, and met an occluder before any hitbox; see [`Evidence::blocker`].
    Blocked,
    /// A coordinate of the origin is infinite or not a number.
    OriginNotFinite,
    /// A coordinate of the direction is infinite, not a number, or too large to be normalised.
    DirectionNotFinite,
    /// The direction has no length.
    DirectionZero,
    /// The range is negative or not a number.
    RangeInvalid,
    /// The shooter does not exist (any more), or did not yet at the command tick.
    ShooterUnknown,
    /// The command tick lies before all that the server remembers.
    CommandTickTooOld,
    /// The command tick has not come yet.
    CommandTickAhead,
    /// The view time lies before all that the server remembers.
    ViewTimeTooOld,
    /// The view time lies in the future of the server.
    ViewTimeAhead,
    /// The view time lies too far from what the server has measured for the connection.
    ViewTimeImplausible,
    /// The shot shows an earlier instant than one that was fired before it.
    ViewTimeBackwards,
    /// The view has run faster than a presentation can.
    ViewTimeTooFast,
    /// The shot came too long after its command tick.
    TooLate,
    /// Too many shots of this connection are waiting already.
    TooManyWaiting,
    /// Too many shots of this connection have their command tick in this tick.
    TooManyShots,
    /// The shot names a shooter that is no rig, or whom this connection does not control.
    ShooterNotControlled,
    /// The shooter was dead.
    ShooterDead,
    /// Nobody, or not this shooter, may shoot.
    CeaseFire,
    /// The shot does not begin at the shooter's [`Muzzle`](crate::Muzzle).
    MuzzleTooFar,
    /// A wall stands between the shooter's [`Muzzle`](crate::Muzzle) and where the shot begins.
    MuzzleBlocked,
    /// The shooter has turned faster since the last shot than their [`Muzzle`](crate::Muzzle) may.
    TurnedTooFast,
    /// The shot comes too soon after another one for its [`FireControl`](crate::FireControl).
    FiredTooFast,
    /// The shot has more pellets than its [`FireControl`](crate::FireControl) allows.
    TooManyPellets,
    /// A pellet flies outside the cone of its [`FireControl`](crate::FireControl).
    OutsideSpread,
    /// The magazine is empty.
    OutOfAmmunition,
    /// The magazine is being changed.
    Reloading,
    /// The shot names a snapshot that was not sent.
    SnapshotNotSent,
    /// An instant does not lie between the snapshots that the shot names for it.
    SnapshotsDisordered,
    /// Snapshots lie further apart than
    /// [`AdmissionRules::max_snapshot_gap`](crate::AdmissionRules::max_snapshot_gap).
    SnapshotsTooFarApart,
    /// A rig would have stood further from its place than
    /// [`AdmissionRules::max_snapshot_deviation`](crate::AdmissionRules::max_snapshot_deviation).
    SnapshotsDeviate,
    /// A rig was not there yet at the tick of a snapshot that the shot names for it: it must be that of another one. (Or its entity
    /// has become a [`Rig`](crate::Rig) only now: keep `Rig` on players who come and go, see there.)
    SnapshotOfAnotherRig,
    /// A rig was held for longer than [`AdmissionRules::max_freeze`](crate::AdmissionRules::max_freeze).
    ViewFrozen,
    /// The shot says that a rig was predicted, which this client has not been told to predict.
    RigNotPredicted,
    /// A rule of the game's own, by a number of its own.
    Game(u16),
}

impl RejectReason {
    /// All of them; the game's own as one.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Missed,
        Self::Blocked,
        Self::OriginNotFinite,
        Self::DirectionNotFinite,
        Self::DirectionZero,
        Self::RangeInvalid,
        Self::ShooterUnknown,
        Self::CommandTickTooOld,
        Self::CommandTickAhead,
        Self::ViewTimeTooOld,
        Self::ViewTimeAhead,
        Self::ViewTimeImplausible,
        Self::ViewTimeBackwards,
        Self::ViewTimeTooFast,
        Self::TooLate,
        Self::TooManyWaiting,
        Self::TooManyShots,
        Self::ShooterNotControlled,
        Self::ShooterDead,
        Self::CeaseFire,
        Self::MuzzleTooFar,
        Self::MuzzleBlocked,
        Self::TurnedTooFast,
        Self::FiredTooFast,
        Self::TooManyPellets,
        Self::OutsideSpread,
        Self::OutOfAmmunition,
        Self::Reloading,
        Self::SnapshotNotSent,
        Self::SnapshotsDisordered,
        Self::SnapshotsTooFarApart,
        Self::SnapshotsDeviate,
        Self::SnapshotOfAnotherRig,
        Self::ViewFrozen,
        Self::RigNotPredicted,
        Self::Game(0),
    ];

    /// The number of different reasons.
    pub const COUNT: usize = 36;

    /// The place of this reason in [`RejectReason::ALL`].
    pub(crate) fn index(self) -> usize {
        let same = |other: &Self| core::mem::discriminant(other) == core::mem::discriminant(&self);
        Self::ALL.iter().position(same).unwrap_or(Self::COUNT - 1)
    }

    /// Whether the shot was traced, and just did not hit.
    pub const fn was_traced(self) -> bool {
        matches!(self, Self::Missed | Self::Blocked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_place_of_its_own() {
        for (place, reason) in RejectReason::ALL.into_iter().enumerate() {
            assert_eq!(reason.index(), place, "{reason:?}");
        }
        assert_eq!(RejectReason::Game(7).index(), RejectReason::Game(9).index());
    }
}
