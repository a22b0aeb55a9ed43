//! What a verdict rests on.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::{PoseBasis, RejectReason, RewindBudget, ShotEvent};
use crate::{
    hitbox::{LifeNumber, RigId, Zone},
    policy::{CheckPolicy, ViewSource},
    shape::Shape,
    time::{Tick, ViewTime},
};

/// What a verdict rests on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The tick at which the shooter pulled the trigger.
    pub command_tick: Tick,
    /// The tick in which the verdict was reached.
    pub judged_at: Tick,
    /// The instant at which every rig was tested. For a shot that was not admitted, the one it asked for.
    pub view_time: ViewTime,
    /// Where that instant comes from, and the poses.
    pub view_source: ViewSource,
    /// If that instant is not the one that the shot claimed: why, and what was done.
    pub adjusted: Option<Adjustment>,
    /// Of what its rewind is made; `None` for shots that did not come over a measured connection.
    pub budget: Option<RewindBudget>,
    /// The connection that the shot came over.
    pub link: Option<Entity>,
    /// Where the shot began; of a projectile, the step in which it ended, and of its blast, the centre of that.
    pub origin: Vec3,
    /// Where it went: of unit length if the shot was traced, else as the shot named it.
    pub direction: Vec3,
    /// How far it was traced at most, in metres: the reach of a blow, the radius of a blast, the length of a projectile's step. For a
    /// shot that was not admitted, the range it asked for.
    pub range: f32,
    /// The occluder that stopped the shot. It may stand behind a confirmed hit.
    pub blocker: Option<Blocker>,
    /// The hitbox that the shot met first, or, if it was blocked, would have met behind the blocker.
    pub hit: Option<RewoundHit>,
    /// The rigs that it came closest to, whether it hit them or not, nearest to the origin first: those whose bounds the ray
    /// passes through within its range.
    pub rigs: RewoundRigs,
}

/// Why a shot was not judged by the view time that it claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Adjustment {
    /// What was done instead.
    pub policy: CheckPolicy,
    /// What the shot would have been refused for.
    pub reason: RejectReason,
}

/// The few rigs that a shot came closest to.
pub type RewoundRigs = [Option<RewoundRig>; 4];

/// A rig as it was tested.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RewoundRig {
    /// The rig.
    pub rig: Entity,
    /// Where its own entity stood.
    pub root: Isometry3d,
    /// The instant of that.
    pub view_time: ViewTime,
    /// What that pose was rebuilt from.
    pub basis: PoseBasis,
}

/// Where a shot met a hitbox.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RewoundHit {
    /// The rig that the hitbox belongs to.
    pub rig: Entity,
    /// The number that the game has given it.
    pub rig_id: RigId,
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
    /// Metres: from the origin of [`Evidence`] to the point; 0 if it began inside. For what is swept, a thick projectile or a
    /// thrust, how far its centre has gone.
    pub distance: f32,
    /// The pose of the hitbox that was tested.
    pub pose: Isometry3d,
    /// What that pose was rebuilt from.
    pub basis: PoseBasis,
    /// The shape that was tested.
    pub shape: Shape,
}

/// Where a shot met an occluder.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
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
            view_source: shot.requested_source(),
            adjusted: None,
            budget: None,
            link: shot.link,
            origin: shot.origin,
            direction: shot.direction,
            range: shot.range,
            blocker: None,
            hit: None,
            rigs: RewoundRigs::default(),
        }
    }
}
