//! What a server can choose between.

use core::time::Duration;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// How the server finds what the shooter's screen showed.
///
/// Chosen for the server by [`LagCompensationConfig::view_source`](crate::LagCompensationConfig::view_source), and for a single
/// shot by [`ShotEvent::view_source`](crate::ShotEvent::view_source). A shot that lacks what a source needs is judged by the next one below that can do
/// without, and [`Evidence::view_source`](crate::Evidence::view_source) tells which one was used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum ViewSource {
    /// The shot names its view time, and the snapshots that its screen was made of; the same ones are blended again, as far as
    /// they are believed: see [`RewoundHit::basis`](crate::RewoundHit::basis). What is left is rounding.
    #[default]
    AsDisplayed,
    /// The shot names its view time; poses come from the full history of the server. What is left is the curve between two
    /// snapshots.
    Reported,
    /// The server's own estimate, from [`ConnectionDelay`](crate::ConnectionDelay): the round trip, the interpolation delay, and
    /// how long shots wait for their tick. What is left is jitter, and the length of the client's frames.
    Estimated,
    /// The formula of the textbooks, *now − round trip / 2 − interpolation delay*; for comparison. What is left is half a
    /// round trip.
    Textbook,
    /// The present of the command tick: right for bots, turrets and those who play on the server itself.
    None,
}

/// What happens to a shot that fails a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum CheckPolicy {
    /// It is refused, with the reason.
    #[default]
    Reject,
    /// What it claims is moved to the limit, and the evidence says so: see [`Evidence::adjusted`](crate::Evidence::adjusted).
    Clamp,
    /// It is judged by what the server itself knows, and the evidence says so.
    UseEstimate,
}

/// Which shots of a shooter who is dead by now are refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[non_exhaustive]
pub enum DeadShooters {
    /// Those that were fired after the death: two players can kill each other.
    #[default]
    ByCommandTick,
    /// All that are judged after the death, also those that were on their way: who dies first has lost.
    WhenJudged,
    /// None: the game has rules of its own.
    MayShoot,
}

