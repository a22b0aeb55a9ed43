//! How the server fares, as lines of JSON on standard output, for automatic checks.

use core::time::Duration;
use std::io::{self, Write};

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use serde_json::json;

use crate::net::frame_time::{self, FrameTime};

/// Between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// The plugin that tells.
pub fn plugin(app: &mut App) {
    app.add_plugins(frame_time::plugin).add_systems(Last, tell.run_if(on_real_timer(INTERVAL)));
}

fn tell(time: Res<Time<Real>>, mut frame_time: ResMut<FrameTime>) {
    let (mean_frame, longest_frame) = frame_time.take();
    let line = json!({
        "seconds": time.elapsed_secs(),
        "mean_frame": mean_frame,
        "longest_frame": longest_frame,
    });
    // Whoever listened has gone.
    let _ = writeln!(io::stdout().lock(), "{line}");
}
