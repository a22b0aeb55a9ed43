//! The own health, weapons and ammunition.

use bevy::prelude::*;
use bevy_egui::egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, pos2, vec2};
use lightyear::prelude::Controlled;

use super::{Canvas, FAINT, Me, SHADE, TEXT, write};
use crate::{
    game::{controls::Controls, weapon::Weapon},
    net::{
        client::magazines::Magazines,
        protocol::{FULL_HEALTH, Health, Player},
    },
};

const BAR: Rect = Rect { min: pos2(0.0, -14.0), max: pos2(210.0, 0.0) };

pub(super) fn draw(
    mut canvas: Canvas,
    own: Query<&Health, (With<Player>, With<Controlled>)>,
    me: Me,
    controls: Res<Controls>,
    magazines: Res<Magazines>,
) -> Result {
    let (painter, screen) = canvas.painter()?;
    let Ok(health) = own.single() else { return Ok(()) };
    let corner = screen.left_bottom() + vec2(18.0, -18.0);
    draw_health(&painter, corner, *health);
    if let Some(name) = me.name() {
        write(&painter, corner + vec2(0.0, -44.0), Align2::LEFT_BOTTOM, name, 14.0, FAINT);
    }
    if health.is_alive() {
        draw_weapons(&painter, screen.right_bottom() + vec2(-18.0, -18.0), controls.weapon, &magazines);
    }
    Ok(())
}

fn draw_health(painter: &Painter, corner: Pos2, health: Health) {
    let share = (health.0 / FULL_HEALTH).clamp(0.0, 1.0);
    let bar = BAR.translate(corner.to_vec2());
    painter.rect_filled(bar.expand(2.0), CornerRadius::same(3), SHADE);
    let filled = Rect::from_min_size(bar.min, vec2(bar.width() * share, bar.height()));
    painter.rect_filled(filled, CornerRadius::same(2), health_color(share));
    let number = format!("{:.0}", health.0.max(0.0).ceil());
    write(painter, bar.left_top() + vec2(0.0, -4.0), Align2::LEFT_BOTTOM, &number, 22.0, TEXT);
}

/// From calm to alarming.
pub(super) fn health_color(share: f32) -> Color32 {
    let [low, high] = [[214.0, 82.0, 62.0], [116.0, 178.0, 132.0]];
    let share = share.clamp(0.0, 1.0);
    let [red, green, blue] =
        core::array::from_fn(|channel| (low[channel] + (high[channel] - low[channel]) * share) as u8);
    Color32::from_rgb(red, green, blue)
}

fn draw_weapons(painter: &Painter, corner: Pos2, in_hands: Weapon, magazines: &Magazines) {
    let ammunition = match (in_hands.magazine(), magazines.left(in_hands)) {
        _ if magazines.is_reloading(in_hands) => "reloading".into(),
        (Some((size, _)), Some(left)) => format!("{left} / {size}"),
        _ => String::new(),
    };
    write(painter, corner, Align2::RIGHT_BOTTOM, &ammunition, 26.0, TEXT);
    for weapon in Weapon::ALL {
        let line = (Weapon::ALL.len() - 1 - weapon.index()) as f32;
        let text = format!("{}  {}", weapon.name(), weapon.index() + 1);
        let (size, color) = if weapon == in_hands { (16.0, TEXT) } else { (13.0, FAINT.gamma_multiply(0.8)) };
        write(painter, corner - vec2(0.0, 36.0 + 19.0 * line), Align2::RIGHT_BOTTOM, &text, size, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_turns_from_calm_to_alarming() {
        assert!(health_color(1.0).g() > health_color(1.0).r());
        assert!(health_color(0.0).r() > health_color(0.0).g());
        assert_eq!(health_color(7.0), health_color(1.0));
    }
}
