//! What a client shows of its own shots before the server has judged them.

mod gunners;

use core::time::Duration;
use std::collections::HashSet;

use bevy_hindsight::{PelletPattern, RejectReason, Zone, lightyear::Settlement};
use gunners::{Gunners, Knowledge, Twist, ledger};
use netsim::{Network, Sim, SimConfig, TARGET_RADIUS};

/// The predictions of the first seconds, in which the clocks settle.
const SETTLING: usize = 80;

/// Asserts that all predictions of a client were confirmed, hits as well as misses, but for shots that were refused: at most
/// so many in a hundred.
fn assert_confirmed(of_whom: &str, settlements: &[(bool, Settlement)], refused_in_hundred: usize) {
    let hits = settlements.iter().filter(|(is_hit, _)| *is_hit).count();
    let misses = settlements.len() - hits;
    assert!(hits > 50 && misses > 30, "{of_whom}: {hits} hits and {misses} misses are predicted");
    let is_refused = |settlement| matches!(settlement, Settlement::Denied(reason) if !reason.was_traced());
    let refused = settlements.iter().filter(|(_, settlement)| is_refused(*settlement)).count();
    assert!(100 * refused <= refused_in_hundred * settlements.len(), "{of_whom}: {refused} are refused");
    for (number, (_, settlement)) in settlements.iter().enumerate() {
        let of = settlements.len();
        let agrees = *settlement == Settlement::Confirmed || is_refused(*settlement);
        assert!(agrees, "{of_whom}, {number} of {of}: {settlement:?}");
    }
}

#[test]
fn what_is_predicted_on_the_screen_is_confirmed() {
    let bad = Network { latency: 80.0, jitter: 30.0, loss: 0.05 };
    let conditions = [
        ("a cable", Network::PERFECT, Knowledge::Rig, 0),
        ("a typical line", Network::TYPICAL, Knowledge::Rig, 0),
        ("a typical line, both halves", Network::TYPICAL, Knowledge::RigInBothHalves, 0),
        // Lost twice, a shot comes too late.
        ("a bad line", bad, Knowledge::Rig, 1),
    ];
    for (name, network, knowledge, refused_in_hundred) in conditions {
        let config = SimConfig { network, client_fps: vec![30.0, 60.0, 144.0], ..SimConfig::default() };
        let sim = Gunners { knowledge, ..Gunners::default() }.play(config, 400);
        for client in 0..3 {
            let settlements = ledger(&sim.clients[client]).settlements(SETTLING);
            assert_confirmed(&format!("{name}, client {client}"), &settlements, refused_in_hundred);
        }
    }
}

#[test]
fn a_door_on_the_screen_stops_what_it_stops_on_the_server() {
    let config = SimConfig { client_fps: vec![60.0, 144.0], ..SimConfig::default() };
    let sim = Gunners { twist: Twist::Door, ..Gunners::default() }.play(config, 500);
    for client in &sim.clients {
        let settlements = ledger(client).settlements(SETTLING);
        assert_confirmed("door", &settlements, 0);
        let hits = settlements.iter().filter(|(is_hit, _)| *is_hit).count();
        assert!(hits < settlements.len() * 7 / 10, "the door stops some: {hits} of {} hit", settlements.len());
    }
}

#[test]
fn pellets_fly_on_the_screen_as_on_the_server() {
    let pellets = Some(PelletPattern::cone(8, 0.05));
    let sim = Gunners { pellets, ..Gunners::default() }.play(SimConfig::default(), 8 * 300);
    assert_confirmed("pellets", &ledger(&sim.clients[0]).settlements(8 * SETTLING), 0);
}

#[test]
fn the_host_of_a_listen_server_predicts_by_the_same_records() {
    let config = SimConfig { listen_server: true, ..SimConfig::default() };
    let sim = Gunners::default().play(config, 300);
    assert_confirmed("the host", &ledger(&sim.server).settlements(SETTLING), 0);
    assert_confirmed("its guest", &ledger(&sim.clients[0]).settlements(SETTLING), 0);
}

