#![doc = include_str!("../README.md")]

extern crate alloc;

mod config;
mod history;
mod hitbox;
#[cfg(feature = "lightyear")]
pub mod lightyear;
mod plugin;
mod pose;
mod schedule;
mod shape;
mod shot;
pub mod test_app;
mod time;
mod trace;

pub use config::LagCompensationConfig;
pub use history::{BeginSegment, HistoryBuffer, PoseStorage, RewoundHitbox, Sample};
pub use hitbox::{Hitbox, HitboxScale, Life, LifeNumber, Occluder, OccluderMotion, Rig, RigId, Unhittable, Zone};
pub use plugin::LagCompensationPlugin;
pub use pose::interpolate;
pub use schedule::LagCompensationSystems;
pub use shape::Shape;
pub use shot::{
    Blocker, DisplayedRig, DisplayedRigs, Evidence, HitConfirmed, HitRejected, PoseBasis, RejectReason, RewoundHit,
    SentTicks, ShotEvent, ShotId, ViewSource,
};
pub use time::{CurrentTick, Tick, ViewTime};

/// What a game names every day.
///
/// [`Tick`] is not among it: lightyear's prelude has one, too.
pub mod prelude {
    #[doc(hidden)]
    pub use crate::{
        BeginSegment, CurrentTick, Evidence, HistoryBuffer, HitConfirmed, HitRejected, Hitbox, LagCompensationConfig,
        LagCompensationPlugin, LagCompensationSystems, Life, Occluder, OccluderMotion, RejectReason, Rig, RigId, Shape,
        ShotEvent, ShotId, Unhittable, ViewTime, Zone,
    };
}
