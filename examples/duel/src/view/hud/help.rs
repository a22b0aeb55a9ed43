//! The keys, and what else a newcomer has to know.

use bevy::prelude::*;
use bevy_egui::egui::{Align2, vec2};

use super::{Canvas, FAINT, TEXT, write};
use crate::{
    game::controls::{Controls, Pilot},
    view::{Panels, ViewSettings},
};

const KEYS: &str = "WASD walk   space jump   C crouch   1-4 weapon   R reload   Tab score   Esc mouse";
const PANELS: &str = "F1 ghosts   F2 network   F3 hits on me   F4 why";

pub(super) fn draw(
    mut canvas: Canvas,
    controls: Res<Controls>,
    panels: Res<Panels>,
    settings: Res<ViewSettings>,
) -> Result {
    let (painter, screen) = canvas.painter()?;
    let bottom = screen.center_bottom();
    if !panels.why {
        write(&painter, bottom + vec2(0.0, -8.0), Align2::CENTER_BOTTOM, PANELS, 13.0, FAINT);
    }
    if controls.pilot == Pilot::Person {
        if !panels.why && screen.width() > 760.0 {
            write(&painter, bottom + vec2(0.0, -26.0), Align2::CENTER_BOTTOM, KEYS, 13.0, FAINT);
        }
    } else if !settings.offscreen && !panels.why {
        let who = if controls.pilot == Pilot::Bot { "a bot plays: click to take over" } else { "click to play" };
        write(&painter, bottom + vec2(0.0, -64.0), Align2::CENTER_BOTTOM, who, 22.0, TEXT);
    }
    Ok(())
}
