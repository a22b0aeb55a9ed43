//! What is written and drawn on the screen, before the world.

mod crosshair;
mod damage;
mod feed;
mod help;
mod scoreboard;
mod status;
mod tags;
mod wounds;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_egui::{
    EguiContexts, EguiPrimaryContextPass,
    egui::{self, Align2, Color32, FontId, LayerId, Painter, Pos2, Rect},
};
use lightyear::prelude::Controlled;

use super::{Panels, camera::ViewCamera};
use crate::net::protocol::Player;

/// The colour of text.
pub const TEXT: Color32 = Color32::from_rgb(240, 243, 246);
/// The colour of what is less important.
pub const FAINT: Color32 = Color32::from_rgb(186, 194, 202);
/// Behind text.
pub const SHADE: Color32 = Color32::from_rgba_premultiplied(10, 13, 17, 150);

/// All that draws on the screen, in egui's pass.
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct HudSystems;

/// The plugin of the HUD.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, set_style)
        .configure_sets(EguiPrimaryContextPass, HudSystems)
        .add_plugins((damage::plugin, feed::plugin, wounds::plugin))
        .add_systems(
            EguiPrimaryContextPass,
            (
                (wounds::draw, damage::draw, crosshair::draw, status::draw, feed::draw).chain().run_if(in_first_person),
                tags::draw,
                help::draw,
                scoreboard::draw,
            )
                .chain()
                .in_set(HudSystems),
        );
}

fn in_first_person(panels: Res<Panels>) -> bool {
    !panels.why
}

fn set_style(mut contexts: EguiContexts) -> Result {
    let context = contexts.ctx_mut()?;
    context.set_theme(egui::Theme::Dark);
    context.all_styles_mut(|style| {
        style.visuals.window_fill = Color32::from_rgba_premultiplied(16, 19, 24, 232);
        style.visuals.window_stroke = egui::Stroke::new(1.0, Color32::from_gray(62));
        style.visuals.override_text_color = Some(TEXT);
        // Selecting it is of no use in a game, and takes the mouse.
        style.interaction.selectable_labels = false;
    });
    Ok(())
}

/// Where the HUD is painted.
#[derive(SystemParam)]
pub struct Canvas<'w, 's> {
    contexts: EguiContexts<'w, 's>,
    camera: Single<'w, 's, (&'static Camera, &'static GlobalTransform), With<ViewCamera>>,
}

impl Canvas<'_, '_> {
    /// The painter behind all windows, and the screen.
    pub fn painter(&mut self) -> Result<(Painter, Rect)> {
        let context = self.contexts.ctx_mut()?;
        Ok((context.layer_painter(LayerId::background()), context.content_rect()))
    }

    /// The context, for windows.
    pub fn context(&mut self) -> Result<&mut egui::Context> {
        Ok(self.contexts.ctx_mut()?)
    }

    /// Where the camera is.
    pub fn eye(&self) -> Vec3 {
        self.camera.1.translation()
    }

    /// Where a point of the world is on the screen, if it is in front of the camera.
    pub fn project(&self, point: Vec3) -> Option<Pos2> {
        let (camera, place) = *self.camera;
        camera.world_to_viewport(place, point).ok().map(|at| Pos2::new(at.x, at.y))
    }

    /// The direction of a point of the world, seen from the camera: X to the right, Z to the back.
    pub fn direction_to(&self, point: Vec3) -> Vec3 {
        self.camera.1.rotation().inverse() * (point - self.eye())
    }
}

/// The person's own character.
#[derive(SystemParam)]
pub struct Me<'w, 's> {
    own: Query<'w, 's, (Entity, &'static Player), With<Controlled>>,
}

impl Me<'_, '_> {
    /// Its entity, if it is there.
    pub fn entity(&self) -> Option<Entity> {
        self.own.single().ok().map(|(entity, _)| entity)
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.own.single().ok().map(|(_, player)| player.name.as_str())
    }
}

/// Text that can be read on anything. Returns where it ended up.
pub fn write(painter: &Painter, at: Pos2, anchor: Align2, text: &str, size: f32, color: Color32) -> Rect {
    let font = FontId::proportional(size);
    let shadow = Color32::BLACK.gamma_multiply(0.75 * f32::from(color.a()) / 255.0);
    painter.text(at + egui::vec2(1.0, 1.0), anchor, text, font.clone(), shadow);
    painter.text(at, anchor, text, font, color)
}
