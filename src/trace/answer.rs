//! What a question to the past is answered with.

use core::cmp::Ordering;

use bevy::prelude::*;

use super::cast::cmp_places;
use crate::{
    shot::{Blocker, RewoundHit, RewoundRigs},
    time::ViewTime,
};

/// What an answer of a [`RewoundQuery`](crate::RewoundQuery) rests on.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct RewoundEvidence {
    /// The instant that was asked for.
    pub view_time: ViewTime,
    /// Whether that lies within [`LagCompensationConfig::history`](crate::LagCompensationConfig::history). If not, nothing of the past was there to be met.
    pub remembered: bool,
    /// The rigs that the question came closest to, as they were tested: within a metre, and no more than four.
    pub rigs: RewoundRigs,
}

/// What a ray or a shape meets.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct RewoundCast {
    /// The hitbox that is met first, also if it lies behind the blocker.
    pub hit: Option<RewoundHit>,
    /// The wall that is met first. It may lie behind the hitbox.
    pub blocker: Option<Blocker>,
    /// What the answer rests on.
    pub evidence: RewoundEvidence,
}

/// A hitbox or a wall.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Met {
    /// A hitbox of the past.
    Hitbox(RewoundHit),
    /// An occluder of the past, or a collider.
    Wall(Blocker),
}

/// What a ray passes through.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Crossing {
    /// What it is, and where the ray meets it.
    pub met: Met,
    /// Metres from the origin of the ray to where it goes in; 0 if it begins inside.
    pub entry: f32,
    /// Metres to where it comes out, also beyond the range; infinite if there is no far side: for terrain, and for a mesh that
    /// is open there.
    pub exit: f32,
}

/// Where something stood.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct RewoundPose {
    /// Its pose in the world; `None` if it was not there.
    pub pose: Option<Isometry3d>,
    /// What the answer rests on.
    pub evidence: RewoundEvidence,
}

impl RewoundCast {
    /// Whether a wall is met before any hitbox. In a tie the bullet stays in the wall.
    pub fn is_blocked(&self) -> bool {
        self.blocker.is_some_and(|blocker| self.hit.is_none_or(|hit| blocker.distance <= hit.distance))
    }

    /// The hitbox, unless a wall is met before it.
    pub fn victim(&self) -> Option<RewoundHit> {
        self.hit.filter(|_| !self.is_blocked())
    }
}

impl Met {
    /// The entity with the hitbox or the collider, which may be gone by now; `None` for a collider without one.
    pub fn entity(&self) -> Option<Entity> {
        match self {
            Self::Hitbox(hit) => Some(hit.hitbox),
            Self::Wall(blocker) => blocker.entity,
        }
    }

    /// The hitbox, if it is one.
    pub fn hitbox(&self) -> Option<&RewoundHit> {
        match self {
            Self::Hitbox(hit) => Some(hit),
            Self::Wall(_) => None,
        }
    }

    fn distance(&self) -> f32 {
        match self {
            Self::Hitbox(hit) => hit.distance,
            Self::Wall(blocker) => blocker.distance,
        }
    }
}

impl Crossing {
    /// The way within it, in metres; infinite if there is no far side.
    pub fn thickness(&self) -> f32 {
        self.exit - self.entry
    }
}

impl Met {
    /// Nearer first, walls before hitboxes; then by what does not depend on the order in which things were spawned, as long as
    /// they stand in different places.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let key = |met: &Self| match met {
            Self::Wall(wall) => (0, default(), default(), wall.pose, wall.entity),
            Self::Hitbox(hit) => (1, hit.rig_id, hit.zone, hit.pose, Some(hit.hitbox)),
        };
        let ((kind, id, zone, pose, entity), (other_kind, other_id, other_zone, other_pose, other_entity)) =
            (key(self), key(other));
        self.distance()
            .total_cmp(&other.distance())
            .then((kind, id, zone).cmp(&(other_kind, other_id, other_zone)))
            .then_with(|| cmp_places(pose, other_pose))
            .then(entity.cmp(&other_entity))
    }
}

impl Crossing {
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        self.met.cmp(&other.met)
    }
}
