//! What a verdict rests on, as text.

use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, Grid, RichText, Ui, vec2};
use bevy_hindsight::{DisplayedShot, Evidence, ShotTraced, TracedOutcome};

use super::{shots::OwnShots, words};
use crate::{
    net::protocol::Player,
    view::hud::{Canvas, FAINT, TEXT},
};

const HIT: Color32 = Color32::from_rgb(130, 205, 150);
const REJECTED: Color32 = Color32::from_rgb(240, 140, 120);

/// Draws the panel.
pub fn draw(mut canvas: Canvas, shots: Res<OwnShots>, players: Query<&Player>) -> Result {
    egui::Window::new("why")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::RIGHT_TOP, vec2(-12.0, 12.0))
        .default_width(330.0)
        .show(canvas.context()?, |ui| match shots.chosen() {
            Some(shot) => {
                let (number, count) = shots.number();
                ui.label(RichText::new(format!("Why? Shot {number} of the last {count}")).size(18.0).strong());
                let name_of = |entity| players.get(entity).map_or("the target", |player| player.name.as_str());
                describe_verdict(ui, &shot.traced, name_of);
                ui.separator();
                describe_rewind(ui, &shot.traced);
                describe_budget(ui, &shot.traced.evidence);
                ui.separator();
                describe_screen(ui, &shot.traced, shot.displayed.as_ref());
                ui.label(
                    RichText::new("arrows: another shot   drag, A, D: turn   wheel: nearer   F4: back")
                        .size(11.0)
                        .color(FAINT),
                );
            }
            None => {
                ui.label(RichText::new("Why?").size(18.0).strong());
                ui.label("Nothing has been judged yet. Fire, and come back with F4.");
            }
        });
    Ok(())
}

fn describe_verdict<'a>(ui: &mut Ui, shot: &ShotTraced, name_of: impl Fn(Entity) -> &'a str) {
    let (text, color) = match &shot.outcome {
        TracedOutcome::Hit { by, hit, .. } => {
            let text = format!(
                "hit: {} of {}, {:.1} m away, {}",
                words::zone(hit.zone),
                name_of(hit.rig),
                hit.distance,
                words::hit_by(*by)
            );
            (text, HIT)
        }
        TracedOutcome::Rejected(reason) => (format!("{}: {}", words::fate(*reason), words::reason(*reason)), REJECTED),
        _ => (String::new(), TEXT),
    };
    ui.label(RichText::new(text).size(14.0).color(color));
    if let Some(cover) = &shot.cover {
        let text = format!("behind cover for {} ms by now", cover.time.as_millis());
        ui.label(RichText::new(text).color(Color32::from_rgb(255, 140, 230)));
    }
}

fn describe_rewind(ui: &mut Ui, shot: &ShotTraced) {
    let evidence = &shot.evidence;
    ui.label(
        RichText::new(format!("{:.0} ms back, {:.2} ticks", shot.rewind_ms(), shot.rewind_ticks())).size(16.0).strong(),
    );
    rows(ui, "rewind", |row| {
        row("view time", format!("tick {} + {:.3}", evidence.view_time.tick.0, evidence.view_time.fraction_f32()));
        row("trigger, verdict", format!("ticks {} and {}", evidence.command_tick.0, evidence.judged_at.0));
    });
    ui.label(words::source(evidence.view_source));
    if let Some(adjusted) = evidence.adjusted {
        let text = format!("Not as claimed, {}: {}", words::policy(adjusted.policy), words::reason(adjusted.reason));
        ui.label(RichText::new(text).color(REJECTED));
    }
}

/// Of what the rewind is made, as a bar and as numbers.
fn describe_budget(ui: &mut Ui, evidence: &Evidence) {
    let Some(budget) = evidence.budget else { return };
    ui.separator();
    let round_trip = budget.way_down + budget.way_up;
    ui.label(format!(
        "RTT {round_trip:.0} ms, interpolation delay {:.0} ms",
        budget.interpolation + budget.jitter_margin
    ));
    let parts = [
        ("way to the screen", budget.way_down, Color32::from_rgb(96, 150, 190)),
        ("between two snapshots", budget.interpolation, Color32::from_rgb(120, 178, 150)),
        ("held back for jitter", budget.jitter_margin, Color32::from_rgb(190, 176, 110)),
        ("way to the server", budget.way_up, Color32::from_rgb(96, 150, 190)),
        ("in the queue", budget.wait, Color32::from_rgb(170, 130, 180)),
        ("not explained", budget.unexplained, Color32::from_rgb(200, 120, 100)),
    ];
    let total: f32 = parts.iter().map(|(_, part, _)| part.max(0.0)).sum();
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width().min(330.0), 10.0), egui::Sense::hover());
    let mut left = bar.left();
    for (_, part, color) in parts {
        let width = bar.width() * part.max(0.0) / total.max(1.0);
        let rect = egui::Rect::from_min_size(egui::pos2(left, bar.top()), vec2(width, bar.height()));
        ui.painter().rect_filled(rect, 0.0, color);
        left += width;
    }
    Grid::new("budget").num_columns(2).spacing([12.0, 1.0]).show(ui, |ui| {
        for (name, part, color) in parts {
            ui.label(RichText::new(name).color(color));
            ui.label(format!("{part:.1} ms"));
            ui.end_row();
        }
    });
}

/// How far the server's picture was from the one on the screen.
fn describe_screen(ui: &mut Ui, shot: &ShotTraced, displayed: Option<&DisplayedShot>) {
    let Some(displayed) = displayed else { return };
    if let Some(error) = largest_error(shot, displayed) {
        ui.label(format!("Red is at most {:.1} mm from blue, your screen.", error * 1e3));
    }
    let moved =
        shot.hitboxes.iter().filter_map(|hitbox| Some(hitbox.pose.translation.distance(hitbox.live?.translation)));
    if let Some(moved) = moved.max_by(f32::total_cmp) {
        ui.label(format!("Green has moved on by up to {moved:.2} m."));
    }
}

/// The largest distance, in metres, of a hitbox that was tested from where it was on the screen.
///
/// Hitboxes are entities of their own on each side: those of a figure are the same by their place in the list of its bones.
fn largest_error(shot: &ShotTraced, displayed: &DisplayedShot) -> Option<f32> {
    let rigs = shot.hitboxes.chunk_by(|a, b| a.rig == b.rig);
    let errors = rigs.flat_map(|tested| {
        let shown = displayed.hitboxes.iter().filter(|shown| shown.rig == tested[0].rig);
        tested.iter().zip(shown).map(|(tested, shown)| shown.pose.translation.distance(tested.pose.translation))
    });
    errors.max_by(f32::total_cmp)
}

fn rows(ui: &mut Ui, id: &str, add: impl FnOnce(&mut dyn FnMut(&str, String))) {
    Grid::new(id).num_columns(2).spacing([12.0, 1.0]).show(ui, |ui| {
        add(&mut |name, value| {
            ui.label(RichText::new(name).color(FAINT));
            ui.label(value);
            ui.end_row();
        });
    });
}
