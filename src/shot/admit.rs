//! Which shots may be traced.

use core::time::Duration;

use bevy::{math::InvalidDirectionError, prelude::*};

use super::{
    Adjustment, ConnectionDelay, DisplayedRig, DisplayedRigs, Evidence, FireControl, Muzzle, RejectReason,
    RewindBudget, SentTicks, ShotCounters, ShotEvent, ShotId, Shown, Verdicts, ViewGuard,
    connection::in_ticks,
    guard::{CheckedClaim, Claim},
    shooter::{Origin, Shooters},
};
use crate::{
    config::LagCompensationConfig,
    policy::{AdmissionRules, CheckPolicy, ViewSource},
    time::{CurrentTick, Tick, ViewTime},
};

/// A shot whose every value has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmittedShot {
    pub(crate) shooter: Entity,
    pub(crate) id: ShotId,
    pub(crate) ray: Ray3d,
    /// The shooter's own muzzle: nothing may stand between it and the origin of the ray.
    pub(crate) muzzle: Option<Vec3>,
    pub(crate) evidence: Evidence,
    pub(crate) displayed: Option<DisplayedRigs>,
    pub(crate) rules: AdmissionRules,
}

/// The shots of this tick that are still to be traced.
#[derive(Resource, Default)]
pub(crate) struct AdmittedShots(pub(crate) Vec<AdmittedShot>);

/// The tick in which shots are admitted.
#[derive(Clone, Copy)]
struct Now {
    tick: Tick,
    timestep: Duration,
    /// How many ticks the server remembers.
    window: u32,
}

/// Reads all shots of this tick; those that must not be traced get their verdict.
pub(crate) fn admit_shots(
    mut shots: MessageReader<ShotEvent>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    config: Res<LagCompensationConfig>,
    sent: Res<SentTicks>,
    shooters: Shooters,
    mut links: Query<(&ConnectionDelay, &mut ViewGuard, &mut ShotCounters)>,
    mut admitted: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
) {
    let now = Now { tick: tick.0, timestep: time.timestep(), window: config.history_ticks(time.timestep()) };
    for shot in shots.read() {
        let mut link = shot.link.and_then(|link| links.get_mut(link).ok());
        let rules = shot.rules.unwrap_or(config.admission);
        let mut evidence = Evidence::of(shot, now.tick);
        let wanted = shot.view_source.unwrap_or(config.view_source);
        let measured = link.as_ref().map(|(delay, ..)| *delay);
        (evidence.view_source, evidence.view_time) = shot.view_by(wanted, measured, now.tick, now.timestep);
        let checked = (|| {
            if !shooters.exists(shot.shooter) {
                return Err(RejectReason::ShooterUnknown);
            }
            if let Some(reason) = shot.refused {
                return Err(reason);
            }
            let direction = check(shot, now)?;
            check_instant(evidence.view_time, now)?;
            let mut claim = None;
            let claims = is_claim(&evidence);
            if let Some((delay, guard, counters)) = link.as_mut().filter(|_| claims) {
                evidence.budget = Some(RewindBudget::new(delay, evidence.view_time, shot.command_tick, now.timestep));
                claim = adjust(&mut evidence, shot, delay, guard, counters, &rules, now)?;
            }
            if shot.link.is_some() {
                limit_rewind(&mut evidence, measured, &rules, now)?;
            }
            let displayed = shot.displayed.filter(|_| evidence.view_source == ViewSource::AsDisplayed);
            for rig in displayed.iter().flatten().flatten() {
                check_displayed(rig, &evidence, now, &sent)?;
                if shot.link.is_some() {
                    limit_own_delay(rig, &evidence, &rules, now)?;
                }
            }
            let origin = shooters.check(shot, *direction, &config, now.timestep)?;
            Ok((direction, displayed, origin, claim.filter(|_| is_claim(&evidence))))
        })();
        let (shooter, id) = (shot.shooter, shot.id);
        match checked {
            Ok((direction, displayed, Origin { point, muzzle }, claim)) => {
                // A claim that was not believed is none to compare others with.
                if let (Some(claim), Some((_, guard, _))) = (claim, &mut link) {
                    guard.remember(claim);
                }
                (evidence.origin, evidence.direction) = (point, *direction);
                evidence.range = shot.range.min(config.max_range.max(0.0));
                let ray = Ray3d::new(point, direction);
                admitted.0.push(AdmittedShot { shooter, id, ray, muzzle, evidence, displayed, rules });
            }
            Err(reason) => {
                debug!("shot {id:?} of `{shooter}` refused: {reason:?}");
                verdicts.reject(shooter, id, reason, evidence);
            }
        }
    }
}

/// The last check: what the weapons of the shooters allow. Takes ammunition for each shot that will be traced.
pub(crate) fn fire_weapons(
    mut admitted: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    mut shooters: Query<(Option<&mut FireControl>, Option<&mut Muzzle>)>,
    time: Res<Time<Fixed>>,
) {
    admitted.0.retain_mut(|shot| {
        let tick = shot.evidence.command_tick;
        if let Ok((weapon, muzzle)) = shooters.get_mut(shot.shooter) {
            if let Some(mut weapon) = weapon {
                if let Err(reason) = weapon.check(tick, shot.evidence.direction, time.timestep()) {
                    debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
                    verdicts.reject(shot.shooter, shot.id, reason, shot.evidence);
                    return false;
                }
                weapon.fire(tick, shot.evidence.direction, time.timestep());
                shot.evidence.range = shot.evidence.range.min(weapon.range());
            }
            if let Some(mut muzzle) = muzzle {
                muzzle.fire(tick, shot.evidence.direction);
            }
        }
        true
    });
}

