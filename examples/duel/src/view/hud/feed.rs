//! Who has killed whom, and what the dead are told.

use alloc::collections::VecDeque;

use bevy::prelude::*;
use bevy_egui::egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, pos2, vec2};
use lightyear::prelude::Controlled;

use super::{Canvas, FAINT, Me, SHADE, TEXT, write};
use crate::{
    net::protocol::{Health, Killed, Player},
    view::palette,
};

/// How many lines there are at most.
const LINES: usize = 5;
/// How long a line is seen, in seconds.
const LIFE: f32 = 7.0;

/// The latest deaths.
#[derive(Resource, Default)]
pub(super) struct KillFeed {
    lines: VecDeque<(Killed, f32)>,
    /// Who has killed this player last.
    nemesis: Option<Killed>,
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<KillFeed>().add_systems(Update, note);
}

fn note(mut killed: MessageReader<Killed>, mut feed: ResMut<KillFeed>, me: Me, time: Res<Time>) {
    for (_, age) in &mut feed.lines {
        *age += time.delta_secs();
    }
    for death in killed.read() {
        if Some(death.victim.as_str()) == me.name() {
            feed.nemesis = Some(death.clone());
        }
        feed.lines.push_front((death.clone(), 0.0));
    }
    feed.lines.truncate(LINES);
    feed.lines.retain(|(_, age)| *age < LIFE);
}

pub(super) fn draw(
    mut canvas: Canvas,
    feed: Res<KillFeed>,
    players: Query<&Player>,
    own: Query<&Health, (With<Player>, With<Controlled>)>,
) -> Result {
    let (painter, screen) = canvas.painter()?;
    let color_of = |name: &str| palette::name(players.iter().find(|player| player.name == name));
    for (line, (death, age)) in feed.lines.iter().enumerate() {
        let corner = screen.right_top() + vec2(-12.0, 12.0 + 24.0 * line as f32);
        draw_line(&painter, corner, death, color_of, (LIFE - age).min(1.0));
    }
    if own.iter().any(|health| !health.is_alive()) {
        let at = screen.center() + vec2(0.0, 70.0);
        write(&painter, at, Align2::CENTER_CENTER, "you are dead", 30.0, TEXT);
        if let Some(Killed { killer, weapon, .. }) = &feed.nemesis {
            let text = format!("killed by {killer} with the {}", weapon.name());
            write(&painter, at + vec2(0.0, 30.0), Align2::CENTER_CENTER, &text, 15.0, FAINT);
        }
    }
    Ok(())
}

fn draw_line(painter: &Painter, corner: Pos2, death: &Killed, color_of: impl Fn(&str) -> Color32, strength: f32) {
    let how = if death.headshot { format!("{} (head)", death.weapon.name()) } else { death.weapon.name().into() };
    let parts = [(&death.victim, color_of(&death.victim)), (&how, FAINT), (&death.killer, color_of(&death.killer))];
    let galleys = parts.map(|(text, color)| {
        painter.layout_no_wrap(text.clone(), FontId::proportional(14.0), color.gamma_multiply(strength))
    });
    let width: f32 = galleys.iter().map(|galley| galley.size().x + 10.0).sum();
    let rect = bevy_egui::egui::Rect::from_min_size(pos2(corner.x - width - 6.0, corner.y), vec2(width + 6.0, 21.0));
    painter.rect_filled(rect, CornerRadius::same(4), SHADE.gamma_multiply(strength));
    let mut right = corner.x - 8.0;
    for galley in galleys {
        right -= galley.size().x;
        painter.galley(pos2(right, corner.y + 2.5), galley, TEXT);
        right -= 10.0;
    }
}
