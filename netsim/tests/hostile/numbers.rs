//! Numbers that are none, and ticks from nowhere.

use bevy::prelude::*;
use bevy_hindsight::{
    RejectReason::{self, *},
    Tick, ViewTime,
    lightyear::{ShotRequest, ShotServerConfig},
};

use crate::attacker::{Attacker, Outcome, view_of};

/// Sends one request after the other, each made of an honest one, and compares what becomes of them.
#[track_caller]
fn assert_outcomes<T: Copy>(rows: &[(&str, T, Outcome)], attack: impl Fn(T, ShotRequest<()>, Tick) -> ShotRequest<()>) {
    let mut attacker = Attacker::new();
    // All in one tick, which no honest client would do.
    attacker.server().resource_mut::<ShotServerConfig>().max_per_tick = rows.len();
    let now = attacker.now();
    let sent: Vec<_> = rows.iter().map(|(_, value, _)| attack(*value, attacker.honest(), now)).collect();
    for request in &sent {
        attacker.send(request);
    }
    attacker.run(500);
    for ((name, _, expected), request) in rows.iter().zip(sent) {
        assert_eq!(attacker.answer(request.sequence).map(|answer| answer.outcome), Some(*expected), "{name}");
    }
    attacker.assert_honest_shots_hit();
}

const fn refused(reason: RejectReason) -> Outcome {
    Outcome::Refused(reason)
}

#[test]
fn origins() {
    let nowhere = refused(OriginNotFinite);
    assert_outcomes(
        &[
            ("not a number", Vec3::NAN, nowhere),
            ("one coordinate is none", Vec3::new(0.0, f32::NAN, 0.0), nowhere),
            ("infinite", Vec3::INFINITY, nowhere),
            ("negative infinite", Vec3::NEG_INFINITY, nowhere),
            ("as far as numbers go", Vec3::splat(f32::MAX), Outcome::Missed),
            ("further than squares go", Vec3::new(-1e30, 1e30, 1e30), Outcome::Missed),
            ("denormal", Vec3::splat(1e-40), Outcome::Hit),
            ("negative zero", Vec3::splat(-0.0), Outcome::Hit),
        ],
        |origin, honest, _| ShotRequest { origin, ..honest },
    );
}

#[test]
fn directions() {
    assert_outcomes(
        &[
            ("not a number", Vec3::NAN, refused(DirectionNotFinite)),
            ("one coordinate is none", Vec3::new(f32::NAN, 0.0, 1.0), refused(DirectionNotFinite)),
            ("infinite", Vec3::INFINITY, refused(DirectionNotFinite)),
            ("too long to be normalised", Vec3::splat(f32::MAX), refused(DirectionNotFinite)),
            ("none", Vec3::ZERO, refused(DirectionZero)),
            ("negative none", Vec3::splat(-0.0), refused(DirectionZero)),
            ("denormal", Vec3::splat(1e-40), refused(DirectionZero)),
        ],
        |direction, honest, _| ShotRequest { direction, ..honest },
    );
}

#[test]
fn directions_that_are_not_of_unit_length() {
    let rows = [("short", 1e-3, Outcome::Hit), ("long", 1e4, Outcome::Hit), ("behind", -1.0, Outcome::Missed)];
    assert_outcomes(&rows, |length, honest, _| ShotRequest { direction: honest.direction * length, ..honest });
}

#[test]
fn ranges() {
    assert_outcomes(
        &[
            ("not a number", f32::NAN, refused(RangeInvalid)),
            ("negative", -1.0, refused(RangeInvalid)),
            ("negative infinite", f32::NEG_INFINITY, refused(RangeInvalid)),
            ("infinite", f32::INFINITY, Outcome::Hit),
            ("as far as numbers go", f32::MAX, Outcome::Hit),
            ("nothing", 0.0, Outcome::Missed),
            ("negative nothing", -0.0, Outcome::Missed),
            ("denormal", 1e-40, Outcome::Missed),
            ("short of the target", 9.5, Outcome::Missed),
        ],
        |range, honest, _| ShotRequest { range, ..honest },
    );
}

#[test]
fn command_ticks() {
    assert_outcomes(
        &[
            ("zero", Ticks::At(0), refused(TooLate)),
            ("the last one", Ticks::At(u32::MAX), refused(TooLate)),
            ("the middle", Ticks::At(1 << 31), refused(CommandTickAhead)),
            ("just too far ahead", Ticks::FromNow(72), refused(CommandTickAhead)),
            ("far ahead", Ticks::FromNow(10_000), refused(CommandTickAhead)),
            ("as far ahead as there is", Ticks::FromNow(i32::MAX), refused(CommandTickAhead)),
            ("too long ago", Ticks::FromNow(-40), refused(TooLate)),
            ("as long ago as there is", Ticks::FromNow(i32::MIN + 1_000), refused(TooLate)),
        ],
        |ticks, honest, now| ShotRequest { command_tick: ticks.from(now), ..honest },
    );
}

#[test]
fn view_ticks() {
    assert_outcomes(
        &[
            ("zero", Ticks::At(0), refused(ViewTimeTooOld)),
            ("the last one", Ticks::At(u32::MAX), refused(ViewTimeTooOld)),
            ("the middle", Ticks::At(1 << 31), refused(ViewTimeAhead)),
            ("ahead", Ticks::FromNow(20), refused(ViewTimeAhead)),
            ("as far ahead as there is", Ticks::FromNow(i32::MAX), refused(ViewTimeAhead)),
            ("forgotten", Ticks::FromNow(-100), refused(ViewTimeTooOld)),
            ("as long ago as there is", Ticks::FromNow(i32::MIN + 1_000), refused(ViewTimeTooOld)),
        ],
        |ticks, honest, now| {
            let fraction = view_of(&honest).fraction;
            ShotRequest { view_time: Some(ViewTime::new(ticks.from(now), fraction)), ..honest }
        },
    );
}

#[derive(Clone, Copy)]
enum Ticks {
    At(u32),
    FromNow(i32),
}

impl Ticks {
    fn from(self, now: Tick) -> Tick {
        match self {
            Self::At(tick) => Tick(tick),
            Self::FromNow(ticks) => Tick(now.0.wrapping_add_signed(ticks)),
        }
    }
}
