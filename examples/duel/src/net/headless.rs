//! An app without a window.

use core::time::Duration;

use bevy::{
    app::ScheduleRunnerPlugin,
    log::{Level, LogPlugin},
    prelude::*,
    state::app::StatesPlugin,
};

/// What is left out: lightyear's long reports of each input that came too late, and what desktops and drivers complain of
/// without need.
const FILTER: &str = "wgpu=error,naga=warn,lightyear_debug=off,winit=error,bevy_egui=error,bevy_render::renderer=error";

/// Warnings and errors, on standard error only.
pub fn log_plugin() -> LogPlugin {
    LogPlugin { level: Level::WARN, filter: FILTER.into(), ..default() }
}

/// An app that runs `frame_rate` times in a second, and complains on standard error only.
pub fn headless_app(frame_rate: f64) -> App {
    let mut app = App::new();
    let runner = ScheduleRunnerPlugin::run_loop(Duration::from_secs_f64(1.0 / frame_rate));
    app.add_plugins((MinimalPlugins.set(runner), log_plugin(), StatesPlugin, TransformPlugin));
    app
}
