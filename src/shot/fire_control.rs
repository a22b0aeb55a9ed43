//! The rules of a weapon.

use core::time::Duration;

use bevy::prelude::*;

use super::{RejectReason, recent::Recent};
use crate::{
    time::{CurrentTick, Tick},
    weapon::{Attack, PelletPattern},
};

/// The rules of the weapon that a shooter holds, on the shooter's entity; without it, the game has rules of its own.
///
/// A shot is judged by the tick of its command, wherever it comes in time: shots that overtook each other on their way count in
/// the order in which they were fired. Ammunition is taken in the tick in which a shot is admitted, and once for each.
///
/// To change weapons, insert another one. All limits may be left open with [`FireControl::default`].
///
/// ```
/// use core::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_hindsight::{FireControl, prelude::*};
///
/// # fn spawn(mut commands: Commands) {
/// // Ten shots a second, thirty in a magazine, two seconds to change it, 80 metres.
/// let rifle = FireControl::default()
///     .with_rate(10.0)
///     .with_magazine(30, Duration::from_secs(2))
///     .with_range(80.0);
/// commands.spawn((Rig, rifle));
/// # }
/// # bevy::ecs::system::assert_is_system(spawn);
/// ```
#[derive(Component, Clone, Debug)]
pub struct FireControl {
    /// Shots per second; infinite for no limit.
    rate: f32,
    magazine: Option<Magazine>,
    range: f32,
    pellets: Option<PelletPattern>,
    /// The last shots, in the order of their command ticks: those of half a second, if there is one in each tick at 64 Hz.
    fired: Recent<Fired, 32>,
}

/// When a shot was fired.
#[derive(Clone, Copy, Debug)]
struct Fired {
    tick: Tick,
    /// How many ticks after it was due; less than 1.
    late: f64,
}

/// What a magazine holds, and how it is changed.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Magazine {
    size: u32,
    left: u32,
    reload: Duration,
    reloading_since: Option<Tick>,
}

/// A shooter begins to change the magazine of its [`FireControl`]. Until that is done, its shots are refused.
#[derive(EntityEvent, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reload {
    /// The shooter.
    pub entity: Entity,
}

impl Default for FireControl {
    fn default() -> Self {
        Self { rate: f32::INFINITY, magazine: None, range: f32::INFINITY, pellets: None, fired: Recent::default() }
    }
}

impl FireControl {
    /// The same weapon with at most so many shots per second, a positive number. It need not divide the tick rate: of 10 shots
    /// per second at 64 Hz, each may come in the first tick that is not before its time, and there are never more than ten in a
    /// second.
    ///
    /// # Panics
    ///
    /// If it is not positive.
    pub fn with_rate(self, shots_per_second: f32) -> Self {
        assert!(shots_per_second > 0.0, "a weapon that never fires: {shots_per_second} shots per second");
        Self { rate: shots_per_second, ..self }
    }

    /// The same weapon with a full magazine of this size that takes this long to change; see [`Reload`].
    pub fn with_magazine(self, size: u32, reload: Duration) -> Self {
        Self { magazine: Some(Magazine { size, left: size, reload, reloading_since: None }), ..self }
    }

    /// The same weapon with a range in metres, at least 0, at which its shots end.
    ///
    /// # Panics
    ///
    /// If it is negative or not a number.
    pub fn with_range(self, range: f32) -> Self {
        assert!(range >= 0.0, "a weapon with a range of {range} m");
        Self { range, ..self }
    }

    /// The same weapon, each of whose bullets flies as this many pellets. They are one shot, with one round of ammunition.
    ///
    /// The pattern is seeded with [`ShotId::sequence`](crate::ShotId::sequence), which the client knows, too: what it draws is what
    /// is traced. A shot that brings a pattern of its own keeps it, as long as it has no more pellets
    /// ([`RejectReason::TooManyPellets`]) and flies no wider ([`RejectReason::OutsideSpread`]).
    pub fn with_pellets(self, pattern: PelletPattern) -> Self {
        Self { pellets: Some(pattern), ..self }
    }

