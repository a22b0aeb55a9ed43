//! Explosions.

use bevy::prelude::*;

use super::{filter::RewoundFilter, query::RewoundQuery, region::Region, rigs::Nearest, screen::Screen};
use crate::{
    policy::ViewSource,
    shot::{AdmittedShot, Evidence, HitBy, RejectReason, RewoundHit, RewoundRigs, Verdicts},
    time::ViewTime,
    weapon::Blast,
};

/// Lists kept between blasts for their memory.
#[derive(Default)]
pub(crate) struct Scratch {
    near: Vec<Nearest>,
    victims: Vec<RewoundHit>,
}

impl Scratch {
    /// Those whom the last blast met.
    pub(super) fn victims(&self) -> &[RewoundHit] {
        &self.victims
    }
}

/// What became of a blast.
pub(super) struct Aftermath {
    pub(super) rigs: RewoundRigs,
    /// Whether a wall has hidden anyone.
    pub(super) blocked: bool,
}

/// Sets off the blast of a shot where that begins.
pub(super) fn trace(
    query: &RewoundQuery,
    shot: &AdmittedShot,
    blast: Blast,
    filter: &RewoundFilter,
    verdicts: &mut Verdicts,
    scratch: &mut Scratch,
) {
    let mut evidence = shot.evidence;
    let displayed = shot.displayed.filter(|_| blast.rewound);
    if !blast.rewound {
        (evidence.view_time, evidence.view_source) = (ViewTime::at(evidence.judged_at), ViewSource::None);
    }
    evidence.range = blast.radius;
    let screen = Screen::new(evidence.view_time, displayed, &query.arena.sent);
    let mut reason = None;
    let aftermath = explode(query, &screen, evidence.origin, blast, shot.shooter, filter, scratch);
    evidence.rigs = aftermath.rigs;
    for hit in &scratch.victims {
        let evidence = Evidence { hit: Some(*hit), ..evidence };
        verdicts.confirm(shot.confirmed(0, HitBy::Blast, *hit, evidence));
    }
    if scratch.victims.is_empty() {
        let missed = if aftermath.blocked { RejectReason::Blocked } else { RejectReason::Missed };
        verdicts.reject(shot.rejected(0, missed, evidence));
        reason = Some(missed);
    }
    verdicts.count(&evidence, reason);
}

/// Finds the victims of a blast, nearest first: each rig at the nearest of its hitboxes that nothing hides from the centre.
pub(super) fn explode(
    query: &RewoundQuery,
    screen: &Screen,
    center: Vec3,
    blast: Blast,
    shooter: Entity,
    filter: &RewoundFilter,
    Scratch { near, victims }: &mut Scratch,
) -> Aftermath {
    near.clear();
    victims.clear();
    let filter = filter.fired_by_any(Some(shooter).filter(|_| !blast.hurts_shooter));
    let region = Region::ball(center, blast.radius);
    let rigs = query.near_point(screen, center, &region, &filter, |found| {
        if found.distance <= blast.radius {
            near.push(found);
        }
    });
    near.sort_unstable_by(Nearest::cmp);
    // A shield covers its owner from a blast, whosever shot it was.
    let walls = filter.fired_by_any(None);
    let mut blocked = false;
    for found in near {
        // Of a rig that was found twice, once as it is and once as it was before it was spawned again, both count.
        let is_known = |hit: &RewoundHit| (hit.rig, hit.life) == (found.rig.rig, found.rig.life);
        if victims.iter().any(is_known) {
            continue;
        }
        let hit = query.hit_near(found, center);
        let hides =
            |direction| query.arena.nearest_wall(screen, &Ray3d::new(center, direction).into(), hit.distance, &walls);
        let way = Dir3::new(hit.point - center).ok().filter(|_| blast.blocked_by_walls);
        if way.and_then(hides).is_some() {
            blocked = true;
        } else {
            victims.push(hit);
        }
    }
    Aftermath { rigs, blocked }
}
