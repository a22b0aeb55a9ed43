//! The latest own shots, and which of them is looked at.

use alloc::collections::VecDeque;

use bevy::prelude::*;
use bevy_hindsight::{DisplayedShot, DisplayedShots, ShotTraced};

use crate::view::hud::Me;

/// How many shots are kept.
const MOST: usize = 16;

/// The latest own shots, the earliest first. They stay as they are while one of them is looked at.
#[derive(Resource, Default)]
pub struct OwnShots {
    shots: VecDeque<OwnShot>,
    /// How many shots before the latest one.
    back: usize,
}

/// A shot with all that is known of it.
pub struct OwnShot {
    /// What the server says.
    pub traced: ShotTraced,
    /// What the screen showed.
    pub displayed: Option<DisplayedShot>,
}

impl OwnShots {
    /// The one that is looked at.
    pub fn chosen(&self) -> Option<&OwnShot> {
        self.shots.get(self.shots.len().checked_sub(self.back + 1)?)
    }

    /// Which one it is, counted from 1, the latest; and how many there are.
    pub fn number(&self) -> (usize, usize) {
        (self.back + 1, self.shots.len())
    }

    /// Goes to an earlier shot, or to a later one.
    fn step(&mut self, earlier: bool) {
        let most = self.shots.len().saturating_sub(1);
        self.back = if earlier { (self.back + 1).min(most) } else { self.back.saturating_sub(1) };
    }

    /// One for each shot: of several pellets, one that hit.
    fn add(&mut self, traced: &ShotTraced, displayed: Option<&DisplayedShot>) {
        self.back = 0;
        let known = self.shots.iter_mut().find(|known| known.traced.shot == traced.shot);
        if let Some(known) = known {
            if known.traced.hit().is_none() && traced.hit().is_some() {
                known.traced = traced.clone();
            }
            return;
        }
        if self.shots.len() == MOST {
            self.shots.pop_front();
        }
        self.shots.push_back(OwnShot { traced: traced.clone(), displayed: displayed.cloned() });
    }
}

/// Notes the shots that the server explains.
pub fn remember(
    mut traced: MessageReader<ShotTraced>,
    mut shots: ResMut<OwnShots>,
    displayed: Res<DisplayedShots>,
    me: Me,
) {
    for shot in traced.read().filter(|shot| Some(shot.shooter) == me.entity()) {
        shots.add(shot, displayed.get(shot.shot));
    }
}

/// The arrow keys choose.
pub fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    mut shots: ResMut<OwnShots>,
    mut slow: ResMut<super::replay::SlowMotion>,
) {
    for (key, earlier) in [(KeyCode::ArrowLeft, true), (KeyCode::ArrowRight, false)] {
        if keys.just_pressed(key) {
            shots.step(earlier);
            *slow = default();
        }
    }
}
