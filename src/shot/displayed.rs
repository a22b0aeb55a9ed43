//! What the shooter's screen was made of.

use alloc::collections::VecDeque;
use core::time::Duration;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::RejectReason;
use crate::time::{Tick, ViewTime};

/// The snapshots of one rig that a client had blended into what its screen showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Reflect)]
pub struct DisplayedRig {
    /// The rig, as an entity of the server.
    pub rig: Entity,
    /// The tick of the snapshot at or before the view time.
    pub start: Tick,
    /// The tick of the snapshot after it; `None` if there was none and the rig was held where it stood.
    pub end: Option<Tick>,
}

/// Snapshots of the few rigs that a shot passes closest to.
pub type DisplayedRigs = [Option<DisplayedRig>; 4];

/// What a rig's pose in a verdict was rebuilt from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum PoseBasis {
    /// The records around the view time.
    #[default]
    History,
    /// The snapshots that the shooter's client said it had blended, or those that were sent around the view time.
    Snapshots {
        /// The tick of the earlier one.
        start: Tick,
        /// The tick of the later one; `None` if the earlier one was held.
        end: Option<Tick>,
    },
}

/// The ticks whose state was sent to clients, oldest first; whoever replicates the world notes them here.
///
/// The server half of the `lightyear` feature does that. As long as it is empty, shots are judged by the full history.
#[derive(Resource, Default, Debug)]
pub struct SentTicks(VecDeque<Tick>);

impl SentTicks {
    /// Notes that the state after `tick` is sent; forgets what is more than `window` ticks older.
    pub fn note(&mut self, tick: Tick, window: u32) {
        match self.0.back().map(|newest| tick.since(*newest)) {
            Some(0) => return,
            // The clock was set back.
            Some(ticks) if ticks < 0 => self.0.clear(),
            _ => {}
        }
        self.0.push_back(tick);
        while self.0.front().is_some_and(|oldest| tick.since(*oldest) > window as i32) {
            self.0.pop_front();
        }
    }

    /// Whether the state after `tick` was sent, and can still be told.
    pub fn contains(&self, tick: Tick) -> bool {
        self.position_after(tick).checked_sub(1).is_some_and(|index| self.0[index] == tick)
    }

    /// Whether `tick` lies before all that can still be told.
    fn is_forgotten(&self, tick: Tick) -> bool {
        self.0.front().is_some_and(|oldest| tick.since(*oldest) < 0)
    }

    /// The sent ticks around an instant: the last one at or before it, and the first one after it.
    pub(crate) fn around(&self, view: ViewTime) -> Option<(Tick, Option<Tick>)> {
        let after = self.position_after(view.tick);
        Some((*self.0.get(after.checked_sub(1)?)?, self.0.get(after).copied()))
    }

    /// The index of the first sent tick after `tick`.
    fn position_after(&self, tick: Tick) -> usize {
        self.0.partition_point(|sent| sent.since(tick) <= 0)
    }
}

impl DisplayedRig {
    /// Whether a client can have blended these snapshots at `view`.
    pub(crate) fn check(&self, view: ViewTime, sent: &SentTicks) -> Result<(), RejectReason> {
        let Self { start, end, .. } = *self;
        let ends_later = end.is_none_or(|end| end != start && !ViewTime::at(end).is_before(view));
        if view.tick.since(start) < 0 || !ends_later {
            return Err(RejectReason::SnapshotsDisordered);
        }
        let was_sent = |tick| sent.contains(tick) || sent.is_forgotten(tick);
        if !was_sent(start) || end.is_some_and(|end| !was_sent(end)) {
            return Err(RejectReason::SnapshotNotSent);
        }
        Ok(())
    }

    /// Whether the snapshots lie no further apart than `longest`, or the only one was held for no longer.
    pub(crate) fn is_short(&self, view: ViewTime, longest: Duration, timestep: Duration) -> bool {
        let until = self.end.unwrap_or(view.tick);
        timestep.checked_mul(until.since(self.start).unsigned_abs()).is_some_and(|gap| gap <= longest)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);

    fn every_third_tick(start: u32) -> SentTicks {
        let mut sent = SentTicks::default();
        for n in 0..40 {
            sent.note(Tick(start.wrapping_add(3 * n)), 64);
        }
        sent
    }

    #[test]
    fn sent_ticks_are_found_across_the_wrap_and_forgotten_after_the_window() {
        for start in [0, u32::MAX - 90] {
            let sent = every_third_tick(start);
            let tick = |n: u32| Tick(start.wrapping_add(n));
            assert!(sent.contains(tick(117)) && sent.contains(tick(54)));
            assert!(!sent.contains(tick(116)) && !sent.contains(tick(51)));
            assert_eq!(sent.around(ViewTime::at(tick(90))), Some((tick(90), Some(tick(93)))));
            assert_eq!(sent.around(ViewTime::new(tick(92), 7)), Some((tick(90), Some(tick(93)))));
            assert_eq!(sent.around(ViewTime::at(tick(118))), Some((tick(117), None)));
            assert_eq!(sent.around(ViewTime::at(tick(50))), None);
        }
    }

    #[test]
    fn false_pairs_are_told_apart() {
        let sent = every_third_tick(0);
        let view = ViewTime::new(Tick(91), 0x4000);
        let pair =
            |start, end: Option<u32>| DisplayedRig { rig: Entity::PLACEHOLDER, start: Tick(start), end: end.map(Tick) };
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

        let is_short = |start, end| pair(start, end).is_short(view, Duration::from_millis(300), TICK);
        assert!(is_short(84, Some(102)) && is_short(75, None));
        assert!(!is_short(84, Some(105)) && !is_short(69, None));
        let nonsense = pair(0, Some(1 << 31));
        assert!(!nonsense.is_short(view, Duration::from_millis(300), Duration::MAX));
    }

    #[test]
    fn noting_a_tick_twice_forgets_nothing() {
        let mut sent = every_third_tick(0);
        sent.note(Tick(117), 64);
        assert!(sent.contains(Tick(90)) && sent.contains(Tick(117)));
    }
}
