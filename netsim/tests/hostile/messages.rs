//! Bytes that are no shots.

use core::net::Ipv4Addr;
use std::net::UdpSocket;

use bevy_hindsight::Tick;
use rand::{Rng, RngCore, SeedableRng, rngs::SmallRng};

use crate::{
    attacker::{Attacker, Outcome},
    ear,
};

#[test]
fn garbage_on_the_socket() {
    let mut attacker = Attacker::new();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("there should be a free port");
    let mut random = SmallRng::seed_from_u64(1);
    for number in 0..500_usize {
        let mut bytes = vec![0; number * 3 % 1_400];
        random.fill_bytes(&mut bytes);
        // The first byte tells netcode what kind of packet it is.
        if let Some(first) = bytes.first_mut() {
            *first = random.random_range(0..16);
        }
        socket.send_to(&bytes, attacker.sim.address).expect("the socket should take it");
        if number % 50 == 0 {
            attacker.run(16);
        }
    }
    attacker.assert_honest_shots_hit();
}

#[test]
fn garbage_on_the_channel_of_shots() {
    let mut attacker = Attacker::new();
    for bytes in [vec![], vec![0xFF; 3], vec![0xFF; 200], vec![0; 5], vec![1; 9], vec![0x80; 64]] {
        attacker.sim.send_bytes(0, bytes);
    }
    // In the same frame, and so in the same packet.
    attacker.assert_honest_shots_hit();
}

/// Lightyear takes in one undecodable message per frame, so that the ones after it wait; those of others do not.
#[test]
fn truncated_requests() {
    let mut attacker = Attacker::new();
    let honest = attacker.honest();
    let bytes = encode(attacker.sim.kind_of_requests(), honest.sequence, honest.command_tick);
    for length in 0..bytes.len() {
        attacker.sim.send_bytes(0, bytes[..length].to_vec());
    }
    attacker.run(1_000);
    let whole = attacker.honest();
    let bytes = encode(attacker.sim.kind_of_requests(), whole.sequence, whole.command_tick);
    attacker.sim.send_bytes(0, bytes);
    attacker.run(400);
    assert_eq!(attacker.answer(honest.sequence), None);
    assert!(attacker.answer(whole.sequence).is_some(), "it is the cut that makes the difference");
}

/// A blind shot along Z, as postcard writes it.
fn encode(kind: u8, sequence: u32, command_tick: Tick) -> Vec<u8> {
    let [low, high] = [command_tick.0 as u8 | 0x80, (command_tick.0 >> 7) as u8];
    assert!(sequence < 128 && (128..16_384).contains(&command_tick.0), "numbers have one byte, and ticks two");
    let (no_shooter, no_view, epoch, nothing_displayed) = (0, 0, 0, 0);
    let mut bytes = vec![kind, sequence as u8, no_shooter, low, high, no_view, epoch];
    for number in [0.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0, 100.0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.push(nothing_displayed);
    bytes
}

#[test]
fn oversized_messages() {
    let mut attacker = Attacker::new();
    for kind in [attacker.sim.kind_of_requests(), 0x7F, 0xFF] {
        for length in [1_200, 5_000, 100_000] {
            let mut bytes = vec![0; length];
            bytes[0] = kind;
            attacker.sim.send_bytes(0, bytes);
        }
    }
    attacker.run(3_000);
    attacker.assert_honest_shots_hit();
}

/// Lightyear's own messages, on the wrong channel and in the wrong direction.
#[test]
#[ignore = "lightyear 0.30.1 takes `SenderMetadata` from clients, and panics if its send interval is negative"]
fn messages_of_all_kinds() {
    let mut attacker = Attacker::new();
    for kind in (0..32).filter(|kind| *kind != attacker.sim.kind_of_requests()).collect::<Vec<_>>() {
        for fill in [0, 1, 0x7F, 0xFF] {
            attacker.sim.send_bytes(0, [vec![kind], vec![fill; 40]].concat());
        }
    }
    attacker.run(5_000);
    attacker.assert_honest_shots_hit();
}

/// So that silence means something.
#[test]
fn refusals_are_told_at_debug() {
    let mut attacker = Attacker::new();
    let heard = ear::soft_events();
    let mut request = attacker.honest();
    request.range = -1.0;
    assert!(matches!(attacker.ask(&request).outcome, Outcome::Refused(_)));
    assert!(ear::soft_events() > heard);
}
