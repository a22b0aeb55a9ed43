//! What this crate wants to reach, and whether it does.

use serde::Serialize;

use crate::{
    approach::Kind,
    measure::{Row, median, ratio},
    scene::HZ,
    threads::{self, Threaded},
    ticks::Ticks,
};

/// All that was measured.
pub struct Figures<'a> {
    /// In the wide arena.
    pub rows: &'a [Row],
    /// In the crowded one.
    pub crowd: &'a [Row],
    /// Microseconds of copying the raw poses of a tick, by the number of rigs.
    pub copy_us: &'a [(usize, f64)],
    /// On one and on two threads.
    pub threads: &'a [Threaded],
    /// Whole ticks.
    pub ticks: Ticks,
}

/// A goal and what was measured.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Goal {
    /// What is wanted.
    pub goal: String,
    /// What is: in the unit of the goal; not a number if it was not measured.
    pub measured: f64,
    /// What follows the figure.
    pub unit: &'static str,
    /// Whether that is good enough.
    pub met: bool,
}

/// A bound of what is good enough.
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}
use Bound::{AtLeast, AtMost};

/// The rigs and shots that most goals are about.
const RIGS: usize = 256;
const SHOTS: usize = 128;

impl Goal {
    fn new(goal: impl Into<String>, bound: Bound, measured: f64, unit: &'static str) -> Self {
        // Neither is true for what was not measured.
        let met = match bound {
            AtMost(most) => measured <= most,
            AtLeast(least) => measured >= least,
        };
        Self { goal: goal.into(), measured, unit, met }
    }
}

/// All goals, in the order of the issue.
pub fn all(figures: &Figures) -> Vec<Goal> {
    let row = |kind: Kind, rigs: usize, shots: usize| {
        let is_it = |row: &&Row| row.approach == kind.name() && row.rigs == rigs && row.shots == shots;
        figures.rows.iter().find(is_it)
    };
    let compare = |kind: Kind, other: Kind| match (row(kind, RIGS, SHOTS), row(other, RIGS, SHOTS)) {
        (Some(row), Some(other)) => ratio(&row.samples, &other.samples),
        _ => f64::NAN,
    };
    let time = |kind: Kind, rigs: usize, shots: usize| row(kind, rigs, shots).map_or(f64::NAN, |row| row.ns_per_ray);
    let share = |micros: f64| 100.0 * micros * HZ / 1e6;
    let copy = figures.copy_us.iter().find(|(rigs, _)| *rigs == RIGS).map_or(f64::NAN, |(_, micros)| *micros);
    let record = row(Kind::Messages, RIGS, SHOTS).map_or(f64::NAN, |row| row.record_us);
    let own = [Kind::Messages, Kind::Query, Kind::Alone, Kind::Evidence].map(Kind::name);
    let judged = figures.rows.iter().chain(figures.crowd).filter(|row| own.contains(&row.approach.as_str()));
    let wrong = judged.map(|row| row.wrong_per_million).fold(0.0, f64::max);
    let mut goals = vec![Goal::new(
        "RewoundQuery: at most 1.25 × the bare kernel",
        AtMost(1.25),
        compare(Kind::Query, Kind::Kernel),
        "×",
    )];
    // What messages add to the same answer, and to less of one.
    goals.extend([(Kind::Evidence, "cast_ray"), (Kind::Query, "cast_ray_first")].map(|(kind, name)| {
        let more = match (row(Kind::Messages, RIGS, SHOTS), row(kind, RIGS, SHOTS)) {
            (Some(messages), Some(query)) => median_difference(&messages.samples, &query.samples) / 1e3,
            _ => f64::NAN,
        };
        Goal::new(format!("through messages: at most 0.4 µs more per ray than {name}"), AtMost(0.4), more, "µs")
    }));
    let faster = [
        (Kind::TextbookSetAabb, 300.0, "the textbook way with set_aabb"),
        (Kind::QueryWorld, 7.0, "a query world per shot"),
        (Kind::LightyearBody, 20.0, "lightyear_avian3d with 19 colliders"),
    ];
    goals.extend(faster.map(|(kind, times, name)| {
        let goal = format!("RewoundQuery: at least {times} × faster than {name}");
        Goal::new(goal, AtLeast(times), compare(kind, Kind::Query), "×")
    }));
    goals.push(Goal::new(
        "64 to 1,024 rigs: at most 1.6 × per ray",
        AtMost(1.6),
        time(Kind::Query, 1_024, SHOTS) / time(Kind::Query, 64, SHOTS),
        "×",
    ));
    goals.extend(figures.threads.iter().map(|threaded| {
        let [one, two] = threaded.ns_per_ray[..] else { return Goal::new("threads", AtLeast(0.0), f64::NAN, "×") };
        let gain = one / two;
        let at = format!("2 threads, {} rigs, {} shots, {}", threads::RIGS, threaded.shots, threaded.approach);
        if threaded.shots >= SHOTS {
            Goal::new(format!("{at}: at least 1.5 ×"), AtLeast(1.5), gain, "×")
        } else {
            // A twentieth is what two runs of the same program differ by.
            Goal::new(format!("{at}: no loss (0.95 ×)"), AtLeast(0.95), gain, "×")
        }
    }));
    goals.extend([
        Goal::new("recording: at most 7 × the memcpy of the raw poses", AtMost(7.0), record / copy, "×"),
        Goal::new("64 rigs, 16 shots, cold: at most 1 % of the tick", AtMost(1.0), share(figures.ticks.small), "%"),
        Goal::new("1,024 rigs, 1,024 shots: at most 25 % of the tick", AtMost(25.0), share(figures.ticks.large), "%"),
        // As above.
        Goal::new(
            "the physics step is the same without hitboxes (1.05 ×)",
            AtMost(1.05),
            figures.ticks.step / figures.ticks.step_without,
            "×",
        ),
        Goal::new("wrong answers: 0, crowd included", AtMost(0.0), wrong, "per million"),
    ]);
    goals
}

/// Of what was measured one after the other.
fn median_difference(numbers: &[f64], others: &[f64]) -> f64 {
    median(&numbers.iter().zip(others).map(|(number, other)| number - other).collect::<Vec<_>>())
}
