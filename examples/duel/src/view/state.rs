//! What can be told of the view to whoever cannot see it.

use bevy::prelude::*;

use super::{keys::Mouse, markers::Markers};

/// The state of the view, for automatic checks.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ViewState {
    /// Frames drawn so far.
    pub frames: u64,
    /// Whether the mouse turns the head.
    pub mouse_captured: bool,
    /// Shots that hit on the screen.
    pub predicted: u32,
    /// Shots that hit by the server's verdict.
    pub confirmed: u32,
    /// Shots that hit on the screen, but not by the server's verdict.
    pub withdrawn: u32,
}

/// The plugin that keeps it.
pub fn plugin(app: &mut App) {
    app.init_resource::<ViewState>().add_systems(Last, note);
}

fn note(mut state: ResMut<ViewState>, markers: Res<Markers>, mouse: Option<Res<Mouse>>) {
    let Markers { predicted, confirmed, withdrawn, .. } = *markers;
    *state = ViewState {
        frames: state.frames + 1,
        mouse_captured: mouse.is_some_and(|mouse| mouse.captured),
        predicted,
        confirmed,
        withdrawn,
    };
}
