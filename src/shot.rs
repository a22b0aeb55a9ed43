//! From a shot to its verdict: what is asked, what is admitted, what is answered.

mod admit;
mod displayed;
mod event;
mod evidence;
mod report;
mod sent;
mod source;
mod verdict;

pub(crate) use admit::{AdmittedShots, admit_shots};
pub use displayed::{DisplayedRig, DisplayedRigs, PoseBasis, Shown, SnapshotPair};
pub use event::{ShotEvent, ShotId};
pub use evidence::{Blocker, Evidence, RewoundHit, RewoundRig, RewoundRigs};
pub(crate) use report::{Verdicts, report_verdicts};
pub use sent::SentTicks;
pub use source::ConnectionDelay;
pub use verdict::{HitConfirmed, HitRejected, RejectReason};
