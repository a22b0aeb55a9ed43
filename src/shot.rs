//! From a shot to its verdict: what is asked, what is admitted, what is answered.

mod admit;
mod displayed;
mod event;
mod report;
mod verdict;

pub(crate) use admit::{AdmittedShots, admit_shots};
pub use displayed::{DisplayedRig, DisplayedRigs, PoseBasis, SentTicks};
pub use event::{ShotEvent, ShotId};
pub(crate) use report::{Verdicts, report_verdicts};
pub use verdict::{Blocker, Evidence, HitConfirmed, HitRejected, RejectReason, RewoundHit, ViewSource};
