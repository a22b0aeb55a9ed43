//! What a shot may claim of its view.

use core::time::Duration;

use bevy::prelude::*;

use super::{
    Adjustment, ConnectionDelay, DisplayedRig, Evidence, RejectReason, ShotCounters, ShotEvent, Shown, ViewGuard,
    connection::in_ticks,
    guard::{CheckedClaim, Claim},
};
use crate::{
    policy::{AdmissionRules, CheckPolicy, ViewSource},
    time::{Tick, ViewTime},
};

/// The tick in which shots are admitted.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) tick: Tick,
    pub(super) timestep: Duration,
    /// How many ticks the server remembers.
    pub(super) window: u32,
}

/// Whether a shot is still to be judged by what it claims.
pub(super) fn is_claim(evidence: &Evidence) -> bool {
    matches!(evidence.view_source, ViewSource::AsDisplayed | ViewSource::Reported) && evidence.adjusted.is_none()
}

/// What a shot says of its view.
fn claim_of(shot: &ShotEvent) -> Option<Claim> {
    let ShotEvent { command_tick, epoch, .. } = *shot;
    Some(Claim { sequence: shot.id.sequence, command_tick, view: shot.view_time?, epoch })
}

/// Checks the claimed view of a shot against what the server knows of its connection; where it goes too far, it is refused or
/// moved, as the rules say. What is left is to be remembered if the shot is admitted.
pub(super) fn adjust(
    evidence: &mut Evidence,
    shot: &ShotEvent,
    delay: &ConnectionDelay,
    guard: &ViewGuard,
    counters: &mut ShotCounters,
    rules: &AdmissionRules,
    now: Now,
) -> Result<Option<CheckedClaim>, RejectReason> {
    let Some(claim) = claim_of(shot) else { return Ok(None) };
    let measured = delay.rewind().as_secs_f64();
    let difference = claim.view.ticks_before(claim.command_tick) * now.timestep.as_secs_f64() - measured;
    let allowed = rules.tolerance.saturating_sub(delay.jitter_margin.min(rules.tolerance / 4 * 3));
    counters.note_claim(difference * 1e3, allowed);
    // A client holds back more where packets are lost, which the server does not hear of.
    let older = allowed.saturating_add(delay.interpolation.saturating_mul(2));
    let furthest = if difference > 0.0 { older } else { allowed };
    if difference.abs() <= furthest.as_secs_f64() {
        return match guard.check(claim, now.timestep) {
            Ok(checked) => Ok(Some(checked)),
            Err(reason) => {
                let policy = match reason {
                    RejectReason::ViewTimeBackwards => rules.backward_view,
                    RejectReason::ViewTimeTooFast => rules.fast_view,
                    _ => rules.implausible_view,
                };
                use_estimate(evidence, policy, reason, delay, now).map(|()| None)
            }
        };
    }
    let reason = RejectReason::ViewTimeImplausible;
    if rules.implausible_view == CheckPolicy::Clamp {
        let moved = (measured + furthest.as_secs_f64().copysign(difference)).max(0.0);
        let ticks = moved / now.timestep.as_secs_f64().max(f64::MIN_POSITIVE);
        evidence.view_time = ViewTime::before(claim.command_tick, ticks);
        evidence.view_source = ViewSource::Reported;
        evidence.adjusted = Some(Adjustment { policy: CheckPolicy::Clamp, reason });
    } else {
        use_estimate(evidence, rules.implausible_view, reason, delay, now)?;
    }
    Ok(None)
}

/// Judges a shot by the server's own estimate, unless the policy is to refuse it.
fn use_estimate(
    evidence: &mut Evidence,
    policy: CheckPolicy,
    reason: RejectReason,
    delay: &ConnectionDelay,
    now: Now,
) -> Result<(), RejectReason> {
    if policy == CheckPolicy::Reject {
        return Err(reason);
    }
    evidence.view_time = delay.estimate(evidence.command_tick, now.timestep);
    evidence.view_source = ViewSource::Estimated;
    evidence.adjusted = Some(Adjustment { policy: CheckPolicy::UseEstimate, reason });
    Ok(())
}

/// Holds a view time to the longest rewind.
pub(super) fn limit_rewind(
    evidence: &mut Evidence,
    delay: Option<&ConnectionDelay>,
    rules: &AdmissionRules,
    now: Now,
) -> Result<(), RejectReason> {
    let most = in_ticks(rules.max_rewind, now.timestep);
    let reason = RejectReason::ViewTimeTooOld;
    let is_too_old = |evidence: &Evidence| evidence.view_time.ticks_before(evidence.command_tick) > most;
    if is_too_old(evidence) {
        match (rules.old_view, delay) {
            (CheckPolicy::Reject, _) => return Err(reason),
            (CheckPolicy::UseEstimate, Some(delay)) => use_estimate(evidence, rules.old_view, reason, delay, now)?,
            _ => {}
        }
    }
    if is_too_old(evidence) {
        evidence.view_time = ViewTime::before(evidence.command_tick, most);
        evidence.view_source = evidence.view_source.max(ViewSource::Reported);
        evidence.adjusted.get_or_insert(Adjustment { policy: CheckPolicy::Clamp, reason });
    }
    check_instant(evidence.view_time, now)
}

/// Holds the instants of single rigs to that of the shot.
pub(super) fn limit_own_delay(
    rig: &DisplayedRig,
    evidence: &Evidence,
    rules: &AdmissionRules,
    now: Now,
) -> Result<(), RejectReason> {
    /// A few frames of a slow client.
    const LAST_FRAMES: Duration = Duration::from_millis(250);
    let before_command = rig.instant(evidence.view_time).ticks_before(evidence.command_tick);
    let own_delay = before_command - evidence.view_time.ticks_before(evidence.command_tick);
    let is_near = match rig.shown {
        // What is predicted shows the client's own present.
        Shown::Predicted(_) => (0.0..=in_ticks(LAST_FRAMES, now.timestep)).contains(&before_command),
        Shown::Interpolated { .. } => own_delay.abs() <= in_ticks(rules.max_own_delay, now.timestep),
    };
    if !is_near {
        return Err(RejectReason::ViewTimeImplausible);
    }
    if before_command > in_ticks(rules.max_rewind, now.timestep) {
        return Err(RejectReason::ViewTimeTooOld);
    }
    Ok(())
}

/// Whether the server has a memory of an instant.
pub(super) fn check_instant(view: ViewTime, now: Now) -> Result<(), RejectReason> {
    if view.is_after(now.tick) {
        return Err(RejectReason::ViewTimeAhead);
    }
    if view.tick.since(now.tick - now.window) < 0 {
        return Err(RejectReason::ViewTimeTooOld);
    }
    Ok(())
}
