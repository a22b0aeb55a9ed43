//! Which shots may be traced.

use bevy::{math::InvalidDirectionError, prelude::*};

use super::{
    ConnectionDelay, DisplayedRig, DisplayedRigs, Evidence, FireControl, HitBy, HitConfirmed, HitRejected, Muzzle,
    RejectReason, RewindBudget, RewoundHit, SentTicks, ShotCounters, ShotEvent, ShotId, Verdicts, ViewGuard,
    shooter::{Origin, Shooters},
    view::{Now, adjust, check_instant, is_claim, limit_own_delay, limit_rewind},
};
use crate::{
    config::LagCompensationConfig,
    policy::{AdmissionRules, ViewSource},
    time::CurrentTick,
    weapon::Attack,
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
    pub(crate) attack: Attack,
    pub(crate) targets: u32,
}

impl AdmittedShot {
    /// The verdict that a part of this shot has hit.
    pub(crate) fn confirmed(&self, part: u32, by: HitBy, hit: RewoundHit, evidence: Evidence) -> HitConfirmed {
        let Self { shooter, id: shot, .. } = *self;
        HitConfirmed { target: hit.rig, shooter, shot, part, by, hit, penetration: None, evidence }
    }

    /// The verdict that a part of this shot has not.
    pub(crate) fn rejected(&self, part: u32, reason: RejectReason, evidence: Evidence) -> HitRejected {
        let Self { shooter, id: shot, .. } = *self;
        HitRejected { shooter, shot, part, reason, evidence }
    }
}

/// The shots of this tick that are still to be traced.
#[derive(Resource, Default)]
pub(crate) struct AdmittedShots(pub(crate) Vec<AdmittedShot>);

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
                let (attack, targets) = (shot.attack, shot.targets);
                admitted.0.push(AdmittedShot { shooter, id, ray, muzzle, evidence, displayed, rules, attack, targets });
            }
            Err(reason) => {
                debug!("shot {id:?} of `{shooter}` refused: {reason:?}");
                verdicts.refuse(shooter, id, reason, evidence);
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
                let pellets = weapon.load(&mut shot.attack, shot.id.sequence);
                if let Err(reason) = pellets.and_then(|()| weapon.check(tick, time.timestep())) {
                    debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
                    verdicts.refuse(shot.shooter, shot.id, reason, shot.evidence);
                    return false;
                }
                weapon.fire(tick, time.timestep());
                shot.evidence.range = shot.evidence.range.min(weapon.range());
            }
            if let Some(mut muzzle) = muzzle {
                muzzle.fire(tick, shot.evidence.direction);
            }
        }
        true
    });
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

/// Checks what a shot says of one rig, as far as that can be done without knowing where the rig stood.
fn check_displayed(rig: &DisplayedRig, evidence: &Evidence, now: Now, sent: &SentTicks) -> Result<(), RejectReason> {
    let view = evidence.view_time;
    check_instant(rig.instant(view), now)?;
    rig.check(view, sent)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::time::{Tick, ViewTime};

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
