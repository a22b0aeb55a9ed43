//! Hours of coming and going: each shot is answered, and nothing piles up.
//!
//! The environment variable `SOAK_MINUTES` sets the simulated time.

use core::time::Duration;
use std::{
    alloc::System,
    collections::HashSet,
    env,
    io::{Write, stdout},
};

use bevy::prelude::*;
use bevy_hindsight::{Life, ShotId};
use netsim::{CeaseFire, ClientLog, Network, Peer, ServerLog, Shooter, Sim, SimConfig, Strafing};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CLIENTS: usize = 16;
const FPS: f64 = 32.0;

/// The shots of all clients, and their answers.
#[derive(Default, Debug)]
struct Ledger {
    fired: usize,
    answered: usize,
    /// Shots whose client had left.
    left_open: usize,
    /// Clients that have left.
    left: usize,
}

/// What is in use at a moment at which all clients are there.
#[derive(Debug)]
struct InUse {
    bytes: usize,
    server_entities: u32,
}

#[test]
fn each_shot_is_answered_and_nothing_piles_up() {
    let minutes: u64 = env::var("SOAK_MINUTES").map_or(3, |number| number.parse().expect("a number of minutes"));
    let network = Network { loss: 0.02, ..Network::TYPICAL };
    let config = SimConfig { network, client_fps: vec![FPS; CLIENTS], ..SimConfig::default() };
    let scene = Strafing::default();
    let mut sim = Sim::new(config, scene);
    let mut open: Vec<HashSet<ShotId>> = vec![HashSet::new(); CLIENTS];
    let (mut ledger, mut random, mut in_use) = (Ledger::default(), SmallRng::seed_from_u64(5), Vec::new());
    for second in 0..60 * minutes {
        sim.run(Duration::from_secs(1));
        live_and_die(&mut sim, &mut random);
        settle(&mut sim, &mut open, &mut ledger);
        if random.random_bool(0.1) {
            let leaving = random.random_range(0..CLIENTS);
            let gone = sim.leave(leaving);
            note_fired(&gone, &mut open[leaving], &mut ledger);
            ledger.left_open += open.remove(leaving).len();
            ledger.left += 1;
            sim.join(&scene, FPS);
            open.push(HashSet::new());
        }
        if second % 60 == 59 {
            in_use.push(InUse {
                bytes: bytes_in_use(),
                server_entities: sim.server.app.world().entities().count_spawned(),
            });
            writeln!(stdout(), "minute {}: {:?}, {ledger:?}", in_use.len(), in_use.last())
                .expect("standard output should be open");
        }
    }
    for client in &mut sim.clients {
        client.app.insert_resource(CeaseFire);
    }
    sim.run(Duration::from_secs(5));
    settle(&mut sim, &mut open, &mut ledger);
    assert!(open.iter().all(HashSet::is_empty), "shots without an answer: {open:?}");
    assert_eq!(ledger.fired, ledger.answered + ledger.left_open, "{ledger:?}");
    assert!(ledger.left_open <= 16 * ledger.left, "no more than were under way: {ledger:?}");
    assert_flat(&in_use);
}

/// Memory varies with who has just come; it must not grow.
fn assert_flat(in_use: &[InUse]) {
    let settled = in_use.len().min(10).div_ceil(2);
    let (early, late) = in_use.split_at(settled);
    let most = |part: &[InUse]| part.iter().map(|in_use| in_use.bytes).max().unwrap_or_default();
    assert!(most(late) as f64 <= 1.1 * most(early) as f64, "{in_use:?}");
    let entities = |part: &[InUse]| part.iter().map(|in_use| in_use.server_entities).max().unwrap_or_default();
    assert!(entities(late) <= entities(early) + 4, "{in_use:?}");
}

fn bytes_in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Each second, some shooters die, and half of the dead come back.
fn live_and_die(sim: &mut Sim, random: &mut SmallRng) {
    let world = sim.server.app.world_mut();
    for mut life in world.query_filtered::<&mut Life, With<Shooter>>().iter_mut(world) {
        if !life.is_alive() && random.random_bool(0.5) {
            life.begin();
        } else if life.is_alive() && random.random_bool(0.05) {
            life.end();
        }
    }
}

/// Strikes out the shots that have been answered.
fn settle(sim: &mut Sim, open: &mut [HashSet<ShotId>], ledger: &mut Ledger) {
    sim.server.app.insert_resource(ServerLog::default());
    for (client, open) in sim.clients.iter_mut().zip(open) {
        note_fired(client, open, ledger);
        client.app.insert_resource(ClientLog::default());
    }
}

fn note_fired(client: &Peer, open: &mut HashSet<ShotId>, ledger: &mut Ledger) {
    let log = client.app.world().resource::<ClientLog>();
    ledger.fired += log.fired.len();
    open.extend(log.fired.iter().map(|fired| fired.shot));
    for verdict in &log.verdicts {
        assert!(open.remove(&verdict.shot), "{verdict:?} answers no open shot");
        ledger.answered += 1;
    }
}
