//! The parts of records that rarely change: which hitboxes there are, their shapes, and the state of the rig.

use alloc::collections::VecDeque;

use bevy::{math::Vec4, prelude::*};

use super::posing::Posing;
use crate::{
    hitbox::{LifeNumber, Zone},
    shape::Shape,
};

/// A hitbox as it was in one tick, without its pose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RecordedHitbox {
    pub(crate) entity: Entity,
    pub(crate) zone: Zone,
    /// With the scale of then.
    pub(crate) shape: Shape,
    pub(crate) hittable: bool,
    /// It has another parent since this tick, and is not blended with what it was before.
    pub(crate) is_fresh: bool,
}

impl RecordedHitbox {
    /// Whether nothing but rounding has changed.
    fn is_still(&self, other: &Self) -> bool {
        let identity = |hitbox: &Self| (hitbox.entity, hitbox.zone, hitbox.hittable, hitbox.is_fresh);
        identity(self) == identity(other) && self.shape.is_close_to(other.shape)
    }
}

/// What holds for the whole rig from one tick on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RigState {
    /// Records with the same number may be blended.
    pub(crate) segment: u32,
    pub(crate) life: LifeNumber,
    pub(crate) alive: bool,
}

/// What a layout says of the whole rig.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    pub(super) state: RigState,
    /// The middle of the hitboxes as they stood when the layout was new, relative to the root.
    pub(super) center: Vec3,
}

/// The list of a rig's hitboxes without their poses, and its state.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) head: Head,
    pub(super) hitboxes: Vec<RecordedHitbox>,
    /// The radii of the balls around them in groups of four, if they can be looked at so: of those that cannot be hit, and of what
    /// is free, less than nothing.
    pub(super) radii: Option<Box<[Vec4]>>,
    /// How they are posed, if by a rule.
    pub(super) posing: Option<Box<Posing>>,
}

impl Layout {
    /// The index of a hitbox; it is probably `guess`.
    pub(super) fn index_of(&self, entity: Entity, guess: usize) -> Option<usize> {
        let hitboxes = &self.hitboxes;
        let guess = Some(guess).filter(|guess| hitboxes.get(*guess).is_some_and(|hitbox| hitbox.entity == entity));
        guess.or_else(|| hitboxes.iter().position(|hitbox| hitbox.entity == entity))
    }

    /// Those that are not blended with what they were before must be looked at one by one.
    fn list_radii(&mut self, with_radii: bool) {
        if !with_radii || self.hitboxes.iter().any(|hitbox| hitbox.is_fresh) {
            self.radii = None;
            return;
        }
        let groups = self.hitboxes.len().div_ceil(4);
        let radii = self.radii.take().filter(|radii| radii.len() == groups);
        let mut radii = radii.unwrap_or_else(|| vec![Vec4::ZERO; groups].into());
        for (radii, group) in radii.iter_mut().zip(self.hitboxes.chunks(4)) {
            let of = |lane: usize| group.get(lane).filter(|hitbox| hitbox.hittable);
            let of = |lane| of(lane).map_or(f32::NEG_INFINITY, |hitbox| hitbox.shape.bounding_radius());
            *radii = Vec4::new(of(0), of(1), of(2), of(3));
        }
        self.radii = Some(radii);
    }
}

/// Every layout that some record still follows, oldest first.
///
/// A layout is stored again only when it differs from the one before, so that sizes cost memory when they change and not in
/// each tick.
#[derive(Debug, Default)]
pub(super) struct LayoutTable {
    layouts: VecDeque<Layout>,
    /// What the newest one says: recording looks at it in each tick, and at no other.
    newest: Head,
    /// The number of the first layout in the table; each later one has the next number.
    first: u32,
    /// Forgotten lists whose memory can serve again.
    spare: Vec<Layout>,
}

impl LayoutTable {
    /// The number of a layout, which is put into the table unless it is the newest one there; then with this centre.
    pub(super) fn number_of(
        &mut self,
        state: RigState,
        hitboxes: &[RecordedHitbox],
        posing: Option<&Posing>,
        center: impl FnOnce() -> Vec3,
        with_radii: bool,
    ) -> u32 {
        let is_newest = |newest: &Layout| {
            let pairs = newest.hitboxes.iter().zip(hitboxes);
            newest.head.state == state
                && newest.hitboxes.len() == hitboxes.len()
                && match (&newest.posing, posing) {
                    (Some(newest), Some(posing)) => newest.is_still(posing),
                    (newest, posing) => newest.is_none() && posing.is_none(),
                }
                && pairs.into_iter().all(|(stored, now)| stored.is_still(now))
        };
        if !self.layouts.back().is_some_and(is_newest) {
            let mut layout = self.spare.pop().unwrap_or_default();
            layout.head = Head { state, center: center() };
            layout.hitboxes.clear();
            layout.hitboxes.extend_from_slice(hitboxes);
            layout.list_radii(with_radii);
            match (&mut layout.posing, posing) {
                (Some(spare), Some(posing)) => spare.copy_from(posing),
                (spare, posing) => *spare = posing.cloned().map(Box::new),
            }
            if self.layouts.is_empty() {
                // Most rigs never need a second one.
                self.layouts.reserve_exact(1);
            }
            self.newest = layout.head;
            self.layouts.push_back(layout);
        }
        self.newest_number()
    }

