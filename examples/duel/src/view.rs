//! What a person sees and touches: the window, the camera, the figures, the HUD, and the past made visible.
//!
//! It reads the game and writes [`Controls`](crate::game::controls::Controls) and [`Tuning`](crate::net::client::tuning::Tuning), nothing
//! else. Without it, the game is the same.

mod arena;
mod camera;
mod effects;
mod figures;
mod ghosts;
mod hud;
mod keys;
mod look;
mod markers;
mod network;
mod palette;
mod panels;
mod shadows;
mod state;
mod victim;
mod viewmodel;
mod weapons;
mod why;
mod window;

use bevy::prelude::*;
use bevy_egui::EguiPlugin;
use bevy_hindsight::LagCompensationGizmosPlugin;

pub use camera::Screen;
pub use panels::Panels;
pub use state::ViewState;
pub use window::{NoScreen, ViewSettings, display_available, windowed_app};

/// The plugin of all that is seen and touched, for an app from [`windowed_app`].
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), LagCompensationGizmosPlugin))
        .add_plugins((
            look::plugin,
            camera::plugin,
            arena::plugin,
            figures::plugin,
            shadows::plugin,
            viewmodel::plugin,
            effects::plugin,
        ))
        .add_plugins((keys::plugin, markers::plugin, hud::plugin, state::plugin))
        .add_plugins((ghosts::plugin, why::plugin, network::plugin, victim::plugin));
}
