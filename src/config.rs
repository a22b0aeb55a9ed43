//! Settings of the server side.

use core::time::Duration;

use bevy::prelude::*;

use crate::{
    history::PoseStorage,
    policy::{AdmissionRules, DeadShooters, ViewSource},
};

/// Settings of [`LagCompensationPlugin`](crate::LagCompensationPlugin); they may change at any time.
///
/// ```
/// use core::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_hindsight::prelude::*;
///
/// let mut app = App::new();
/// app.insert_resource(LagCompensationConfig {
///     history: Duration::from_millis(500),
///     ..default()
/// });
/// ```
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Default)]
pub struct LagCompensationConfig {
    /// How far back the server remembers, and so the oldest view time that it judges. Default: 1 s, at any tick rate.
    ///
    /// Too low, and players on slow connections have all their shots refused; too high, and players are hit by what an
    /// opponent saw long ago, and memory grows with it (in proportion; about 40 kB per second at 64 Hz for a rig of 19
    /// hitboxes, 17 kB in compact storage). At least one tick is kept, and at most a minute at 128 Hz.
    pub history: Duration,
    /// The longest way that a shot is traced, in metres. Default: 1,000. Shots with a longer range end there.
    ///
    /// Too low, and long shots miss without a sign; too high costs time for each shot into the sky.
    pub max_range: f32,
    /// How exactly poses are remembered. Default: [`PoseStorage::Full`].
    pub storage: PoseStorage,
    /// The speed of a rig or occluder, in metres per second, above which a step counts as a jump that is not interpolated.
    /// Default: 150; `None` for no limit.
    ///
    /// A safety net for teleports without a [`BeginSegment`](crate::BeginSegment) event. Too low, and fast vehicles stutter
    /// through the past; too high, and short jumps can be hit half-way.
    pub max_speed: Option<f32>,
    /// How view times are found, if a shot's [`view_source`](crate::ShotEvent::view_source) says nothing else. Default:
    /// [`ViewSource::AsDisplayed`].
    pub view_source: ViewSource,
    /// What shots may claim, if a shot's [`rules`](crate::ShotEvent::rules) say nothing else.
    pub admission: AdmissionRules,
    /// Whether all shots are refused as [`RejectReason::CeaseFire`](crate::RejectReason::CeaseFire): between rounds, in a
    /// paused game. Default: `false`. For single shooters there is the component [`CeaseFire`](crate::CeaseFire).
    pub cease_fire: bool,
    /// Whether shots of the dead are refused by when they were fired, or by when they are judged.
    /// Default: [`DeadShooters::ByCommandTick`].
    pub dead_shooters: DeadShooters,
    /// Whether a rig that was despawned can still be hit at view times at which it was there. Default: `false`.
    ///
    /// The hit then names an entity that is gone or no longer a rig, or one of its earlier lives, and
    /// [`HitConfirmed::living_target`](crate::HitConfirmed::living_target) is `None`.
    pub tombstones: bool,
    /// How many steps through the past all [`CompensatedProjectile`](crate::CompensatedProjectile)s together take in a tick at most.
    /// Default: 4,096. Those that come later go on in the next tick, in the order of their launch; their verdicts are the same.
    ///
    /// Too low, and rockets hang in the air before they catch up, and miss if that takes longer than the history; too high, and many that are launched at once cost a long tick
    /// (about a quarter of a microsecond for each step among 64 rigs).
    pub max_catch_up_steps: u32,
    /// Whether rigs whose [`Life`](crate::Life) has ended can be hit. Default: `false`.
    pub hit_corpses: bool,
}

impl Default for LagCompensationConfig {
    fn default() -> Self {
        Self {
            history: Duration::from_secs(1),
            max_range: 1_000.0,
            storage: PoseStorage::Full,
            max_speed: Some(150.0),
            view_source: ViewSource::AsDisplayed,
            admission: AdmissionRules::default(),
            cease_fire: false,
            dead_shooters: DeadShooters::ByCommandTick,
            tombstones: false,
            max_catch_up_steps: 4_096,
            hit_corpses: false,
        }
    }
}

impl LagCompensationConfig {
    /// The number of ticks of `timestep` that the history spans: at least 1, and at most a minute of 128 Hz.
    pub(crate) fn history_ticks(&self, timestep: Duration) -> u32 {
        const MOST: u128 = 60 * 128;
        // In nanoseconds, so that 1 s at 64 Hz is 64 ticks and not 63.999.
        let timestep = timestep.as_nanos().max(1);
        self.history.as_nanos().div_ceil(timestep).clamp(1, MOST) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_spans_the_same_time_at_any_tick_rate() {
        let config = LagCompensationConfig::default();
        for (hz, ticks) in [(20.0, 20), (30.0, 31), (64.0, 64), (128.0, 128)] {
            let timestep = Time::<Fixed>::from_hz(hz).timestep();
            assert_eq!(config.history_ticks(timestep), ticks, "{hz} Hz");
        }
    }

    #[test]
    fn history_is_never_empty_and_never_endless() {
        let none = LagCompensationConfig { history: Duration::ZERO, ..default() };
        assert_eq!(none.history_ticks(Duration::from_millis(16)), 1);
        let endless = LagCompensationConfig { history: Duration::MAX, ..default() };
        assert_eq!(endless.history_ticks(Duration::ZERO), 7_680);
    }
}