#[test]
fn a_refused_shot_is_denied_with_all_its_pellets() {
    for pellets in [None, Some(PelletPattern::cone(8, 0.05))] {
        let sim = Gunners { twist: Twist::CeaseFire, pellets, ..Gunners::default() }.play(SimConfig::default(), 200);
        let ledger = ledger(&sim.clients[0]);
        let settlements = ledger.settlements(0);
        let refused = Settlement::Denied(RejectReason::CeaseFire);
        assert!(settlements.iter().all(|(_, settlement)| *settlement == refused), "{settlements:?}");
        let shots: HashSet<_> = ledger.predicted.iter().map(|(shot, ..)| shot).collect();
        assert_eq!(ledger.verdicts.len(), shots.len(), "one verdict answers a refused shot");
    }
}

#[test]
fn a_hit_through_a_wall_of_the_server_is_denied() {
    let sim = Gunners { twist: Twist::Wall, ..Gunners::default() }.play(SimConfig::default(), 200);
    for (is_hit, settlement) in ledger(&sim.clients[0]).settlements(SETTLING) {
        // There is nothing to undo of a miss.
        let expected = if is_hit { Settlement::Denied(RejectReason::Blocked) } else { Settlement::Confirmed };
        assert_eq!(settlement, expected);
    }
}

#[test]
fn a_hit_in_another_zone_is_corrected() {
    let sim = Gunners { twist: Twist::Shell, ..Gunners::default() }.play(SimConfig::default(), 200);
    let ledger = ledger(&sim.clients[0]);
    for (is_hit, settlement) in ledger.settlements(SETTLING) {
        match settlement {
            Settlement::Corrected { zone, .. } => assert!(is_hit && zone == Zone::Head),
            settlement => assert!(!is_hit && settlement == Settlement::Confirmed, "{settlement:?}"),
        }
    }
    let later = ledger.settled.iter().filter(|settled| settled.predicted.shot.sequence > SETTLING as u32);
    for settled in later {
        let (Some(hit), Settlement::Corrected { target, point, .. }) = (settled.predicted.hit, settled.settlement)
        else {
            continue;
        };
        assert_eq!(target, Some(hit.rig));
        let moved = point.distance(hit.point);
        assert!(moved > 0.0 && moved < TARGET_RADIUS, "from {} to {point}", hit.point);
    }
}

#[test]
fn a_client_that_knows_no_rigs_learns_of_its_hits_from_their_verdicts() {
    let sim = Gunners { knowledge: Knowledge::Place, ..Gunners::default() }.play(SimConfig::default(), 200);
    let settlements = ledger(&sim.clients[0]).settlements(SETTLING);
    assert!(settlements.iter().all(|(is_hit, _)| !is_hit), "nothing is predicted");
    let corrected = settlements.iter().filter(|(_, settlement)| matches!(settlement, Settlement::Corrected { .. }));
    assert_eq!(corrected.count(), settlements.len() * 4 / 5, "four of five shots hit");
}

#[test]
fn each_prediction_is_settled_once_with_loss_lateness_and_disconnects() {
    let network = Network { latency: 80.0, jitter: 40.0, loss: 0.2 };
    let config = SimConfig { network, client_fps: vec![60.0, 144.0], ..SimConfig::default() };
    // Less than the verdicts of some shots need.
    let scene = Gunners { patience: Duration::from_millis(450), ..Gunners::default() };
    let mut sim = scene.clone().play(config.clone(), 300);
    let timed_out = |settlements: &[(bool, Settlement)]| {
        settlements.iter().filter(|(_, settlement)| *settlement == Settlement::TimedOut).count()
    };
    for client in &sim.clients {
        let ledger = ledger(client);
        let settlements = ledger.settlements(0);
        let late = timed_out(&settlements);
        assert!(late > 10 && late < settlements.len() / 2, "{late} of {} timed out", settlements.len());
        assert_eq!(ledger.verdicts.len(), ledger.predicted.len(), "late verdicts come all the same");
    }
    // Who leaves has to wait for nothing.
    let scene = Gunners::default();
    drop(sim);
    sim = Sim::new(config, scene);
    sim.run_until("predictions", Duration::from_secs(60), |sim| ledger(&sim.clients[0]).predicted.len() > 100);
    let open = ledger(&sim.clients[0]).predicted.len() - ledger(&sim.clients[0]).settled.len();
    assert!(open > 1);
    let left = sim.leave(0);
    let settlements = ledger(&left).settlements(0);
    assert!(timed_out(&settlements) >= open, "{} timed out", timed_out(&settlements));
}
