//! Hit markers: shown at once by what the screen says, then confirmed or withdrawn by the server.

use bevy::prelude::*;
use bevy_hindsight::{
    ShotId, Zone,
    lightyear::{PredictionSettled, Settlement, ShotClientSystems, ShotOutcome, VerdictReceived},
};

use crate::net::client::ShotFired;

/// How long a marker stays that the server has confirmed, in seconds.
const CONFIRMED: f32 = 0.45;
/// How long it takes to go if the server has not.
const WITHDRAWN: f32 = 0.8;
/// How long it waits for the server at most.
const PATIENCE: f32 = 2.0;

/// The markers that are seen, and how many there were.
#[derive(Resource, Clone, PartialEq, Debug, Default)]
pub struct Markers {
    shown: Vec<Marker>,
    /// Shots that hit on the screen.
    pub predicted: u32,
    /// Shots that hit by the server's verdict.
    pub confirmed: u32,
    /// Shots that hit on the screen, but not by the server's verdict.
    pub withdrawn: u32,
}

/// The marker of one shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marker {
    shot: ShotId,
    /// How far the server has come with it.
    pub state: MarkerState,
    /// Whether it was a head.
    pub headshot: bool,
    /// Seconds since the state began.
    pub age: f32,
    /// Pellets that hit on the screen and have no verdict yet.
    open: u32,
}

/// What is known of a hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkerState {
    /// It is one on the screen.
    Predicted,
    /// It is one.
    Confirmed,
    /// It is none.
    Withdrawn,
}

/// What settles a pellet that hit on the screen.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Settled {
    Hit(Zone),
    Miss,
}

impl Marker {
    /// How much of it is seen, from 1 to 0.
    pub fn strength(&self) -> f32 {
        let life = self.life();
        (1.0 - self.age / life).clamp(0.0, 1.0)
    }

    fn life(&self) -> f32 {
        match self.state {
            MarkerState::Predicted => PATIENCE,
            MarkerState::Confirmed => CONFIRMED,
            MarkerState::Withdrawn => WITHDRAWN,
        }
    }

    fn enter(&mut self, state: MarkerState) {
        (self.state, self.age) = (state, 0.0);
    }
}

impl Markers {
    /// All that are seen.
    pub fn shown(&self) -> impl Iterator<Item = &Marker> {
        self.shown.iter()
    }

    /// The screen says that `pellets` of this shot have hit.
    fn predict(&mut self, shot: ShotId, pellets: u32, headshot: bool) {
        if pellets > 0 {
            self.predicted += 1;
            self.shown.push(Marker { shot, state: MarkerState::Predicted, headshot, age: 0.0, open: pellets });
        }
    }

    /// The server has settled a pellet. `predicted` tells whether it hit on the screen.
    fn settle(&mut self, shot: ShotId, predicted: bool, settled: Settled) {
        let known = self.shown.iter_mut().find(|marker| marker.shot == shot);
        let Some(marker) = known else {
            if let Settled::Hit(zone) = settled {
                self.confirmed += 1;
                let (state, headshot) = (MarkerState::Confirmed, zone == Zone::Head);
                self.shown.push(Marker { shot, state, headshot, age: 0.0, open: 0 });
            }
            return;
        };
        marker.open = marker.open.saturating_sub(predicted.into());
        match (settled, marker.state) {
            (Settled::Hit(zone), state) => {
                marker.headshot |= zone == Zone::Head;
                if state != MarkerState::Confirmed {
                    self.confirmed += 1;
                    self.withdrawn -= u32::from(state == MarkerState::Withdrawn);
                    marker.enter(MarkerState::Confirmed);
                }
            }
            (Settled::Miss, MarkerState::Predicted) if marker.open == 0 => {
                self.withdrawn += 1;
                marker.enter(MarkerState::Withdrawn);
            }
            (Settled::Miss, _) => {}
        }
    }

    fn grow_older(&mut self, seconds: f32) {
        for marker in &mut self.shown {
            marker.age += seconds;
        }
        self.shown.retain(|marker| marker.age < marker.life());
    }
}

/// The plugin of hit markers.
pub fn plugin(app: &mut App) {
    app.init_resource::<Markers>()
        .add_systems(PreUpdate, (settle, confirm_others).chain().after(ShotClientSystems::SettlePredictions))
        .add_systems(Update, (age, predict).chain());
}

