//! Where a shot ends: the past of rigs and occluders, and the colliders of the live world, under one ray.
//!
//! Hitboxes are tested as plain data, straight from history: there is no collider to move back and forth, and nothing to
//! restore. This is the only place that knows rapier.

mod cast;
mod colliders;
mod occluders;
mod rigs;
mod scale;
mod screen;

use bevy::prelude::*;
use bevy_rapier3d::{
    prelude::{RapierContext, ReadRapierContext},
    rapier::parry::shape::Shape as ParryShape,
};

use crate::{
    config::LagCompensationConfig,
    hitbox::{Life, Occluder, Unhittable},
    shot::{AdmittedShots, Blocker, RejectReason, RewoundHit, SentTicks, Verdicts},
    time::CurrentTick,
};
use cast::{Stop, isometry, normal_of, surface_normal};
use occluders::{OccluderTombstones, begin_segment, bury_occluder, remember_standing};
use scale::{disable_hitbox, drop_collider_scale, enable_hitbox};
use screen::Screen;

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

/// Traces every admitted shot and decides its verdict.
pub(crate) fn trace_shots(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    config: Res<LagCompensationConfig>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    sent: Res<SentTicks>,
    rigs: rigs::RewoundRigs,
    lives: Query<&Life>,
    occluders: Query<(Entity, &OccluderHistory), With<Occluder>>,
    gone_occluders: Res<OccluderTombstones>,
    unhittable: Query<(), With<Unhittable>>,
    // Each of them, if the game simulates several.
    rapier: ReadRapierContext<()>,
) {
    for shot in shots.0.drain(..) {
        let mut evidence = shot.evidence;
        let (ray, view) = (shot.ray, evidence.view_time);
        let mut screen = Screen::new(view, shot.displayed, &sent);
        let occluder = |entity| occluders.get(entity).ok().map(|(_, history)| history);
        let checked = screen
            .check(tick.0, &config, time.timestep(), |rig| rigs.history(rig))
            .and_then(|()| screen.check(tick.0, &config, time.timestep(), occluder));
        if let Err(reason) = checked {
            debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
            verdicts.reject(shot.shooter, shot.id, reason, evidence);
            continue;
        }
        let histories = occluders.iter().chain(gone_occluders.iter());
        let own = |rig| rigs.are_one_with(rig, shot.shooter);
        evidence.blocker = occluders::nearest(histories, &screen, ray, evidence.range, own);
        let passes = |entity| {
            let tracked = occluders.contains(entity) || gone_occluders.tells_of(entity, view);
            tracked || unhittable.contains(entity) || rigs.is_part_of_rig_or(entity, shot.shooter)
        };
        for (simulation, colliders, joints, rigidbody_set) in &rapier.rapier_context {
            let live = RapierContext { simulation, colliders, joints, rigidbody_set };
            let reach = evidence.blocker.map_or(evidence.range, |blocker| blocker.distance);
            evidence.blocker = colliders::nearest(&live, ray, reach, passes).or(evidence.blocker);
        }
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
