//! A person plays: a real window on a display of its own, with injected keys and mouse.

use core::{f64::consts::PI, time::Duration};
use std::collections::HashSet;

use serde_json::Value;

use super::machine::{Client, Conditions, Desktop, Server};

/// Radians that are near enough at 27 m to hit a chest.
const CLOSE: f64 = 0.006;

const LINE: Conditions = Conditions { latency: 20, jitter: 2, loss: 0.0 };

/// The end of the rail where the target waits, at the height of its chest.
const TARGET: [f64; 3] = [7.0, 1.3, -19.5];

#[test]
#[ignore = "needs Xvfb, xdotool, ImageMagick and a Vulkan driver"]
fn a_person_walks_looks_fires_and_sees_the_hit_marker() {
    let desktop = Desktop::start();
    let server = Server::start(LINE);
    let mut client = Client::start(&desktop, &server, LINE);
    let arrived = client.wait("to arrive", 60, |state| state["health"] == 100.0 && !state["round_trip"].is_null());
    assert_eq!(arrived["pilot"], "nobody", "nobody has clicked yet");

    desktop.focus(&client);
    desktop.click();
    let clicked = client.wait("a click to take control", 20, |state| state["pilot"] == "person");

    // Walks: forwards is -Z from the first spawn point.
    let from = place(&clicked);
    desktop.hold("w", Duration::from_millis(400));
    let walked = client.wait("the way", 10, |state| from[2] - place(state)[2] > 1.0);
    assert!((place(&walked)[0] - from[0]).abs() < 0.5, "straight ahead: {walked}");
    let high = place(&walked)[1];
    desktop.hold("space", Duration::from_millis(200));
    client.wait("the jump", 10, |state| place(state)[1] > high + 0.2);
    client.wait("the landing", 10, |state| (place(state)[1] - high).abs() < 0.01);

    // Looks: until the crosshair is on the target's resting place.
    let mut state = client.wait("to stand", 10, |_| true);
    for _ in 0..60 {
        let (sideways, upwards) = off_target(&state);
        if sideways.abs() < CLOSE && upwards.abs() < CLOSE {
            break;
        }
        desktop.move_mouse(pixels(sideways), pixels(upwards));
        state = client.next();
    }
    let (sideways, upwards) = off_target(&state);
    assert!(sideways.abs() < CLOSE && upwards.abs() < CLOSE, "it looks elsewhere: {state}");

    // Fires, and sees what it hits.
    let before = client.next();
    desktop.press_mouse();
    let hit = client.wait("a confirmed hit", 60, |state| {
        state["markers"]["predicted"].as_u64() > before["markers"]["predicted"].as_u64()
            && state["markers"]["confirmed"].as_u64() > before["markers"]["confirmed"].as_u64()
    });
    let picture = desktop.picture();
    desktop.release_mouse();
    assert!(hit["fired"].as_u64() > before["fired"].as_u64(), "{hit}");
    let colours: HashSet<_> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colours.len() > 100, "the window is blank: {} colours", colours.len());

    // Looks at the past, and frees the mouse.
    desktop.hold("F1", Duration::from_millis(60));
    client.wait("the ghosts", 10, |state| state["panels"]["ghosts"] == true);
    desktop.hold("F2", Duration::from_millis(60));
    client.wait("the panel", 10, |state| state["panels"]["network"] == true);
    desktop.hold("F2", Duration::from_millis(60));
    desktop.hold("Escape", Duration::from_millis(60));
    client.wait("the mouse to be free", 10, |state| state["pilot"] == "nobody");
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("it is a number")
}

fn place(state: &Value) -> [f64; 3] {
    [0, 1, 2].map(|axis| number(&state["place"][axis]))
}

/// How far the crosshair is to the left of the target, and above it, in radians.
fn off_target(state: &Value) -> (f64, f64) {
    let [x, y, z] = [0, 1, 2].map(|axis| TARGET[axis] - place(state)[axis]);
    let (yaw, pitch) = ((-x).atan2(-z), y.atan2(x.hypot(z)));
    // The pitch goes up, the pointer goes down; the yaw goes to the left, the pointer to the right.
    let sideways = (number(&state["yaw"]) - yaw + PI).rem_euclid(2.0 * PI) - PI;
    (sideways, number(&state["pitch"]) - pitch)
}

/// Half of the way, whatever the sensitivity, but at least a pixel.
fn pixels(radians: f64) -> i32 {
    let pixels = radians / 0.004;
    if radians.abs() < CLOSE { 0 } else { (pixels as i32).clamp(-200, 200) + pixels.signum() as i32 }
}