    /// The shots left in the magazine; `None` if there is no limit.
    pub fn ammunition(&self) -> Option<u32> {
        self.magazine.map(|magazine| magazine.left)
    }

    /// Sets the shots left in the magazine, if there is one, to what the game says: a pick-up, a respawn.
    pub fn set_ammunition(&mut self, left: u32) {
        if let Some(magazine) = &mut self.magazine {
            magazine.left = left;
        }
    }

    /// Whether the magazine is being changed.
    pub fn is_reloading(&self) -> bool {
        self.magazine.is_some_and(|magazine| magazine.reloading_since.is_some())
    }

    /// How far its shots go, in metres.
    pub fn range(&self) -> f32 {
        self.range
    }

    pub(crate) fn begin_reload(&mut self, now: Tick) {
        if let Some(magazine) = &mut self.magazine
            && magazine.reloading_since.is_none()
        {
            magazine.reloading_since = Some(now);
        }
    }

    /// Ends a reload whose time has come.
    pub(crate) fn finish_reload(&mut self, now: Tick, timestep: Duration) {
        if let Some(magazine) = &mut self.magazine
            && let Some(since) = magazine.reloading_since
            && timestep.saturating_mul(now.since(since).unsigned_abs()) >= magazine.reload
        {
            (magazine.left, magazine.reloading_since) = (magazine.size, None);
        }
    }

    /// Gives a bullet its pellets.
    pub(crate) fn load(&self, attack: &mut Attack, sequence: u32) -> Result<(), RejectReason> {
        let (Attack::Bullet(bullet), Some(pattern)) = (attack, self.pellets) else { return Ok(()) };
        let pellets = bullet.pellets.get_or_insert(pattern.seeded(sequence));
        if pellets.count() > pattern.count() {
            Err(RejectReason::TooManyPellets)
        } else if pellets.spread() > pattern.spread() {
            Err(RejectReason::OutsideSpread)
        } else {
            Ok(())
        }
    }

    /// Whether a shot of this command tick may be fired.
    pub(crate) fn check(&self, command_tick: Tick, timestep: Duration) -> Result<(), RejectReason> {
        if let Some(magazine) = self.magazine {
            // Shots that were fired before it began are still on their way.
            if magazine.reloading_since.is_some_and(|since| command_tick.since(since) >= 0) {
                return Err(RejectReason::Reloading);
            }
            if magazine.left == 0 {
                return Err(RejectReason::OutOfAmmunition);
            }
        }
        self.lateness(command_tick, timestep).map(|_| ()).ok_or(RejectReason::FiredTooFast)
    }

    /// Takes the ammunition for an admitted shot.
    pub(crate) fn fire(&mut self, command_tick: Tick, timestep: Duration) {
        if let Some(magazine) = &mut self.magazine {
            magazine.left = magazine.left.saturating_sub(1);
        }
        let late = self.lateness(command_tick, timestep).unwrap_or_default();
        self.fired.insert(Fired { tick: command_tick, late }, |other| other.tick.since(command_tick) <= 0);
    }

