//! Where the view time of a shot comes from.

use core::time::Duration;

use super::{ConnectionDelay, ShotEvent};
use crate::{
    policy::ViewSource,
    time::{Tick, ViewTime},
};

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
    pub(crate) fn view_by(
        &self,
        wanted: ViewSource,
        measured: Option<&ConnectionDelay>,
        now: Tick,
        timestep: Duration,
    ) -> (ViewSource, ViewTime) {
        let present = (ViewSource::None, ViewTime::at(self.command_tick));
        match wanted {
            ViewSource::AsDisplayed | ViewSource::Reported => match self.view_time {
                Some(view) => (wanted.max(self.requested_source()), view),
                None => present,
            },
            ViewSource::Estimated => match measured {
                Some(connection) => (wanted, connection.estimate(self.command_tick, timestep)),
                None => present,
            },
            ViewSource::Textbook => match measured {
                Some(connection) => (wanted, connection.textbook(now, timestep)),
                None => present,
            },
            ViewSource::None => present,
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);
    const NOW: Tick = Tick(103);

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn shot() -> ShotEvent {
        ShotEvent::new(Entity::PLACEHOLDER, Tick(100), Vec3::ZERO, Vec3::Z)
    }

    #[test]
    fn each_source_falls_back_to_what_the_shot_has() {
        let connection = ConnectionDelay {
            round_trip: milliseconds(125),
            interpolation: milliseconds(250),
            wait: TICK,
            ..default()
        };
        let bare = shot();
        let view = ViewTime::new(Tick(80), 7);
        let named = bare.seen_at(view);
        let full = named.made_of(&[]);
        let by = |shot: ShotEvent, wanted| shot.view_by(wanted, Some(&connection), NOW, TICK);
        let present = (ViewSource::None, ViewTime::at(Tick(100)));
        for wanted in [ViewSource::AsDisplayed, ViewSource::Reported, ViewSource::Estimated, ViewSource::Textbook] {
            assert_eq!(bare.view_by(wanted, None, NOW, TICK), present);
        }
        assert_eq!(by(full, ViewSource::AsDisplayed), (ViewSource::AsDisplayed, view));
        assert_eq!(by(full, ViewSource::Reported), (ViewSource::Reported, view));
        assert_eq!(by(named, ViewSource::AsDisplayed), (ViewSource::Reported, view));
        assert_eq!(by(full, ViewSource::None), present);
        // 8 ticks of round trip, 16 of interpolation, 1 of waiting.
        assert_eq!(by(full, ViewSource::Estimated), (ViewSource::Estimated, ViewTime::at(Tick(75))));
        assert_eq!(by(full, ViewSource::Textbook), (ViewSource::Textbook, ViewTime::at(Tick(83))));
    }
}
