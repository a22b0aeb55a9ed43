//! Where something has been in the whole of its history, roughly.

use bevy::{
    math::{Vec3A, bounding::Aabb3d},
    prelude::*,
};

/// A box around all places of a ring of records, and how far things reached from them.
///
/// It never looks back: each quarter of the ring has a box of its own, and the oldest one is dropped when four newer ones hold as
/// many records as the ring does. So it may hold a quarter more than is remembered, and never less.
#[derive(Debug)]
pub(crate) struct Whereabouts {
    /// The one that is still growing, and those before it.
    quarters: [Quarter; 5],
    /// How many records the growing one holds.
    grown: usize,
}

#[derive(Clone, Copy, Debug)]
struct Quarter {
    min: Vec3A,
    max: Vec3A,
    /// How far from its place the middle of something lay at most.
    arm: f32,
    /// How far from its place something reached at most.
    reach: f32,
}

impl Quarter {
    const EMPTY: Self = Self { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY, arm: 0.0, reach: 0.0 };

    fn merge(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            arm: self.arm.max(other.arm),
            reach: self.reach.max(other.reach),
        }
    }
}

impl Default for Whereabouts {
    fn default() -> Self {
        Self { quarters: [Quarter::EMPTY; 5], grown: 0 }
    }
}

impl Whereabouts {
    /// Takes in a record of a ring of so many: in a ball of this radius, whose middle lies `arm` metres from the place. It is the
    /// next one, or replaces the newest.
    pub(crate) fn note(&mut self, place: Vec3, arm: f32, radius: f32, is_next: bool, capacity: usize) {
        if is_next && self.grown >= capacity.div_ceil(4) {
            self.quarters.rotate_right(1);
            (self.quarters[0], self.grown) = (Quarter::EMPTY, 0);
        }
        self.grown += usize::from(is_next);
        // What stands nowhere cannot be met there.
        if place.is_finite() {
            let place = Vec3A::from(place);
            let noted = Quarter { min: place, max: place, arm, reach: arm + radius };
            self.quarters[0] = self.quarters[0].merge(noted);
        }
    }

    /// The box around all that has been reached.
    pub(crate) fn bounds(&self) -> Aabb3d {
        let Quarter { min, max, reach, .. } = self.sum();
        Aabb3d { min: min - reach, max: max + reach }
    }

    /// The same for what is blended from records with different middles, in balls around those of both, the later one larger by
    /// `more`.
    pub(crate) fn bounds_of_blends(&self, more: f32) -> Aabb3d {
        let Quarter { min, max, arm, reach } = self.sum();
        // The middle of such a ball lies between those of the two, and its radius is half the sum of theirs and of what lies in
        // between, which is not more than both arms.
        let reach = reach + arm + 0.5 * more;
        Aabb3d { min: min - reach, max: max + reach }
    }

    fn sum(&self) -> Quarter {
        self.quarters.into_iter().fold(Quarter::EMPTY, Quarter::merge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_remembered_lies_within_and_what_is_long_forgotten_does_not() {
        for capacity in [1, 2, 7, 65] {
            let mut whereabouts = Whereabouts::default();
            for n in 0..4 * capacity + 9 {
                let x = n as f32;
                whereabouts.note(Vec3::X * x, 0.5, 0.25, true, capacity);
                whereabouts.note(Vec3::X * x, 0.5, 0.25, false, capacity);
                let Aabb3d { min, max } = whereabouts.bounds();
                let oldest = (n + 1).saturating_sub(capacity) as f32;
                assert!(min.x <= oldest - 0.75 && max.x == x + 0.75, "{min} {max} at {n} of {capacity}");
                let quarter = capacity.div_ceil(4);
                assert!(min.x >= (oldest - 0.75) - (5 * quarter - capacity) as f32, "{min} at {n} of {capacity}");
            }
        }
    }

    #[test]
    fn places_that_are_none_are_no_places() {
        let mut whereabouts = Whereabouts::default();
        whereabouts.note(Vec3::NAN, 0.0, 1.0, true, 8);
        whereabouts.note(Vec3::Y, 0.0, 1.0, true, 8);
        assert_eq!(whereabouts.bounds(), Aabb3d::new(Vec3::Y, Vec3::ONE));
    }
}
