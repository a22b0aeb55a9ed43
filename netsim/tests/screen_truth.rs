//! The server tests a target where the shooter's screen showed it.

use core::time::Duration;

use bevy::prelude::*;
use netsim::{Fired, Judged, Sim, SimConfig};

/// Seconds until the clocks have settled and the first shots, fired before that, are answered.
const SETTLING: Duration = Duration::from_secs(5);

/// Each shot of client 0 after the first `skip`, with its verdict on the server.
fn judged_shots(sim: &Sim, skip: usize) -> Vec<(Fired, Judged)> {
    let judged = &sim.server_log().judged;
    let by_sequence = |sequence| judged.iter().find(|judged| judged.shot.sequence == sequence).copied();
    let fired = sim.client_log(0).fired[skip..].iter();
    fired.filter_map(|fired| Some((*fired, by_sequence(fired.shot.sequence)?))).collect()
}

fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

#[test]
fn a_thousand_shots_are_judged_by_what_the_screen_showed() {
    let mut sim = Sim::new(SimConfig::default());
    sim.run(SETTLING);
    let skip = sim.client_log(0).fired.len();
    sim.run_until("1,000 shots", Duration::from_secs(90), |sim| sim.client_log(0).fired.len() >= skip + 1_000);
    sim.run(Duration::from_secs(2));

    let shots = judged_shots(&sim, skip);
    assert!(shots.len() >= 1_000, "only {} shots were judged", shots.len());
    let mut errors: Vec<f32> = shots
        .iter()
        .map(|(fired, judged)| judged.proxy.expect("the view time lies in history").distance(fired.shown))
        .collect();
    errors.sort_by(f32::total_cmp);
    let (mean, max) = (errors.iter().sum::<f32>() / errors.len() as f32, errors[errors.len() - 1]);
    let present: f32 = shots.iter().map(|(fired, judged)| judged.present.distance(fired.shown)).sum();

    let aimed: Vec<_> = shots.iter().filter(|(fired, _)| fired.on_target).collect();
    let confirmed = aimed.iter().filter(|(_, judged)| judged.rejected.is_none()).count();
    let stray = shots.iter().filter(|(fired, judged)| !fired.on_target && judged.rejected.is_none()).count();
    let log = sim.client_log(0);
    let starved = share(log.starved as usize, log.frames as usize);
    info_line(&format!(
        "pose error of {} shots: mean {:.3} mm, 99 % {:.3} mm, max {:.1} mm (of the present: mean {:.0} mm); \
         confirmed {confirmed} of {} on target, {stray} of the others; starved frames {:.2} %",
        shots.len(),
        mean * 1e3,
        errors[errors.len() * 99 / 100] * 1e3,
        max * 1e3,
        present / shots.len() as f32 * 1e3,
        aimed.len(),
        starved * 1e2,
    ));
    assert!(mean < 2e-3, "mean pose error {mean} m");
    assert!(share(confirmed, aimed.len()) >= 0.95, "{confirmed} of {} confirmed", aimed.len());
    assert!(share(stray, shots.len() - aimed.len()) <= 0.05, "{stray} strays confirmed");
}

/// Shown by `cargo test -- --nocapture`.
fn info_line(line: &str) {
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}").expect("standard output should be open");
}
