//! The crosshair and the hit markers.

use bevy::prelude::*;
use bevy_egui::egui::{Color32, Painter, Pos2, Stroke, Vec2, vec2};

use super::Canvas;
use crate::view::markers::{Marker, MarkerState, Markers};

const LINE: Color32 = Color32::from_rgb(235, 245, 250);
const HEADSHOT: Color32 = Color32::from_rgb(255, 176, 72);
const WITHDRAWN: Color32 = Color32::from_rgb(235, 64, 52);

pub(super) fn draw(mut canvas: Canvas, markers: Res<Markers>) -> Result {
    let (painter, screen) = canvas.painter()?;
    let middle = screen.center();
    for direction in [vec2(1.0, 0.0), vec2(-1.0, 0.0), vec2(0.0, 1.0), vec2(0.0, -1.0)] {
        outlined(&painter, [middle + direction * 4.0, middle + direction * 10.0], 1.6, LINE);
    }
    painter.circle_filled(middle, 1.2, LINE);
    for marker in markers.shown() {
        draw_marker(&painter, middle, marker);
    }
    Ok(())
}

/// Four strokes around the middle: thin while only the screen says so, thick when the server does.
fn draw_marker(painter: &Painter, middle: Pos2, marker: &Marker) {
    let strength = marker.strength();
    let base = if marker.headshot { HEADSHOT } else { Color32::WHITE };
    let (color, width, from, to) = match marker.state {
        MarkerState::Predicted => (base.gamma_multiply(0.85), 1.4, 8.0, 14.0),
        // Springs out, and in.
        MarkerState::Confirmed => (base.gamma_multiply(strength.sqrt()), 3.2, 8.0, 17.0 + 6.0 * strength * strength),
        MarkerState::Withdrawn => (WITHDRAWN.gamma_multiply(strength), 2.2, 8.0 + 5.0 * (1.0 - strength), 15.0),
    };
    for diagonal in [vec2(1.0, 1.0), vec2(-1.0, 1.0), vec2(1.0, -1.0), vec2(-1.0, -1.0)].map(Vec2::normalized) {
        outlined(painter, [middle + diagonal * from, middle + diagonal * to], width, color);
    }
}

fn outlined(painter: &Painter, points: [Pos2; 2], width: f32, color: Color32) {
    let shadow = Color32::BLACK.gamma_multiply(0.5 * f32::from(color.a()) / 255.0);
    painter.line_segment(points, Stroke::new(width + 1.6, shadow));
    painter.line_segment(points, Stroke::new(width, color));
}
