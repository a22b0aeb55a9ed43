//! From a shot to its verdict: what is asked, what is admitted, what is answered.

mod admit;
mod connection;
mod counters;
mod displayed;
mod event;
mod evidence;
mod fire_control;
mod flight;
mod guard;
mod muzzle;
mod recent;
mod report;
mod sent;
mod shooter;
mod source;
mod verdict;
mod view;
mod volley;

pub(crate) use admit::{AdmittedShot, AdmittedShots, admit_shots, fire_weapons};
pub use connection::{ConnectionDelay, RewindBudget, RoundTripEstimate};
pub use counters::{ShotCounters, Suspicion};
pub use displayed::{DisplayedRig, DisplayedRigs, PoseBasis, Shown, SnapshotPair};
pub use event::{ShotEvent, ShotId};
pub use evidence::{Adjustment, Blocker, Evidence, RewoundHit, RewoundRig, RewoundRigs};
pub use fire_control::{FireControl, Reload};
pub(crate) use fire_control::{begin_reload, finish_reloads};
pub(crate) use flight::answer_for_despawned;
pub use flight::{CompensatedProjectile, ProjectileEnded, ProjectileLaunched};
pub use guard::ViewGuard;
pub use muzzle::Muzzle;
pub use report::{SHOTS_ADJUSTED, SHOTS_ANSWERED, SHOTS_REFUSED};
pub(crate) use report::{Verdicts, count_shots, diagnostics, report_verdicts};
pub use sent::SentTicks;
pub use shooter::CeaseFire;
pub use verdict::{HitBy, HitConfirmed, HitRejected, Penetration, RejectReason, WallPierced};
pub use volley::{PelletOutcome, PelletVictim, VolleyJudged};
