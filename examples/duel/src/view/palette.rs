//! The colours of the duel.

use bevy::prelude::*;
use bevy_egui::egui::Color32;

use super::look::LookMaterial;
use crate::{
    game::arena::{Look, MoverKind},
    net::protocol::Player,
};

/// The sky above.
pub const SKY: Color = Color::srgb(0.36, 0.53, 0.74);
/// The sky at the horizon, and what is far away.
pub const HAZE: Color = Color::srgb(0.77, 0.82, 0.85);
/// Weapons in hands.
pub const WEAPON: Color = Color::srgb(0.23, 0.24, 0.27);
/// The eyes of figures.
pub const VISOR: Color = Color::srgb(0.10, 0.12, 0.15);
/// Rockets and explosions.
pub const FIRE: Color = Color::srgb(1.0, 0.62, 0.26);
/// The way of bullets.
pub const TRACER: Color = Color::srgb(1.0, 0.93, 0.78);

/// The players, one after the other. Pure green, red, blue and yellow belong to the ghosts.
const PLAYERS: [Color; 6] = [
    Color::srgb(0.88, 0.55, 0.24),
    Color::srgb(0.20, 0.58, 0.60),
    Color::srgb(0.60, 0.42, 0.72),
    Color::srgb(0.56, 0.62, 0.30),
    Color::srgb(0.86, 0.54, 0.68),
    Color::srgb(0.48, 0.36, 0.28),
];
/// Those who are called after a colour.
const NAMED: [(&str, Color); 2] = [("red", Color::srgb(0.78, 0.33, 0.27)), ("blue", Color::srgb(0.29, 0.46, 0.72))];
/// The target on its rail, which is nobody.
const TARGET: Color = Color::srgb(0.84, 0.80, 0.72);

/// The colour of a player; `None` for a figure that is no player.
pub fn player(player: Option<&Player>) -> Color {
    let Some(Player { name, number }) = player else { return TARGET };
    let named = NAMED.into_iter().find(|(color, _)| color == name).map(|(_, color)| color);
    named.unwrap_or(PLAYERS[*number as usize % PLAYERS.len()])
}

/// The same for text, which has to be read on anything.
pub fn name(of: Option<&Player>) -> Color32 {
    on_screen(player(of).lighter(0.22))
}

/// What blocks look like.
pub fn block(look: Look) -> LookMaterial {
    match look {
        Look::Floor => LookMaterial::block(Color::srgb(0.63, 0.62, 0.58), 0.22, 0.10),
        Look::Wall => LookMaterial::block(Color::srgb(0.47, 0.54, 0.62), 0.16, 0.0),
        Look::Plaster => LookMaterial::block(Color::srgb(0.88, 0.82, 0.71), 0.09, 0.0),
        Look::Concrete => LookMaterial::block(Color::srgb(0.64, 0.65, 0.66), 0.12, 0.0),
        Look::Crate => LookMaterial::block(Color::srgb(0.70, 0.53, 0.35), 0.0, 0.0),
    }
}

/// What moves.
pub fn mover(kind: MoverKind) -> LookMaterial {
    match kind {
        MoverKind::Door => LookMaterial::block(Color::srgb(0.30, 0.55, 0.58), 0.1, 0.0),
        MoverKind::Lift => LookMaterial::block(Color::srgb(0.78, 0.60, 0.28), 0.1, 0.0),
        MoverKind::Target => LookMaterial::body(TARGET),
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

    fn all_players() -> impl Iterator<Item = Color> {
        PLAYERS.into_iter().chain(NAMED.into_iter().map(|(_, color)| color))
    }

    #[test]
    fn players_are_told_apart_from_each_other_and_from_the_target() {
        for (number, color) in all_players().enumerate() {
            assert!(all_players().skip(number + 1).all(|other| distance(color, other) > 0.15), "{number}");
            assert!(distance(color, TARGET) > 0.15, "{number}");
        }
    }

    #[test]
    fn nothing_looks_like_a_ghost() {
        let ghosts = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]].map(Color::srgb_from_array);
        for color in all_players().chain([TARGET, SKY, HAZE, FIRE]) {
            assert!(ghosts.iter().all(|ghost| distance(*ghost, color) > 0.4), "{color:?}");
        }
    }

    #[test]
    fn there_is_a_colour_for_anybody() {
        let color = |name: &str, number| player(Some(&Player { name: name.into(), number }));
        assert_eq!(color("anna", 1), color("otto", 7));
        assert_eq!(color("anna", u32::MAX), PLAYERS[3]);
        assert_eq!(color("red", 5), NAMED[0].1);
        assert_eq!(player(None), TARGET);
    }
}
