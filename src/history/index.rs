//! Which histories a question must look at.

use alloc::collections::VecDeque;

use bevy::{
    math::{Vec3A, bounding::Aabb3d},
    prelude::*,
};

use super::tree::BoxTree;
use crate::time::Tick;

/// Where something stood in one tick, and how far it reached from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whereabout {
    pub(crate) tick: Tick,
    pub(crate) place: Vec3,
    pub(crate) reach: f32,
}

/// Where each of some histories was, and when: boxes in trees, one tree for each part of the past.
///
/// Each history has a number of its own as long as it lives. A tree tells of an *era*, which lasts for a quarter of the past; a new
/// one begins in each eighth, so that any two ticks that are blended lie within one. What a tree leaves out was not there; what it
/// shows need not have been.
#[derive(Debug, Default)]
pub(crate) struct BoxIndex {
    /// Whose history has which number.
    entities: Vec<Option<Entity>>,
    /// Whether it has been put in or kept since the beginning of this tick.
    is_put: Vec<bool>,
    /// The oldest comes first.
    eras: VecDeque<Era>,
    /// Ticks from the beginning of an era to that of the next.
    step: u32,
    capacity: usize,
    newest: Option<Tick>,
    /// Eras have been thrown away, and do not tell of what was recorded before.
    is_anew: bool,
}

#[derive(Debug)]
struct Era {
    first: Tick,
    /// By number.
    held: Vec<Held>,
    tree: BoxTree,
    /// How many of them the tree knows, and how often it has been refitted since it was built.
    in_tree: usize,
    refits: u32,
    has_grown: bool,
}

/// Where something was in all of an era: what is blended reaches no further than the furthest of what it is blended from.
#[derive(Clone, Copy, Debug)]
struct Held {
    min: Vec3A,
    max: Vec3A,
    reach: f32,
}

impl Held {
    const NOWHERE: Self = Self { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY, reach: 0.0 };

    fn merge(self, Whereabout { place, reach, .. }: Whereabout) -> Self {
        // What stands nowhere cannot be met there.
        if !place.is_finite() {
            return self;
        }
        let place = Vec3A::from(place);
        Self { min: self.min.min(place), max: self.max.max(place), reach: self.reach.max(reach) }
    }

    fn bounds(self) -> Aabb3d {
        Aabb3d { min: self.min - self.reach, max: self.max + self.reach }
    }
}

impl BoxIndex {
    /// A tick begins whose records are put in after this; histories hold so many.
    pub(crate) fn begin(&mut self, tick: Tick, capacity: usize) {
        let ticks = self.newest.map(|newest| tick.since(newest));
        let goes_on = ticks.is_some_and(|ticks| (0..=capacity as i32).contains(&ticks)) && self.capacity == capacity;
        self.is_anew = !goes_on;
        if !goes_on {
            self.eras.clear();
            (self.step, self.capacity) = ((capacity as u32 / 8).max(1), capacity);
            self.eras.push_back(Era::new(tick - capacity as u32));
        }
        self.newest = Some(tick);
        let step = self.step;
        let oldest = tick - (capacity as u32 + step);
        while let Some(last) = self.eras.back().filter(|last| tick.since(last.first) >= step as i32) {
            let first = last.first + step;
            // The memory of one that is forgotten serves again.
            let is_old = |era: &mut Era| oldest.since(era.first) >= 2 * step as i32;
            let mut era = self.eras.pop_front_if(is_old).unwrap_or_else(|| Era::new(first));
            let last = self.eras.back();
            era.begin(first, last);
            self.eras.push_back(era);
        }
        self.is_put.fill(false);
    }

    /// Takes in the newest record of a history, or, if it is to be asked anew, all of them, by age. Writes the number of the history
    /// to `number`, and tells whether that is another one than before.
    pub(crate) fn put(
        &mut self,
        entity: Entity,
        number: &mut Option<u32>,
        records: usize,
        all: bool,
        record: impl Fn(usize) -> Whereabout,
    ) -> bool {
        let is_new = self.keep(entity, number);
        let all = all || is_new || self.is_anew;
        if let Some(number) = *number {
            let ages = 0..if all { records } else { records.min(1) };
            // What is blended lies between one record and the next, also if ticks are missing there.
            ages.for_each(|age| self.hold(number as usize, record((age + 1).min(records - 1)), record(age)));
        }
        is_new
    }

