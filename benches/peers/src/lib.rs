//! Ways to rewind hitboxes, this crate's among them, side by side: how fast, how large, how often right.
//!
//! All of them play the same seeded scene and answer the same rays; see `peers --help`, and each [`approach`] for how it is set
//! up and what it leaves out.

extern crate alloc;

pub mod answer;
pub mod approach;
pub mod arena;
pub mod cli;
pub mod clock;
pub mod error;
pub mod goals;
pub mod json;
pub mod measure;
pub mod oracle;
pub mod plot;
pub mod scene;
pub mod table;
pub mod threads;
pub mod ticks;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use approach::{Kind, hindsight};
use arena::Arena;
use cli::Cli;
use error::PeersError;
use goals::Figures;
use json::Report;
use measure::{Caches, Row, median};
use scene::{Figure, Scene, Setup, Shots};
use table::{Goals, Table};
use ticks::Ticks;

/// The rigs in the crowded arena.
const CROWD: usize = 256;

/// Runs what the command line asks for.
///
/// # Errors
///
/// If something cannot be printed or written, or a worker fails.
pub fn run(cli: &Cli) -> Result<(), PeersError> {
    let mut out = io::stdout().lock();
    threads::init_pool(cli.threads.unwrap_or(1));
    if cli.threads.is_some() {
        return threads::work(cli, &mut out);
    }
    if let Some(path) = &cli.answers {
        let failed = |source| PeersError::CannotWrite { path: path.clone(), source };
        return write_answers(path, cli.seed).map_err(failed);
    }
    let mut caches = Caches::default();
    let (mut rows, mut copy_us) = (Vec::new(), Vec::new());
    for rigs in cli.rigs() {
        let mut arena = Arena::play(*rigs, false, &Kind::ALL, cli.seed);
        copy_us.push((*rigs, median(&arena.copy_us)));
        rows.extend(measure_all(&mut arena, cli, &mut caches));
    }
    writeln!(out, "{}", Table { rows: &rows, shots: cli.shots() })?;
    let mut arena = Arena::play(CROWD, true, &Kind::ALL, cli.seed);
    let crowd = measure_all(&mut arena, cli, &mut caches);
    writeln!(out, "A crowd, {CROWD} rigs in 30 × 30 m:\n\n{}", Table { rows: &crowd, shots: cli.shots() })?;
    notes(&mut out, &copy_us)?;
    drop(arena);
    let threads = threads::measure(cli)?;
    let ticks = Ticks::measure(cli.seed, cli.effort(), &mut caches);
    let figures = Figures { rows: &rows, crowd: &crowd, copy_us: &copy_us, threads: &threads, ticks };
    let goals = goals::all(&figures);
    writeln!(out, "\n{}", Goals(&goals))?;
    if let Some(path) = &cli.json {
        json::write(path, &Report { rows: &rows, crowd: &crowd, threads: &threads, goals: &goals })?;
    }
    if let Some(path) = cli.plot_path() {
        plot::draw(&path, &rows)?;
    }
    Ok(())
}

/// What this crate answers, in arenas of all sizes and in a crowd.
fn write_answers(path: &Path, seed: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for (rigs, crowded) in [(16, false), (64, false), (256, false), (1_024, false), (CROWD, true)] {
        let scene = Scene::new(Setup { rigs, crowded, figure: Figure::Body }, seed);
        let ticks: Vec<_> = (0..3).map(|tick| Shots::new(&scene, 1_024, 2_000_000 + tick)).collect();
        hindsight::write_all(&scene, &ticks, &mut out)?;
    }
    out.flush()
}

/// What must be known to read the tables.
fn notes(out: &mut impl Write, copy_us: &[(usize, f64)]) -> Result<(), PeersError> {
    let [boxes, tree] = [Kind::TextbookSetAabb, Kind::TextbookUpdate].map(Kind::most_rays);
    writeln!(
        out,
        "Times are those that this program has worked, on one thread; medians of interleaved repetitions. Columns without \"cold\" are\n\
         measured right after the same rays, the others after 64 MiB of other memory. Wrong: another thing than the oracle in f64 says,\n\
         or more than 1 mm off. Textbook ways are measured, and judged, on no more than {boxes} and {tree} rays in a tick.\n\
         lightyear_avian3d with 1 collider is judged by a scene of its own, whose rigs are capsules."
    )?;
    for (rigs, micros) in copy_us {
        writeln!(out, "To copy the raw poses of {rigs} rigs takes {micros:.1} µs.")?;
    }
    Ok(())
}

/// All rows of a scene.
fn measure_all(arena: &mut Arena, cli: &Cli, caches: &mut Caches) -> Vec<Row> {
    let mut rows: Vec<_> =
        cli.shots().iter().flat_map(|shots| measure::times(arena, *shots, cli.effort(), caches)).collect();
    let tallies = measure::judge(arena, cli.effort());
    for (row, tally) in rows.iter_mut().zip(tallies.iter().cycle()) {
        let per_million = |count: usize| 1e6 * count as f64 / tally.judged as f64;
        row.rays_judged = tally.judged;
        row.wrong_per_million = per_million(tally.wrong());
        row.other_things_per_million = per_million(tally.other);
    }
    rows
}
