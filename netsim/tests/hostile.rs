//! What a modified client sends ends in a reason, and in nothing else.

use core::{net::Ipv4Addr, time::Duration};
use std::net::UdpSocket;

use bevy::prelude::*;
use bevy_hindsight::{
    DisplayedRig, RejectReason, SentTicks, SnapshotPair, Tick, ViewTime,
    lightyear::{ShotOutcome, ShotRequest, ShotServerConfig, VerdictReceived},
};
use netsim::{Network, Sim, SimConfig, Strafing, Transport, request};

/// A client that has settled and does not shoot by itself.
fn quiet(transport: Transport) -> Sim {
    let network = Network { latency: 20.0, jitter: 2.0, loss: 0.0 };
    let mut sim = Sim::new(
        SimConfig { transport, network, ..Default::default() },
        Strafing { shoot: false, ..Default::default() },
    );
    sim.run(Duration::from_secs(3));
    sim
}

fn now(sim: &Sim) -> Tick {
    sim.server.app.world().resource::<bevy_hindsight::CurrentTick>().0
}

/// A request that the server would judge.
fn sound(sim: &Sim, sequence: u32) -> ShotRequest<()> {
    let now = now(sim);
    ShotRequest { command_tick: now + 4, view_time: Some(ViewTime::at(now - 4)), ..request(sequence) }
}

fn answers(sim: &mut Sim) -> Vec<VerdictReceived> {
    sim.run(Duration::from_secs(2));
    sim.client_log(0).verdicts.clone()
}

fn reason_of(verdict: &VerdictReceived) -> Option<RejectReason> {
    match verdict.outcome {
        ShotOutcome::Rejected(reason) => Some(reason),
        _ => None,
    }
}

#[test]
fn bad_values_are_refused_with_their_reason_and_others_are_judged() {
    let mut sim = quiet(Transport::Memory);
    let sound = |sequence| sound(&sim, sequence);
    let (now, nan) = (now(&sim), f32::NAN);
    let requests = [
        (ShotRequest { origin: Vec3::splat(nan), ..sound(1) }, RejectReason::OriginNotFinite),
        (ShotRequest { origin: Vec3::splat(f32::INFINITY), ..sound(2) }, RejectReason::OriginNotFinite),
        (ShotRequest { direction: Vec3::splat(nan), ..sound(3) }, RejectReason::DirectionNotFinite),
        (ShotRequest { direction: Vec3::ZERO, ..sound(4) }, RejectReason::DirectionZero),
        (ShotRequest { range: -1.0, ..sound(5) }, RejectReason::RangeInvalid),
        (ShotRequest { range: nan, ..sound(6) }, RejectReason::RangeInvalid),
        (ShotRequest { view_time: Some(ViewTime::at(now + 10_000)), ..sound(7) }, RejectReason::ViewTimeAhead),
        (ShotRequest { view_time: Some(ViewTime::at(Tick(1))), ..sound(8) }, RejectReason::ViewTimeTooOld),
        (ShotRequest { command_tick: now + 10_000, ..sound(9) }, RejectReason::CommandTickAhead),
        (ShotRequest { command_tick: Tick(1), ..sound(10) }, RejectReason::TooLate),
        (ShotRequest { command_tick: Tick(u32::MAX), ..sound(11) }, RejectReason::TooLate),
        (ShotRequest { direction: Vec3::NEG_Z, ..sound(12) }, RejectReason::Missed),
    ];
    // All in one tick, which no honest client would do.
    sim.server.app.world_mut().resource_mut::<ShotServerConfig>().max_per_tick = 20;
    let expected: Vec<_> = requests.iter().map(|(request, reason)| (request.sequence, Some(*reason))).collect();
    for (request, _) in requests {
        sim.fire_raw(0, request);
    }
    let mut found: Vec<_> =
        answers(&mut sim).iter().map(|verdict| (verdict.shot.sequence, reason_of(verdict))).collect();
    found.sort_by_key(|(sequence, _)| *sequence);
    assert_eq!(found, expected);
}

#[test]
fn a_repeated_request_is_answered_once() {
    let mut sim = quiet(Transport::Memory);
    for _ in 0..20 {
        let request = sound(&sim, 1);
        sim.fire_raw(0, request);
    }
    assert_eq!(answers(&mut sim).len(), 1);
    let request = sound(&sim, 1);
    sim.fire_raw(0, request);
    assert_eq!(answers(&mut sim).len(), 1, "nor later");
}

