//! Of what the rewind of a shot is made, on common lines. `cargo test -p netsim --test rewind_budget -- --nocapture`

use core::time::Duration;
use std::io::Write;

use bevy::prelude::*;
use bevy_hindsight::{AdmissionRules, Evidence, HitConfirmed, HitRejected, RewindBudget, lightyear::ShotServerConfig};
use lightyear::prelude::{InterpolationConfig, SyncConfig, client::InputTimelineConfig};
use netsim::{Network, Sim, SimConfig, Strafing};

#[derive(Resource, Default)]
struct Budgets(Vec<RewindBudget>);

fn note(evidence: &Evidence, budgets: &mut Budgets) {
    budgets.0.extend(evidence.budget);
}

/// The mean of some part of all budgets, in milliseconds.
fn mean(budgets: &[RewindBudget], part: impl Fn(&RewindBudget) -> f32) -> f32 {
    budgets.iter().map(part).sum::<f32>() / budgets.len() as f32
}

/// Parts of the rewind on one line, in milliseconds: down, interpolation, jitter, up, wait, unexplained, and all of them.
fn parts(network: Network, send_interval: Duration, lean: bool) -> [f32; 7] {
    let admission = AdmissionRules { max_rewind: Duration::from_secs(1), ..AdmissionRules::default() };
    let fps = if lean { 144.0 } else { 60.0 };
    let config = SimConfig { network, send_interval, client_fps: vec![fps], ..SimConfig::default() };
    let mut sim = Sim::new(config, Strafing { admission, ..Strafing::default() });
    if lean {
        // As much as a good line needs; by default lightyear is prepared for a bad one.
        let sync = SyncConfig { jitter_multiple: 2, jitter_margin: 0.25, error_margin: 0.5, ..SyncConfig::default() };
        let client = sim.clients[0].app.world_mut();
        client.resource_mut::<InterpolationConfig>().sync = sync;
        client.insert_resource(InputTimelineConfig::default().with_sync_config(sync));
        sim.server.app.world_mut().resource_mut::<ShotServerConfig>().interpolation.sync = sync;
    }
    sim.server
        .app
        .init_resource::<Budgets>()
        .add_observer(|hit: On<HitConfirmed>, mut budgets: ResMut<Budgets>| note(&hit.evidence, &mut budgets))
        .add_observer(|no: On<HitRejected>, mut budgets: ResMut<Budgets>| note(&no.evidence, &mut budgets));
    sim.run(Duration::from_secs(10));
    sim.server.app.world_mut().resource_mut::<Budgets>().0.clear();
    sim.run(Duration::from_secs(20));
    let budgets = &sim.server.app.world().resource::<Budgets>().0;
    assert!(budgets.len() > 100, "{network:?}: only {} shots", budgets.len());
    [
        mean(budgets, |budget| budget.way_down),
        mean(budgets, |budget| budget.interpolation),
        mean(budgets, |budget| budget.jitter_margin),
        mean(budgets, |budget| budget.way_up),
        mean(budgets, |budget| budget.wait),
        mean(budgets, |budget| budget.unexplained),
        mean(budgets, RewindBudget::total),
    ]
}

#[test]
fn the_measured_parts_explain_the_rewind_to_two_ticks() {
    let mut out = std::io::stdout();
    writeln!(out, "| one way | snapshots | down | interpolation | jitter | up | wait | unexplained | rewind |")
        .expect("open");
    writeln!(out, "|---|---|---|---|---|---|---|---|---|").expect("open");
    let (tick, three_ticks) = (Duration::ZERO, Duration::from_nanos(46_875_000));
    let sends = [("each tick", tick), ("3 ticks", three_ticks), ("100 ms", Duration::from_millis(100))];
    let usual = [15.0, 30.0, 60.0, 100.0]
        .into_iter()
        .flat_map(|latency| sends.map(|(name, interval)| (latency, 5.0, name, interval, false)));
    let lean = [5.0, 15.0, 30.0].map(|latency| (latency, 2.0, "each tick, lean", tick, true));
    for (latency, jitter, name, send_interval, lean) in usual.chain(lean) {
        let parts = parts(Network { latency, jitter, loss: 0.0 }, send_interval, lean);
        let cells: Vec<_> = parts.iter().map(|part| format!("{part:.0}")).collect();
        writeln!(out, "| {latency} ms | {name} | {} |", cells.join(" | ")).expect("open");
        let unexplained = parts[5];
        assert!(unexplained.abs() < 31.25, "{latency} ms, {name}: {unexplained} ms are unexplained");
    }
}
