//! Ticks and the instants between them.

use core::ops::{Add, Sub};

use bevy::{prelude::*, reflect::Reflect};
use serde::{Deserialize, Serialize};

/// One `FixedUpdate` of the server.
///
/// The counter wraps: after [`u32::MAX`] comes 0, and everything in this crate goes on working. `Ord` is left out on
/// purpose, since an order that wraps is not transitive; compare with [`Tick::since`].
///
/// ```
/// use bevy_hindsight::Tick;
///
/// assert_eq!(Tick(100).since(Tick(94)), 6);
/// assert_eq!(Tick(1).since(Tick(u32::MAX)), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct Tick(pub u32);

impl Tick {
    /// How many ticks `self` lies after `earlier`; negative if it lies before.
    ///
    /// Right as long as the two are less than 2³¹ ticks apart (388 days at 64 Hz).
    pub const fn since(self, earlier: Tick) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }
}

impl Add<u32> for Tick {
    type Output = Tick;

    fn add(self, ticks: u32) -> Tick {
        Tick(self.0.wrapping_add(ticks))
    }
}

impl Sub<u32> for Tick {
    type Output = Tick;

    fn sub(self, ticks: u32) -> Tick {
        Tick(self.0.wrapping_sub(ticks))
    }
}

/// The tick that `FixedUpdate` is running, or has last run.
///
/// [`LagCompensationPlugin`](crate::LagCompensationPlugin) counts it up once in each `FixedFirst`. With the `lightyear`
/// feature it follows lightyear's `LocalTimeline`. A game with a tick counter of its own writes that into it in
/// `FixedPreUpdate`.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource)]
pub struct CurrentTick(pub Tick);

/// What the shooter's screen showed of the remote world: a tick, and the way gone from it towards the next one.
///
/// The fraction counts 1/65,536 of a tick (0.24 µs at 64 Hz). Integers travel over the network and compare exactly,
/// and lightyear samples its interpolation with the same 16 bits.
///
/// ```
/// use bevy_hindsight::{Tick, ViewTime};
///
/// let view = ViewTime::before(Tick(100), 5.5);
/// assert_eq!(view, ViewTime::new(Tick(94), 0x8000));
/// assert_eq!(view.ticks_before(Tick(100)), 5.5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct ViewTime {
    /// The last tick that had wholly come onto the screen.
    pub tick: Tick,
    /// The part of the way to the tick after it, in 1/65,536.
    pub fraction: u16,
}

impl ViewTime {
    const FRACTIONS_PER_TICK: f64 = 65_536.0;

    /// The instant `fraction`/65,536 of a tick after `tick`.
    pub const fn new(tick: Tick, fraction: u16) -> Self {
        Self { tick, fraction }
    }

    /// The instant of `tick` itself.
    pub const fn at(tick: Tick) -> Self {
        Self::new(tick, 0)
    }

    /// The instant `delay` ticks before `tick`, rounded to 1/65,536 of a tick.
    ///
    /// A negative delay lies after `tick`; a delay that is not a number counts as 0, and one of more than 2³⁰ ticks (194 days
    /// at 64 Hz) as that many, since ticks wrap.
    pub fn before(tick: Tick, delay: f64) -> Self {
        const LONGEST: f64 = (1 << 30) as f64;
        // `as` gives 0 for NaN.
        let delay = (delay.clamp(-LONGEST, LONGEST) * Self::FRACTIONS_PER_TICK).round() as i64;
        let instant = (i64::from(tick.0) << 16).wrapping_sub(delay);
        Self::new(Tick((instant >> 16) as u32), instant as u16)
    }

    /// How far this instant lies before `tick`, in ticks; negative if it lies after.
    pub fn ticks_before(self, tick: Tick) -> f64 {
        f64::from(tick.since(self.tick)) - f64::from(self.fraction) / Self::FRACTIONS_PER_TICK
    }

    /// How far this instant lies after another one, in ticks; negative if it lies before.
    pub(crate) fn ticks_after(self, earlier: ViewTime) -> f64 {
        earlier.ticks_before(self.tick) + f64::from(self.fraction) / Self::FRACTIONS_PER_TICK
    }

    /// The fraction as a number in `0.0..1.0`; exact.
    pub fn fraction_f32(self) -> f32 {
        f32::from(self.fraction) / 65_536.0
    }

    /// The part of the way from one tick to another at which this instant lies, in `0.0..=1.0`; 0 if the second is not the later one.
    pub(crate) fn part_between(self, start: Tick, end: Tick) -> f32 {
        let span = end.since(start);
        let part = || (self.tick.since(start) as f32 + self.fraction_f32()) / span as f32;
        if span > 0 { part().clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether this instant lies before another one.
    pub const fn is_before(self, other: ViewTime) -> bool {
        let ticks = self.tick.since(other.tick);
        ticks < 0 || (ticks == 0 && self.fraction < other.fraction)
    }

    /// Whether this instant lies after `tick`.
    pub const fn is_after(self, tick: Tick) -> bool {
        let ticks = self.tick.since(tick);
        ticks > 0 || (ticks == 0 && self.fraction > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_difference_holds_across_the_wrap() {
        assert_eq!(Tick(2).since(Tick(u32::MAX - 1)), 4);
        assert_eq!(Tick(u32::MAX).since(Tick(3)), -4);
        assert_eq!(Tick(u32::MAX) + 3, Tick(2));
        assert_eq!(Tick(2) - 3, Tick(u32::MAX));
    }

    #[test]
    fn view_time_before_a_tick_crosses_the_wrap() {
        let view = ViewTime::before(Tick(1), 2.5);
        assert_eq!(view, ViewTime::new(Tick(u32::MAX - 1), 0x8000));
        assert_eq!(view.ticks_before(Tick(1)), 2.5);
    }

    /// B07: a delay survives the way through `ViewTime`, in ticks and not in any other unit.
    #[test]
    fn b07_delays_round_trip_within_a_256th_of_a_tick() {
        for delay in [0.0, 0.25, 1.28, 6.4, 63.99] {
            let back = ViewTime::before(Tick(100), delay).ticks_before(Tick(100));
            assert!((back - delay).abs() <= 1.0 / 256.0, "{delay} came back as {back}");
        }
    }

    #[test]
    fn view_time_of_a_delay_that_is_no_number_is_the_tick() {
        assert_eq!(ViewTime::before(Tick(7), f64::NAN), ViewTime::at(Tick(7)));
    }

    #[test]
    fn endless_delays_stay_endless_and_do_not_come_round() {
        for delay in [3e9, 4_294_967_296.0, 4_294_967_302.0, f64::INFINITY, f64::MAX] {
            let before = ViewTime::before(Tick(7), delay);
            assert!(before.ticks_before(Tick(7)) > 1e9, "{delay}");
            let after = ViewTime::before(Tick(7), -delay);
            assert!(after.ticks_before(Tick(7)) < -1e9, "{delay}");
        }
    }

    #[test]
    fn only_instants_past_the_tick_are_after_it() {
        assert!(!ViewTime::at(Tick(5)).is_after(Tick(5)));
        assert!(ViewTime::new(Tick(5), 1).is_after(Tick(5)));
        assert!(ViewTime::at(Tick(0)).is_after(Tick(u32::MAX)));
        assert!(!ViewTime::new(Tick(4), u16::MAX).is_after(Tick(5)));
    }
}
