//! What a second of history takes.

use bevy::prelude::*;
use bevy_hindsight::{PoseStorage, Tick, prelude::*, test_app::TestApp};

const RIGS: usize = 100;
const HITBOXES: usize = 19;
const HZ: usize = 64;
/// A position and a rotation in `f32`, without padding.
const RAW_POSE: usize = 28;

fn bytes_of_a_second(storage: PoseStorage) -> usize {
    let mut app = TestApp::new(HZ as f64);
    app.world_mut().resource_mut::<LagCompensationConfig>().storage = storage;
    for rig in 0..RIGS {
        let rig = app.world_mut().spawn((Rig, Transform::from_xyz(rig as f32, 0.0, 0.0))).id();
        for part in 0..HITBOXES {
            let place = Transform::from_xyz(0.0, 0.1 * part as f32, 0.0);
            app.world_mut().spawn((Hitbox::capsule(0.1, 0.1), place, ChildOf(rig)));
        }
    }
    app.run_to(Tick(2 * HZ as u32));
    let world = app.world_mut();
    world.query::<&HistoryBuffer>().iter(world).map(HistoryBuffer::bytes).sum()
}

#[test]
fn the_compact_form_takes_less_than_half_of_raw_poses() {
    let raw = RAW_POSE * RIGS * HITBOXES * HZ;
    let (full, compact) = (bytes_of_a_second(PoseStorage::Full), bytes_of_a_second(PoseStorage::Compact));
    print(&format!("bytes per rig-second: full {}, compact {}, raw {}", full / RIGS, compact / RIGS, raw / RIGS));
    assert!(compact * 2 <= raw, "{compact} of {raw} bytes");
    assert!(full <= raw * 3 / 2, "{full} of {raw} bytes");
}

/// Shown by `cargo test --test memory -- --nocapture`.
fn print(line: &str) {
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}").expect("standard output should be open");
}
