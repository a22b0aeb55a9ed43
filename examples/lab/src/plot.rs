//! The figures as a plot: what the policies agree on above, and how far off they are below, network by network.

use core::fmt::Display;
use std::path::Path;

use plotters::{
    coord::{
        Shift,
        ranged1d::{AsRangedCoord, ValueFormatter},
        types::RangedCoordf64,
    },
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::{
    error::LabError,
    grid::Condition,
    outcome::{Cell, Tally},
    policy::Policy,
};

const SIZE: (u32, u32) = (1_500, 1_000);
/// Below this, errors are drawn as if they were as large: a logarithmic axis has no zero.
const SMALLEST_ERROR: f64 = 1e-4;
/// Where the axes begin.
const LEFT: i32 = 104;
const INK: RGBColor = RGBColor(51, 51, 51);
const FAINT: RGBColor = RGBColor(221, 221, 221);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One network, for all clients together.
struct Network {
    condition: Condition,
    tallies: [Tally; Policy::ALL.len()],
}

/// Draws the figures.
///
/// # Errors
///
/// If the file cannot be written.
pub fn draw(path: &Path, cells: &[Cell]) -> Result<(), LabError> {
    let cannot_draw = |reason: String| LabError::CannotDraw { path: path.into(), reason };
    let networks: Vec<_> = cells.chunk_by(|a, b| a.condition == b.condition).map(Network::of).collect();
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    let drawn = draw_all(&root, &networks);
    drawn.and_then(|()| root.present().map_err(text)).map_err(cannot_draw)
}

fn text(error: impl Display) -> String {
    error.to_string()
}

impl Network {
    fn of(cells: &[Cell]) -> Self {
        let mut tallies = [Tally::default(); _];
        for cell in cells {
            tallies.iter_mut().zip(cell.tallies).for_each(|(sum, tally)| sum.merge(tally));
        }
        Self { condition: cells[0].condition, tallies }
    }

    fn agreement(&self, policy: Policy) -> f64 {
        let tally = self.tallies[policy as usize];
        100.0 * tally.agree as f64 / (tally.shots as f64).max(1.0)
    }

    fn error(&self, policy: Policy) -> f64 {
        self.tallies[policy as usize].pose_error.mean().max(SMALLEST_ERROR)
    }
}

fn draw_all(root: &Area, networks: &[Network]) -> Result<(), String> {
    root.fill(&WHITE).map_err(text)?;
    let (head, body) = root.split_vertically(90);
    draw_head(&head)?;
    let (above, below) = body.split_vertically(430);

    let worst = networks.iter().flat_map(|network| Policy::ALL.map(|policy| network.agreement(policy)));
    let lowest = (worst.fold(100.0, f64::min) / 10.0 - 0.1).floor().max(0.0) * 10.0;
    let agreement = Panel {
        networks,
        value: Network::agreement,
        meaning: "verdicts that agree with the screen",
        label: |share| format!("{share:.0} %"),
        foot: 6,
    };
    agreement.draw(&above, lowest..101.0)?;
    let error = Panel { networks, value: Network::error, meaning: "mean pose error", label: length, foot: 100 };
    let bottom = 0.8 * SMALLEST_ERROR;
    let chart = error.draw(&below, (bottom..2.0).log_scale())?;
    name_networks(root, networks, |x| chart.backend_coord(&(x, bottom)))
}

/// One of the two figures, over all networks.
struct Panel<'n> {
    networks: &'n [Network],
    value: fn(&Network, Policy) -> f64,
    meaning: &'static str,
    label: fn(f64) -> String,
    /// Pixels below the axis.
    foot: u32,
}

type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

impl Panel<'_> {
    fn draw<'a, 'b, Y>(&self, area: &'a Area<'b>, range: Y) -> Result<Chart<'a, 'b, Y::CoordDescType>, String>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let label = |size: i32| ("sans-serif", size).into_font().color(&INK);
        let mut chart = ChartBuilder::on(area)
            .margin_left(14)
            .margin_right(30)
            .margin_top(14)
            .x_label_area_size(self.foot)
            .y_label_area_size(90)
            .build_cartesian_2d(-0.6..self.networks.len() as f64 - 0.4, range)
            .map_err(text)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT)
            .axis_style(INK)
            .y_labels(8)
            .y_label_formatter(&|value| (self.label)(*value))
            .y_desc(self.meaning)
            .label_style(label(16))
            .axis_desc_style(label(17))
            .draw()
            .map_err(text)?;
        self.draw_lines(&mut chart)?;
        Ok(chart)
    }

    /// One line for each policy, broken where the snapshots come at another pace.
    fn draw_lines<Y: Ranged<ValueType = f64>>(&self, chart: &mut Chart<'_, '_, Y>) -> Result<(), String> {
        let mut first = 0;
        for paced in self.networks.chunk_by(|a, b| a.condition.send == b.condition.send) {
            // The first policies come last, on top of the others.
            for policy in Policy::ALL.into_iter().rev() {
                let value = |(n, network)| ((first + n) as f64, (self.value)(network, policy));
                let points: Vec<_> = paced.iter().enumerate().map(value).collect();
                let line = LineSeries::new(points.clone(), colour(policy).stroke_width(width(policy)));
                chart.draw_series(line).map_err(text)?;
                let dots = points.into_iter().map(|point| Circle::new(point, 3, colour(policy).filled()));
                chart.draw_series(dots).map_err(text)?;
            }
            first += paced.len();
        }
        Ok(())
    }
}

