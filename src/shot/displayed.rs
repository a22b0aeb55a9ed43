//! What the shooter's screen was made of.

use alloc::collections::VecDeque;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::RejectReason;
use crate::{
    config::LagCompensationConfig,
    time::{Tick, ViewTime},
};

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
        if self.0.back().is_some_and(|newest| tick.since(*newest) <= 0) {
            self.0.clear();
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
    /// Checks what can be checked without the rig; `timestep` in seconds.
    pub(crate) fn check(
        &self,
        view: ViewTime,
        sent: &SentTicks,
        config: &LagCompensationConfig,
        timestep: core::time::Duration,
    ) -> Result<(), RejectReason> {
        let Self { start, end, .. } = *self;
        let in_order =
            view.tick.since(start) >= 0 && end.is_none_or(|end| !ViewTime::at(end).is_before(view) && end != start);
        if !in_order {
            return Err(RejectReason::SnapshotsDisordered);
        }
        // A held rig may not be held for longer than the same time.
        let until = end.unwrap_or(view.tick);
        let gap = timestep * until.since(start).unsigned_abs();
        if gap > config.max_snapshot_gap {
            return Err(RejectReason::SnapshotsTooFarApart);
        }
        if !sent.contains(start) || end.is_some_and(|end| !sent.contains(end)) {
            return Err(RejectReason::SnapshotNotSent);
        }
        Ok(())
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
        let (sent, config) = (every_third_tick(0), LagCompensationConfig::default());
        let view = ViewTime::new(Tick(91), 0x4000);
        let check = |start, end: Option<u32>| {
            let pair = DisplayedRig { rig: Entity::PLACEHOLDER, start: Tick(start), end: end.map(Tick) };
            pair.check(view, &sent, &config, TICK).err()
        };
        assert_eq!(check(90, Some(93)), None);
        assert_eq!(check(90, None), None);
        assert_eq!(check(84, Some(99)), None, "snapshots between were lost");
        assert_eq!(check(91, Some(93)), Some(RejectReason::SnapshotNotSent));
        assert_eq!(check(90, Some(94)), Some(RejectReason::SnapshotNotSent));
        assert_eq!(check(93, Some(90)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(90, Some(90)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(93, Some(96)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(84, Some(87)), Some(RejectReason::SnapshotsDisordered));
        assert_eq!(check(57, Some(117)), Some(RejectReason::SnapshotsTooFarApart));
        assert_eq!(check(57, None), Some(RejectReason::SnapshotsTooFarApart));
    }
}