#[test]
fn a_flood_is_answered_shot_by_shot_and_most_of_it_refused() {
    let mut sim = quiet(Transport::Memory);
    for sequence in 1..=500 {
        let request = sound(&sim, sequence);
        sim.fire_raw(0, request);
    }
    let answers = answers(&mut sim);
    assert_eq!(answers.len(), 500);
    let refused = answers.iter().filter(|verdict| reason_of(verdict) == Some(RejectReason::TooManyWaiting)).count();
    assert!(refused >= 400, "{refused} refused");
}

#[test]
fn garbage_on_the_socket_harms_nobody() {
    let mut sim = quiet(Transport::Udp);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for length in [0, 1, 7, 64, 1_200] {
        socket.send_to(&vec![0xA5; length], sim.address).unwrap();
    }
    let request = sound(&sim, 1);
    sim.fire_raw(0, request);
    assert_eq!(answers(&mut sim).len(), 1, "an honest client plays on");
}

#[test]
fn a_message_that_is_no_shot_is_dropped_and_the_link_lives_on() {
    let mut sim = quiet(Transport::Memory);
    for bytes in [vec![], vec![0xFF; 3], vec![0xFF; 200], vec![0; 5], vec![1; 9]] {
        sim.send_bytes(0, bytes);
    }
    // In the same frame, and so in the same packet.
    let request = sound(&sim, 1);
    sim.fire_raw(0, request);
    let answers = answers(&mut sim);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].shot.sequence, 1);
}

/// B67's like for snapshots: a client that names others than it was sent gains nothing.
#[test]
fn false_snapshots_are_refused_with_their_reason() {
    let send_interval = Duration::from_nanos(3 * 15_625_000);
    let network = Network { latency: 20.0, jitter: 0.0, loss: 0.0 };
    let mut sim = Sim::new(
        SimConfig { send_interval, network, ..Default::default() },
        Strafing { shoot: false, ..Default::default() },
    );
    sim.run(Duration::from_secs(3));
    let world = sim.clients[0].app.world_mut();
    let mut find = world.query_filtered::<Entity, With<netsim::Target>>();
    let target = find.single(world).expect("the target is on the screen");
    let mut find = world.query_filtered::<Entity, With<netsim::Shooter>>();
    let me = find.single(world).expect("so is the shooter");
    let sent: Vec<Tick> = {
        let sent = sim.server.app.world().resource::<SentTicks>();
        (0..90).map(|back| now(&sim) - back).filter(|tick| sent.contains(*tick)).collect()
    };
    let [late, early] = [sent[4], sent[5]];
    let view = ViewTime::at(early + 1);
    let mut sequence = 0;
    let mut ask = |rig, start, end| {
        sequence += 1;
        let pair = DisplayedRig::interpolated(rig, SnapshotPair { start, end });
        let displayed = Some([Some(pair), None, None, None, None, None, None, None]);
        (ShotRequest { command_tick: now(&sim) + 4, view_time: Some(view), displayed, ..request(sequence) }, sequence)
    };
    let cases = [
        (ask(target, early, Some(late)), None),
        (ask(me, early, Some(late)), None),
        (ask(target, early + 1, Some(late)), Some(RejectReason::SnapshotNotSent)),
        (ask(target, early, Some(late - 1)), Some(RejectReason::SnapshotNotSent)),
        (ask(target, late, Some(early)), Some(RejectReason::SnapshotsDisordered)),
        (ask(target, early - 29, Some(late)), Some(RejectReason::SnapshotNotSent)),
        // True, but so old that they are not believed: the shot is judged by what was sent.
        (ask(target, sent[20], None), None),
    ];
    let expected: Vec<_> = cases.iter().map(|((_, sequence), reason)| (*sequence, *reason)).collect();
    for ((request, _), _) in cases {
        sim.fire_raw(0, request);
    }
    let traced = |verdict: &VerdictReceived| reason_of(verdict).filter(|reason| !reason.was_traced());
    let mut found: Vec<_> = answers(&mut sim).iter().map(|verdict| (verdict.shot.sequence, traced(verdict))).collect();
    found.sort_by_key(|(sequence, _)| *sequence);
    assert_eq!(found, expected);
}
