//! The last few of something, in order.

/// The last `N` items in an order of their own, whatever the order in which they came. Takes no memory but its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent<T, const N: usize> {
    /// From the first to the last; what is free is at the end.
    items: [Option<T>; N],
}

impl<T: Copy, const N: usize> Default for Recent<T, N> {
    fn default() -> Self {
        Self { items: [None; N] }
    }
}

impl<T: Copy, const N: usize> Recent<T, N> {
    /// From the first to the last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = T> {
        self.items.iter().flatten().copied()
    }

    /// The first one, if there is no more room: what came before it may be forgotten.
    pub(super) fn horizon(&self) -> Option<T> {
        self.items.last().copied().flatten().and(self.items[0])
    }

    /// Puts an item in after those for which `goes_before` holds; the first one makes room, and if that is the item itself, it is
    /// forgotten.
    pub(super) fn insert(&mut self, item: T, goes_before: impl Fn(T) -> bool) {
        let place = self.iter().take_while(|other| goes_before(*other)).count();
        if self.items.last().is_some_and(Option::is_none) {
            self.items[place..].rotate_right(1);
            self.items[place] = Some(item);
        } else if let Some(place) = place.checked_sub(1) {
            self.items[..=place].rotate_left(1);
            self.items[place] = Some(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_in_their_order() {
        let mut recent = Recent::<u32, 4>::default();
        let mut insert = |item| {
            recent.insert(item, |other| other <= item);
            recent.iter().collect::<Vec<_>>()
        };
        assert_eq!(insert(5), [5]);
        assert_eq!(insert(3), [3, 5]);
        assert_eq!(insert(7), [3, 5, 7]);
        assert_eq!(insert(6), [3, 5, 6, 7]);
        assert_eq!((recent.horizon(), Recent::<u32, 4>::default().horizon()), (Some(3), None));
        let mut insert = |item| {
            recent.insert(item, |other| other <= item);
            recent.iter().collect::<Vec<_>>()
        };
        assert_eq!(insert(2), [3, 5, 6, 7], "older than all");
        assert_eq!(insert(4), [4, 5, 6, 7]);
        assert_eq!(insert(9), [5, 6, 7, 9]);
    }
}
