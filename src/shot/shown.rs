//! What a client's screen showed for each of its shots.

use alloc::collections::VecDeque;

use bevy::prelude::*;

use super::{ShotId, TracedHitbox, TracedOccluder};
use crate::time::ViewTime;

/// What the screen showed when this client fired its latest shots, as long as [`ShotTracing`](crate::ShotTracing) is on.
///
/// The client half of the `lightyear` feature keeps it; a game with a network of its own can do the same. Held beside the
/// [`ShotTraced`](crate::ShotTraced) of the same shot, it tells whether the server has tested what was on the screen.
#[derive(Resource, Default, Debug)]
pub struct DisplayedShots(VecDeque<DisplayedShot>);

/// What the screen showed when a shot was fired.
#[derive(Clone, PartialEq, Debug)]
pub struct DisplayedShot {
    /// The id that `FireShots::fire` returned.
    pub shot: ShotId,
    /// The instant that the screen showed; `None` if that was no state of the server.
    pub view_time: Option<ViewTime>,
    /// The shot itself, as it was fired.
    pub ray: Ray3d,
    /// How far it was to go, in metres.
    pub range: f32,
    /// The hitboxes of all rigs that it came near, where they were on the screen. Without those of the player's own.
    pub hitboxes: Vec<TracedHitbox>,
    /// The moving occluders that it came near.
    pub occluders: Vec<TracedOccluder>,
}

impl DisplayedShots {
    /// What the screen showed for this shot, if it is still known.
    pub fn get(&self, shot: ShotId) -> Option<&DisplayedShot> {
        self.0.iter().rev().find(|displayed| displayed.shot == shot)
    }

    /// All shots that are known, the earliest first.
    pub fn iter(&self) -> impl Iterator<Item = &DisplayedShot> {
        self.0.iter()
    }

    /// The shot that was fired last.
    pub fn latest(&self) -> Option<&DisplayedShot> {
        self.0.back()
    }

    /// Keeps one more, and no more than `most`.
    pub fn keep(&mut self, shot: DisplayedShot, most: usize) {
        self.0.push_back(shot);
        while self.0.len() > most {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(sequence: u32) -> DisplayedShot {
        let shot = ShotId::local(sequence);
        let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
        DisplayedShot { shot, view_time: None, ray, range: 1.0, hitboxes: Vec::new(), occluders: Vec::new() }
    }

    #[test]
    fn only_the_latest_shots_are_kept() {
        let mut shots = DisplayedShots::default();
        for sequence in 1..=5 {
            shots.keep(shot(sequence), 3);
        }
        assert!(shots.iter().map(|shot| shot.shot.sequence).eq(3..=5));
        assert!(shots.get(ShotId::local(2)).is_none());
        assert_eq!(shots.get(ShotId::local(4)), Some(&shot(4)));
        shots.keep(shot(6), 0);
        assert_eq!(shots.iter().count(), 0);
    }
}
