#![doc = include_str!("../README.md")]

extern crate alloc;

mod config;
#[cfg(feature = "gizmos")]
mod gizmos;
mod history;
mod hitbox;
#[cfg(feature = "lightyear")]
pub mod lightyear;
mod plugin;
mod policy;
mod pose;
mod schedule;
mod shape;
mod shot;
pub mod test_app;
mod time;
mod trace;
mod weapon;

pub use config::LagCompensationConfig;
#[cfg(feature = "gizmos")]
pub use gizmos::{LagCompensationGizmos, LagCompensationGizmosPlugin};
pub use history::{BeginSegment, HistoryBuffer, PoseStorage, RewoundHitbox, Sample};
pub use hitbox::{
    Bone, DisplayParameters, DisplayRule, Hitbox, HitboxScale, Life, LifeNumber, Occluder, OccluderMotion, Rig, RigId,
    TargetGroups, Unhittable, Zone, pose_bones,
};
pub use plugin::LagCompensationPlugin;
pub use policy::{AdmissionRules, CheckPolicy, DeadShooters, ViewSource};
pub use pose::interpolate;
pub use schedule::LagCompensationSystems;
pub use shape::{Sector, Shape};
pub use shot::{
    Adjustment, Aim, Blocker, CeaseFire, CompensatedProjectile, ConnectionDelay, Cover, DisplayedRig, DisplayedRigs,
    DisplayedShot, DisplayedShots, Evidence, FireControl, HitBy, HitConfirmed, HitRejected, Muzzle, PelletOutcome,
    PelletVictim, Penetration, PoseBasis, ProjectileEnded, ProjectileLaunched, RejectReason, ReleaseTrigger, Reload,
    RewindBudget, RewoundHit, RewoundRig, RewoundRigs, RoundTripEstimate, SHOTS_ADJUSTED, SHOTS_ANSWERED,
    SHOTS_REFUSED, SentTicks, ShotCounters, ShotEvent, ShotId, ShotTraced, ShotTracing, Shown, SnapshotPair, Suspicion,
    TracedHitbox, TracedOccluder, TracedOutcome, ViewGuard, VolleyJudged, WallPierced,
};
pub use time::{CurrentTick, Tick, ViewTime};
pub use trace::{Crossing, Met, RewoundCast, RewoundEvidence, RewoundFilter, RewoundPose, RewoundQuery};
pub use weapon::{
    Attack, Ballistics, Beam, Blast, Bullet, PelletPattern, Piercing, Projectile, Resistance, Swing, SwingShape,
};

/// What a game names every day.
///
/// [`Tick`] is not among it: lightyear's prelude has one, too.
pub mod prelude {
    #[doc(hidden)]
    pub use crate::{
        BeginSegment, CurrentTick, Evidence, HistoryBuffer, HitConfirmed, HitRejected, Hitbox, LagCompensationConfig,
        LagCompensationPlugin, LagCompensationSystems, Life, Occluder, OccluderMotion, RejectReason, Rig, RigId, Shape,
        ShotEvent, ShotId, Unhittable, ViewSource, ViewTime, Zone,
    };
}
