//! How the network of this client fares, for graphs.

use alloc::collections::VecDeque;
use core::time::Duration;

use bevy::{
    diagnostic::{Diagnostic, DiagnosticsStore},
    prelude::*,
};
use bevy_hindsight::lightyear::{STARVED_FRAMES, VerdictReceived};
use lightyear::prelude::{PingManager, client::Client};

use super::shot_log::ShotLog;
use crate::net::protocol::TICK;

/// How often a sample is taken.
const INTERVAL: Duration = Duration::from_millis(100);
/// How many samples are kept: twenty seconds.
const SAMPLES: usize = 200;
/// How many of the last shots the agreement is about.
pub const RECENT_SHOTS: usize = 100;

/// The course of the last twenty seconds, the oldest sample first.
#[derive(Resource, Default)]
pub struct NetworkStats {
    /// All samples that are kept.
    pub samples: VecDeque<Sample>,
    /// Frames so far in which remote figures stood still for want of snapshots.
    pub starved_frames: u64,
    starved_since: u32,
    last_rewind: f32,
    since_last: Duration,
}

/// The state of the network at one moment.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// The round trip, in milliseconds.
    pub round_trip: f32,
    /// How far the server looked back for the last shot, in milliseconds.
    pub rewind: f32,
    /// Starved frames since the sample before.
    pub starved: f32,
    /// The share of the last [`RECENT_SHOTS`] shots on target that the server confirmed, in per cent.
    pub agreement: Option<f32>,
}

/// The plugin that takes the samples.
pub fn plugin(app: &mut App) {
    app.init_resource::<NetworkStats>().add_systems(Update, (note_rewind, note_starved_frame, take_samples).chain());
}

fn note_rewind(mut verdicts: MessageReader<VerdictReceived>, mut stats: ResMut<NetworkStats>) {
    for verdict in verdicts.read() {
        let ticks = verdict.view_time.ticks_before(verdict.judged_at);
        stats.last_rewind = (ticks * TICK.as_secs_f64() * 1e3) as f32;
    }
}

fn note_starved_frame(diagnostics: Res<DiagnosticsStore>, mut stats: ResMut<NetworkStats>) {
    let share = diagnostics.get(&STARVED_FRAMES).and_then(Diagnostic::value);
    if share.is_some_and(|share| share > 0.0) {
        stats.starved_frames += 1;
        stats.starved_since += 1;
    }
}

fn take_samples(
    mut stats: ResMut<NetworkStats>,
    time: Res<Time<Real>>,
    pings: Query<&PingManager, With<Client>>,
    log: Res<ShotLog>,
) {
    stats.since_last += time.delta();
    if stats.since_last < INTERVAL {
        return;
    }
    stats.since_last = Duration::ZERO;
    let sample = Sample {
        round_trip: pings.iter().next().map_or(0.0, |ping| ping.rtt().as_secs_f32() * 1e3),
        rewind: stats.last_rewind,
        starved: core::mem::take(&mut stats.starved_since) as f32,
        agreement: log.recent_agreement(RECENT_SHOTS).map(|share| share * 100.0),
    };
    if stats.samples.len() == SAMPLES {
        stats.samples.pop_front();
    }
    stats.samples.push_back(sample);
}
