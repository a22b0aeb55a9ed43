//! Which shots may be traced.

use bevy::{ecs::entity::Entities, math::InvalidDirectionError, prelude::*};

use super::{DisplayedRig, DisplayedRigs, Evidence, RejectReason, SentTicks, ShotEvent, ShotId, Verdicts};
use crate::{
    config::LagCompensationConfig,
    policy::ViewSource,
    time::{CurrentTick, Tick, ViewTime},
};

/// A shot whose every value has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmittedShot {
    pub(crate) shooter: Entity,
    pub(crate) id: ShotId,
    pub(crate) ray: Ray3d,
    pub(crate) evidence: Evidence,
    pub(crate) displayed: Option<DisplayedRigs>,
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
    entities: &Entities,
    mut admitted: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
) {
    let now = tick.0;
    let window = config.history_ticks(time.timestep());
    for shot in shots.read() {
        let mut evidence = Evidence::of(shot, now);
        let wanted = shot.view_source.unwrap_or(config.view_source);
        (evidence.view_source, evidence.view_time) = shot.view_by(wanted, now, time.timestep());
        let view = evidence.view_time;
        let displayed = shot.displayed.filter(|_| evidence.view_source == ViewSource::AsDisplayed);
        let checked = if entities.contains_spawned(shot.shooter) {
            check(shot, view, now, window).and_then(|ray| {
                let mut rigs = displayed.iter().flatten().flatten();
                rigs.try_for_each(|rig| check_displayed(rig, view, now, window, &sent)).map(|()| ray)
            })
        } else {
            Err(RejectReason::ShooterUnknown)
        };
        match checked {
            Ok(ray) => {
                evidence.direction = *ray.direction;
                evidence.range = shot.range.min(config.max_range.max(0.0));
                let (shooter, id) = (shot.shooter, shot.id);
                admitted.0.push(AdmittedShot { shooter, id, ray, evidence, displayed });
            }
            Err(reason) => {
                debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
                verdicts.reject(shot.shooter, shot.id, reason, evidence);
            }
        }
    }
}

/// Checks all that can be checked without the world; `window` is the number of ticks that the server remembers.
fn check(shot: &ShotEvent, view: ViewTime, now: Tick, window: u32) -> Result<Ray3d, RejectReason> {
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
    let oldest = now - window;
    if shot.command_tick.since(now) > 0 {
        return Err(RejectReason::CommandTickAhead);
    }
    if shot.command_tick.since(oldest) < 0 {
        return Err(RejectReason::CommandTickTooOld);
    }
    check_instant(view, now, window)?;
    Ok(Ray3d::new(shot.origin, direction))
}

/// Whether the server has a memory of an instant.
fn check_instant(view: ViewTime, now: Tick, window: u32) -> Result<(), RejectReason> {
    if view.is_after(now) {
        return Err(RejectReason::ViewTimeAhead);
    }
    if view.tick.since(now - window) < 0 {
        return Err(RejectReason::ViewTimeTooOld);
    }
    Ok(())
}

/// Checks what a shot says of one rig, as far as that can be done without knowing where the rig stood.
fn check_displayed(
    rig: &DisplayedRig,
    view: ViewTime,
    now: Tick,
    window: u32,
    sent: &SentTicks,
) -> Result<(), RejectReason> {
    check_instant(rig.instant(view), now, window)?;
    rig.check(view, sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick(200);
    const WINDOW: u32 = 64;

    fn shot() -> ShotEvent {
        ShotEvent::new(Entity::PLACEHOLDER, NOW, Vec3::ZERO, Vec3::Z).seen_at(ViewTime::at(Tick(194)))
    }

    fn reason(change: impl FnOnce(&mut ShotEvent)) -> Option<RejectReason> {
        let mut shot = shot();
        change(&mut shot);
        check(&shot, shot.requested_view(), NOW, WINDOW).err()
    }

    #[test]
    fn a_sound_shot_is_admitted_with_a_unit_direction() {
        let ray = check(&ShotEvent { direction: Vec3::X * 7.0, ..shot() }, ViewTime::at(NOW), NOW, WINDOW).unwrap();
        assert_eq!(ray, Ray3d::new(Vec3::ZERO, Dir3::X));
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
        let view = |delay| reason(|shot| shot.view_time = Some(ViewTime::before(NOW, delay)));
        assert_eq!(view(64.0), None);
        assert_eq!(view(64.1), Some(RejectReason::ViewTimeTooOld));
        assert_eq!(view(0.0), None);
        assert_eq!(view(-0.1), Some(RejectReason::ViewTimeAhead));
        assert_eq!(view(1e9), Some(RejectReason::ViewTimeTooOld));
    }

    #[test]
    fn command_ticks_outside_the_window_are_refused() {
        assert_eq!(reason(|shot| shot.command_tick = NOW + 1), Some(RejectReason::CommandTickAhead));
        assert_eq!(reason(|shot| shot.command_tick = NOW + 10_000), Some(RejectReason::CommandTickAhead));
        assert_eq!(reason(|shot| shot.command_tick = NOW - 64), None);
        assert_eq!(reason(|shot| shot.command_tick = NOW - 65), Some(RejectReason::CommandTickTooOld));
    }
}
