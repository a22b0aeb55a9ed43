//! One tick of a blow.

use bevy::prelude::*;

use super::{filter::RewoundFilter, query::RewoundQuery, region::Region, rigs::Nearest, screen::Screen};
use crate::{
    hitbox::LifeNumber,
    shape::{Sector, Shape},
    shot::{RewoundHit, RewoundRigs},
    weapon::{Swing, SwingShape},
};

/// Lists kept between ticks for their memory.
#[derive(Default)]
pub(super) struct Scratch {
    /// What lies in reach, and where.
    near: Vec<(Nearest, Vec3)>,
    hits: Vec<RewoundHit>,
}

impl Scratch {
    /// Whom the last blow met.
    pub(super) fn hits(&self) -> &[RewoundHit] {
        &self.hits
    }
}

/// What became of a blow.
pub(super) struct Blow {
    pub(super) rigs: RewoundRigs,
    /// Whether a wall has protected anyone.
    pub(super) blocked: bool,
}

/// Finds those whom a blow meets in this tick, nearest first: each rig that is not known yet at the first of its hitboxes that no
/// wall protects.
pub(super) fn strike(
    query: &RewoundQuery,
    screen: &Screen,
    ray: Ray3d,
    swing: Swing,
    filter: &RewoundFilter,
    is_known: impl Fn(Entity, LifeNumber) -> bool,
    Scratch { near, hits }: &mut Scratch,
) -> Blow {
    near.clear();
    hits.clear();
    let region = Region::ball(ray.origin, swing.reach());
    let rigs = query.near_point(screen, ray.origin, &region, filter, |found| {
        let Nearest { hitbox, .. } = found;
        let met = match swing.shape {
            SwingShape::Arc { reach, half_angle } => {
                let sector = Sector { apex: ray.origin, axis: ray.direction, reach, half_angle };
                let point = sector.meets(hitbox.shape, hitbox.pose);
                point.map(|point| (point.distance(ray.origin), point))
            }
            SwingShape::Thrust { reach, radius } => {
                let from = Isometry3d::from_translation(ray.origin);
                let way = hitbox.shape.cast_shape(hitbox.pose, Shape::Ball { radius }, from, ray.direction, reach);
                way.map(|way| (way, hitbox.shape.closest_point(hitbox.pose, ray.get_point(way))))
            }
        };
        if let Some((distance, point)) = met {
            near.push((Nearest { distance, ..found }, point));
        }
    });
    near.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut blocked = false;
    for (found, point) in near {
        let (rig, life) = (found.rig.rig, found.rig.life);
        if is_known(rig, life) || hits.iter().any(|hit| (hit.rig, hit.life) == (rig, life)) {
            continue;
        }
        let way = Dir3::new_and_length(*point - ray.origin).ok().filter(|_| swing.blocked_by_walls);
        let protects = |(direction, length)| {
            let to_point = Ray3d::new(ray.origin, direction);
            query.arena.nearest_wall(screen, to_point, length, filter).is_some()
        };
        if way.is_some_and(protects) {
            blocked = true;
        } else {
            hits.push(query.hit_at(found, ray, *point));
        }
    }
    Blow { rigs, blocked }
}