    fn newest_number(&self) -> u32 {
        self.first.wrapping_add(self.layouts.len() as u32).wrapping_sub(1)
    }

    /// Whether no record follows any other than the newest one.
    pub(super) fn is_single(&self) -> bool {
        self.layouts.len() == 1
    }

    /// What the layout with this number says of the whole rig.
    #[inline]
    pub(super) fn head(&self, number: u32) -> Head {
        if number == self.newest_number() { self.newest } else { self.get(number).head }
    }

    /// Drops all layouts before the one with this number.
    pub(super) fn forget_before(&mut self, number: u32) {
        while self.first != number
            && let Some(layout) = self.layouts.pop_front()
        {
            self.spare.push(layout);
            self.first = self.first.wrapping_add(1);
        }
    }

    /// The layout with this number, which a record must still follow.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &Layout {
        &self.layouts[number.wrapping_sub(self.first) as usize]
    }

    /// The same hitboxes as in the newest layout, but perhaps in another state; then with this centre.
    pub(super) fn repeated(&mut self, state: RigState, center: impl FnOnce() -> Vec3) -> u32 {
        if self.newest.state != state
            && let Some(newest) = self.layouts.back()
        {
            let mut layout = self.spare.pop().unwrap_or_default();
            layout.head = Head { state, center: center() };
            layout.hitboxes.clone_from(&newest.hitboxes);
            layout.radii.clone_from(&newest.radii);
            layout.posing = None;
            self.newest = layout.head;
            self.layouts.push_back(layout);
        }
        self.newest_number()
    }

    /// If there are several layouts: how far what is blended from any of them reaches from the rig, if no record reaches further than
    /// `widest` from its layout's centre.
    pub(super) fn reach_of_several(&self, widest: f32) -> Option<f32> {
        // What is blended lies within a ball around the balls of two records, of which the later one is larger by a hitbox. Its middle
        // lies between theirs, and its radius is half the sum of theirs and of what lies in between, which is not more than both
        // arms; or it is one of the two.
        let arms = || self.layouts.iter().map(|layout| layout.head.center.length()).fold(0.0, f32::max);
        let hitboxes = || self.layouts.iter().flat_map(|layout| &layout.hitboxes);
        let largest = || hitboxes().map(|hitbox| hitbox.shape.bounding_radius()).fold(0.0, f32::max);
        (self.layouts.len() > 1).then(|| {
            let (arms, largest) = (arms(), largest());
            arms + widest + (arms + 0.5 * largest).max(largest)
        })
    }

    /// Memory of all lists.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.layouts.iter().chain(&self.spare);
        let bytes_of = |layout: &Layout| {
            let posing = layout.posing.as_ref().map_or(0, |posing| posing.bytes());
            let radii = layout.radii.as_deref().map_or(0, size_of_val);
            layout.hitboxes.capacity() * size_of::<RecordedHitbox>() + radii + posing
        };
        (self.layouts.capacity() + self.spare.capacity()) * size_of::<Layout>() + lists.map(bytes_of).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(radius: f32) -> [RecordedHitbox; 1] {
        let shape = Shape::Ball { radius };
        [RecordedHitbox { entity: Entity::PLACEHOLDER, zone: Zone::Head, shape, hittable: true, is_fresh: false }]
    }

    #[test]
    fn an_unchanged_layout_is_stored_once() {
        let mut table = LayoutTable::default();
        let first = table.number_of(RigState::default(), &ball(0.1), None, Vec3::default, true);
        assert_eq!(table.number_of(RigState::default(), &ball(0.1), None, Vec3::default, true), first);
        assert_eq!(
            table.number_of(RigState::default(), &ball(0.1 * (1.0 + 1e-6)), None, Vec3::default, true),
            first,
            "rounding"
        );
        assert_eq!(table.layouts.len(), 1);
    }

    #[test]
    fn changed_layouts_live_until_they_are_forgotten() {
        let mut table = LayoutTable::default();
        let dead = RigState { alive: false, segment: 1, ..default() };
        let first = table.number_of(RigState::default(), &ball(0.1), None, Vec3::default, true);
        let second = table.number_of(RigState::default(), &ball(0.2), None, Vec3::default, true);
        let third = table.number_of(dead, &ball(0.2), None, Vec3::default, true);
        assert_eq!((second, third), (first + 1, first + 2));
        table.forget_before(second);
        assert_eq!(table.get(second).hitboxes, ball(0.2));
        assert_eq!([second, third].map(|number| table.head(number).state), [RigState::default(), dead]);
        assert_eq!(table.get(third).head.state, dead);
        assert_eq!(table.layouts.len(), 2);
    }
}