    /// Keeps the number of a history that has no record of this tick.
    pub(crate) fn put_unrecorded(
        &mut self,
        entity: Entity,
        number: &mut Option<u32>,
        records: usize,
        record: impl Fn(usize) -> Whereabout,
    ) -> bool {
        let is_new = self.keep(entity, number);
        // The clock may have been set back; what lies ahead will be the past of eras that are still to come.
        let lies_ahead = || self.newest.is_some_and(|newest| record(0).tick.since(newest) > 0);
        if records > 0 && (is_new || self.is_anew || lies_ahead()) {
            self.put(entity, number, records, true, record) || is_new
        } else {
            is_new
        }
    }

    fn keep(&mut self, entity: Entity, number: &mut Option<u32>) -> bool {
        let known = number.filter(|number| self.entities.get(*number as usize) == Some(&Some(entity)));
        let at = known.map_or_else(|| self.entities.iter().position(Option::is_none), |known| Some(known as usize));
        let at = at.unwrap_or_else(|| {
            self.entities.push(None);
            self.is_put.push(false);
            self.entities.len() - 1
        });
        (self.entities[at], self.is_put[at], *number) = (Some(entity), true, Some(at as u32));
        known.is_none()
    }

    /// Takes in all that lies between two records.
    fn hold(&mut self, number: usize, from: Whereabout, to: Whereabout) {
        // Nobody asks an era for what begins with its last tick.
        let begins = if from.tick == to.tick { to.tick } else { from.tick + 1 };
        for era in self.eras.iter_mut().rev().skip_while(|era| to.tick.since(era.first) < 0) {
            if begins.since(era.first) >= 2 * self.step as i32 {
                break;
            }
            era.hold(number, from, to);
        }
    }

    /// All have been put in; what has not is forgotten, and its number told.
    pub(crate) fn finish(&mut self, mut forgotten: impl FnMut(usize)) {
        for (number, (entity, is_put)) in self.entities.iter_mut().zip(&self.is_put).enumerate() {
            if !is_put && entity.take().is_some() {
                forgotten(number);
            }
        }
        self.eras.iter_mut().for_each(Era::finish);
    }

    /// Whose history has this number, if any.
    pub(crate) fn entity(&self, number: usize) -> Option<Entity> {
        self.entities[number]
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.entities.len()
    }

    /// The tree of all that was there between two ticks, by their numbers; `None` if it is too long ago, or too long, to tell.
    pub(crate) fn tree(&self, start: Tick, end: Tick) -> Option<&BoxTree> {
        let is_it = |era: &&Era| (0..self.step as i32).contains(&start.since(era.first));
        let era = self.eras.iter().rev().find(is_it)?;
        (end.since(era.first) < 2 * self.step as i32).then_some(&era.tree)
    }
}

impl Era {
    fn new(first: Tick) -> Self {
        Self { first, held: Vec::new(), tree: BoxTree::default(), in_tree: 0, refits: 0, has_grown: false }
    }

    /// Forgets all; its tree takes the shape of the last one.
    fn begin(&mut self, first: Tick, last: Option<&Self>) {
        self.first = first;
        self.held.clear();
        (self.in_tree, self.refits, self.has_grown) = (0, 0, true);
        if let Some(last) = last {
            self.held.resize(last.held.len(), Held::NOWHERE);
            self.tree.copy_order(&last.tree);
            (self.in_tree, self.refits) = (last.in_tree, last.refits);
        }
    }

    fn hold(&mut self, number: usize, from: Whereabout, to: Whereabout) {
        if self.held.len() <= number {
            self.held.resize(number + 1, Held::NOWHERE);
        }
        self.held[number] = self.held[number].merge(from).merge(to);
        self.has_grown = true;
    }

