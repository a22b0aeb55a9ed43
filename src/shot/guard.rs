//! What the server remembers of a connection's views, to tell what its screen cannot have shown.

use bevy::prelude::*;

use super::{RejectReason, recent::Recent};
use crate::time::{Tick, ViewTime};

/// The last views that a connection's shots have claimed, and were believed in.
#[derive(Component, Clone, Debug, Default)]
pub struct ViewGuard {
    /// The last ones that differ, in the order of their sequence numbers: those of half a second, if there is one in each tick
    /// at 64 Hz.
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
    /// About one in two seconds.
    const TICKS_FOR_ONE: f64 = 128.0;

    fn take(&mut self, now: Tick) -> bool {
        // Late shots do not turn the clock back: it would go over the same time again.
        let since = now.since(*self.at.get_or_insert(now));
        if since > 0 {
            self.left = (self.left + f64::from(since) / Self::TICKS_FOR_ONE).min(Self::MOST);
            self.at = Some(now);
        }
        let allowed = self.left >= 1.0;
        self.left -= if allowed { 1.0 } else { 0.0 };
        allowed
    }
}

impl ViewGuard {
    /// How much faster than the command ticks a view can run: both clocks are bent by up to a tenth.
    const FASTEST: f64 = 1.25;
    /// Ticks by which a view may run ahead nevertheless, for a while.
    const BURST: f64 = 6.0;

    /// Checks a claim against those before and after it.
    pub(crate) fn check(&mut self, claim: Claim) -> Result<(), RejectReason> {
        let earlier = self.claims.iter().rfind(|other| is_before(other.sequence, claim.sequence));
        let later = self.claims.iter().find(|other| is_before(claim.sequence, other.sequence));
        if earlier.is_none() && self.claims.horizon().is_some() {
            // There is nothing to compare it with any more.
            return Err(RejectReason::ViewTimeImplausible);
        }
        if later.is_some_and(|later| claim.command_tick.since(later.command_tick) > 0) {
            // It does not come late; its number has been kept back.
            return Err(RejectReason::ViewTimeBackwards);
        }
        let mut neighbours = earlier.iter().chain(&later).peekable();
        let is_other_epoch = neighbours.peek().is_some() && neighbours.all(|other| other.epoch != claim.epoch);
        if is_other_epoch && self.epochs.take(claim.command_tick) {
            // The old and the new presentation are not compared.
            if later.is_none() {
                self.lead = 0.0;
            }
            return Ok(());
        }
        let same = |other: &Claim| other.epoch == claim.epoch || self.epochs.left < 1.0;
        if earlier.filter(same).is_some_and(|earlier| claim.view.is_before(earlier.view))
            || later.filter(same).is_some_and(|later| later.view.is_before(claim.view))
        {
            return Err(RejectReason::ViewTimeBackwards);
        }
        // A shot that comes late lies between others, and so is no faster than they are.
        if let (Some(earlier), None) = (earlier, later) {
            let ticks = f64::from(claim.command_tick.since(earlier.command_tick).max(0));
            let shown = claim.view.ticks_after(earlier.view);
            let lead = (self.lead + shown - Self::FASTEST * ticks).max(0.0);
            if lead > Self::BURST {
                return Err(RejectReason::ViewTimeTooFast);
            }
            self.lead = lead;
        }
        Ok(())
    }

    /// Remembers a claim that was believed, unless another shot has said the same.
    pub(crate) fn remember(&mut self, claim: Claim) {
        if !self.claims.iter().any(|other| Claim { sequence: claim.sequence, ..other } == claim) {
            self.claims.insert(claim, |other| is_before(other.sequence, claim.sequence));
        }
    }
}

/// Sequence numbers wrap.
fn is_before(sequence: u32, other: u32) -> bool {
    (sequence.wrapping_sub(other) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(sequence: u32, command_tick: u32, delay: f64) -> Claim {
        let command_tick = Tick(command_tick);
        Claim { sequence, command_tick, view: ViewTime::before(command_tick, delay), epoch: 0 }
    }

    /// Checks claims one after the other, and remembers those that are believed.
    fn reasons(guard: &mut ViewGuard, claims: impl IntoIterator<Item = Claim>) -> Vec<Option<RejectReason>> {
        let judge = |claim| {
            let checked = guard.check(claim);
            if checked.is_ok() {
                guard.remember(claim);
            }
            checked.err()
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
            reasons(&mut guard, [claim(1, 100, 15.0), claim(2, 101, 10.0), claim(3, 102, 5.0), claim(4, 103, 9.9)]);
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
    fn numbers_that_were_kept_back_are_no_late_shots() {
        let mut guard = ViewGuard::default();
        let falling = (0..5).map(|n| claim(100 - n, 100 + n, 10.0 + 2.0 * f64::from(n)));
        let backwards = Some(RejectReason::ViewTimeBackwards);
        assert_eq!(reasons(&mut guard, falling), [None, backwards, backwards, backwards, backwards]);
    }

    #[test]
    fn late_shots_cannot_each_be_of_a_presentation_of_their_own() {
        let mut guard = ViewGuard::default();
        assert_eq!(reasons(&mut guard, [claim(1, 100, 10.0), claim(90, 100, 10.0)]), [None, None]);
        let late = (0..20).map(|n: u16| {
            let delay = if n.is_multiple_of(2) { 20.0 } else { 0.0 };
            Claim { epoch: 7 + n, ..claim(10 + u32::from(n), 100, delay) }
        });
        assert_eq!(reasons(&mut guard, late).iter().filter(|reason| reason.is_none()).count(), 4);
    }

    /// However the command ticks of shots go back and forth, time passes once.
    #[test]
    fn epochs_are_counted_by_the_ticks_that_pass() {
        let mut budget = EpochBudget::default();
        let taken = (0..64).filter(|n: &u32| budget.take(Tick(1_000 - 32 * (n % 2)))).count();
        assert_eq!(taken, 4);
    }
}
