//! What the server remembers of a connection's views, to tell what its screen cannot have shown.

use core::time::Duration;

use bevy::prelude::*;

use super::{RejectReason, connection::in_ticks, recent::Recent};
use crate::time::{Tick, ViewTime};

/// The last views that a connection's shots have claimed, and were believed in.
#[derive(Component, Clone, Debug, Default)]
pub struct ViewGuard {
    /// The last ones that differ, in the order of their command ticks: those of half a second, if there is one in each tick at
    /// 64 Hz.
    claims: Recent<Claim, 32>,
    /// How many ticks the view has run ahead of the fastest presentation.
    lead: f64,
    epochs: EpochBudget,
}

/// What a shot says of its view.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Claim {
    pub(crate) sequence: u32,
    pub(crate) command_tick: Tick,
    pub(crate) view: ViewTime,
    pub(crate) epoch: u16,
}

/// How often a presentation may begin anew: a few times at once, and now and then.
#[derive(Clone, Copy, Debug)]
struct EpochBudget {
    left: f64,
    at: Option<Tick>,
}

impl Default for EpochBudget {
    fn default() -> Self {
        Self { left: Self::MOST, at: None }
    }
}

impl EpochBudget {
    const MOST: f64 = 4.0;
    const SECONDS_FOR_ONE: f64 = 2.0;

    /// What is left after one more at `now`; `None` if that is too much.
    fn less_one(self, now: Tick, timestep: Duration) -> Option<Self> {
        // Late shots do not turn the clock back: it would go over the same time again.
        let last = self.at.unwrap_or(now);
        let ticks = now.since(last).max(0);
        let left = self.left + f64::from(ticks) * timestep.as_secs_f64() / Self::SECONDS_FOR_ONE;
        let left = left.min(Self::MOST) - 1.0;
        (left >= 0.0).then_some(Self { left, at: Some(last + ticks as u32) })
    }
}

/// A claim that has been checked, and what it changes if its shot is admitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedClaim {
    claim: Claim,
    lead: f64,
    epochs: EpochBudget,
}

impl ViewGuard {
    /// How much faster than the command ticks a view can run: both clocks are bent by up to a tenth.
    const FASTEST: f64 = 1.25;
    /// By how much a view may run ahead nevertheless, for a while: as much as Bevy lets a single frame last.
    const BURST: Duration = Duration::from_millis(250);

    /// Checks a claim against those before and after it.
    pub(crate) fn check(&self, claim: Claim, timestep: Duration) -> Result<CheckedClaim, RejectReason> {
        let mut checked = CheckedClaim { claim, lead: self.lead, epochs: self.epochs };
        let earlier = self.claims.iter().rfind(|other| other.is_before(&claim));
        let later = self.claims.iter().find(|other| claim.is_before(other));
        if earlier.is_none() && self.claims.first_if_full().is_some() {
            // There is nothing to compare it with any more.
            return Err(RejectReason::ViewTimeImplausible);
        }
        let mut neighbours = earlier.iter().chain(&later).peekable();
        let is_other = neighbours.peek().is_some() && neighbours.all(|other| other.epoch != claim.epoch);
        if is_other && let Some(epochs) = self.epochs.less_one(claim.command_tick, timestep) {
            // The old and the new presentation are not compared, unless they change all the time.
            let lead = if later.is_none() { 0.0 } else { self.lead };
            return Ok(CheckedClaim { lead, epochs, ..checked });
        }
        let changes_too_often = self.epochs.left < 1.0;
        let same = |other: &Claim| other.epoch == claim.epoch || changes_too_often;
        if earlier.filter(same).is_some_and(|earlier| claim.view.is_before(earlier.view))
            || later.filter(same).is_some_and(|later| later.view.is_before(claim.view))
        {
            return Err(RejectReason::ViewTimeBackwards);
        }
        // A shot that comes late lies between others, and so is no faster than they are.
        if let (Some(earlier), None) = (earlier, later) {
            let ticks = f64::from(claim.command_tick.since(earlier.command_tick).max(0));
            let shown = claim.view.ticks_after(earlier.view);
            checked.lead = (self.lead + shown - Self::FASTEST * ticks).max(0.0);
            if checked.lead > in_ticks(Self::BURST, timestep) {
                return Err(RejectReason::ViewTimeTooFast);
            }
        }
        Ok(checked)
    }

    /// Remembers a claim that was believed, unless another shot has said the same.
    pub(crate) fn remember(&mut self, checked: CheckedClaim) {
        let CheckedClaim { claim, lead, epochs } = checked;
        (self.lead, self.epochs) = (lead, epochs);
        if !self.claims.iter().any(|other| Claim { sequence: claim.sequence, ..other } == claim) {
            self.claims.insert(claim, |other| other.is_before(&claim));
        }
    }
}

