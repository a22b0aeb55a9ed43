//! One tick of a blow.

use bevy::prelude::*;

use super::{filter::RewoundFilter, query::RewoundQuery, region::Region, rigs::Nearest, screen::Screen};
use crate::{
    hitbox::LifeNumber,
    shape::{Sector, Shape},
    shot::{Blocker, RewoundHit, RewoundRigs},
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
    /// The first whom a wall has protected, and the wall.
    pub(super) stopped: Option<(RewoundHit, Blocker)>,
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
    let mut stopped = None;
    for (found, point) in near {
        let (rig, life) = (found.rig.rig, found.rig.life);
        if is_known(rig, life) || hits.iter().any(|hit| (hit.rig, hit.life) == (rig, life)) {
            continue;
        }
        let way = Dir3::new_and_length(*point - ray.origin).ok().filter(|_| swing.blocked_by_walls);
        let wall = way.and_then(|(direction, length)| {
            let to_point = Ray3d::new(ray.origin, direction);
            query.nearest_blocker(screen, to_point, length, filter)
        });
        let hit = query.hit_at(found, ray, *point);
        match wall {
            Some(wall) => stopped = stopped.or(Some((hit, wall))),
            None => hits.push(hit),
        }
    }
    Blow { rigs, stopped }
}
