//! F3: the victim's side: who has hit this player, from where, and how long after they took cover.

use alloc::collections::VecDeque;

use bevy::prelude::*;
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{self, Align2, Color32, Grid, RichText, vec2},
};
use bevy_hindsight::{HitBy, LagCompensationGizmos, ShotTraced, TracedOutcome, Zone};

use super::{
    Panels,
    hud::{Canvas, FAINT, HudSystems, Me},
    why::words,
};
use crate::net::protocol::Player;

/// How many hits are listed.
const MOST: usize = 8;
/// How long the last one is drawn, in seconds.
const LIFE: f32 = 8.0;
const COVER: Color32 = Color32::from_rgb(255, 140, 230);

/// The latest hits on this player, the latest first.
#[derive(Resource, Default)]
struct HitsOnMe(VecDeque<HitOnMe>);

struct HitOnMe {
    shot: ShotTraced,
    shooter: String,
    by: HitBy,
    zone: Zone,
    distance: f32,
    age: f32,
}

/// Where the shots came from.
#[derive(GizmoConfigGroup, Reflect, Default)]
struct VictimGizmos;

/// The plugin of the victim's side.
pub fn plugin(app: &mut App) {
    let lines = GizmoConfig { line: GizmoLineConfig { width: 2.0, ..default() }, depth_bias: -0.3, ..default() };
    let is_open = |panels: Res<Panels>| panels.victim && !panels.why;
    app.init_resource::<HitsOnMe>()
        .insert_gizmo_config(VictimGizmos, lines)
        .add_systems(Update, (remember, draw_hits.run_if(is_open)).chain())
        .add_systems(EguiPrimaryContextPass, list_hits.in_set(HudSystems).run_if(is_open));
}

fn remember(
    mut traced: MessageReader<ShotTraced>,
    mut hits: ResMut<HitsOnMe>,
    players: Query<&Player>,
    me: Me,
    time: Res<Time>,
) {
    for hit in &mut hits.0 {
        hit.age += time.delta_secs();
    }
    for shot in traced.read().filter(|shot| shot.victim().is_some() && shot.victim() == me.entity()) {
        let TracedOutcome::Hit { by, hit, .. } = &shot.outcome else { continue };
        let shooter = players.get(shot.shooter).map_or_else(|_| "somebody".into(), |player| player.name.clone());
        let (by, zone, distance) = (*by, hit.zone, hit.distance);
        hits.0.push_front(HitOnMe { shot: shot.clone(), shooter, by, zone, distance, age: 0.0 });
    }
    hits.0.truncate(MOST);
}

/// The shooter's ray, and what was tested of this player: both are in the past.
fn draw_hits(hits: Res<HitsOnMe>, store: Res<GizmoConfigStore>, mut gizmos: Gizmos<VictimGizmos>) {
    let (_, style) = store.config::<LagCompensationGizmos>();
    for hit in hits.0.iter().filter(|hit| hit.age < LIFE) {
        // This player is where their own eyes are.
        let style = LagCompensationGizmos { live: None, displayed: None, ..style.clone() };
        style.draw_shot(&hit.shot, None, 1.0 - hit.age / LIFE, &mut gizmos);
    }
}

fn list_hits(mut canvas: Canvas, hits: Res<HitsOnMe>) -> Result {
    egui::Window::new("victim").title_bar(false).resizable(false).anchor(Align2::RIGHT_TOP, vec2(-12.0, 150.0)).show(
        canvas.context()?,
        |ui| {
            ui.label(RichText::new("Hits on you").size(18.0).strong());
            if hits.0.is_empty() {
                ui.label(RichText::new("nobody has hit you yet").color(FAINT));
                return;
            }
            Grid::new("hits").num_columns(5).spacing([12.0, 3.0]).show(ui, |ui| {
                for title in ["ago", "who", "with, where", "from", "rewind"] {
                    ui.label(RichText::new(title).color(FAINT));
                }
                ui.end_row();
                for hit in &hits.0 {
                    list_hit(ui, hit);
                }
            });
            ui.label(RichText::new("pink: how long you had been behind cover").size(11.0).color(COVER));
        },
    );
    Ok(())
}

fn list_hit(ui: &mut egui::Ui, hit: &HitOnMe) {
    ui.label(format!("{:.0} s", hit.age));
    ui.label(&hit.shooter);
    ui.label(format!("{}, {}", words::hit_by(hit.by), words::zone(hit.zone)));
    ui.label(format!("{:.0} m", hit.distance));
    ui.horizontal(|ui| {
        ui.label(format!("{:.0} ms", hit.shot.rewind_ms()));
        if let Some(cover) = &hit.shot.cover {
            ui.label(RichText::new(format!("{} ms late", cover.time.as_millis())).color(COVER).strong());
        }
    });
    ui.end_row();
}
