//! The colours of the duel.

use bevy::prelude::*;
use bevy_egui::egui::Color32;

use crate::game::arena::{Look, MoverKind};

/// The sky, and what is far away.
pub const SKY: Color = Color::srgb(0.60, 0.67, 0.74);

/// The players, one after the other. Pure green, red, blue and yellow belong to the ghosts.
const PLAYERS: [Color; 8] = [
    Color::srgb(0.87, 0.47, 0.26),
    Color::srgb(0.22, 0.56, 0.66),
    Color::srgb(0.61, 0.42, 0.72),
    Color::srgb(0.55, 0.60, 0.28),
    Color::srgb(0.82, 0.45, 0.60),
    Color::srgb(0.36, 0.40, 0.62),
    Color::srgb(0.80, 0.68, 0.46),
    Color::srgb(0.38, 0.66, 0.52),
];
/// The target on its rail, which is nobody.
const TARGET: Color = Color::srgb(0.82, 0.78, 0.70);

/// Weapons in hands.
pub const WEAPON: Color = Color::srgb(0.20, 0.21, 0.23);
/// Rockets and explosions.
pub const FIRE: Color = Color::srgb(1.0, 0.62, 0.26);
/// The way of bullets.
pub const TRACER: Color = Color::srgb(1.0, 0.93, 0.78);

/// The colour of a player; `None` for a figure that is no player.
pub fn player(number: Option<u32>) -> Color {
    let of = |number: u32| PLAYERS.get(number as usize % PLAYERS.len()).copied();
    number.and_then(of).unwrap_or(TARGET)
}

/// What blocks look like, and how strong the lines on them are.
pub fn block(look: Look) -> (Color, f32) {
    match look {
        Look::Floor => (Color::srgb(0.47, 0.50, 0.50), 0.30),
        Look::Wall => (Color::srgb(0.56, 0.60, 0.66), 0.14),
        Look::Plaster => (Color::srgb(0.80, 0.76, 0.68), 0.10),
        Look::Concrete => (Color::srgb(0.60, 0.60, 0.60), 0.12),
        Look::Crate => (Color::srgb(0.58, 0.47, 0.36), 0.0),
    }
}

/// What moves.
pub fn mover(kind: MoverKind) -> Color {
    match kind {
        MoverKind::Door => Color::srgb(0.34, 0.52, 0.56),
        MoverKind::Lift => Color::srgb(0.68, 0.56, 0.34),
        MoverKind::Target => TARGET,
    }
}

/// The same colour for text and lines on the screen.
pub fn on_screen(color: Color) -> Color32 {
    let [red, green, blue, alpha] = color.to_srgba().to_u8_array();
    Color32::from_rgba_unmultiplied(red, green, blue, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Color, b: Color) -> f32 {
        Vec3::from(a.to_srgba().to_f32_array_no_alpha()).distance(Vec3::from(b.to_srgba().to_f32_array_no_alpha()))
    }

    #[test]
    fn players_are_told_apart_from_each_other_and_from_the_target() {
        for (number, color) in PLAYERS.into_iter().enumerate() {
            assert!(PLAYERS[number + 1..].iter().all(|other| distance(color, *other) > 0.15), "{number}");
            assert!(distance(color, TARGET) > 0.15, "{number}");
        }
    }

    #[test]
    fn nothing_looks_like_a_ghost() {
        let ghosts = [
            Color::srgb(0.0, 1.0, 0.0),
            Color::srgb(1.0, 0.0, 0.0),
            Color::srgb(0.0, 0.0, 1.0),
            Color::srgb(1.0, 1.0, 0.0),
        ];
        for color in PLAYERS.into_iter().chain([TARGET, SKY]) {
            assert!(ghosts.iter().all(|ghost| distance(*ghost, color) > 0.4), "{color:?}");
        }
    }

    #[test]
    fn there_is_a_colour_for_any_number() {
        assert_eq!(player(Some(1)), player(Some(9)));
        assert_eq!(player(Some(u32::MAX)), PLAYERS[7]);
        assert_eq!(player(None), TARGET);
    }
}
