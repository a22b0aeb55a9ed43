//! The server tests a target where the shooter's screen showed it.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::AdmissionRules;
use netsim::{Fired, Judged, Network, Sim, SimConfig, Strafing};

/// Seconds until the clocks have settled and the first shots, fired before that, are answered.
const SETTLING: Duration = Duration::from_secs(5);

const TICK: Duration = Duration::from_nanos(15_625_000);

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
    let outcome = play(SimConfig::default(), Strafing::default(), 1_300);
    info_line(&format!("1,300 shots in the default conditions: {outcome:?}"));
    assert!(outcome.on_target >= 1_000, "{outcome:?}");
    assert_eq!((outcome.confirmed, outcome.strays), (outcome.on_target, 0), "{outcome:?}");
    assert!(outcome.mean_error < 1e-4 && outcome.max_error < 1e-3, "{outcome:?}");
    assert!(outcome.error_of_the_present > 0.3, "compensation should make a difference: {outcome:?}");
}

/// What a run comes to.
#[derive(Debug)]
struct Outcome {
    on_target: usize,
    confirmed: usize,
    strays: usize,
    /// Metres between where the screen showed the target and where the server tested it, for all hits.
    mean_error: f32,
    max_error: f32,
    /// The same for where the target stood when the verdict was reached.
    error_of_the_present: f32,
    starved: f32,
}

fn play(config: SimConfig, scene: Strafing, shots: usize) -> Outcome {
    // What is measured is truth, and not where a server draws the line.
    let admission = AdmissionRules { max_rewind: Duration::from_secs(1), ..AdmissionRules::default() };
    let mut sim = Sim::new(config, Strafing { admission, ..scene });
    sim.run(SETTLING);
    let skip = sim.client_log(0).fired.len();
    sim.run_until("shots", Duration::from_secs(120), |sim| sim.client_log(0).fired.len() >= skip + shots);
    sim.run(Duration::from_secs(3));
    let judged = judged_shots(&sim, skip);
    assert!(judged.len() >= shots, "only {} shots were judged", judged.len());
    let hits = judged.iter().filter(|(_, judged)| judged.rejected.is_none());
    let errors: Vec<f32> =
        hits.map(|(fired, judged)| judged.proxy.expect("it was hit").distance(fired.shown)).collect();
    let log = sim.client_log(0);
    let aimed = judged.iter().filter(|(fired, _)| fired.on_target);
    Outcome {
        on_target: aimed.clone().count(),
        confirmed: aimed.filter(|(_, judged)| judged.rejected.is_none()).count(),
        strays: judged.iter().filter(|(fired, judged)| !fired.on_target && judged.rejected.is_none()).count(),
        mean_error: errors.iter().sum::<f32>() / errors.len() as f32,
        max_error: errors.iter().copied().fold(0.0, f32::max),
        error_of_the_present: judged.iter().map(|(fired, judged)| judged.present.distance(fired.shown)).sum::<f32>()
            / judged.len() as f32,
        starved: share(log.starved as usize, log.frames as usize),
    }
}

#[test]
fn the_screen_is_rebuilt_from_the_snapshots_that_it_was_made_of() {
    let milliseconds = Duration::from_millis;
    let conditions = [
        ("every tick", Duration::ZERO, Network::TYPICAL, true),
        ("every 3 ticks, 5 % loss", 3 * TICK, Network { loss: 0.05, ..Network::TYPICAL }, true),
        ("every 100 ms, 1 % loss", milliseconds(100), Network { loss: 0.01, ..Network::TYPICAL }, true),
        ("every 100 ms, 30 ms of jitter", milliseconds(100), Network { jitter: 30.0, ..Network::TYPICAL }, true),
        ("every tick, starved", Duration::ZERO, Network { jitter: 3.0, ..Network::TYPICAL }, false),
    ];
    for (name, send_interval, network, feed_interpolation) in conditions {
        let config = SimConfig { send_interval, network, ..SimConfig::default() };
        let scene = Strafing { feed_interpolation, ..Strafing::default() };
        let outcome = play(config, scene, 400);
        info_line(&format!("{name}: {outcome:?}"));
        assert_eq!(outcome.confirmed, outcome.on_target, "{name}: {outcome:?}");
        assert_eq!(outcome.strays, 0, "{name}: {outcome:?}");
        assert!(outcome.mean_error <= outcome.max_error && outcome.max_error < 1e-3, "{name}: {outcome:?}");
        assert_eq!(outcome.starved > 0.3, !feed_interpolation, "{name}: {outcome:?}");
    }
}

/// Shown by `cargo test -- --nocapture`.
fn info_line(line: &str) {
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}").expect("standard output should be open");
}
