//! Settings of the server side.

use core::time::Duration;

use bevy::prelude::*;

use crate::{
    history::PoseStorage,
    policy::{CheckPolicy, ViewSource},
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
    /// opponent saw long ago, and memory grows with it (in proportion; about 43 kB per second at 64 Hz for a rig of 19
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
    /// What happens to a shot whose snapshots go beyond the three limits that follow. Default:
    /// [`CheckPolicy::Reject`].
    pub doubtful_snapshots: CheckPolicy,
    /// The longest time between two snapshots that a client is believed to have blended. Default: 500 ms. Beyond:
    /// [`RejectReason::SnapshotsTooFarApart`](crate::RejectReason::SnapshotsTooFarApart).
    ///
    /// Too low, and players who lose packets are refused; too high, and a modified client can choose among more poses.
    pub max_snapshot_gap: Duration,
    /// The longest time for which a client is believed to have held a rig still, for want of snapshots. Default: 500 ms.
    /// Beyond: [`RejectReason::ViewFrozen`](crate::RejectReason::ViewFrozen). A rig that has not moved meanwhile is not meant.
    ///
    /// Too low and too high do the same as for [`max_snapshot_gap`](Self::max_snapshot_gap).
    pub max_freeze: Duration,
    /// How far, in metres, a rig may stand on the shooter's screen from where it was on the server at the same instant.
    /// Default: 2. Beyond: [`RejectReason::SnapshotsDeviate`](crate::RejectReason::SnapshotsDeviate).
    ///
    /// Blending cuts corners, and a rig that is held falls behind: at 8 m/s by two metres in 250 ms. Too low and too high do
    /// the same as for [`max_snapshot_gap`](Self::max_snapshot_gap).
    pub max_snapshot_deviation: f32,
    /// Whether a rig that was despawned can still be hit at view times at which it was there. Default: `false`.
    ///
    /// The hit then names an entity that is gone or no longer a rig, or one of its earlier lives, and
    /// [`HitConfirmed::living_target`](crate::HitConfirmed::living_target) is `None`.
    pub tombstones: bool,
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
            doubtful_snapshots: CheckPolicy::Reject,
            max_snapshot_gap: Duration::from_millis(500),
            max_freeze: Duration::from_millis(500),
            max_snapshot_deviation: 2.0,
            tombstones: false,
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
