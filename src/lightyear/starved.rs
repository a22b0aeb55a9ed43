//! How often the client has nothing new to show.

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics},
    prelude::*,
};

use super::ViewState;

/// The diagnostic of starved frames: the share of interpolated entities, of those on the screen, that stood still in a frame
/// because no later snapshot had come; 0 to 1.
///
/// With [`ShotClientPlugin::with_fed_interpolation`](super::ShotClientPlugin::with_fed_interpolation) it stays at 0 as long as
/// nothing is lost. Its average over the last ten seconds or so is what a network panel should show.
pub const STARVED_FRAMES: DiagnosticPath = DiagnosticPath::const_new("hindsight/starved_frames");

pub(super) fn starved_frames() -> Diagnostic {
    Diagnostic::new(STARVED_FRAMES).with_max_history_length(600)
}

pub(super) fn count_starved_frames(states: Query<&ViewState>, mut diagnostics: Diagnostics) {
    let (mut playing, mut frozen) = (0_u32, 0_u32);
    for state in &states {
        match state {
            ViewState::Playing => playing += 1,
            ViewState::Frozen => frozen += 1,
            ViewState::Waiting => {}
        }
    }
    if playing + frozen > 0 {
        diagnostics.add_measurement(&STARVED_FRAMES, || f64::from(frozen) / f64::from(playing + frozen));
    }
}