/// What a shot may claim of its view, and what happens if it claims more.
///
/// The limits hold for shots that come over a connection; see [`ShotEvent::link`](crate::ShotEvent::link).
///
/// Who can be judged by what they see, at 64 Hz with 5 ms of jitter and lightyear's default margins (measured by
/// `cargo test -p netsim --test rewind_budget -- --nocapture`):
///
/// | `max_rewind` | latency, one way |
/// |---|---|
/// | 400 ms | 100 ms with snapshots in each tick (a rewind of 373 ms), 60 ms with one each 100 ms (393 ms) |
/// | 250 ms | 30 ms with snapshots in each tick (242 ms) |
/// | 150 ms | nobody; with leaner margins, 15 ms (130 ms) |
///
/// Lightyear's margins for jitter take 125 ms on any line. Leaner are `SyncConfig { jitter_multiple: 2, jitter_margin: 0.25,
/// error_margin: 0.5, .. }` for inputs and interpolation, measured at 144 frames per second.
///
/// Of what the rewind of a shot is made is in [`Evidence::budget`](crate::Evidence::budget).
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct AdmissionRules {
    /// How far before its command tick a view time may lie. Default: 400 ms.
    ///
    /// Too low, and players on slow lines miss what they hit on their screens; too high, and players are hit long after they
    /// have taken cover. [`LagCompensationConfig::history`](crate::LagCompensationConfig::history) is a limit for all shots,
    /// beyond which none is judged.
    pub max_rewind: Duration,
    /// What happens to a shot that claims an older view. Default: [`CheckPolicy::Clamp`], since it is not the fault of a player
    /// on a slow line. [`RejectReason::ViewTimeTooOld`](crate::RejectReason::ViewTimeTooOld).
    pub old_view: CheckPolicy,
    /// How far a view time may lie from what the server has measured for the connection. Default: 200 ms. What the client
    /// holds back for jitter is taken off, but no more than three quarters, so that who makes the line tremble gains nothing;
    /// and on the older side, two snapshots that may have been lost are added.
    ///
    /// Too low, and honest players whose line changes are judged by the estimate; too high, and a modified client can shoot at
    /// the past of its choice.
    pub tolerance: Duration,
    /// How far the instant of a single rig may lie from the view time of the shot. Default: zero; a game that shows some rigs
    /// with a delay of their own (see [`Shown`](crate::Shown)) sets it to that. Beyond:
    /// [`RejectReason::ViewTimeImplausible`](crate::RejectReason::ViewTimeImplausible).
    pub max_own_delay: Duration,
    /// What happens to a shot whose view lies further off. Default: [`CheckPolicy::UseEstimate`].
    /// [`RejectReason::ViewTimeImplausible`](crate::RejectReason::ViewTimeImplausible).
    pub implausible_view: CheckPolicy,
    /// What happens to a shot that shows an earlier instant than a shot before it. Default: [`CheckPolicy::Reject`], since no
    /// screen runs backwards; [`CheckPolicy::Clamp`] is the same as [`CheckPolicy::UseEstimate`].
    /// [`RejectReason::ViewTimeBackwards`](crate::RejectReason::ViewTimeBackwards).
    pub backward_view: CheckPolicy,
    /// What happens to a shot whose view has run faster than a presentation can. Default: [`CheckPolicy::UseEstimate`];
    /// [`CheckPolicy::Clamp`] is the same. [`RejectReason::ViewTimeTooFast`](crate::RejectReason::ViewTimeTooFast).
    pub fast_view: CheckPolicy,
    /// What happens to a shot whose snapshots go beyond the three limits that follow; [`CheckPolicy::Clamp`] and
    /// [`CheckPolicy::UseEstimate`] do the same here: the rig is rebuilt from the snapshots that were sent. Default:
    /// [`CheckPolicy::Reject`].
    pub doubtful_snapshots: CheckPolicy,
    /// The longest time between two snapshots that a client is believed to have blended. Default: 500 ms. Beyond:
    /// [`RejectReason::SnapshotsTooFarApart`](crate::RejectReason::SnapshotsTooFarApart).
    ///
    /// Too low, and players who lose packets are refused; too high, and a modified client can choose among more poses.
    pub max_snapshot_gap: Duration,
    /// The longest time for which a client is believed to have held a rig still, for want of snapshots. Default: 500 ms.
    /// Beyond: [`RejectReason::ViewFrozen`](crate::RejectReason::ViewFrozen). A rig that has not moved meanwhile is not meant.
    ///
    /// Too low and too high do the same as for [`max_snapshot_gap`](Self::max_snapshot_gap).
    pub max_freeze: Duration,
    /// How far, in metres, a rig may stand on the shooter's screen from where it was on the server at the same instant.
    /// Default: 2. Beyond: [`RejectReason::SnapshotsDeviate`](crate::RejectReason::SnapshotsDeviate).
    ///
    /// Blending cuts corners, and a rig that is held falls behind: at 8 m/s by two metres in 250 ms. Too low and too high do
    /// the same as for [`max_snapshot_gap`](Self::max_snapshot_gap).
    pub max_snapshot_deviation: f32,
}

impl Default for AdmissionRules {
    fn default() -> Self {
        Self {
            max_rewind: Duration::from_millis(400),
            old_view: CheckPolicy::Clamp,
            tolerance: Duration::from_millis(200),
            max_own_delay: Duration::ZERO,
            implausible_view: CheckPolicy::UseEstimate,
            backward_view: CheckPolicy::Reject,
            fast_view: CheckPolicy::UseEstimate,
            doubtful_snapshots: CheckPolicy::Reject,
            max_snapshot_gap: Duration::from_millis(500),
            max_freeze: Duration::from_millis(500),
            max_snapshot_deviation: 2.0,
        }
    }
}
