//! Sections F, G and H of the public faults of hit registration: weapons, who is compensated, time control.
//!
//! Written elsewhere:
//!
//! * B64 (host player compensated twice) in `netsim/tests/verdicts.rs`: a listen server judges its host in the present.
//! * B68 also in `src/shot/admit.rs`, `tests/shots.rs`, `netsim/tests/hostile.rs`; that nothing is allocated in
//!   `tests/nothing_is_allocated.rs`.
//! * B67 (claimed delay abused) and B69 (impossible muzzle) in `tests/admission.rs`.
//! * B72 (low server rate) in `tests/scenarios_moment.rs`, next to the scenarios that it repeats.
//! * B60 (pellets attributed wrongly) in `tests/pellets.rs`, B61 (projectile catch-up overshoots) in `tests/projectiles.rs`, B63
//!   (melee not covered) in `tests/swings.rs`.

#[path = "fixture/runner.rs"]
mod fixture;

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_hindsight::{RejectReason, Tick, prelude::*};
use fixture::{Range, assert_near, x};

/// B64: the core of it. A shot at the present is judged in the present, whatever the shooter asked for before.
#[test]
fn b64_a_shot_in_the_present_is_compensated_by_nothing() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(98));
    let [earlier] = range.fire([(x(11.625), 6.0)]);
    assert_near(earlier.unwrap().pose.translation.x, 11.625);
    let [present, past] = range.fire([(x(12.5), 0.0), (x(11.75), 0.0)]);
    assert_eq!(present.map(|hit| hit.rig), Ok(range.target));
    assert_near(present.unwrap().pose.translation.x, 12.5);
    assert_eq!(past, Err(RejectReason::Missed));
}

/// B65: bots and AI. They have no screen that lags behind.
#[test]
fn b65_a_bot_without_a_view_time_sees_the_present() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(99));
    let bot = range.app.world_mut().spawn((Rig, Hitbox::ball(0.5))).id();
    let shots = [12.5, 11.75].map(|place| ShotEvent::new(bot, Tick(100), x(place), Vec3::Z));
    let mut verdicts = range.app.judge_all(shots);
    let (second, first) = (verdicts.pop().unwrap(), verdicts.pop().unwrap());
    let hit = first.unwrap();
    assert_near(hit.hit.pose.translation.x, 12.5);
    assert_eq!(hit.evidence.view_time, ViewTime::at(Tick(100)));
    assert_eq!(second.unwrap_err().reason, RejectReason::Missed);
}

/// B68: malformed or hostile requests, ten thousand in one tick.
#[test]
fn b68_each_of_ten_thousand_shots_gets_its_one_verdict_with_its_reason() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(99));
    let good = range.shot(x(11.75), 6.0);
    let view = |delay| ViewTime::before(Tick(100), delay);
    let kinds = [
        (good, None),
        (ShotEvent { direction: Vec3::splat(f32::NAN), ..good }, Some(RejectReason::DirectionNotFinite)),
        (ShotEvent { direction: Vec3::ZERO, ..good }, Some(RejectReason::DirectionZero)),
        (ShotEvent { origin: Vec3::X * f32::INFINITY, ..good }, Some(RejectReason::OriginNotFinite)),
        (good.seen_at(view(1e9)), Some(RejectReason::ViewTimeTooOld)),
        (good.seen_at(view(1e9 + 0.5)), Some(RejectReason::ViewTimeTooOld)),
        (good.seen_at(view(-1e9)), Some(RejectReason::ViewTimeAhead)),
        (ShotEvent { command_tick: Tick(10_100), ..good }, Some(RejectReason::CommandTickAhead)),
        (good.with_range(f32::NAN), Some(RejectReason::RangeInvalid)),
        (ShotEvent { origin: x(12.5), ..good }, Some(RejectReason::Missed)),
    ];
    let shots = (0..10_000).map(|n| kinds[n % kinds.len()].0.with_id(ShotId::local(n as u32)));
    let mut answers = HashMap::new();
    for verdict in range.app.judge_all(shots) {
        let (id, answer) = match verdict {
            Ok(hit) => (hit.shot, None),
            Err(rejection) => (rejection.shot, Some(rejection.reason)),
        };
        assert_eq!(answers.insert(id.sequence, answer), None, "one verdict for each shot");
    }
    assert_eq!(answers.len(), 10_000);
    for (sequence, answer) in answers {
        assert_eq!(answer, kinds[sequence as usize % kinds.len()].1, "shot {sequence}");
    }
    // The next tick is none the worse for it.
    let [hit] = range.fire([(x(11.875), 6.0)]);
    assert_near(hit.unwrap().distance, 9.95);
}

/// B68: delays so long that ticks wrap, or infinite, must not come round to a view that is admitted.
#[test]
fn b68_delays_beyond_all_ticks_are_refused() {
    let mut range = Range::new(Hitbox::ball(50.0));
    range.app.run_to(Tick(99));
    for delay in [3e9, 4_294_967_296.0, 4_294_967_302.0, 1e18, f64::INFINITY] {
        let [long, ahead] = range.fire([(x(11.75), delay), (x(11.75), -delay)]);
        assert_eq!((long, ahead), (Err(RejectReason::ViewTimeTooOld), Err(RejectReason::ViewTimeAhead)), "{delay}");
    }
}