fn age(mut markers: ResMut<Markers>, time: Res<Time>) {
    markers.grow_older(time.delta_secs());
}

fn predict(mut fired: MessageReader<ShotFired>, mut markers: ResMut<Markers>) {
    for shot in fired.read() {
        let hits = || shot.traces.iter().filter_map(|trace| trace.hit);
        markers.predict(shot.shot, hits().count() as u32, hits().any(|hit| hit.zone == Zone::Head));
    }
}

fn settle(mut settled: MessageReader<PredictionSettled>, mut markers: ResMut<Markers>) {
    for PredictionSettled { predicted, settlement, .. } in settled.read() {
        let outcome = match (settlement, predicted.hit) {
            (Settlement::Corrected { zone, .. }, _) => Settled::Hit(*zone),
            (Settlement::Confirmed, Some(hit)) => Settled::Hit(hit.zone),
            (Settlement::Denied(_) | Settlement::TimedOut, Some(_)) => Settled::Miss,
            _ => continue,
        };
        markers.settle(predicted.shot, predicted.hit.is_some(), outcome);
    }
}

/// Rockets and blades are not predicted: their hits are known when the server says so.
fn confirm_others(mut verdicts: MessageReader<VerdictReceived>, mut markers: ResMut<Markers>) {
    for verdict in verdicts.read() {
        if let ShotOutcome::Hit { zone, .. } = verdict.outcome {
            markers.settle(verdict.shot, false, Settled::Hit(zone));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOT: ShotId = ShotId::local(7);

    fn state(markers: &Markers) -> Option<MarkerState> {
        markers.shown().next().map(|marker| marker.state)
    }

    #[test]
    fn a_hit_is_shown_at_once_and_confirmed_later() {
        let mut markers = Markers::default();
        markers.predict(SHOT, 1, false);
        assert_eq!(state(&markers), Some(MarkerState::Predicted));
        markers.grow_older(0.2);
        markers.settle(SHOT, true, Settled::Hit(Zone::Head));
        let marker = *markers.shown().next().unwrap();
        assert!(marker.state == MarkerState::Confirmed && marker.strength() == 1.0 && marker.headshot);
        markers.grow_older(CONFIRMED);
        assert_eq!(state(&markers), None);
        assert_eq!((markers.predicted, markers.confirmed, markers.withdrawn), (1, 1, 0));
    }

    #[test]
    fn a_hit_is_withdrawn_when_all_its_pellets_are() {
        let mut markers = Markers::default();
        markers.predict(SHOT, 2, false);
        markers.settle(SHOT, true, Settled::Miss);
        markers.settle(SHOT, false, Settled::Miss);
        assert_eq!(state(&markers), Some(MarkerState::Predicted));
        markers.settle(SHOT, true, Settled::Miss);
        assert_eq!(state(&markers), Some(MarkerState::Withdrawn));
        assert_eq!((markers.confirmed, markers.withdrawn), (0, 1));
        // A pellet that missed on the screen has hit.
        markers.settle(SHOT, false, Settled::Hit(Zone::Leg));
        assert_eq!((state(&markers), markers.confirmed, markers.withdrawn), (Some(MarkerState::Confirmed), 1, 0));
    }

    #[test]
    fn a_verdict_that_is_told_twice_counts_once() {
        let mut markers = Markers::default();
        markers.predict(SHOT, 1, false);
        markers.settle(SHOT, true, Settled::Hit(Zone::Torso));
        markers.settle(SHOT, false, Settled::Hit(Zone::Torso));
        assert_eq!(markers.confirmed, 1);
    }

    #[test]
    fn what_was_not_predicted_can_still_be_a_hit() {
        let mut markers = Markers::default();
        markers.predict(SHOT, 0, false);
        markers.settle(SHOT, false, Settled::Miss);
        assert_eq!(state(&markers), None);
        markers.settle(SHOT, false, Settled::Hit(Zone::Torso));
        assert_eq!((state(&markers), markers.predicted, markers.confirmed), (Some(MarkerState::Confirmed), 0, 1));
    }

    #[test]
    fn a_marker_without_an_answer_fades_away() {
        let mut markers = Markers::default();
        markers.predict(SHOT, 1, false);
        markers.grow_older(PATIENCE / 2.0);
        assert_eq!(markers.shown().next().map(Marker::strength), Some(0.5));
        markers.grow_older(PATIENCE);
        assert_eq!(state(&markers), None);
    }
}