/// Whether a shot is still to be judged by what it claims.
fn is_claim(evidence: &Evidence) -> bool {
    matches!(evidence.view_source, ViewSource::AsDisplayed | ViewSource::Reported) && evidence.adjusted.is_none()
}

/// What a shot says of its view.
fn claim_of(shot: &ShotEvent) -> Option<Claim> {
    let ShotEvent { command_tick, epoch, .. } = *shot;
    Some(Claim { sequence: shot.id.sequence, command_tick, view: shot.view_time?, epoch })
}

/// Checks the claimed view of a shot against what the server knows of its connection; where it goes too far, it is refused or
/// moved, as the rules say. What is left is to be remembered if the shot is admitted.
fn adjust(
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
fn limit_rewind(
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
fn limit_own_delay(
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

/// Checks all that can be checked without the world; the direction, of unit length.
fn check(shot: &ShotEvent, now: Now) -> Result<Dir3, RejectReason> {
    if !shot.origin.is_finite() {
        return Err(RejectReason::OriginNotFinite);
    }
    let direction = Dir3::new(shot.direction).map_err(|error| match error {
        InvalidDirectionError::Zero => RejectReason::DirectionZero,
        InvalidDirectionError::Infinite | InvalidDirectionError::NaN => RejectReason::DirectionNotFinite,
    })?;
    if shot.range.is_nan() || shot.range < 0.0 {
        return Err(RejectReason::RangeInvalid);
    }
    if shot.command_tick.since(now.tick) > 0 {
        return Err(RejectReason::CommandTickAhead);
    }
    if shot.command_tick.since(now.tick - now.window) < 0 {
        return Err(RejectReason::CommandTickTooOld);
    }
    Ok(direction)
}

/// Whether the server has a memory of an instant.
fn check_instant(view: ViewTime, now: Now) -> Result<(), RejectReason> {
    if view.is_after(now.tick) {
        return Err(RejectReason::ViewTimeAhead);
    }
    if view.tick.since(now.tick - now.window) < 0 {
        return Err(RejectReason::ViewTimeTooOld);
    }
    Ok(())
}

/// Checks what a shot says of one rig, as far as that can be done without knowing where the rig stood.
fn check_displayed(rig: &DisplayedRig, evidence: &Evidence, now: Now, sent: &SentTicks) -> Result<(), RejectReason> {
    let view = evidence.view_time;
    check_instant(rig.instant(view), now)?;
    rig.check(view, sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Tick = Tick(200);
    const NOW: Now = Now { tick: TICK, timestep: Duration::from_nanos(15_625_000), window: 64 };

    fn shot() -> ShotEvent {
        ShotEvent::new(Entity::PLACEHOLDER, TICK, Vec3::ZERO, Vec3::Z).seen_at(ViewTime::at(Tick(194)))
    }

    fn reason(change: impl FnOnce(&mut ShotEvent)) -> Option<RejectReason> {
        let mut shot = shot();
        change(&mut shot);
        check(&shot, NOW).and_then(|_| check_instant(shot.requested_view(), NOW)).err()
    }

    #[test]
    fn a_sound_shot_is_admitted_with_a_unit_direction() {
        assert_eq!(check(&ShotEvent { direction: Vec3::X * 7.0, ..shot() }, NOW), Ok(Dir3::X));
    }

    #[test]
    fn numbers_that_are_none_are_refused_with_their_reason() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(reason(|shot| shot.origin.y = bad), Some(RejectReason::OriginNotFinite));
            assert_eq!(reason(|shot| shot.direction.y = bad), Some(RejectReason::DirectionNotFinite));
        }
        assert_eq!(reason(|shot| shot.direction = Vec3::splat(f32::MAX)), Some(RejectReason::DirectionNotFinite));
        assert_eq!(reason(|shot| shot.direction = Vec3::ZERO), Some(RejectReason::DirectionZero));
        assert_eq!(reason(|shot| shot.range = -1.0), Some(RejectReason::RangeInvalid));
        assert_eq!(reason(|shot| shot.range = f32::NAN), Some(RejectReason::RangeInvalid));
        assert_eq!(reason(|shot| shot.range = f32::INFINITY), None);
    }

    /// B20: the window ends where it says, and not at a whole second.
    #[test]
    fn b20_view_times_are_admitted_to_the_end_of_the_window() {
        let view = |delay| reason(|shot| shot.view_time = Some(ViewTime::before(TICK, delay)));
        assert_eq!(view(64.0), None);
        assert_eq!(view(64.1), Some(RejectReason::ViewTimeTooOld));
        assert_eq!(view(0.0), None);
        assert_eq!(view(-0.1), Some(RejectReason::ViewTimeAhead));
        assert_eq!(view(1e9), Some(RejectReason::ViewTimeTooOld));
    }

    #[test]
    fn command_ticks_outside_the_window_are_refused() {
        assert_eq!(reason(|shot| shot.command_tick = TICK + 1), Some(RejectReason::CommandTickAhead));
        assert_eq!(reason(|shot| shot.command_tick = TICK + 10_000), Some(RejectReason::CommandTickAhead));
        assert_eq!(reason(|shot| shot.command_tick = TICK - 64), None);
        assert_eq!(reason(|shot| shot.command_tick = TICK - 65), Some(RejectReason::CommandTickTooOld));
    }
}
