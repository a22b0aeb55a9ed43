//! Where the view time of a shot comes from.

use core::time::Duration;

use bevy::prelude::*;

use super::ShotEvent;
use crate::{
    policy::ViewSource,
    time::{Tick, ViewTime},
};

/// What the server itself has measured of the connection that a shot came over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct ConnectionDelay {
    /// From the server to the client and back.
    pub round_trip: Duration,
    /// How far behind the newest snapshot the client shows others.
    pub interpolation: Duration,
    /// How long a shot of this client waits on the server until its command tick has come.
    pub wait: Duration,
}

impl ConnectionDelay {
    /// What the screen showed when a shot for `command_tick` was fired: the shot has come one way and waited, and what was on
    /// the screen had gone the other way and been held back for interpolation.
    pub fn estimate(self, command_tick: Tick, timestep: Duration) -> ViewTime {
        let delay = self.round_trip.saturating_add(self.interpolation).saturating_add(self.wait);
        ViewTime::before(command_tick, in_ticks(delay, timestep))
    }

    /// What the textbooks say that the screen showed for a shot that is judged `now`.
    pub fn textbook(self, now: Tick, timestep: Duration) -> ViewTime {
        let delay = (self.round_trip / 2).saturating_add(self.interpolation);
        ViewTime::before(now, in_ticks(delay, timestep))
    }
}

fn in_ticks(time: Duration, timestep: Duration) -> f64 {
    time.as_nanos() as f64 / timestep.as_nanos().max(1) as f64
}

impl ShotEvent {
    /// The best source that this shot has all for.
    pub(crate) fn requested_source(&self) -> ViewSource {
        match (self.view_time, self.displayed) {
            (None, _) => ViewSource::None,
            (Some(_), None) => ViewSource::Reported,
            (Some(_), Some(_)) => ViewSource::AsDisplayed,
        }
    }

    /// The source that this shot is judged by if `wanted` is asked for, and the instant that follows.
    pub(crate) fn view_by(&self, wanted: ViewSource, now: Tick, timestep: Duration) -> (ViewSource, ViewTime) {
        let present = (ViewSource::None, ViewTime::at(self.command_tick));
        match wanted {
            ViewSource::AsDisplayed | ViewSource::Reported => match self.view_time {
                Some(view) => (wanted.max(self.requested_source()), view),
                None => present,
            },
            ViewSource::Estimated => match self.connection {
                Some(connection) => (wanted, connection.estimate(self.command_tick, timestep)),
                None => present,
            },
            ViewSource::Textbook => match self.connection {
                Some(connection) => (wanted, connection.textbook(now, timestep)),
                None => present,
            },
            ViewSource::None => present,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);
    const NOW: Tick = Tick(103);

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn shot() -> ShotEvent {
        ShotEvent::new(Entity::PLACEHOLDER, Tick(100), Vec3::ZERO, Vec3::Z)
    }

    /// B08: nothing but what was measured goes into the estimate.
    #[test]
    fn b08_estimates_differ_by_the_interpolation_delay_and_nothing_else() {
        let of = |interpolation| ConnectionDelay {
            round_trip: milliseconds(80),
            interpolation: milliseconds(interpolation),
            ..default()
        };
        let view = |delay: ConnectionDelay| delay.estimate(Tick(100), TICK).ticks_before(Tick(100));
        let difference = view(of(100)) - view(of(0));
        assert!((difference - 6.4).abs() < 1.0 / 256.0, "{difference}");
        assert_eq!(of(100).estimate(Tick(100), TICK), of(100).estimate(Tick(100), TICK));
        assert!((view(of(0)) - 5.12).abs() < 1.0 / 256.0);
    }

    #[test]
    fn each_source_falls_back_to_what_the_shot_has() {
        let connection =
            ConnectionDelay { round_trip: milliseconds(125), interpolation: milliseconds(250), wait: TICK };
        let bare = shot();
        let measured = ShotEvent { connection: Some(connection), ..bare };
        let view = ViewTime::new(Tick(80), 7);
        let named = measured.seen_at(view);
        let full = named.made_of(&[]);
        let by = |shot: ShotEvent, wanted| shot.view_by(wanted, NOW, TICK);
        let present = (ViewSource::None, ViewTime::at(Tick(100)));
        for wanted in [ViewSource::AsDisplayed, ViewSource::Reported, ViewSource::Estimated, ViewSource::Textbook] {
            assert_eq!(by(bare, wanted), present);
        }
        assert_eq!(by(full, ViewSource::AsDisplayed), (ViewSource::AsDisplayed, view));
        assert_eq!(by(full, ViewSource::Reported), (ViewSource::Reported, view));
        assert_eq!(by(named, ViewSource::AsDisplayed), (ViewSource::Reported, view));
        assert_eq!(by(full, ViewSource::None), present);
        // 8 ticks of round trip, 16 of interpolation, 1 of waiting.
        assert_eq!(by(full, ViewSource::Estimated), (ViewSource::Estimated, ViewTime::at(Tick(75))));
        assert_eq!(by(full, ViewSource::Textbook), (ViewSource::Textbook, ViewTime::at(Tick(83))));
    }

    #[test]
    fn endless_delays_are_as_long_as_ticks_can_say() {
        let endless = ConnectionDelay { round_trip: Duration::MAX, interpolation: Duration::MAX, wait: Duration::MAX };
        assert!(endless.estimate(Tick(0), TICK).ticks_before(Tick(0)) > 1e9);
        assert!(endless.textbook(Tick(0), Duration::ZERO).ticks_before(Tick(0)) > 1e9);
    }
}
