//! Keeps the client's interpolation supplied with snapshots.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{
    core::{tick::TickDuration, time::TickDelta},
    prelude::{
        InterpolationConfig, PingManager, RemoteEvent, SenderMetadata,
        client::{Client, Connected},
    },
};

/// What the delay of interpolation is made of.
#[derive(Resource, Default)]
pub(super) struct InterpolationFeed {
    /// The time between two snapshots, as the server has announced it.
    send_interval: Duration,
    /// The game's own `InterpolationConfig::min_delay`, before anything was added to it.
    min_delay: Option<Duration>,
}

pub(super) fn learn_send_interval(
    metadata: On<RemoteEvent<SenderMetadata>>,
    tick: Res<TickDuration>,
    mut feed: ResMut<InterpolationFeed>,
) {
    feed.send_interval = TickDelta::from(metadata.trigger.send_interval).to_duration(tick.0);
}

/// Moves the interpolation back by the time that snapshots need on their way.
///
/// Lightyear 0.30 places it behind the server's present, and a snapshot is half a round trip old when it arrives. Without
/// this, a client with 60 ms of latency one way shows frozen, then jumping entities in nearly all frames.
pub(super) fn feed_interpolation(
    mut feed: ResMut<InterpolationFeed>,
    tick: Res<TickDuration>,
    mut config: ResMut<InterpolationConfig>,
    links: Query<&PingManager, (With<Client>, With<Connected>)>,
) {
    let own = *feed.min_delay.get_or_insert(config.min_delay);
    let Ok(ping) = links.single() else { return };
    let interval = feed.send_interval.max(tick.0).mul_f32(config.send_interval_ratio);
    config.min_delay = own.max(interval) + ping.rtt() / 2;
}
