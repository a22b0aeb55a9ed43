//! F2: the network of this client, and how it can be made worse.

use bevy::prelude::*;
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{self, Align2, Color32, RichText, Slider, Ui, vec2},
};
use egui_plot::{Line, Plot, PlotPoints};

use super::{
    Panels,
    hud::{Canvas, FAINT, HudSystems},
};
use crate::net::{
    Policy,
    client::{
        stats::{NetworkStats, Sample},
        tuning::Tuning,
    },
};

/// The plugin of the panel.
pub fn plugin(app: &mut App) {
    app.add_systems(
        EguiPrimaryContextPass,
        draw.in_set(HudSystems).run_if(|panels: Res<Panels>| panels.network && !panels.why),
    );
}

fn draw(mut canvas: Canvas, mut tuning: ResMut<Tuning>, stats: Res<NetworkStats>) -> Result {
    let mut next = *tuning;
    egui::Window::new("network").title_bar(false).resizable(false).anchor(Align2::LEFT_CENTER, vec2(12.0, 0.0)).show(
        canvas.context()?,
        |ui| {
            ui.set_width(300.0);
            ui.label(RichText::new("Network of this client").size(18.0).strong());
            choose_conditions(ui, &mut next);
            choose_policy(ui, &mut next.policy);
            ui.separator();
            for graph in &GRAPHS {
                graph.draw(ui, &stats);
            }
            ui.label(RichText::new("F2 closes, a click into the world captures the mouse").size(11.0).color(FAINT));
        },
    );
    // Only what has changed is told to the server.
    tuning.set_if_neq(next);
    Ok(())
}

fn choose_conditions(ui: &mut Ui, tuning: &mut Tuning) {
    let conditions = &mut tuning.conditions;
    ui.spacing_mut().slider_width = 150.0;
    ui.add(Slider::new(&mut conditions.latency, 0..=300).suffix(" ms").text("latency, each way"));
    ui.add(Slider::new(&mut conditions.jitter, 0..=100).suffix(" ms").text("jitter"));
    ui.add(Slider::new(&mut conditions.loss, 0.0..=20.0).step_by(0.5).suffix(" %").text("loss"));
}

fn choose_policy(ui: &mut Ui, policy: &mut Policy) {
    ui.label("The server looks back by what is");
    ui.horizontal_wrapped(|ui| {
        for choice in Policy::ALL {
            ui.selectable_value(policy, choice, choice.name());
        }
    });
}

/// The course of one number.
struct Graph {
    name: &'static str,
    unit: &'static str,
    color: Color32,
    /// The graph reaches at least up to here.
    top: f64,
    value: fn(&Sample) -> Option<f32>,
}

static GRAPHS: [Graph; 4] = [
    Graph {
        name: "round trip",
        unit: "ms",
        color: Color32::from_rgb(110, 180, 220),
        top: 100.0,
        value: |sample| Some(sample.round_trip),
    },
    Graph {
        name: "rewind of the last shot",
        unit: "ms",
        color: Color32::from_rgb(225, 170, 100),
        top: 100.0,
        value: |sample| Some(sample.rewind),
    },
    Graph {
        name: "starved frames",
        unit: "",
        color: Color32::from_rgb(215, 110, 100),
        top: 4.0,
        value: |sample| Some(sample.starved),
    },
    Graph {
        name: "agreement of the last 100 shots",
        unit: "%",
        color: Color32::from_rgb(130, 205, 150),
        top: 100.0,
        value: |sample| sample.agreement,
    },
];

impl Graph {
    fn draw(&self, ui: &mut Ui, stats: &NetworkStats) {
        let last = stats.samples.back().and_then(self.value);
        let text = last.map_or("-".into(), |value| format!("{value:.0} {}", self.unit));
        ui.horizontal(|ui| {
            ui.label(RichText::new(self.name).color(FAINT));
            ui.label(RichText::new(text).color(self.color).strong());
        });
        let value = self.value;
        let points =
            stats.samples.iter().enumerate().filter_map(|(at, sample)| Some([at as f64, value(sample)?.into()]));
        let line = Line::new(self.name, PlotPoints::from_iter(points)).color(self.color).width(1.6);
        Plot::new(self.name)
            .height(46.0)
            .show_axes([false, true])
            .y_axis_min_width(30.0)
            .show_x(false)
            .allow_zoom(false)
            .allow_drag(false)
            .allow_scroll(false)
            .include_x(0.0)
            .include_x(200.0)
            .include_y(0.0)
            .include_y(self.top)
            .show(ui, |plot| plot.line(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::client::stats::RECENT_SHOTS;

    #[test]
    fn graphs_show_what_they_say() {
        assert!(GRAPHS[3].name.contains(&RECENT_SHOTS.to_string()));
        let sample = Sample { round_trip: 1.0, rewind: 2.0, starved: 3.0, agreement: Some(4.0) };
        assert_eq!(GRAPHS.each_ref().map(|graph| (graph.value)(&sample)), [1.0, 2.0, 3.0, 4.0].map(Some));
    }
}