/// Title and legend.
fn draw_head(area: &Area) -> Result<(), String> {
    let title = ("sans-serif", 24).into_font().color(&INK);
    area.draw(&Text::new("Does the server see what the shooter saw?", (LEFT, 14), title)).map_err(text)?;
    let label = ("sans-serif", 17).into_font().color(&INK);
    for (column, policy) in Policy::ALL.into_iter().enumerate() {
        let x = LEFT + 225 * column as i32;
        let line = vec![(x, 70), (x + 34, 70)];
        area.draw(&PathElement::new(line, colour(policy).stroke_width(width(policy)))).map_err(text)?;
        area.draw(&Circle::new((x + 17, 70), 4, colour(policy).filled())).map_err(text)?;
        area.draw(&Text::new(policy.name(), (x + 44, 61), label.clone())).map_err(text)?;
    }
    Ok(())
}

/// Names the networks below the plot: each by its latency, and by jitter and loss if there is but one with it.
fn name_networks(root: &Area, networks: &[Network], place: impl Fn(f64) -> (i32, i32)) -> Result<(), String> {
    let centred = Pos::new(HPos::Center, VPos::Top);
    let style = |size| ("sans-serif", size).into_font().color(&INK).pos(centred);
    let mut first = 0.0;
    for paced in networks.chunk_by(|a, b| a.condition.send == b.condition.send) {
        let width = paced.len() as f64;
        let (x, y) = place(first + 0.5 * (width - 1.0));
        root.draw(&Text::new(format!("a snapshot each {}", pace(paced[0].condition)), (x, y + 48), style(17)))
            .map_err(text)?;
        let mut start = first;
        for group in paced.chunk_by(alike) {
            let (x, y) = place(start + 0.5 * (group.len() as f64 - 1.0));
            let Condition { latency_ms, jitter_ms, loss_percent, .. } = group[0].condition;
            root.draw(&Text::new(format!("{latency_ms} ms"), (x, y + 8), style(15))).map_err(text)?;
            if group.len() == 1 {
                root.draw(&Text::new(format!("± {jitter_ms}, {loss_percent} %"), (x, y + 27), style(14)))
                    .map_err(text)?;
            }
            start += group.len() as f64;
            let (x, y) = place(start - 0.5);
            let longer = if start == first + width { 60 } else { 20 };
            root.draw(&PathElement::new(vec![(x, y), (x, y + longer)], FAINT)).map_err(text)?;
        }
        first += width;
    }
    let note = if networks.chunk_by(alike).all(|group| group.len() == 1) {
        "Latency one way, jitter, lost packets."
    } else {
        "Latency one way. Among networks of the same latency, jitter (0, 10, 30 ms) and, within it, loss (0, 1, 5 %) grow \
         from left to right."
    };
    root.draw(&Text::new(note, (LEFT, SIZE.1 as i32 - 24), ("sans-serif", 14).into_font().color(&INK))).map_err(text)
}

fn alike(a: &Network, b: &Network) -> bool {
    a.condition.send == b.condition.send && a.condition.latency_ms == b.condition.latency_ms
}

fn pace(condition: Condition) -> String {
    match condition.send.to_string().trim() {
        "every tick" => "tick".into(),
        other => other.into(),
    }
}

fn length(metres: f64) -> String {
    if metres <= 1.01 * SMALLEST_ERROR {
        format!("≤ {} mm", SMALLEST_ERROR * 1e3)
    } else if metres < 0.0095 {
        format!("{} mm", round(metres * 1e3))
    } else if metres < 0.95 {
        format!("{} cm", round(metres * 1e2))
    } else {
        format!("{} m", round(metres))
    }
}

/// To one digit behind the point.
fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn width(policy: Policy) -> u32 {
    if policy == Policy::AsDisplayed { 4 } else { 2 }
}

/// Colours that people with any eyesight can tell apart (by Okabe and Ito).
fn colour(policy: Policy) -> RGBColor {
    match policy {
        Policy::AsDisplayed => RGBColor(0, 158, 115),
        Policy::Reported => RGBColor(0, 114, 178),
        Policy::Estimated => RGBColor(230, 159, 0),
        Policy::Textbook => RGBColor(213, 94, 0),
        Policy::None => RGBColor(119, 119, 119),
        Policy::LightyearDelay => RGBColor(204, 121, 167),
    }
}
