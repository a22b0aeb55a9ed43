//! Prints what a client that floods the server with shots costs it, in real time: `cargo run --release -p netsim --example
//! cost_of_a_flood`.

use core::time::Duration;
use std::{
    io::{Write, stdout},
    time::Instant,
};

use bevy::prelude::*;
use bevy_hindsight::{LagCompensationSystems, Tick, ViewTime, lightyear::ShotRequest};
use netsim::{CeaseFire, Sim, SimConfig, Strafing, TICK, request};

/// How long things took, in each tick: the whole frame of the server, and the library's part of it.
#[derive(Resource, Default)]
struct Stopwatch {
    frame: Option<Instant>,
    shots: Option<Instant>,
    frames: Vec<Duration>,
    judging: Vec<Duration>,
}

fn main() {
    writeln!(stdout(), "16 honest clients, each with 16 shots per second, and one that sends so many per tick:").ok();
    let [alone, ..] = measure(0);
    for flood in [0, 8, 32, 200, 1_000] {
        let [frame, worst, judging] = measure(flood);
        let more = frame.as_secs_f64() - alone.as_secs_f64();
        let share = 100.0 * more / TICK.as_secs_f64();
        writeln!(
            stdout(),
            "{flood:5} shots: frame {frame:.1?} (worst of a hundred {worst:.1?}), of which judging {judging:.1?}; \
             {share:+.1} % of the tick",
        )
        .ok();
    }
}

/// The median time of a server frame, the worst of a hundred, and the median time in which shots are judged and answered.
fn measure(flood: u32) -> [Duration; 3] {
    let mut sim = Sim::new(SimConfig { client_fps: vec![64.0; 17], ..SimConfig::default() }, Strafing::default());
    sim.clients[0].app.insert_resource(CeaseFire);
    sim.run(Duration::from_secs(5));
    sim.server
        .app
        .init_resource::<Stopwatch>()
        .add_systems(First, |mut watch: ResMut<Stopwatch>| watch.frame = Some(Instant::now()))
        .add_systems(Last, stop_frame)
        .add_systems(FixedPostUpdate, start_judging.before(LagCompensationSystems::ReceiveShots))
        .add_systems(FixedPostUpdate, stop_judging.after(LagCompensationSystems::ReportVerdicts));
    let mut sequence = 0;
    for _ in 0..1_000 {
        let now = sim.server.app.world().resource::<bevy_hindsight::CurrentTick>().0;
        for _ in 0..flood {
            sequence += 1;
            sim.fire_raw(0, sound(now, sequence));
        }
        sim.run(TICK);
    }
    let mut watch = sim.server.app.world_mut().remove_resource::<Stopwatch>().expect("it was started");
    // The machine may have other things to do.
    let percentile = |times: &mut Vec<Duration>, percent| {
        times.sort_unstable();
        times[times.len() * percent / 100]
    };
    [percentile(&mut watch.frames, 50), percentile(&mut watch.frames, 99), percentile(&mut watch.judging, 50)]
}

/// A shot that the server would trace.
fn sound(now: Tick, sequence: u32) -> ShotRequest<()> {
    ShotRequest { command_tick: now + 6, view_time: Some(ViewTime::at(now - 8)), ..request(sequence) }
}

fn stop_frame(mut watch: ResMut<Stopwatch>) {
    let passed = watch.frame.map(|start| start.elapsed());
    watch.frames.extend(passed);
}

fn start_judging(mut watch: ResMut<Stopwatch>) {
    watch.shots = Some(Instant::now());
}

fn stop_judging(mut watch: ResMut<Stopwatch>) {
    let passed = watch.shots.map(|start| start.elapsed());
    watch.judging.extend(passed);
}
