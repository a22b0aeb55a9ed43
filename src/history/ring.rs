//! Which slot of a fixed number of slots holds which tick.

use crate::time::Tick;

/// The bookkeeping of a ring: ticks in rising order, possibly with gaps, each in a slot of its own.
///
/// Slots are addressed by age: 0 is the newest record. Nothing is derived from a tick modulo the capacity, so ticks may wrap
/// whatever the capacity is. Of the records that lie `capacity - 1` ticks or more before the newest one, only the last is kept:
/// what stands at the beginning of the window, or is blended across it.
#[derive(Debug, Default)]
pub(crate) struct TickRing {
    ticks: Vec<Tick>,
    newest: usize,
    len: usize,
}

impl TickRing {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { ticks: vec![Tick(0); capacity], newest: 0, len: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.ticks.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn newest(&self) -> Option<Tick> {
        (self.len > 0).then(|| self.tick(0))
    }

    pub(crate) fn oldest(&self) -> Option<Tick> {
        (self.len > 0).then(|| self.tick(self.len - 1))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.ticks.as_slice())
    }

    /// The slot of the record of this age, which must be less than `len`.
    #[inline]
    pub(crate) fn slot(&self, age: usize) -> usize {
        debug_assert!(age < self.len);
        // A division would take longer than all else here.
        if age <= self.newest { self.newest - age } else { self.newest + self.capacity() - age }
    }

    /// The tick of the record of this age, which must be less than `len`.
    #[inline]
    pub(crate) fn tick(&self, age: usize) -> Tick {
        self.ticks[self.slot(age)]
    }

    /// The slot for a record of `tick`.
    ///
    /// The newest record is overwritten if it is of the same tick; all are dropped if `tick` lies before it.
    pub(crate) fn push(&mut self, tick: Tick) -> usize {
        match self.newest().map(|newest| tick.since(newest)) {
            Some(0) => return self.newest,
            Some(ticks) if ticks < 0 => self.len = 0,
            _ => {}
        }
        self.newest = (self.newest + 1) % self.capacity();
        self.len = (self.len + 1).min(self.capacity());
        self.ticks[self.newest] = tick;
        let window = self.capacity() - 1;
        while self.len > 1 && tick.since(self.tick(self.len - 2)) as usize >= window {
            self.len -= 1;
        }
        self.newest
    }

    /// The age of the last record at or before `tick`, unless all are later.
    pub(crate) fn age_at_or_before(&self, tick: Tick) -> Option<usize> {
        let back = self.newest()?.since(tick);
        if back <= 0 {
            return Some(0);
        }
        // Without gaps the age is the difference in ticks; gaps can only make it smaller.
        let back = (back as usize).min(self.len - 1);
        if self.tick(back) == tick {
            return Some(back);
        }
        let (mut later, mut at_or_before) = (0, back);
        while later + 1 < at_or_before {
            let middle = usize::midpoint(later, at_or_before);
            if self.tick(middle).since(tick) > 0 {
                later = middle;
            } else {
                at_or_before = middle;
            }
        }
        (self.tick(at_or_before).since(tick) <= 0).then_some(at_or_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(capacity: usize, ticks: impl IntoIterator<Item = u32>) -> TickRing {
        let mut ring = TickRing::with_capacity(capacity);
        for tick in ticks {
            ring.push(Tick(tick));
        }
        ring
    }

    #[test]
    fn finds_every_tick_with_gaps_and_wrapping() {
        let start = u32::MAX - 6;
        let offsets = [0, 1, 4, 5, 9, 10, 11];
        let ring = ring(12, offsets.map(|offset| start.wrapping_add(offset)));
        for offset in 0..15 {
            let expected = offsets.iter().rposition(|o| *o <= offset).map(|index| offsets.len() - 1 - index);
            assert_eq!(ring.age_at_or_before(Tick(start.wrapping_add(offset))), expected, "offset {offset}");
        }
        assert_eq!(ring.age_at_or_before(Tick(start - 1)), None);
    }

    #[test]
    fn records_beyond_the_window_are_dropped_but_for_the_one_that_reaches_into_it() {
        let held = |ticks: &[u32]| {
            let ring = ring(8, ticks.iter().copied());
            (ring.oldest(), ring.len())
        };
        assert_eq!(held(&[1, 2, 3, 9, 10]), (Some(Tick(3)), 3));
        assert_eq!(held(&[1, 2, 3, 9, 11]), (Some(Tick(3)), 3), "4 lies between 3 and 9");
        assert_eq!(held(&[1, 2, 3, 9, 16]), (Some(Tick(9)), 2));
        assert_eq!(held(&[1, 2, 3, 90]), (Some(Tick(3)), 2));
    }

    #[test]
    fn a_ring_of_one_keeps_the_newest() {
        let ring = ring(1, 0..5);
        assert_eq!((ring.oldest(), ring.newest()), (Some(Tick(4)), Some(Tick(4))));
    }

    #[test]
    fn the_same_tick_twice_takes_one_slot() {
        assert_eq!(ring(4, [1, 2, 2]).len(), 2);
    }
}
