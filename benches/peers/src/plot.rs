//! The cost as a plot: over the rigs of a scene on the left, over the shots of a tick on the right.

use core::fmt::Display;
use std::path::Path;

use plotters::{coord::Shift, prelude::*};

use crate::{approach::Kind, error::PeersError, measure::Row};

const SIZE: (u32, u32) = (1_500, 760);
/// Pixels for title and legend.
const HEAD: i32 = 120;
const INK: RGBColor = RGBColor(51, 51, 51);
const FAINT: RGBColor = RGBColor(221, 221, 221);
/// The rigs and shots of the other panel.
const RIGS: usize = 256;
const SHOTS: usize = 128;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the figures.
///
/// # Errors
///
/// If the file cannot be written.
pub fn draw(path: &Path, rows: &[Row]) -> Result<(), PeersError> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    let drawn = draw_all(&root, rows).and_then(|()| root.present().map_err(text));
    drawn.map_err(|reason| PeersError::CannotDraw { path: path.into(), reason })
}

fn text(error: impl Display) -> String {
    error.to_string()
}

fn draw_all(root: &Area, rows: &[Row]) -> Result<(), String> {
    root.fill(&WHITE).map_err(text)?;
    let (head, body) = root.split_vertically(HEAD);
    draw_head(&head)?;
    let (left, right) = body.split_horizontally(SIZE.0 / 2);
    let over_rigs = |row: &Row| (row.shots == SHOTS).then_some(row.rigs);
    draw_panel(&left, rows, over_rigs, "rigs, with 128 shots in a tick")?;
    let over_shots = |row: &Row| (row.rigs == RIGS).then_some(row.shots);
    draw_panel(&right, rows, over_shots, "shots in a tick, at 256 rigs")
}

/// One line for each approach, over what a row is placed by; a thin one with cold caches.
fn draw_panel(area: &Area, rows: &[Row], place: impl Fn(&Row) -> Option<usize>, name: &str) -> Result<(), String> {
    let shown: Vec<_> = rows.iter().filter_map(|row| Some((place(row)? as f64, row))).collect();
    let ends = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.filter(|n| *n > 0.0).fold((f64::INFINITY, 0.0_f64), |(low, high), n| (low.min(n), high.max(n)))
    };
    let (left, right) = ends(&mut shown.iter().map(|(x, _)| *x));
    let (low, high) = ends(&mut shown.iter().flat_map(|(_, row)| [row.ns_per_ray, row.ns_per_ray_cold]));
    if shown.is_empty() || left == right {
        return Ok(());
    }
    let label = |size: i32| ("sans-serif", size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(60)
        .y_label_area_size(90)
        .build_cartesian_2d((0.8 * left..1.25 * right).log_scale(), (0.7 * low..1.4 * high).log_scale())
        .map_err(text)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT)
        .axis_style(INK)
        .x_desc(name)
        .y_desc("time per ray")
        .x_label_formatter(&|number| format!("{number}"))
        .y_label_formatter(&|ns| duration(*ns))
        .label_style(label(16))
        .axis_desc_style(label(18))
        .draw()
        .map_err(text)?;
    for kind in Kind::ALL {
        let own = || shown.iter().filter(|(_, row)| row.approach == kind.name());
        let warm: Vec<_> = own().map(|(x, row)| (*x, row.ns_per_ray)).collect();
        let cold: Vec<_> = own().map(|(x, row)| (*x, row.ns_per_ray_cold)).collect();
        chart.draw_series(LineSeries::new(cold, colour(kind).mix(0.5).stroke_width(1))).map_err(text)?;
        chart.draw_series(LineSeries::new(warm.clone(), colour(kind).stroke_width(3))).map_err(text)?;
        let dots = warm.into_iter().map(|point| Circle::new(point, 4, colour(kind).filled()));
        chart.draw_series(dots).map_err(text)?;
    }
    Ok(())
}

/// Title and legend.
fn draw_head(area: &Area) -> Result<(), String> {
    let title = ("sans-serif", 24).into_font().color(&INK);
    let note = "What a ray through the past costs (thin: with cold caches)";
    area.draw(&Text::new(note, (106, 14), title)).map_err(text)?;
    for (number, kind) in (0..).zip(Kind::ALL) {
        let (x, y) = (106 + 275 * (number % 5), 64 + 30 * (number / 5));
        let line = vec![(x, y), (x + 34, y)];
        area.draw(&PathElement::new(line, colour(kind).stroke_width(3))).map_err(text)?;
        let label = ("sans-serif", 16).into_font().color(&INK);
        area.draw(&Text::new(kind.name(), (x + 42, y - 9), label)).map_err(text)?;
    }
    Ok(())
}

fn duration(ns: f64) -> String {
    if ns < 1e3 {
        format!("{ns} ns")
    } else if ns < 1e6 {
        format!("{} µs", ns / 1e3)
    } else {
        format!("{} ms", ns / 1e6)
    }
}

/// Colours that people with any eyesight can tell apart (by Okabe and Ito), and darker ones of two of them.
fn colour(kind: Kind) -> RGBColor {
    match kind {
        Kind::Messages => RGBColor(0, 158, 115),
        Kind::Query => RGBColor(0, 90, 66),
        Kind::Alone => RGBColor(120, 150, 20),
        Kind::Evidence => RGBColor(0, 0, 0),
        Kind::Kernel => RGBColor(119, 119, 119),
        Kind::QueryWorld => RGBColor(0, 114, 178),
        Kind::TextbookSetAabb => RGBColor(230, 159, 0),
        Kind::TextbookUpdate => RGBColor(140, 97, 0),
        Kind::WorldPerTick => RGBColor(86, 180, 233),
        Kind::LightyearCapsule => RGBColor(204, 121, 167),
        Kind::LightyearBody => RGBColor(213, 94, 0),
    }
}
