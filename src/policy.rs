//! What a server can choose between.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// How the server finds what the shooter's screen showed.
///
/// Chosen for the server by [`LagCompensationConfig::view_source`](crate::LagCompensationConfig::view_source), and for a single
/// shot by [`ShotEvent::view_source`]. A shot that lacks what a source needs is judged by the next one below that can do
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
    /// The server's own estimate, from [`ConnectionDelay`]: the round trip, the interpolation delay, and how long shots wait
    /// for their tick. What is left is jitter.
    Estimated,
    /// The formula of the textbooks, *now − round trip / 2 − interpolation delay*; for comparison. What is left is half a
    /// round trip.
    Textbook,
    /// The present of the command tick: right for bots, turrets and those who play on the server itself.
    None,
}

/// What happens to a shot that fails a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[non_exhaustive]
pub enum CheckPolicy {
    /// It is refused, with the reason.
    #[default]
    Reject,
    /// It is judged by what the server itself knows, and the evidence says so.
    UseEstimate,
}
