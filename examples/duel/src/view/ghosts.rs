//! F1: where everyone was, for the shooter, for the server, and now.

use bevy::prelude::*;
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, vec2},
};
use bevy_hindsight::LagCompensationGizmos;

use super::{
    Panels,
    hud::{Canvas, HudSystems, SHADE, TEXT, write},
    palette,
};

/// The plugin of the ghosts.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, set_lines)
        .add_systems(Update, toggle.run_if(resource_changed::<Panels>))
        .add_systems(EguiPrimaryContextPass, explain.in_set(HudSystems));
}

fn set_lines(mut store: ResMut<GizmoConfigStore>) {
    let (config, style) = store.config_mut::<LagCompensationGizmos>();
    // Of more, nobody can tell them apart.
    style.max_shots = 8;
    config.line.width = 1.6;
    // Seen through everything: the past is often behind cover by now.
    config.depth_bias = -0.9;
}

fn toggle(mut store: ResMut<GizmoConfigStore>, panels: Res<Panels>) {
    // The slow motion has ghosts of its own.
    store.config_mut::<LagCompensationGizmos>().0.enabled = panels.ghosts && !panels.why;
}

fn explain(mut canvas: Canvas, panels: Res<Panels>, store: Res<GizmoConfigStore>) -> Result {
    if panels.ghosts || panels.why {
        let (painter, screen) = canvas.painter()?;
        let (_, style) = store.config::<LagCompensationGizmos>();
        draw_legend(&painter, screen.left_top() + vec2(12.0, 12.0), style);
    }
    Ok(())
}

/// What the colours mean.
fn draw_legend(painter: &Painter, corner: Pos2, style: &LagCompensationGizmos) {
    let lines = [
        (style.live, "green: where they stand on the server now"),
        (style.rewound, "red: rewound, what the server tested"),
        (style.displayed, "blue: what your screen showed"),
        (style.ray, "yellow: the shot, and where it ended"),
        (style.cover, "pink: cover that was taken since"),
    ];
    let lines = || lines.into_iter().filter_map(|(color, text)| Some((palette::on_screen(color?), text)));
    let size = vec2(290.0, 19.0 * lines().count() as f32 + 12.0);
    painter.rect_filled(Rect::from_min_size(corner, size), CornerRadius::same(4), SHADE);
    for (line, (color, text)) in lines().enumerate() {
        let at = corner + vec2(10.0, 7.0 + 19.0 * line as f32);
        let sample = Rect::from_min_size(at + vec2(0.0, 3.0), vec2(12.0, 12.0));
        painter.rect(sample, CornerRadius::same(2), color, (1.0, Color32::BLACK), bevy_egui::egui::StrokeKind::Outside);
        write(painter, at + vec2(22.0, 0.0), Align2::LEFT_TOP, text, 13.0, TEXT);
    }
}
