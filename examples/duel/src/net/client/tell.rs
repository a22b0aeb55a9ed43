//! What happens, as lines of JSON on standard output, for automatic checks.

use core::time::Duration;
use std::io::{self, Write};

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use lightyear::prelude::Controlled;
use serde_json::json;

use super::{
    eye::Eye,
    session::Session,
    shot_log::ShotLog,
    stats::{NetworkStats, RECENT_SHOTS},
};
use crate::{
    game::controls::{Controls, Pilot},
    net::{
        frame_time::{self, FrameTime},
        protocol::{Health, Loadout, Player},
    },
    view::{Panels, ViewState},
};

/// Between two lines.
const INTERVAL: Duration = Duration::from_millis(250);

/// The plugin that tells.
pub fn plugin(app: &mut App) {
    app.add_plugins(frame_time::plugin).add_systems(Last, tell.run_if(on_real_timer(INTERVAL)));
}

fn tell(
    session: Res<Session>,
    time: Res<Time<Real>>,
    controls: Res<Controls>,
    eye: Res<Eye>,
    own: Query<(&Health, &Loadout), (With<Player>, With<Controlled>)>,
    log: Res<ShotLog>,
    stats: Res<NetworkStats>,
    panels: Option<Res<Panels>>,
    seen: Option<Res<ViewState>>,
    mut frame_time: ResMut<FrameTime>,
) {
    let (mean_frame, longest_frame) = frame_time.take();
    let report = log.report(session.name());
    let (health, loadout) = own.single().map(|(health, loadout)| (health.0, *loadout)).unwrap_or_default();
    let line = json!({
        "seconds": time.elapsed_secs(),
        "pilot": match controls.pilot { Pilot::Bot => "bot", Pilot::Person => "person", Pilot::Nobody => "nobody" },
        "place": eye.place.to_array(),
        "yaw": controls.yaw,
        "pitch": controls.pitch,
        "health": health,
        "weapon": loadout.weapon.name(),
        "ammunition": loadout.ammunition,
        "fired": report.fired,
        "on_target": report.on_target,
        "confirmed": report.confirmed,
        "confirmed_off_target": report.confirmed_off_target,
        "void": report.void,
        "unanswered": report.unanswered,
        "recent_agreement": log.recent_agreement(RECENT_SHOTS),
        "round_trip": stats.samples.back().map(|sample| sample.round_trip),
        "mean_frame": mean_frame,
        "longest_frame": longest_frame,
        "frames": seen.as_ref().map(|seen| seen.frames),
        "panels": panels.map(|panels| json!({
            "ghosts": panels.ghosts, "network": panels.network, "victim": panels.victim, "why": panels.why,
        })),
        "markers": seen.map(|seen| json!({
            "predicted": seen.predicted, "confirmed": seen.confirmed, "withdrawn": seen.withdrawn,
        })),
    });
    // Whoever listened has gone.
    let _ = writeln!(io::stdout().lock(), "{line}");
}
