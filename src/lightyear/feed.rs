//! Keeps the client's interpolation supplied with snapshots.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{
    core::{
        tick::TickDuration,
        time::{TickDelta, TickInstant},
    },
    prelude::{
        InterpolationConfig, InterpolationTimeline, PingManager, RemoteEvent, ReplicationCheckpointMap, SenderMetadata,
        TimelineSync,
        client::{Client, Connected, RemoteTimeline},
    },
};

/// What the delay of interpolation is made of.
#[derive(Resource, Default)]
pub(super) struct InterpolationFeed {
    /// The time between two snapshots, as the server has announced it.
    send_interval: Duration,
    /// The game's own `InterpolationConfig::min_delay`, before anything was added to it.
    min_delay: Option<Duration>,
    /// The time between two frames, smoothed.
    frame: Duration,
    margin: LossMargin,
}

/// The delay that makes up for lost packets.
///
/// It grows in frames that would have found no newer snapshot, and shrinks in all others, so slowly that it comes to rest
/// where seven frames in a thousand find none.
#[derive(Default)]
struct LossMargin {
    ticks: f32,
}

impl LossMargin {
    /// In ticks per second. Lightyear turns its timelines no faster than that.
    const GROWTH: f32 = 6.0;
    const STARVED_SHARE: f32 = 0.007;

    /// Takes notice of a frame that lasts `seconds`, in which the presentation, without any margin, would have stood
    /// `overrun` ticks after the newest snapshot. No more than `most` ticks are ever added.
    fn adjust(&mut self, overrun: f32, most: f32, seconds: f32) {
        let change = if overrun <= self.ticks {
            -Self::GROWTH * Self::STARVED_SHARE / (1.0 - Self::STARVED_SHARE)
        } else if overrun <= most {
            Self::GROWTH
        } else {
            // Nothing at all is coming: the connection stands still, or the world does.
            0.0
        };
        self.ticks = (self.ticks + change * seconds).clamp(0.0, most);
    }
}

pub(super) fn learn_send_interval(
    metadata: On<RemoteEvent<SenderMetadata>>,
    tick: Res<TickDuration>,
    mut feed: ResMut<InterpolationFeed>,
) {
    let interval = TickDelta::from(metadata.trigger.send_interval);
    // Lightyear panics at negative ones.
    if interval.to_f32() < 0.0 {
        return;
    }
    feed.send_interval = interval.to_duration(tick.0);
    feed.margin = LossMargin::default();
}

/// Moves the interpolation back by the time that snapshots need on their way, and by what it takes to get over lost ones.
///
/// Lightyear 0.30 places it behind the server's present, and a snapshot is half a round trip old when it arrives, and up to a
/// frame older when it is read. Without this, a client with 60 ms of latency one way shows frozen, then jumping entities in
/// nearly all frames. Jitter is in lightyear's own rule.
pub(super) fn feed_interpolation(
    mut feed: ResMut<InterpolationFeed>,
    tick: Res<TickDuration>,
    time: Res<Time<Real>>,
    mut config: ResMut<InterpolationConfig>,
    interpolation: Res<InterpolationTimeline>,
    checkpoints: Res<ReplicationCheckpointMap>,
    links: Query<(&PingManager, &RemoteTimeline), (With<Client>, With<Connected>)>,
) {
    /// Lost snapshots in a row that are made up for.
    const LOST: f32 = 3.0;
    const SMOOTHING: f32 = 0.05;
    /// A hitch is no frame rate.
    const LONGEST_FRAME: Duration = Duration::from_millis(100);
    let own = *feed.min_delay.get_or_insert(config.min_delay);
    let Ok((ping, remote)) = links.single() else { return };
    feed.frame = feed.frame.mul_f32(1.0 - SMOOTHING) + time.delta().min(LONGEST_FRAME).mul_f32(SMOOTHING);
    let interval = feed.send_interval.max(tick.0);
    let base = own.max(interval.mul_f32(config.send_interval_ratio)) + ping.rtt() / 2 + feed.frame;
    if let Some(newest) = checkpoints.last_confirmed_tick().filter(|_| interpolation.is_synced()) {
        let unfed = InterpolationConfig { min_delay: base, ..*config };
        let objective = interpolation.sync_objective(remote, &unfed, ping, tick.0);
        // Lightyear does not mind if it is off by this much.
        let overrun = (objective - TickInstant::from(newest)).to_f32() + config.sync.error_margin;
        let most = LOST * interval.as_secs_f32() / tick.0.as_secs_f32();
        feed.margin.adjust(overrun, most, time.delta_secs());
    }
    config.min_delay = base + tick.0.mul_f32(feed.margin.ticks);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_rests_where_seven_frames_in_a_thousand_find_nothing() {
        let mut margin = LossMargin::default();
        let (mut starved, mut frames) = (0, 0);
        for frame in 0..60_000_u32 {
            // One snapshot in twenty is lost, for two frames.
            let overrun = if frame % 40 < 2 { 4.0 } else { -1.0 };
            if frame > 10_000 {
                frames += 1;
                starved += u32::from(overrun > margin.ticks);
            }
            margin.adjust(overrun, 9.0, 1.0 / 60.0);
        }
        assert!((4..=10).contains(&(1_000 * starved / frames)), "{starved} of {frames}");
        assert!(margin.ticks > 3.5 && margin.ticks < 4.5, "{} ticks", margin.ticks);
    }

    #[test]
    fn without_loss_there_is_no_margin_and_a_dead_line_adds_none() {
        let mut margin = LossMargin::default();
        for overrun in [-0.5, 0.0, 400.0, 10_000.0] {
            margin.adjust(overrun, 9.0, 0.016);
            assert_eq!(margin.ticks, 0.0);
        }
    }
}
