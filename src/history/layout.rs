//! The parts of records that rarely change: which hitboxes there are, and their shapes.

use alloc::collections::VecDeque;

use super::RecordedHitbox;

/// Every layout that some record still follows, oldest first.
///
/// A layout is the list of a rig's hitboxes without their poses. It is stored again only when it differs from the one
/// before, so that sizes cost memory when they change and not in each tick.
#[derive(Debug, Default)]
pub(super) struct LayoutTable {
    layouts: VecDeque<Vec<RecordedHitbox>>,
    /// The number of the first layout in the table; each later one has the next number.
    first: u32,
    /// A forgotten list whose memory can serve again.
    spare: Vec<RecordedHitbox>,
}

impl LayoutTable {
    /// The number of a layout, which is put into the table unless it is the newest one there.
    pub(super) fn number_of(&mut self, hitboxes: &[RecordedHitbox]) -> u32 {
        if self.layouts.back().is_none_or(|newest| newest != hitboxes) {
            let mut layout = core::mem::take(&mut self.spare);
            layout.clear();
            layout.extend_from_slice(hitboxes);
            self.layouts.push_back(layout);
        }
        self.first.wrapping_add(self.layouts.len() as u32 - 1)
    }

    /// Drops all layouts before the one with this number.
    pub(super) fn forget_before(&mut self, number: u32) {
        while self.first != number
            && let Some(layout) = self.layouts.pop_front()
        {
            self.spare = layout;
            self.first = self.first.wrapping_add(1);
        }
    }

    /// The layout with this number, which a record must still follow.
    pub(super) fn get(&self, number: u32) -> &[RecordedHitbox] {
        &self.layouts[number.wrapping_sub(self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;
    use crate::{Shape, Zone};

    fn ball(radius: f32) -> [RecordedHitbox; 1] {
        [RecordedHitbox { entity: Entity::PLACEHOLDER, zone: Zone::Head, shape: Shape::Ball { radius } }]
    }

    #[test]
    fn an_unchanged_layout_is_stored_once() {
        let mut table = LayoutTable::default();
        let first = table.number_of(&ball(0.1));
        assert_eq!(table.number_of(&ball(0.1)), first);
        assert_eq!(table.layouts.len(), 1);
    }

    #[test]
    fn changed_layouts_live_until_they_are_forgotten() {
        let mut table = LayoutTable::default();
        let numbers = [0.1, 0.2, 0.3].map(|radius| table.number_of(&ball(radius)));
        table.forget_before(numbers[1]);
        assert_eq!(table.get(numbers[1]), ball(0.2));
        assert_eq!(table.get(numbers[2]), ball(0.3));
        assert_eq!(table.layouts.len(), 2);
    }
}
