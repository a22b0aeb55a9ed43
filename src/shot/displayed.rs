//! What the shooter's screen was made of.

use core::time::Duration;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::{RejectReason, SentTicks};
use crate::time::{Tick, ViewTime};

/// The two snapshots that a client had blended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Reflect)]
pub struct SnapshotPair {
    /// The tick of the snapshot at or before the view time.
    pub start: Tick,
    /// The tick of the snapshot after it; `None` if there was none and what it showed was held.
    pub end: Option<Tick>,
}

/// How a client had found the pose in which its screen showed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum Shown {
    /// It was blended from two snapshots.
    #[non_exhaustive]
    Interpolated {
        /// Those of its pose.
        pair: SnapshotPair,
        /// The snapshots whose places were used for those of the pair, if they are earlier ones: lightyear can take a snapshot for
        /// a repetition of the one before it that is none.
        places: Option<SnapshotPair>,
        /// Those of its [`DisplayParameters`](crate::DisplayParameters), if they are others.
        parameters: Option<SnapshotPair>,
        /// The instant at which they were blended, if it is not the view time of the shot: something that this game shows with
        /// a delay of its own.
        view_time: Option<ViewTime>,
    },
    /// It was predicted, and showed this instant; [`ViewTime::at`] the last tick that the client had run.
    Predicted(ViewTime),
}

/// A rig or an [`Occluder`](crate::Occluder) on the screen of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Reflect)]
pub struct DisplayedRig {
    /// The entity, as the server knows it.
    pub rig: Entity,
    /// How its pose was found.
    pub shown: Shown,
}

/// The few rigs that a shot passes closest to.
pub type DisplayedRigs = [Option<DisplayedRig>; 8];

/// What a pose in a verdict was rebuilt from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum PoseBasis {
    /// The records around the view time.
    #[default]
    History,
    /// The snapshots that the shooter's client said it had blended, or those that were sent around the view time.
    Snapshots(SnapshotPair),
    /// The records around the instant up to which the client had predicted it.
    Predicted,
}

impl SnapshotPair {
    /// Snapshots of these two ticks.
    pub const fn new(start: Tick, end: Tick) -> Self {
        Self { start, end: Some(end) }
    }

    /// The snapshot of a tick that was held, for want of a later one.
    pub const fn held(start: Tick) -> Self {
        Self { start, end: None }
    }

    /// Whether a client can have blended these snapshots at `view`.
    fn check(self, view: ViewTime, sent: &SentTicks) -> Result<(), RejectReason> {
        let Self { start, end } = self;
        let ends_later = end.is_none_or(|end| end != start && !ViewTime::at(end).is_before(view));
        if view.tick.since(start) < 0 || !ends_later {
            return Err(RejectReason::SnapshotsDisordered);
        }
        self.check_sent(sent)
    }

    /// Whether these can be earlier snapshots in the places of those of another pair.
    fn check_repeats(self, later: Self, sent: &SentTicks) -> Result<(), RejectReason> {
        let in_order = match (self.end, later.end) {
            (None, None) => true,
            (Some(earlier), Some(end)) => end.since(earlier) >= 0 && earlier.since(self.start) >= 0,
            _ => false,
        };
        if later.start.since(self.start) < 0 || !in_order {
            return Err(RejectReason::SnapshotsDisordered);
        }
        self.check_sent(sent)
    }

    fn check_sent(self, sent: &SentTicks) -> Result<(), RejectReason> {
        let was_sent = |tick| sent.contains(tick) || sent.is_forgotten(tick);
        let all_sent = was_sent(self.start) && self.end.is_none_or(was_sent);
        if all_sent { Ok(()) } else { Err(RejectReason::SnapshotNotSent) }
    }

    /// Whether the snapshots lie no further apart than `longest`.
    pub(crate) fn is_short(self, longest: Duration, timestep: Duration) -> bool {
        self.end.is_none_or(|end| ticks(end.since(self.start), timestep) <= longest)
    }

    /// Whether the only snapshot was held for no longer than `longest`.
    pub(crate) fn is_fresh(self, view: ViewTime, longest: Duration, timestep: Duration) -> bool {
        self.end.is_some() || ticks(view.tick.since(self.start), timestep) <= longest
    }
}

/// The time that so many ticks take, either way.
fn ticks(number: i32, timestep: Duration) -> Duration {
    timestep.saturating_mul(number.unsigned_abs())
}

impl DisplayedRig {
    /// Something that was blended from these snapshots at the view time of the shot.
    pub const fn interpolated(rig: Entity, pair: SnapshotPair) -> Self {
        Self { rig, shown: Shown::Interpolated { pair, places: None, parameters: None, view_time: None } }
    }

    /// Something that was blended from these snapshots at an instant of its own.
    pub const fn interpolated_at(rig: Entity, pair: SnapshotPair, view_time: ViewTime) -> Self {
        Self { rig, shown: Shown::Interpolated { pair, places: None, parameters: None, view_time: Some(view_time) } }
    }

    /// The same, with parameters that were blended from other snapshots than its pose; nothing changes for something that was
    /// predicted.
    pub const fn with_parameters(self, own: SnapshotPair) -> Self {
        match self.shown {
            Shown::Interpolated { pair, places, view_time, .. } => {
                Self { shown: Shown::Interpolated { pair, places, parameters: Some(own), view_time }, ..self }
            }
            Shown::Predicted(_) => self,
        }
    }

