//! Who leads, as long as Tab is held.

use bevy::prelude::*;
use bevy_egui::egui::{Align2, CornerRadius, Rect, vec2};
use lightyear::prelude::Controlled;

use super::{Canvas, FAINT, SHADE, TEXT, write};
use crate::{
    net::protocol::{Player, Score},
    view::{Panels, palette},
};

const WIDTH: f32 = 340.0;
const LINE: f32 = 24.0;

pub(super) fn draw(
    mut canvas: Canvas,
    players: Query<(&Player, &Score, Has<Controlled>)>,
    panels: Res<Panels>,
) -> Result {
    if !panels.scoreboard {
        return Ok(());
    }
    let (painter, screen) = canvas.painter()?;
    let mut rows: Vec<_> = players.iter().collect();
    rows.sort_by_key(|(player, score, _)| (core::cmp::Reverse(score.kills), score.deaths, player.number));
    let size = vec2(WIDTH, LINE * (rows.len() as f32 + 1.0) + 20.0);
    let board = Rect::from_center_size(screen.center() - vec2(0.0, 0.12 * screen.height()), size);
    painter.rect_filled(board, CornerRadius::same(6), SHADE);
    painter.rect_filled(board, CornerRadius::same(6), SHADE);
    let mut at = board.left_top() + vec2(16.0, 10.0);
    let mut line = |name: &str, kills: &str, deaths: &str, color| {
        write(&painter, at, Align2::LEFT_TOP, name, 15.0, color);
        write(&painter, at + vec2(WIDTH - 110.0, 0.0), Align2::RIGHT_TOP, kills, 15.0, color);
        write(&painter, at + vec2(WIDTH - 32.0, 0.0), Align2::RIGHT_TOP, deaths, 15.0, color);
        at.y += LINE;
    };
    line("player", "kills", "deaths", FAINT);
    for (player, score, is_own) in rows {
        let color = palette::name(Some(player));
        let name = if is_own { format!("{} (you)", player.name) } else { player.name.clone() };
        line(&name, &score.kills.to_string(), &score.deaths.to_string(), if is_own { TEXT } else { color });
    }
    Ok(())
}
