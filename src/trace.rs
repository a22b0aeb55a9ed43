//! Where a shot ends: the past of rigs and occluders, and the colliders of the live world, under one ray.
//!
//! Hitboxes are tested as plain data, straight from history: there is no collider to move back and forth, and nothing to
//! restore. This is the only place that knows rapier.

mod arena;
mod cast;
mod colliders;
mod occluders;
mod rigs;
mod scale;
mod screen;

use bevy::prelude::*;
use bevy_rapier3d::rapier::parry::shape::Shape as ParryShape;

use crate::{
    config::LagCompensationConfig,
    hitbox::{Life, Occluder},
    shot::{AdmittedShots, Blocker, RejectReason, RewoundHit, Verdicts},
    time::{CurrentTick, ViewTime},
};
use arena::Arena;
use cast::{Stop, isometry, normal_of, surface_normal};
use occluders::{OccluderTombstones, begin_segment, bury_occluder, remember_standing};
use scale::{disable_hitbox, drop_collider_scale, enable_hitbox};
use screen::{Screen, Window};

pub(crate) use occluders::{OccluderHistory, record_occluders};
pub(crate) use scale::adopt_collider_scale;

/// Gives each occluder its history, and keeps it in step with what happens to the occluder.
pub(crate) fn init_occluders(app: &mut App) {
    app.register_required_components::<Occluder, OccluderHistory>();
    app.init_resource::<OccluderTombstones>()
        .add_observer(begin_segment)
        .add_observer(remember_standing)
        .add_observer(bury_occluder)
        .add_observer(drop_collider_scale)
        .add_observer(disable_hitbox)
        .add_observer(enable_hitbox);
}

/// Refuses admitted shots whose screen cannot have looked so, and those that begin behind a wall.
pub(crate) fn check_screens(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    config: Res<LagCompensationConfig>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    arena: Arena,
) {
    let timestep = time.timestep();
    let window = Window { now: tick.0, ticks: config.history_ticks(timestep), timestep };
    shots.0.retain_mut(|shot| {
        let mut screen = Screen::new(shot.evidence.view_time, shot.displayed, &arena.sent);
        let checked = arena.check(&mut screen, shot.ray, shot.evidence.range, window, &shot.rules);
        shot.displayed = screen.displayed;
        // The muzzle belongs to the command tick.
        let at = ViewTime::at(shot.evidence.command_tick);
        let is_behind = |muzzle| arena.stands_between(muzzle, shot.ray.origin, at, shot.shooter);
        let reason = match checked {
            Ok(()) if shot.muzzle.is_some_and(is_behind) => RejectReason::MuzzleBlocked,
            Ok(()) => return true,
            Err(reason) => reason,
        };
        debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
        verdicts.reject(shot.shooter, shot.id, reason, shot.evidence);
        false
    });
}

/// Traces every admitted shot and decides its verdict.
pub(crate) fn trace_shots(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    config: Res<LagCompensationConfig>,
    arena: Arena,
    lives: Query<&Life>,
) {
    let rigs = &arena.rigs;
    for shot in shots.0.drain(..) {
        let mut evidence = shot.evidence;
        let ray = shot.ray;
        let screen = Screen::new(evidence.view_time, shot.displayed, &arena.sent);
        evidence.blocker = arena.nearest_blocker(&screen, ray, evidence.range, shot.shooter);
        let (nearest, tested) = rigs.nearest_hit(&screen, ray, evidence.range, shot.shooter, config.hit_corpses);
        evidence.rigs = tested;
        evidence.hit = nearest.map(|nearest| {
            let rewound = nearest.hitbox;
            let lives_on = |life: &Life| life.is_alive() && life.number() == nearest.life;
            let still_alive = rigs.is_rig(nearest.rig) && lives.get(nearest.rig).is_ok_and(lives_on);
            RewoundHit {
                rig: nearest.rig,
                life: nearest.life,
                still_alive,
                hitbox: rewound.entity,
                zone: rewound.zone,
                point: ray.get_point(nearest.distance),
                normal: surface_normal(rewound.shape, rewound.pose, ray, nearest.distance),
                distance: nearest.distance,
                pose: rewound.pose,
                basis: nearest.basis,
                shape: rewound.shape,
            }
        });
        match (evidence.hit, evidence.blocker) {
            // In a tie the bullet stays in the wall.
            (Some(hit), blocker) if blocker.is_none_or(|blocker| hit.distance < blocker.distance) => {
                verdicts.confirm(shot.shooter, shot.id, hit, evidence);
            }
            (_, Some(_)) => verdicts.reject(shot.shooter, shot.id, RejectReason::Blocked, evidence),
            (_, None) => verdicts.reject(shot.shooter, shot.id, RejectReason::Missed, evidence),
        }
    }
}

fn blocker(stop: Stop, shape: &dyn ParryShape, ray: Ray3d, rewound: bool) -> Blocker {
    Blocker {
        entity: stop.entity,
        pose: isometry(&stop.pose),
        rewound,
        point: ray.get_point(stop.distance),
        normal: normal_of(shape, &stop.pose, ray, stop.distance),
        distance: stop.distance,
    }
}