    /// The same, with the places of earlier snapshots; nothing changes for something that was predicted.
    pub const fn with_places(self, earlier: SnapshotPair) -> Self {
        match self.shown {
            Shown::Interpolated { pair, parameters, view_time, .. } => {
                Self { shown: Shown::Interpolated { pair, places: Some(earlier), parameters, view_time }, ..self }
            }
            Shown::Predicted(_) => self,
        }
    }

    /// Something that was predicted, and showed this instant.
    pub const fn predicted(rig: Entity, instant: ViewTime) -> Self {
        Self { rig, shown: Shown::Predicted(instant) }
    }

    /// Gives what was predicted other ticks, after the client's clock has been set by so many.
    #[cfg(feature = "lightyear")]
    pub(crate) fn relabel(&mut self, delta: i32) {
        if let Shown::Predicted(instant) = &mut self.shown {
            instant.tick = Tick(instant.tick.0.wrapping_add_signed(delta));
        }
    }

    /// The instant that the screen showed of this rig.
    pub(crate) fn instant(&self, view: ViewTime) -> ViewTime {
        match self.shown {
            Shown::Interpolated { view_time, .. } => view_time.unwrap_or(view),
            Shown::Predicted(instant) => instant,
        }
    }

    /// Checks what can be checked without knowing where the rig stood.
    pub(crate) fn check(&self, view: ViewTime, sent: &SentTicks) -> Result<(), RejectReason> {
        match self.shown {
            Shown::Interpolated { pair, places, parameters, view_time } => {
                let view = view_time.unwrap_or(view);
                pair.check(view, sent)?;
                if let Some(places) = places {
                    places.check_repeats(pair, sent)?;
                }
                parameters.map_or(Ok(()), |pair| pair.check(view, sent))
            }
            Shown::Predicted(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shot::sent::tests::every_third_tick;

    const TICK: Duration = Duration::from_nanos(15_625_000);

    fn pair(start: u32, end: Option<u32>) -> SnapshotPair {
        SnapshotPair { start: Tick(start), end: end.map(Tick) }
    }

    #[test]
    fn false_pairs_are_told_apart() {
        let sent = every_third_tick(0);
        let view = ViewTime::new(Tick(91), 0x4000);
        let check = |start, end| pair(start, end).check(view, &sent).err();
        assert_eq!(check(90, Some(93)), None);
        assert_eq!(check(90, None), None);
        assert_eq!(check(84, Some(99)), None, "snapshots between were lost");
        assert_eq!(check(50, Some(93)), None, "too long ago to tell");
        assert_eq!(check(91, Some(93)), Some(RejectReason::SnapshotNotSent));
        assert_eq!(check(90, Some(94)), Some(RejectReason::SnapshotNotSent));
        assert_eq!(check(93, Some(90)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(90, Some(90)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(93, Some(96)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(84, Some(87)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(u32::MAX / 2, None), Some(RejectReason::SnapshotsDisordered));
    }

    #[test]
    fn pairs_are_checked_at_the_instant_of_their_rig() {
        let sent = every_third_tick(0);
        let view = ViewTime::at(Tick(91));
        let rig = |pair, at| DisplayedRig::interpolated_at(Entity::PLACEHOLDER, pair, ViewTime::at(Tick(at)));
        assert_eq!(rig(pair(84, Some(87)), 85).check(view, &sent), Ok(()));
        assert_eq!(rig(pair(90, Some(93)), 85).check(view, &sent), Err(RejectReason::SnapshotsDisordered));
        assert_eq!(rig(pair(84, Some(87)), 85).instant(view), ViewTime::at(Tick(85)));
        let parameters = Some(pair(85, None));
        let shown = Shown::Interpolated { pair: pair(90, None), places: None, parameters, view_time: None };
        let false_parameters = DisplayedRig { rig: Entity::PLACEHOLDER, shown };
        assert_eq!(false_parameters.check(view, &sent), Err(RejectReason::SnapshotNotSent));
    }

    #[test]
    fn places_are_those_of_earlier_snapshots() {
        let sent = every_third_tick(0);
        let view = ViewTime::at(Tick(91));
        let check = |places| DisplayedRig::interpolated(Entity::PLACEHOLDER, pair(90, Some(93))).with_places(places);
        let check = |places| check(places).check(view, &sent).err();
        assert_eq!(check(pair(90, Some(90))), None);
        assert_eq!(check(pair(87, Some(93))), None);
        assert_eq!(check(pair(88, Some(93))), Some(RejectReason::SnapshotNotSent));
        assert_eq!(check(pair(93, Some(93))), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(pair(90, Some(96))), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(pair(90, Some(87))), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(pair(90, None)), Some(RejectReason::SnapshotsDisordered));
    }

    #[test]
    fn long_gaps_and_long_freezes_are_told_apart() {
        let view = ViewTime::new(Tick(91), 0x4000);
        let longest = Duration::from_millis(300);
        let is_short = |start, end| pair(start, end).is_short(longest, TICK);
        assert!(is_short(84, Some(102)) && is_short(10, None));
        assert!(!is_short(84, Some(105)));
        assert!(!pair(0, Some(1 << 31)).is_short(longest, Duration::MAX));
        let is_fresh = |start, end| pair(start, end).is_fresh(view, longest, TICK);
        assert!(is_fresh(75, None) && is_fresh(10, Some(92)));
        assert!(!is_fresh(69, None));
    }
}