    /// How late a shot of this tick is, in ticks; `None` if with it, shots would come too fast.
    ///
    /// The rule is that of a leaky bucket of one shot (GCRA, ITU-T I.371), over all that are remembered, in the order of their
    /// ticks: each shot is due a whole number of intervals after the one before was due, or else when it is fired.
    fn lateness(&self, command_tick: Tick, timestep: Duration) -> Option<f64> {
        // Of what is older than all that is remembered, nothing can be said.
        if self.fired.first_if_full().is_some_and(|first| first.tick.since(command_tick) >= 0) && self.rate.is_finite()
        {
            return None;
        }
        let interval = 1.0 / (f64::from(self.rate) * timestep.as_secs_f64()).max(f64::MIN_POSITIVE);
        let is_earlier = |fired: &Fired| fired.tick.since(command_tick) <= 0;
        let earlier = self.fired.iter().take_while(is_earlier).map(|fired| (fired, false));
        let later = self.fired.iter().skip_while(is_earlier).map(|fired| (fired, false));
        let this = (Fired { tick: command_tick, late: 0.0 }, true);
        let mut lateness = 0.0;
        let mut due: Option<f64> = None;
        for (fired, is_this) in earlier.chain([this]).chain(later) {
            // Relative to this shot, so that ticks may wrap.
            let at = f64::from(fired.tick.since(command_tick));
            let own_due = due.map_or(at - fired.late, |due| {
                // Shots between may have been lost, and those that follow keep their time.
                let missed = ((at - due) / interval).floor().max(0.0);
                let in_time = due + missed * interval;
                if at - in_time < 1.0 { in_time } else { at }
            });
            if at < own_due - 1e-6 {
                return None;
            }
            if is_this {
                lateness = at - own_due;
            }
            due = Some(own_due + interval);
        }
        Some(lateness)
    }
}

/// Starts the change of a magazine.
pub(crate) fn begin_reload(reload: On<Reload>, mut weapons: Query<&mut FireControl>, tick: Res<CurrentTick>) {
    if let Ok(mut weapon) = weapons.get_mut(reload.entity) {
        weapon.begin_reload(tick.0);
    }
}