    /// All of a tick has been put in.
    fn finish(&mut self) {
        if !self.has_grown {
            return;
        }
        let Self { held, tree, .. } = self;
        let bounds = |number: u32| held[number as usize].bounds();
        if self.in_tree < held.len() || self.refits >= BoxTree::MOST_REFITS {
            tree.build(bounds, 0..held.len() as u32);
            (self.in_tree, self.refits) = (held.len(), 0);
        } else {
            tree.refit(|number| Some(bounds(number)));
            self.refits += 1;
        }
        self.has_grown = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A history of boxes of a metre along X.
    #[derive(Default)]
    struct History {
        number: Option<u32>,
        /// The newest first.
        records: VecDeque<(Tick, f32)>,
    }

    impl History {
        fn put(&mut self, index: &mut BoxIndex, entity: Entity) {
            let Self { number, records } = self;
            index.put(entity, number, records.len(), false, |age| whereabout(records[age]));
        }
    }

    fn whereabout((tick, x): (Tick, f32)) -> Whereabout {
        Whereabout { tick, place: Vec3::X * x, reach: 0.5 }
    }

    fn entity(number: u32) -> Entity {
        Entity::from_raw_u32(number).expect("it is small")
    }

    fn found(index: &BoxIndex, start: Tick, end: Tick, at: f32) -> Vec<Entity> {
        let mut found = Vec::new();
        let mut show = |number: u32| found.extend(index.entity(number as usize));
        match index.tree(start, end) {
            Some(tree) => tree.visit_box(Aabb3d::new(Vec3::X * at, Vec3::splat(0.01)), show),
            None => (0..index.len() as u32).for_each(&mut show),
        }
        found
    }

    #[test]
    fn those_who_have_left_are_not_found_where_they_stand_no_more() {
        let mut index = BoxIndex::default();
        let mut history = History::default();
        for tick in 0..60 {
            index.begin(Tick(tick), 64);
            history.records.push_front((Tick(tick), tick as f32));
            history.put(&mut index, entity(1));
            index.finish(|_| {});
        }
        let is_found = |index: &BoxIndex, tick: u32, x: f32| !found(index, Tick(tick), Tick(tick + 1), x).is_empty();
        assert!(is_found(&index, 20, 20.0) && is_found(&index, 20, 21.0));
        assert!(!is_found(&index, 20, 40.0) && !is_found(&index, 45, 20.0), "half a second apart");
        index.begin(Tick(60), 64);
        index.finish(|_| {});
        assert!(!is_found(&index, 20, 20.0), "it is gone");
    }

    proptest! {
        #[test]
        fn all_that_is_blended_between_two_ticks_is_found(
            start: u32,
            capacity in 1_usize..40,
            // Ticks that pass, where those with the numbers go, and who is not recorded.
            ticks in prop::collection::vec((prop_oneof![8 => Just(1), 1 => 0_u32..12], prop::array::uniform3(-30.0_f32..30.0), 0_u8..12), 1..60),
            back in 0_u32..50,
            span in 0_u32..6,
            t in 0.0_f32..1.0,
        ) {
            let mut index = BoxIndex::default();
            let mut histories = [(); 3].map(|()| History::default());
            let mut now = Tick(start);
            for (passed, places, left_out) in ticks {
                now = now + passed;
                index.begin(now, capacity);
                for (number, (history, place)) in histories.iter_mut().zip(places).enumerate() {
                    // Sometimes one is replaced by another with the same name.
                    if usize::from(left_out) == 6 + number {
                        *history = History::default();
                    }
                    if usize::from(left_out) == number {
                        let (records, number_of) = (&history.records, &mut history.number);
                        index.put_unrecorded(entity(number as u32), number_of, records.len(), |age| whereabout(records[age]));
                        continue;
                    }
                    history.records.retain(|(tick, _)| *tick != now);
                    history.records.push_front((now, place));
                    history.put(&mut index, entity(number as u32));
                }
                index.finish(|_| {});
            }
            let (from, to) = (now - back, now - back + span);
            for (number, history) in histories.iter().enumerate() {
                // Those around the two ticks, or of them.
                let older = history.records.iter().find(|(tick, _)| from.since(*tick) >= 0);
                let newer = history.records.iter().rev().find(|(tick, _)| tick.since(to) >= 0);
                let (Some((_, older)), Some((_, newer))) = (older, newer) else { continue };
                let at = older + (newer - older) * t;
                prop_assert!(found(&index, from, to, at).contains(&entity(number as u32)), "{number} at {at} from {from:?} to {to:?}");
            }
        }
    }
}
