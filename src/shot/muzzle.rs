//! Where a shot may begin.

use core::time::Duration;

use bevy::prelude::*;

use super::RejectReason;
use crate::time::Tick;

/// Where the shots of a shooter begin, on the shooter's entity: the eye, or the muzzle. Without it, shots begin where their
/// clients say.
///
/// The server compares it with its own pose of the shooter at the command tick. A client predicts that pose; it is a tick off at
/// most, or as far as the prediction was wrong.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component)]
pub struct Muzzle {
    /// The point in the space of the shooter, in metres.
    pub offset: Vec3,
    /// How far from it a shot may begin, in metres. Default: 1. Beyond: [`RejectReason::MuzzleTooFar`].
    ///
    /// Too low, and shots of players are refused whose prediction was off: someone has pushed them; too high, and a modified
    /// client can shoot around corners by as much.
    pub max_distance: f32,
    /// Whether shots begin at the server's own muzzle instead of where the client says. Default: `false`: what the player saw
    /// in the crosshair is hit. Then no wall may stand between the two, see [`RejectReason::MuzzleBlocked`].
    pub snap: bool,
    /// The fastest turn between two shots, in radians per second. Default: `None`. Beyond: [`RejectReason::TurnedTooFast`].
    ///
    /// Players with a mouse turn half around in a tenth of a second.
    pub max_turn_rate: Option<f32>,
    last: Option<(Tick, Vec3)>,
}

impl Muzzle {
    /// A muzzle at this point in the space of the shooter, in metres.
    pub const fn at(offset: Vec3) -> Self {
        Self { offset, max_distance: 1.0, snap: false, max_turn_rate: None, last: None }
    }

    /// The same muzzle with another [`max_distance`](Self::max_distance), in metres.
    pub const fn within(self, max_distance: f32) -> Self {
        Self { max_distance, ..self }
    }

    /// The same muzzle, at which all shots begin; see [`snap`](Self::snap).
    pub const fn snapped(self) -> Self {
        Self { snap: true, ..self }
    }

    /// The same muzzle with a limit on turns, in radians per second; see [`max_turn_rate`](Self::max_turn_rate).
    pub const fn with_max_turn_rate(self, max_turn_rate: f32) -> Self {
        Self { max_turn_rate: Some(max_turn_rate), ..self }
    }

    /// Where a shot begins that a client says to begin at `origin`, in the direction `direction`, and that the server would let
    /// begin at `own`.
    pub(crate) fn check(
        &self,
        own: Vec3,
        origin: Vec3,
        direction: Vec3,
        command_tick: Tick,
        timestep: Duration,
    ) -> Result<Vec3, RejectReason> {
        if own.distance(origin) > self.max_distance {
            return Err(RejectReason::MuzzleTooFar);
        }
        if let (Some(fastest), Some((tick, last))) = (self.max_turn_rate, self.last) {
            // A shot of the same tick, or a late one, has had no time to turn but is allowed what one tick allows.
            let ticks = command_tick.since(tick).unsigned_abs().max(1);
            let turn = last.angle_between(direction);
            if turn > fastest * timestep.as_secs_f32() * ticks as f32 + 1e-3 {
                return Err(RejectReason::TurnedTooFast);
            }
        }
        Ok(if self.snap { own } else { origin })
    }

    /// Remembers the direction of an admitted shot.
    pub(crate) fn fire(&mut self, command_tick: Tick, direction: Vec3) {
        if self.last.is_none_or(|(tick, _)| command_tick.since(tick) >= 0) {
            self.last = Some((command_tick, direction));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);

    #[test]
    fn muzzles_are_checked_and_snapped() {
        let own = Vec3::new(11.75, 1.6, 0.0);
        let check = |muzzle: Muzzle, aside: f32| muzzle.check(own, own + Vec3::X * aside, Vec3::Z, Tick(5), TICK);
        assert_eq!(check(Muzzle::at(Vec3::ZERO), 3.0), Err(RejectReason::MuzzleTooFar));
        assert_eq!(check(Muzzle::at(Vec3::ZERO), 0.3), Ok(own + Vec3::X * 0.3));
        assert_eq!(check(Muzzle::at(Vec3::ZERO).snapped(), 0.3), Ok(own));
        assert_eq!(check(Muzzle::at(Vec3::ZERO).within(0.2), 0.3), Err(RejectReason::MuzzleTooFar));
    }

    #[test]
    fn turns_between_shots_are_limited_by_the_time_between_them() {
        // A sixteenth of a turn in each tick.
        let rate = core::f32::consts::TAU / 16.0 * 64.0;
        let mut muzzle = Muzzle::at(Vec3::ZERO).with_max_turn_rate(rate);
        let aim = |muzzle: &Muzzle, tick, turns: f32| {
            let direction = Quat::from_rotation_y(core::f32::consts::TAU * turns) * Vec3::Z;
            muzzle.check(Vec3::ZERO, Vec3::ZERO, direction, Tick(tick), TICK).err()
        };
        assert_eq!(aim(&muzzle, 100, 0.5), None, "there is nothing to compare the first shot with");
        muzzle.fire(Tick(100), Vec3::Z);
        assert_eq!(aim(&muzzle, 101, 1.0 / 16.0), None);
        assert_eq!(aim(&muzzle, 101, 0.5), Some(RejectReason::TurnedTooFast));
        assert_eq!(aim(&muzzle, 108, 0.5), None);
        assert_eq!(aim(&muzzle, 99, 0.25), Some(RejectReason::TurnedTooFast), "nor does a late shot turn faster");
        muzzle.fire(Tick(98), Vec3::X);
        assert_eq!(aim(&muzzle, 101, 0.0), None, "a late shot is not what the next one is compared with");
    }
}
