//! `duel` alone: two windows and a server, which end together.

use core::time::Duration;
use std::{thread, time::Instant};

use super::machine::{Desktop, Launcher};

#[test]
#[ignore = "needs Xvfb, xdotool and a Vulkan driver"]
fn two_windows_open_and_closing_one_ends_all() {
    let desktop = Desktop::start();
    let mut duel = Launcher::start(&desktop);
    let deadline = Instant::now() + Duration::from_secs(60);
    while ["red", "blue"].iter().any(|name| desktop.windows(name).is_empty()) {
        assert!(Instant::now() < deadline, "there are not two windows");
        assert!(duel.status().is_none(), "it has ended by itself");
        thread::sleep(Duration::from_millis(200));
    }
    // Until both are in the arena.
    thread::sleep(Duration::from_secs(5));
    desktop.close("blue");
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        match duel.status() {
            Some(status) => break status,
            None => assert!(Instant::now() < deadline, "it goes on without its window"),
        }
        thread::sleep(Duration::from_millis(100));
    };
    assert!(status.success(), "{status}");
    assert!(desktop.windows("red").is_empty(), "the other window is still there");
}
