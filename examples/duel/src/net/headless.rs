//! An app without a window.

use core::time::Duration;

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{Level, LogPlugin},
    prelude::*,
    state::app::StatesPlugin,
};

/// An app that runs `frame_rate` times in a second, and complains on standard error only.
pub fn headless_app(frame_rate: f64) -> App {
    let mut app = App::new();
    let runner = ScheduleRunnerPlugin::run_loop(Duration::from_secs_f64(1.0 / frame_rate));
    app.add_plugins((
        MinimalPlugins.set(runner),
        LogPlugin { level: Level::WARN, ..default() },
        StatesPlugin,
        TransformPlugin,
    ));
    app
}
