//! Which states were sent.

use alloc::collections::VecDeque;

use bevy::prelude::*;

use super::SnapshotPair;
use crate::time::{Tick, ViewTime};

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

    /// The ticks between two of them, on average; `None` if there are no two.
    #[cfg(feature = "lightyear")]
    pub(crate) fn mean_interval(&self) -> Option<f32> {
        let span = self.0.back()?.since(*self.0.front()?);
        (span > 0).then(|| span as f32 / (self.0.len() - 1) as f32)
    }

    /// Whether `tick` lies before all that can still be told.
    pub(crate) fn is_forgotten(&self, tick: Tick) -> bool {
        self.0.front().is_some_and(|oldest| tick.since(*oldest) < 0)
    }

    /// The sent ticks around an instant: the last one at or before it, and the first one after it.
    pub(crate) fn around(&self, view: ViewTime) -> Option<SnapshotPair> {
        let after = self.position_after(view.tick);
        Some(SnapshotPair { start: *self.0.get(after.checked_sub(1)?)?, end: self.0.get(after).copied() })
    }

    /// The index of the first sent tick after `tick`.
    fn position_after(&self, tick: Tick) -> usize {
        self.0.partition_point(|sent| sent.since(tick) <= 0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn every_third_tick(start: u32) -> SentTicks {
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
            let around = |view| sent.around(view);
            assert_eq!(around(ViewTime::at(tick(90))), Some(SnapshotPair::new(tick(90), tick(93))));
            assert_eq!(around(ViewTime::new(tick(92), 7)), Some(SnapshotPair::new(tick(90), tick(93))));
            assert_eq!(around(ViewTime::at(tick(118))), Some(SnapshotPair::held(tick(117))));
            assert_eq!(around(ViewTime::at(tick(50))), None);
        }
    }

    #[test]
    fn noting_a_tick_twice_forgets_nothing() {
        let mut sent = every_third_tick(0);
        sent.note(Tick(117), 64);
        assert!(sent.contains(Tick(90)) && sent.contains(Tick(117)));
    }
}
