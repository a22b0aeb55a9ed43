//! A few runs of the lab: what the server says is what the screen showed.

use core::time::Duration;

use lab::{
    grid::{Condition, Send},
    play::{Run, Setup, play},
    policy::Policy,
};
use netsim::{Pace, Transport};

const fn network(latency_ms: u32, jitter_ms: u32, loss_percent: u32, send: Send) -> Condition {
    Condition { latency_ms, jitter_ms, loss_percent, send }
}

fn run(condition: Condition, seed: u64, transport: Transport) -> Run {
    let firing = Duration::from_secs(10);
    play(condition, &Setup { firing, seed, transport, pace: Pace::Lockstep, frames: None })
}

#[test]
fn every_verdict_is_that_of_the_screen() {
    let conditions = [
        network(0, 0, 0, Send::EveryTick),
        network(30, 10, 5, Send::EveryTick),
        network(60, 10, 1, Send::ThreeTicks),
        network(100, 30, 5, Send::TenthOfASecond),
    ];
    for condition in conditions {
        for cell in run(condition, 1, Transport::Memory).cells {
            let name = format!("{condition}, {} frames per second", cell.fps);
            let [displayed, none] = [Policy::AsDisplayed, Policy::None].map(|policy| cell.tallies[policy as usize]);
            assert!(displayed.shots > 50 && displayed.pose_error.number > 50, "{name}: {displayed:?}");
            assert_eq!(displayed.agree, displayed.shots, "{name}: {:#?}", cell.disagreements);
            assert!(displayed.pose_error.max <= 0.001, "{name}: {displayed:?}");
            assert!(none.agree < none.shots, "{name}: without compensation, some shots should go wrong");
            let [with_rule, without] = cell.bones;
            assert!(with_rule.max <= 0.001 && with_rule.max < without.max, "{name}: {:?}", cell.bones);
        }
    }
}

#[test]
fn nothing_stands_still_for_want_of_snapshots_unless_packets_are_lost() {
    for send in [Send::EveryTick, Send::TenthOfASecond] {
        for cell in run(network(60, 10, 0, send), 2, Transport::Memory).cells {
            assert!(cell.frames > 0);
            assert_eq!(cell.starved, 0, "{} of {} frames at {} per second", cell.starved, cell.frames, cell.fps);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_frames_and_verdicts_in_memory_and_over_udp() {
    let condition = network(30, 10, 1, Send::ThreeTicks);
    let first = run(condition, 3, Transport::Memory);
    assert_eq!(first, run(condition, 3, Transport::Memory));
    assert_eq!(first, run(condition, 3, Transport::Udp));
    assert_ne!(first.digest, run(condition, 4, Transport::Memory).digest, "another seed must give another run");
}