impl Claim {
    /// In the order of command ticks; within one, of sequence numbers, which wrap.
    fn is_before(&self, other: &Self) -> bool {
        let ticks = self.command_tick.since(other.command_tick);
        ticks < 0 || (ticks == 0 && (self.sequence.wrapping_sub(other.sequence) as i32) < 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(15_625_000);

    fn claim(sequence: u32, command_tick: u32, delay: f64) -> Claim {
        let command_tick = Tick(command_tick);
        Claim { sequence, command_tick, view: ViewTime::before(command_tick, delay), epoch: 0 }
    }

    /// Checks claims one after the other, and remembers those that are believed.
    fn reasons(guard: &mut ViewGuard, claims: impl IntoIterator<Item = Claim>) -> Vec<Option<RejectReason>> {
        let judge = |claim| match guard.check(claim, TICK) {
            Ok(checked) => {
                guard.remember(checked);
                None
            }
            Err(reason) => Some(reason),
        };
        claims.into_iter().map(judge).collect()
    }

    #[test]
    fn a_screen_that_plays_on_is_believed_for_hours() {
        let mut guard = ViewGuard::default();
        // Its delay wanders by a tenth of the time.
        let claims = (0..200_000).map(|n: u32| {
            let wander = (n % 200).abs_diff(100);
            claim(n.wrapping_sub(1_000), n.wrapping_mul(7).wrapping_sub(5_000), 12.0 + 0.07 * f64::from(wander))
        });
        assert!(reasons(&mut guard, claims).iter().all(Option::is_none));
    }

    #[test]
    fn views_that_run_backwards_are_refused() {
        let mut guard = ViewGuard::default();
        let found = reasons(&mut guard, [claim(1, 100, 10.0), claim(2, 101, 12.0), claim(3, 102, 10.0)]);
        assert_eq!(found, [None, Some(RejectReason::ViewTimeBackwards), None]);
    }

    #[test]
    fn late_and_reordered_shots_fit_between_the_others() {
        let mut guard = ViewGuard::default();
        let found = reasons(
            &mut guard,
            [claim(1, 100, 10.0), claim(4, 130, 10.0), claim(2, 110, 10.0), claim(3, 120, 31.0), claim(5, 130, 9.9)],
        );
        assert_eq!(found, [None, None, None, Some(RejectReason::ViewTimeBackwards), None]);
        // A view that lies after that of a later shot.
        assert_eq!(reasons(&mut guard, [claim(3, 120, -1.0)]), [Some(RejectReason::ViewTimeBackwards)]);
    }

    #[test]
    fn views_may_catch_up_by_a_few_ticks_but_not_again_and_again() {
        let mut guard = ViewGuard::default();
        let found =
            reasons(&mut guard, [claim(1, 100, 40.0), claim(2, 101, 28.0), claim(3, 102, 15.0), claim(4, 103, 28.0)]);
        assert_eq!(found, [None, None, Some(RejectReason::ViewTimeTooFast), None]);
        // Time heals.
        assert_eq!(reasons(&mut guard, [claim(5, 200, 5.0)]), [None]);
    }

    #[test]
    fn a_new_presentation_is_not_compared_with_the_old_one_but_cannot_begin_all_the_time() {
        let mut guard = ViewGuard::default();
        let jumping = (0..12)
            .map(|n: u32| Claim { epoch: n as u16, ..claim(n, 100 + n, if n.is_multiple_of(2) { 30.0 } else { 5.0 }) });
        let found = reasons(&mut guard, jumping);
        assert!(found[..5].iter().all(Option::is_none), "{found:?}");
        assert!(found[5..].iter().filter(|reason| reason.is_some()).count() >= 3, "{found:?}");
        // Later it may again.
        // A claim that was not believed costs nothing.
        let budget = guard.epochs.left;
        assert!(guard.check(Claim { epoch: 90, ..claim(13, 113, 60.0) }, TICK).is_err());
        assert_eq!(guard.epochs.left, budget);
        let later = [Claim { epoch: 40, ..claim(20, 2_000, 3.0) }, Claim { epoch: 41, ..claim(21, 2_001, 30.0) }];
        assert_eq!(reasons(&mut guard, later), [None, None]);
    }

    #[test]
    fn what_is_older_than_all_that_is_remembered_is_not_believed_and_harms_nothing() {
        let mut guard = ViewGuard::default();
        let claims = (100..200).map(|n| claim(n, n, 10.0));
        assert!(reasons(&mut guard, claims).iter().all(Option::is_none));
        let implausible = Some(RejectReason::ViewTimeImplausible);
        assert_eq!(reasons(&mut guard, [claim(5, 5, 10.0), claim(200, 200, 10.0)]), [implausible, None]);
    }

    #[test]
    fn pellets_of_one_shot_do_not_drive_out_others() {
        let mut guard = ViewGuard::default();
        let pellets = (0..200).map(|n| claim(n, 100 + n / 10, 10.0));
        assert!(reasons(&mut guard, pellets).iter().all(Option::is_none));
        assert_eq!(reasons(&mut guard, [claim(200, 130, 10.0), claim(5, 100, 10.0)]), [None, None]);
    }

    #[test]
    fn views_are_compared_in_the_order_of_ticks_whatever_their_numbers() {
        let mut guard = ViewGuard::default();
        let falling = (0..5).map(|n| claim(100 - n, 100 + n, 10.0 + 2.0 * f64::from(n)));
        let backwards = Some(RejectReason::ViewTimeBackwards);
        assert_eq!(reasons(&mut guard, falling), [None, backwards, backwards, backwards, backwards]);
    }

    #[test]
    fn late_shots_cannot_each_be_of_a_presentation_of_their_own() {
        let mut guard = ViewGuard::default();
        assert_eq!(reasons(&mut guard, [claim(1, 100, 10.0), claim(90, 101, 10.0)]), [None, None]);
        let late = (0..20).map(|n: u16| {
            let delay = if n.is_multiple_of(2) { 20.0 } else { 0.0 };
            Claim { epoch: 7 + n, ..claim(10 + u32::from(n), 100, delay) }
        });
        assert_eq!(reasons(&mut guard, late).iter().filter(|reason| reason.is_none()).count(), 4);
    }

    /// However the command ticks of shots go back and forth, time passes once.
    #[test]
    fn epochs_are_counted_by_the_ticks_that_pass() {
        let mut budget = Some(EpochBudget::default());
        let mut taken = 0;
        for n in 0..64 {
            let next = budget.and_then(|budget| budget.less_one(Tick(1_000 - 32 * (n % 2)), TICK));
            taken += u32::from(next.is_some());
            budget = next.or(budget);
        }
        assert_eq!(taken, 4);
    }
}
