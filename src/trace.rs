//! Where a shot ends: the past of the rigs and the colliders of the live world, under one ray.
//!
//! Hitboxes are tested as plain data, straight from history: there is no collider to move back and forth, and nothing to
//! restore. This is the only place that knows rapier.

mod colliders;
mod rigs;

use bevy::prelude::*;
use bevy_rapier3d::prelude::ReadRapierContext;

use crate::shot::{AdmittedShots, Blocker, RejectReason, RewoundHit, Verdicts};

/// Traces every admitted shot and decides its verdict.
pub(crate) fn trace_shots(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    rigs: rigs::RewoundRigs,
    rapier: ReadRapierContext,
) {
    let live = rapier.single().ok();
    for shot in shots.0.drain(..) {
        let mut evidence = shot.evidence;
        let (ray, range) = (shot.ray, evidence.range);
        evidence.blocker = live.as_ref().and_then(|live| {
            let nearest = colliders::nearest(live, ray, range, |entity| rigs.is_part_of_rig_or(entity, shot.shooter))?;
            Some(Blocker {
                entity: nearest.entity,
                point: ray.get_point(nearest.distance),
                normal: nearest.normal,
                distance: nearest.distance,
            })
        });
        evidence.hit = rigs.nearest_hit(evidence.view_time, ray, range, shot.shooter).map(|nearest| RewoundHit {
            rig: nearest.rig,
            hitbox: nearest.hitbox.entity,
            zone: nearest.hitbox.zone,
            point: ray.get_point(nearest.distance),
            normal: surface_normal(nearest.hitbox.shape, nearest.hitbox.pose, ray, nearest.distance),
            distance: nearest.distance,
            pose: nearest.hitbox.pose,
            shape: nearest.hitbox.shape,
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

/// The outward normal of a shape where a ray meets it; against the ray if that begins inside.
fn surface_normal(shape: crate::Shape, pose: Isometry3d, ray: Ray3d, distance: f32) -> Dir3 {
    let on_surface = (distance > 0.0).then(|| shape.normal_at(pose, ray.get_point(distance))).flatten();
    on_surface.unwrap_or(-ray.direction)
}
