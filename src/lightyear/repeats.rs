//! Snapshots that lightyear takes for repetitions.

use bevy::prelude::*;
use lightyear::prelude::{ConfirmedHistory, Interpolated};

use crate::{shot::SnapshotPair, time::Tick};

/// From which snapshot the place in each snapshot of an entity comes.
///
/// Lightyear 0.30 stores a place that equals the one before it as "the same as before". If a snapshot from in between comes
/// later, or is read later in the same frame, that becomes the place of *that* snapshot, which was never sent for this tick.
/// Whether a repetition is true cannot be told any more, but it does not matter: the place is that of the first of equal ones
/// in either case.
#[derive(Component, Default)]
pub(super) struct Repeats {
    places: Vec<Place>,
    spare: Vec<Place>,
}

/// A snapshot, and where its place comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Place {
    tick: Tick,
    first: Tick,
    /// How many snapshots since the first one.
    repeats: u32,
}

impl Repeats {
    /// Something that rests repeats its place for long, and truly so.
    const MOST: u32 = 3;

    /// The earlier snapshots whose places a pair has, if there are any.
    pub(super) fn places_of(&self, pair: SnapshotPair) -> Option<SnapshotPair> {
        let first = |tick| self.places.iter().find(|place| place.tick == tick).map_or(tick, |place| place.first);
        let places = SnapshotPair { start: first(pair.start), end: pair.end.map(first) };
        (places != pair).then_some(places)
    }

    /// Takes notice of the snapshots that are there now, oldest first.
    fn follow<C: PartialEq>(&mut self, snapshots: impl Iterator<Item = (Tick, C)>) {
        core::mem::swap(&mut self.places, &mut self.spare);
        self.places.clear();
        let mut last: Option<(Place, C)> = None;
        for (tick, state) in snapshots {
            let own = Place { tick, first: tick, repeats: 0 };
            let place = match &last {
                Some((before, same)) if *same == state && before.repeats < Self::MOST => {
                    Place { tick, first: before.first, repeats: before.repeats + 1 }
                }
                Some(_) => own,
                // What came before it may be gone.
                None => self.spare.iter().find(|place| place.tick == tick).copied().unwrap_or(own),
            };
            self.places.push(place);
            last = Some((place, state));
        }
    }
}

/// Runs before lightyear forgets the snapshots that it has done with.
pub(super) fn follow_repeats(
    mut interpolated: Query<(&ConfirmedHistory<Transform>, &mut Repeats), With<Interpolated>>,
) {
    for (history, mut repeats) in &mut interpolated {
        let snapshots = (0..history.len()).filter_map(|index| history.get_nth_state(index));
        repeats.follow(snapshots.map(|(tick, state)| (Tick(tick.0), state)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(repeats: &mut Repeats, snapshots: &[(u32, char)], pair: (u32, u32)) -> Option<(u32, u32)> {
        repeats.follow(snapshots.iter().map(|(tick, state)| (Tick(*tick), *state)));
        let places = repeats.places_of(SnapshotPair::new(Tick(pair.0), Tick(pair.1)))?;
        Some((places.start.0, places.end.expect("it has one").0))
    }

    #[test]
    fn a_place_is_that_of_the_first_of_equal_ones_as_long_as_they_are_few() {
        let mut repeats = Repeats::default();
        let resting: Vec<_> = (10..20).map(|tick| (tick, 'a')).collect();
        assert_eq!(places(&mut repeats, &resting, (11, 12)), Some((10, 10)));
        assert_eq!(places(&mut repeats, &resting, (13, 14)), Some((10, 14)));
        assert_eq!(places(&mut repeats, &[(10, 'a'), (11, 'b'), (12, 'c')], (11, 12)), None);
    }

    #[test]
    fn a_snapshot_that_comes_late_changes_what_follows_it() {
        let mut repeats = Repeats::default();
        assert_eq!(places(&mut repeats, &[(10, 'a'), (12, 'a')], (10, 12)), Some((10, 10)));
        assert_eq!(places(&mut repeats, &[(10, 'a'), (11, 'b'), (12, 'b'), (13, 'c')], (12, 13)), Some((11, 13)));
        // Also when the late one is forgotten.
        assert_eq!(places(&mut repeats, &[(12, 'b'), (13, 'c')], (12, 13)), Some((11, 13)));
        assert_eq!(places(&mut repeats, &[(13, 'c'), (14, 'd')], (13, 14)), None);
    }
}
