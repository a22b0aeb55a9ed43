//! Each shot that a client fires comes back with one verdict, whatever the network does.

use core::time::Duration;
use std::collections::HashMap;

use bevy_hindsight::{RejectReason, lightyear::ShotOutcome};
use netsim::{Network, Sim, SimConfig, Strafing, Transport};

/// Runs until `shots` have been fired by each client, and then long enough for all verdicts to come home.
fn play(config: SimConfig, shots: usize) -> Sim {
    let mut sim = Sim::new(config, Strafing::default());
    let clients = sim.clients.len();
    sim.run_until("shots", Duration::from_secs(60), |sim| {
        (0..clients).all(|client| sim.client_log(client).fired.len() >= shots)
    });
    for client in &mut sim.clients {
        client.app.insert_resource(netsim::CeaseFire);
    }
    sim.run(Duration::from_secs(5));
    sim
}

fn assert_one_verdict_per_shot(sim: &Sim) {
    for client in 0..sim.clients.len() {
        let log = sim.client_log(client);
        let mut answers = HashMap::new();
        for verdict in &log.verdicts {
            *answers.entry(verdict.shot).or_insert(0) += 1;
        }
        for fired in &log.fired {
            assert_eq!(answers.remove(&fired.shot), Some(1), "client {client}, {:?}", fired.shot);
        }
        assert!(answers.is_empty(), "client {client} has answers to shots that it did not fire: {answers:?}");
    }
}

#[test]
fn each_shot_is_answered_once_with_heavy_loss_and_reordering() {
    let network = Network { latency: 80.0, jitter: 40.0, loss: 0.2 };
    let sim = play(SimConfig { network, client_fps: vec![60.0, 144.0], ..Default::default() }, 200);
    assert_one_verdict_per_shot(&sim);
    let late = sim.server_log().judged.iter().map(|judged| judged.late).max();
    assert!(late > Some(0), "with this loss some shots must have come late, and were judged");
}

#[test]
fn clients_at_any_frame_rate_hit_what_they_see() {
    let config = SimConfig { client_fps: vec![30.0, 60.0, 240.0], server_fps: 128.0, ..Default::default() };
    let sim = play(config, 200);
    assert_one_verdict_per_shot(&sim);
    for client in 0..3 {
        let log = sim.client_log(client);
        let settled = &log.fired[60..];
        let hit = |shot| {
            let verdict = log.verdicts.iter().find(|verdict| verdict.shot == shot).expect("was answered");
            verdict.outcome.is_hit()
        };
        let wrong = settled.iter().filter(|fired| hit(fired.shot) != fired.on_target).count();
        assert!(wrong * 50 <= settled.len(), "client {client}: {wrong} of {} verdicts are wrong", settled.len());
    }
}

#[test]
fn a_verdict_names_the_target_as_the_client_knows_it() {
    let mut sim = play(SimConfig { network: Network::PERFECT, ..Default::default() }, 50);
    let world = sim.clients[0].app.world_mut();
    let shown = world.query_filtered::<bevy::prelude::Entity, bevy::prelude::With<netsim::Target>>().single(world);
    let target = shown.expect("the target is replicated");
    let hits: Vec<_> = sim
        .client_log(0)
        .verdicts
        .iter()
        .filter_map(|verdict| match verdict.outcome {
            ShotOutcome::Hit { target, .. } => Some(target),
            _ => None,
        })
        .collect();
    assert!(hits.len() > 20);
    assert!(hits.iter().all(|hit| *hit == Some(target)), "{hits:?}");
}

#[test]
fn the_same_seed_gives_the_same_verdicts_in_memory_and_over_udp() {
    let run = |transport, seed| {
        let sim = play(SimConfig { transport, seed, ..Default::default() }, 200);
        (sim.client_log(0).fired.clone(), sim.server_log().judged.clone())
    };
    let (fired, judged) = run(Transport::Memory, 7);
    assert_eq!((fired.clone(), judged.clone()), run(Transport::Memory, 7));
    let udp = run(Transport::Udp, 7);
    assert_eq!(fired, udp.0);
    let of =
        |judged: &[netsim::Judged]| judged.iter().map(|j| (j.shot.sequence, j.proxy, j.rejected)).collect::<Vec<_>>();
    assert_eq!(of(&judged), of(&udp.1));
    assert_ne!(fired, run(Transport::Memory, 8).0, "another seed must give another run");
}

#[test]
fn a_listen_server_judges_its_host_in_the_present_and_its_guests_in_the_past() {
    let sim = play(SimConfig { listen_server: true, ..Default::default() }, 200);
    let host = sim.server.app.world().resource::<netsim::ClientLog>();
    assert!(host.fired.len() >= 200);
    for fired in &host.fired[4..] {
        let judged = sim.server_log().judged.iter().find(|judged| {
            judged.shot.sequence == fired.shot.sequence && judged.shot.connection != guest_connection(&sim)
        });
        let judged = judged.expect("each shot of the host is judged");
        assert_eq!(judged.proxy, Some(fired.shown), "the host shoots at what stands in its own world");
        assert_eq!(judged.rejected.is_none(), fired.on_target);
        assert!(judged.late <= 1);
    }
    assert_one_verdict_per_shot(&sim);
}

fn guest_connection(sim: &Sim) -> u64 {
    let guest = sim.client_log(0).verdicts.iter().find(|verdict| verdict.outcome.is_hit());
    let view = guest.expect("the guest has hit").view_time;
    let judged =
        sim.server_log().judged.iter().find(|judged| judged.view_time == view && judged.view_time.fraction != 0);
    judged.expect("the hit was judged").shot.connection
}

#[test]
fn clients_without_a_rig_are_answered_too() {
    let mut sim = Sim::new(SimConfig::default(), Strafing { spawn_shooters: false, ..Default::default() });
    sim.run(Duration::from_secs(3));
    sim.fire_raw(0, netsim::request(1));
    sim.run(Duration::from_secs(2));
    let verdicts = &sim.client_log(0).verdicts;
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].outcome, ShotOutcome::Rejected(RejectReason::ShooterUnknown));
}
