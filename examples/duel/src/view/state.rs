//! What can be told of the view to whoever cannot see it.

use bevy::{ecs::system::SystemParam, prelude::*};

use super::{Markers, Panels, keys::Mouse};

/// How many frames were drawn.
#[derive(Resource, Default)]
struct FramesDrawn(u64);

/// The state of the view, for automatic checks.
#[derive(SystemParam)]
pub struct ViewState<'w> {
    /// Which panels are open.
    pub panels: Res<'w, Panels>,
    /// The hit markers, and how many there were.
    pub markers: Res<'w, Markers>,
    frames: Res<'w, FramesDrawn>,
    mouse: Option<Res<'w, Mouse>>,
}

impl ViewState<'_> {
    /// Frames drawn so far.
    pub fn frames(&self) -> u64 {
        self.frames.0
    }

    /// Whether the mouse turns the head.
    pub fn mouse_is_captured(&self) -> bool {
        self.mouse.as_ref().is_some_and(|mouse| mouse.captured)
    }
}

/// The plugin that counts.
pub fn plugin(app: &mut App) {
    app.init_resource::<FramesDrawn>().add_systems(Last, |mut frames: ResMut<FramesDrawn>| frames.0 += 1);
}
