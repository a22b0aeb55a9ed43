//! An honest client on a bad line is judged, with the limits that a server has by default.

use core::time::Duration;
use std::{collections::HashMap, io::Write};

use bevy_hindsight::{CheckPolicy, RejectReason};
use netsim::{CeaseFire, Network, Sim, SimConfig, Strafing};

/// What became of the shots of ten minutes.
#[derive(Debug, Default)]
struct Outcome {
    fired: usize,
    /// Those that were traced.
    admitted: usize,
    /// Of those: moved to the longest rewind.
    clamped: usize,
    /// And: judged by the server's own estimate.
    estimated: usize,
    /// Verdicts that tell what the screen showed.
    right: usize,
    refused: HashMap<RejectReason, usize>,
    /// Ticks from what the screen showed to the command tick, on average.
    rewind: f64,
}

fn play(name: &str, network: Network) -> Outcome {
    let mut sim = Sim::new(SimConfig { network, ..SimConfig::default() }, Strafing::default());
    // Until the clocks have settled.
    sim.run(Duration::from_secs(10));
    let skip = sim.client_log(0).fired.len();
    sim.run(Duration::from_secs(600));
    sim.clients[0].app.insert_resource(CeaseFire);
    sim.run(Duration::from_secs(5));
    let judged: HashMap<_, _> = sim.server_log().judged.iter().map(|judged| (judged.shot.sequence, *judged)).collect();
    let fired = &sim.client_log(0).fired[skip..];
    let mut outcome = Outcome { fired: fired.len(), ..Outcome::default() };
    for shot in fired {
        let judged = judged[&shot.shot.sequence];
        outcome.rewind += judged.rewind / fired.len() as f64;
        outcome.right += usize::from(judged.rejected.is_none() == shot.on_target);
        match judged.rejected.filter(|reason| !reason.was_traced()) {
            Some(reason) => *outcome.refused.entry(reason).or_default() += 1,
            None => outcome.admitted += 1,
        }
        match judged.adjusted.map(|adjusted| adjusted.policy) {
            Some(CheckPolicy::Clamp) => outcome.clamped += 1,
            Some(_) => outcome.estimated += 1,
            None => {}
        }
    }
    writeln!(std::io::stdout(), "{name}: {outcome:?}").expect("standard output should be open");
    outcome
}

#[track_caller]
fn assert_share(part: usize, whole: usize, least: f64) {
    assert!(part as f64 >= least * whole as f64, "{part} of {whole}");
}

/// 150 ms there and back.
#[test]
fn on_a_round_trip_of_150_ms_with_jitter_and_loss_shots_are_judged_by_what_they_claim() {
    let found = play("75 ms ± 40 ms", Network { latency: 75.0, jitter: 40.0, loss: 0.05 });
    assert_share(found.admitted, found.fired, 0.995);
    assert_share(found.fired - found.clamped - found.estimated, found.fired, 0.95);
    assert_share(found.right, found.fired, 0.95);
}

/// 150 ms each way: what such a screen shows is older than the longest rewind, and shots are moved to that.
#[test]
fn on_150_ms_each_way_with_jitter_and_loss_shots_are_admitted() {
    let found = play("150 ms ± 40 ms", Network { latency: 150.0, jitter: 40.0, loss: 0.05 });
    assert_share(found.admitted, found.fired, 0.995);
}