/// Ends all changes of magazines that are done.
pub(crate) fn finish_reloads(mut weapons: Query<&mut FireControl>, tick: Res<CurrentTick>, time: Res<Time<Fixed>>) {
    for mut weapon in &mut weapons {
        if weapon.is_reloading() {
            weapon.finish_reload(tick.0, time.timestep());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::weapon::{Blast, Bullet};

    const TICK: Duration = Duration::from_nanos(15_625_000);

    /// Tries to fire in each of these ticks; in which it could.
    fn fire(weapon: &mut FireControl, ticks: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut fired = Vec::new();
        for tick in ticks {
            if weapon.check(Tick(tick), TICK).is_ok() {
                weapon.fire(Tick(tick), TICK);
                fired.push(tick);
            }
        }
        fired
    }

    #[test]
    fn a_rate_that_does_not_divide_the_tick_rate_does_not_drift() {
        for start in [0, u32::MAX - 300] {
            let mut weapon = FireControl::default().with_rate(10.0);
            let fired = fire(&mut weapon, (0..640).map(|tick| tick + u64::from(start)).map(|tick| tick as u32));
            assert_eq!(fired.len(), 100, "ten seconds of ten shots");
            let first: Vec<_> = fired[..6].iter().map(|tick| tick.wrapping_sub(start)).collect();
            assert_eq!(first, [0, 7, 13, 20, 26, 32]);
        }
    }

    #[test]
    fn the_shots_after_a_lost_one_keep_their_time() {
        let mut weapon = FireControl::default().with_rate(10.0);
        assert_eq!(fire(&mut weapon, [0, 7, 20, 26, 32]), [0, 7, 20, 26, 32]);
    }

    #[test]
    fn what_is_older_than_all_that_is_remembered_is_too_fast() {
        let mut weapon = FireControl::default().with_rate(64.0);
        assert_eq!(fire(&mut weapon, 100..140).len(), 40);
        assert!(fire(&mut weapon, [100, 104, 104, 90, 90]).is_empty());
        assert_eq!(fire(&mut weapon, [140]), [140]);
    }

    #[test]
    fn a_pause_gives_no_credit() {
        let mut weapon = FireControl::default().with_rate(10.0);
        assert_eq!(fire(&mut weapon, (0..8).chain(100..115)), [0, 7, 100, 107, 113]);
    }

    #[test]
    fn shots_that_overtook_each_other_are_admitted_and_no_others() {
        let mut weapon = FireControl::default().with_rate(8.0);
        assert_eq!(fire(&mut weapon, [100, 116, 108, 112, 104, 92, 124, 120]), [100, 116, 108, 92, 124]);
    }

    #[test]
    fn a_magazine_is_emptied_shot_by_shot_and_changed_once() {
        let mut weapon = FireControl::default().with_magazine(3, Duration::from_secs(1));
        assert_eq!(fire(&mut weapon, 0..10), [0, 1, 2]);
        assert_eq!(weapon.check(Tick(10), TICK), Err(RejectReason::OutOfAmmunition));
        weapon.begin_reload(Tick(20));
        weapon.begin_reload(Tick(50));
        weapon.finish_reload(Tick(83), TICK);
        assert_eq!(weapon.check(Tick(83), TICK), Err(RejectReason::Reloading));
        weapon.finish_reload(Tick(84), TICK);
        assert_eq!((weapon.ammunition(), weapon.is_reloading()), (Some(3), false));
        assert_eq!(weapon.check(Tick(84), TICK), Ok(()));
        weapon.set_ammunition(1);
        assert_eq!(fire(&mut weapon, 84..90), [84]);
    }

    #[test]
    fn a_shot_from_before_the_reload_began_still_has_its_round() {
        let mut weapon = FireControl::default().with_magazine(3, Duration::from_secs(1));
        weapon.begin_reload(Tick(20));
        assert_eq!(weapon.check(Tick(19), TICK), Ok(()));
        assert_eq!(weapon.check(Tick(20), TICK), Err(RejectReason::Reloading));
    }

    #[test]
    fn a_weapon_with_pellets_gives_each_bullet_its_own_and_none_that_are_more_or_wider() {
        let weapon = FireControl::default().with_pellets(PelletPattern::cone(8, 0.1));
        let loaded = |mut attack: Attack, sequence| weapon.load(&mut attack, sequence).map(|()| attack);
        let bullet = |pattern| Attack::Bullet(Bullet { pellets: pattern, piercing: None });
        let own = |sequence| Some(PelletPattern::cone(8, 0.1).seeded(sequence));
        assert_eq!(loaded(Attack::default(), 7), Ok(bullet(own(7))));
        let narrow = bullet(Some(PelletPattern::cone(4, 0.05)));
        assert_eq!(loaded(narrow, 7), Ok(narrow));
        let wide = bullet(Some(PelletPattern::cone(4, 0.2)));
        assert_eq!(loaded(wide, 7), Err(RejectReason::OutsideSpread));
        let many = bullet(Some(PelletPattern::cone(9, 0.1)));
        assert_eq!(loaded(many, 7), Err(RejectReason::TooManyPellets));
        let blast = Attack::Blast(Blast::new(1.0));
        assert_eq!(loaded(blast, 7), Ok(blast));
    }

    proptest! {
        /// However a client orders its claims, no second holds more shots than the rate says.
        #[test]
        fn no_window_holds_more_than_the_rate(
            rate in 1.0_f32..64.0,
            ticks in prop::collection::vec(0_u32..200, 1..200),
        ) {
            let mut weapon = FireControl::default().with_rate(rate);
            // As the inbox hands them out: of each sixteen, none older than the oldest.
            let mut sorted = ticks;
            sorted.sort_unstable();
            for chunk in sorted.chunks_mut(8) {
                chunk.reverse();
            }
            let mut fired = fire(&mut weapon, sorted);
            fired.sort_unstable();
            let interval = 64.0 / f64::from(rate);
            for (index, first) in fired.iter().enumerate() {
                for (more, last) in fired[index..].iter().enumerate() {
                    let window = f64::from(last - first);
                    // Each may be late by less than a tick, and the next one then comes early by as much.
                    prop_assert!(more as f64 <= (window + 1.0) / interval + 1e-6, "{more} more within {window} ticks");
                }
            }
        }
    }
}
