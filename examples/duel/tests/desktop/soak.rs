//! A long match of two windows on a bad line: nothing breaks, and nothing grows.
//!
//! `SOAK_SECONDS` says how long it plays, 60 by default; its figures go to standard output.

use core::time::Duration;
use std::{env, io::Write, time::Instant};

use super::machine::{Client, Conditions, Desktop, Server};
use serde_json::Value;

/// The line: 100 ms each way and 2 % loss.
const LINE: Conditions = Conditions { latency: 100, jitter: 10, loss: 2.0 };
/// What is not growth, in MiB: caches of the renderer and the allocator's own room.
const ROOM: f64 = 24.0;

#[test]
#[ignore = "needs Xvfb and a Vulkan driver, and as long as SOAK_SECONDS says"]
fn a_long_match_on_a_bad_line_neither_breaks_nor_grows() {
    let seconds = env::var("SOAK_SECONDS").map_or(60, |seconds| seconds.parse().expect("a number of seconds"));
    let desktop = Desktop::start();
    let server = Server::start(LINE);
    let place = |name, number: i32| Client::start_bot(&desktop, &server, LINE, name, number);
    let mut clients = [place("red", 0), place("blue", 1)];
    let began = Instant::now();
    // A quarter of the time, but no more than two minutes, is for warming up.
    let warm = Duration::from_secs(u64::min(seconds / 4, 120));
    let mut memory: Vec<[f64; 3]> = Vec::new();
    let mut last: Vec<Value> = vec![Value::Null; 2];
    while began.elapsed() < Duration::from_secs(seconds) {
        for (state, client) in last.iter_mut().zip(&mut clients) {
            *state = client.next();
        }
        if began.elapsed() > warm {
            memory.push([server.memory(), clients[0].memory(), clients[1].memory()]);
        }
    }
    let mut out = std::io::stdout().lock();
    for state in &last {
        writeln!(out, "{state}").unwrap();
    }
    // The mean of the first and of the last tenth.
    let tenth = (memory.len() / 10).max(1);
    let mean = |part: &[[f64; 3]], which: usize| part.iter().map(|m| m[which]).sum::<f64>() / part.len() as f64;
    for (which, name) in ["server", "red", "blue"].into_iter().enumerate() {
        let (first, end) = (mean(&memory[..tenth], which), mean(&memory[memory.len() - tenth..], which));
        writeln!(out, "{name}: {first:.1} MiB when warm, {end:.1} MiB at the end").unwrap();
        assert!(end < first + ROOM, "{name} has grown");
    }
    for state in &last {
        let (on_target, confirmed) = (state["on_target"].as_u64().unwrap(), state["confirmed"].as_u64().unwrap());
        assert!(on_target > seconds / 10, "nobody plays: {state}");
        assert!(confirmed as f64 >= 0.98 * on_target as f64, "{state}");
    }
}
