//! Names above figures.

use bevy::prelude::*;
use bevy_egui::egui::{Align2, CornerRadius, Rect, vec2};
use lightyear::prelude::Controlled;

use super::{Canvas, SHADE, status::health_color, write};
use crate::{
    game::arena::Arena,
    net::protocol::{FULL_HEALTH, Health, Player},
    view::{Panels, palette},
};

/// Above the feet, in metres.
const HEIGHT: f32 = 2.05;
/// From where on a tag fades, and where it is gone, in metres.
const FADE: core::ops::Range<f32> = 25.0..50.0;

pub(super) fn draw(
    mut canvas: Canvas,
    figures: Query<(&Transform, &Player, &Health, Has<Controlled>)>,
    arena: Res<Arena>,
    panels: Res<Panels>,
) -> Result {
    let (painter, _) = canvas.painter()?;
    let eye = canvas.eye();
    for (feet, player, health, is_own) in &figures {
        if !health.is_alive() || (is_own && !panels.why) {
            continue;
        }
        let place = feet.translation + Vec3::Y * HEIGHT;
        let strength = fade(eye.distance(place));
        // Who cannot be seen has no tag, either.
        if strength <= 0.0 || is_hidden(&arena, eye, place - Vec3::Y * 0.4) {
            continue;
        }
        let Some(at) = canvas.project(place) else { continue };
        let color = palette::name(Some(player)).gamma_multiply(strength);
        write(&painter, at, Align2::CENTER_BOTTOM, &player.name, 14.0, color);
        let bar = Rect::from_center_size(at + vec2(0.0, 3.0), vec2(44.0, 3.0));
        let share = (health.0 / FULL_HEALTH).clamp(0.0, 1.0);
        painter.rect_filled(bar.expand(1.0), CornerRadius::same(1), SHADE.gamma_multiply(strength));
        let filled = Rect::from_min_size(bar.min, vec2(bar.width() * share, bar.height()));
        painter.rect_filled(filled, CornerRadius::ZERO, health_color(share).gamma_multiply(strength));
    }
    Ok(())
}

/// How strong a tag is at a distance, from 1 to 0.
fn fade(distance: f32) -> f32 {
    (1.0 - (distance - FADE.start) / (FADE.end - FADE.start)).clamp(0.0, 1.0)
}

fn is_hidden(arena: &Arena, eye: Vec3, place: Vec3) -> bool {
    match Dir3::new_and_length(place - eye) {
        Ok((direction, distance)) => arena.cast_ray(Ray3d::new(eye, direction), distance).is_some(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_fade_with_distance() {
        assert_eq!((fade(1.0), fade(37.5), fade(50.0), fade(90.0)), (1.0, 0.5, 0.0, 0.0));
    }

    #[test]
    fn walls_hide_tags() {
        let arena = Arena::load().unwrap();
        // The crate at (1.5, 7) is 2.2 m high.
        let behind = Vec3::new(1.5, 1.6, 2.0);
        assert!(is_hidden(&arena, Vec3::new(1.5, 1.6, 12.0), behind));
        assert!(!is_hidden(&arena, Vec3::new(3.5, 1.6, 2.0), behind));
    }
}
