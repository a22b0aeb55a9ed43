//! The answer to a shot, and what it rests on.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::{PoseBasis, ShotEvent, ShotId};
use crate::{
    hitbox::{LifeNumber, Zone},
    shape::Shape,
    time::{Tick, ViewTime},
};

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
    /// Where it was hit.
    pub hit: RewoundHit,
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

/// A shot has hit no rig, or was not admitted.
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
    /// The shooter does not exist (any more).
    ShooterUnknown,
    /// The command tick lies before all that the server remembers.
    CommandTickTooOld,
    /// The command tick has not come yet.
    CommandTickAhead,
    /// The view time lies before all that the server remembers.
    ViewTimeTooOld,
    /// The view time lies in the future of the server.
    ViewTimeAhead,
    /// The shot came too long after its command tick.
    TooLate,
    /// Too many shots of this connection are waiting already.
    TooManyWaiting,
    /// The shot names a snapshot that was not sent.
    SnapshotNotSent,
    /// The view time does not lie between the snapshots that the shot names.
    SnapshotsDisordered,
}

impl RejectReason {
    /// Whether the shot was traced, and just did not hit.
    pub const fn was_traced(self) -> bool {
        matches!(self, Self::Missed | Self::Blocked)
    }
}

/// How the view time of a verdict was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum ViewSource {
    /// The shot named its view time and the snapshots that the screen was made of; poses were rebuilt from those as far as
    /// they are believed, see [`RewoundHit::basis`].
    AsDisplayed,
    /// The shot named its view time; poses come from the full history of the server.
    Reported,
    /// The shot named none, and was judged in the present of its command tick.
    #[default]
    None,
}

/// What a verdict rests on.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Evidence {
    /// The tick at which the shooter pulled the trigger.
    pub command_tick: Tick,
    /// The tick in which the verdict was reached.
    pub judged_at: Tick,
    /// The instant at which every rig was tested. For a shot that was not admitted, the one it asked for.
    pub view_time: ViewTime,
    /// Where that instant comes from.
    pub view_source: ViewSource,
    /// Where the shot began.
    pub origin: Vec3,
    /// Where it went: of unit length if the shot was traced, else as the shot named it.
    pub direction: Vec3,
    /// How far it was traced at most, in metres. For a shot that was not admitted, the range it asked for.
    pub range: f32,
    /// The occluder that stopped the shot. It may stand behind a confirmed hit.
    pub blocker: Option<Blocker>,
    /// The hitbox that the shot met first, or, if it was blocked, would have met behind the blocker.
    pub hit: Option<RewoundHit>,
}

/// Where a shot met a hitbox.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct RewoundHit {
    /// The rig that the hitbox belongs to.
    pub rig: Entity,
    /// The life of the rig that was hit.
    pub life: LifeNumber,
    /// Whether the rig is still in that life, in the tick of the verdict before any of its hits took effect.
    pub still_alive: bool,
    /// The entity with the hitbox; it may be gone by now.
    pub hitbox: Entity,
    /// Which part of the body it is.
    pub zone: Zone,
    /// Where the shot met it, in the world.
    pub point: Vec3,
    /// The outward normal there; against the shot if it began inside.
    pub normal: Dir3,
    /// From the origin of the shot to the point, in metres; 0 if it began inside.
    pub distance: f32,
    /// The pose of the hitbox that was tested.
    pub pose: Isometry3d,
    /// What that pose was rebuilt from.
    pub basis: PoseBasis,
    /// The shape that was tested.
    pub shape: Shape,
}

/// Where a shot met an occluder.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Blocker {
    /// The entity with the collider, which may be gone by now; `None` for one that the game made without an entity.
    pub entity: Option<Entity>,
    /// The pose of the collider that was tested.
    pub pose: Isometry3d,
    /// Whether that is a pose of the past: that of an [`Occluder`](crate::Occluder) at the view time.
    pub rewound: bool,
    /// Where the shot met it, in the world.
    pub point: Vec3,
    /// The outward normal there; against the shot if it began inside.
    pub normal: Dir3,
    /// From the origin of the shot to the point, in metres; 0 if it began inside.
    pub distance: f32,
}

impl Evidence {
    /// All that is known of a shot before it is looked at.
    pub(crate) fn of(shot: &ShotEvent, now: Tick) -> Self {
        Self {
            command_tick: shot.command_tick,
            judged_at: now,
            view_time: shot.requested_view(),
            view_source: match (shot.view_time, shot.displayed) {
                (None, _) => ViewSource::None,
                (Some(_), None) => ViewSource::Reported,
                (Some(_), Some(_)) => ViewSource::AsDisplayed,
            },
            origin: shot.origin,
            direction: shot.direction,
            range: shot.range,
            blocker: None,
            hit: None,
        }
    }
}
