//! Bullets and pellets.

use arrayvec::ArrayVec;
use bevy::prelude::*;

use super::{
    answer::{Crossing, Met},
    fan::Fan,
    filter::RewoundFilter,
    packet::RayPacket,
    query::RewoundQuery,
    rigs::Nearest,
    screen::Screen,
    wall::Stop,
};
use crate::{
    shape::PreciseRay,
    shot::{
        AdmittedShot, Blocker, Evidence, HitBy, HitConfirmed, PelletOutcome, Penetration, RejectReason, RewoundHit,
        Verdicts, VolleyJudged, WallPierced,
    },
    weapon::{Bullet, Piercing, Resistance},
};

/// Lists kept between shots for their memory.
#[derive(Default)]
pub(crate) struct Scratch {
    rays: Vec<PreciseRay>,
    nearest: Vec<Option<Nearest>>,
    crossings: Vec<(usize, Crossing)>,
    /// The rigs that a bullet has gone through, and where it came out last.
    passed: Vec<(Entity, f32)>,
}

/// Traces one bullet, or all pellets of a shot, through one look at the past.
pub(super) fn trace(
    query: &RewoundQuery,
    shot: &AdmittedShot,
    bullet: Bullet,
    filter: &RewoundFilter,
    verdicts: &mut Verdicts,
    scratch: &mut Scratch,
) {
    let screen = Screen::new(shot.evidence.view_time, shot.displayed, &query.arena.sent);
    let mut volley = VolleyJudged::new(shot.shooter, shot.id);
    scratch.rays.clear();
    match bullet.pellets {
        Some(pellets) => {
            let rays = pellets.directions(shot.ray.direction).map(|direction| Ray3d::new(shot.ray.origin, direction));
            scratch.rays.extend(rays.map(PreciseRay::from));
        }
        None => scratch.rays.push(shot.ray.into()),
    }
    match bullet.piercing {
        Some(piercing) => pierce_all(query, shot, piercing, &screen, filter, verdicts, &mut volley, scratch),
        None => stop_all(query, shot, &screen, filter, verdicts, &mut volley, scratch),
    }
    let hits = volley.outcomes().iter().any(|outcome| matches!(outcome, PelletOutcome::Hit { .. }));
    let blocked = volley.outcomes().contains(&PelletOutcome::Blocked);
    let reason = if blocked { RejectReason::Blocked } else { RejectReason::Missed };
    verdicts.count(&shot.evidence, (!hits).then_some(reason));
    if bullet.pellets.is_some() {
        verdicts.judge_volley(volley);
    }
}

/// Bullets that stay in what they meet first.
fn stop_all(
    query: &RewoundQuery,
    shot: &AdmittedShot,
    screen: &Screen,
    filter: &RewoundFilter,
    verdicts: &mut Verdicts,
    volley: &mut VolleyJudged,
    Scratch { rays, nearest, .. }: &mut Scratch,
) {
    let range = shot.evidence.range;
    nearest.clear();
    nearest.resize(rays.len(), None);
    let fan = Fan::new(rays, range);
    let rigs = query.arena.rigs.nearest_hits(screen, &fan, filter, nearest);
    let mut walls = ArrayVec::<Option<Stop>, { Fan::MOST }>::new();
    match &**rays {
        [ray] => walls.push(query.arena.nearest_wall(screen, ray, range, filter)),
        _ => {
            walls.extend(rays.iter().map(|_| None));
            query.arena.nearest_walls(screen, &RayPacket::new(&fan, &mut default()), filter, &mut walls);
        }
    }
    for (part, ((ray, nearest), wall)) in (0..).zip(rays.iter().zip(nearest).zip(&walls)) {
        let blocker = wall.map(|wall| wall.blocker(**ray));
        let hit = nearest.map(|nearest| query.hit_by_ray(&nearest, **ray));
        let evidence = Evidence { direction: *ray.direction, rigs, blocker, hit, ..shot.evidence };
        match (hit, blocker) {
            // In a tie the bullet stays in the wall.
            (Some(hit), blocker) if blocker.is_none_or(|blocker| hit.distance < blocker.distance) => {
                confirm(shot, part, hit, None, evidence, verdicts);
                volley.note(PelletOutcome::hit(&hit));
            }
            (_, Some(_)) => {
                verdicts.reject(shot.rejected(part, RejectReason::Blocked, evidence));
                volley.note(PelletOutcome::Blocked);
            }
            (_, None) => {
                verdicts.reject(shot.rejected(part, RejectReason::Missed, evidence));
                volley.note(PelletOutcome::Missed);
            }
        }
    }
}

/// Bullets that pass through what costs less energy than they have.
fn pierce_all(
    query: &RewoundQuery,
    shot: &AdmittedShot,
    piercing: Piercing,
    screen: &Screen,
    filter: &RewoundFilter,
    verdicts: &mut Verdicts,
    volley: &mut VolleyJudged,
    Scratch { rays, crossings, passed, .. }: &mut Scratch,
) {
    crossings.clear();
    let fan = Fan::new(rays, shot.evidence.range);
    let rigs = query.crossings(screen, &fan, filter, |ray, crossing| crossings.push((ray, crossing)));
    crossings.sort_unstable_by(|(ray, a), (other, b)| ray.cmp(other).then_with(|| a.cmp(b)));
    for (part, ray) in rays.iter().enumerate() {
        let of_ray = crossings.iter().filter(|(number, _)| *number == part).map(|(_, crossing)| crossing);
        let part = part as u32;
        let first = |is: fn(&Crossing) -> bool| of_ray.clone().copied().find(is);
        let blocker = first(|crossing| crossing.wall().is_some()).and_then(|crossing| crossing.wall());
        let hit = first(|crossing| crossing.met.hitbox().is_some()).and_then(|crossing| crossing.met.hitbox().copied());
        let evidence = Evidence { direction: *ray.direction, rigs, blocker, hit, ..shot.evidence };
        let mut flight = Flight { piercing, energy: piercing.energy, order: 0 };
        let mut outcome = PelletOutcome::Missed;
        passed.clear();
        for crossing in of_ray {
            let (penetration, is_new) = match &crossing.met {
                Met::Wall(wall) => {
                    let own = wall.entity.and_then(|entity| query.resistance(entity));
                    let penetration = flight.pass(crossing, crossing.entry, own.unwrap_or(piercing.wall), true);
                    if flight.order > 1 || penetration.energy_left.is_some() {
                        let (shooter, shot) = (shot.shooter, shot.id);
                        verdicts.pierce(WallPierced { shooter, shot, part, wall: *wall, penetration });
                    }
                    if outcome == PelletOutcome::Missed && penetration.energy_left.is_none() {
                        outcome = PelletOutcome::Blocked;
                    }
                    (penetration, false)
                }
                Met::Hitbox(hit) => {
                    let own = query.resistance(hit.rig).unwrap_or(piercing.flesh);
                    let known = passed.iter_mut().find(|(rig, _)| *rig == hit.rig);
                    let (from, is_new) = known.as_ref().map_or((crossing.entry, true), |(_, exit)| (*exit, false));
                    let penetration = flight.pass(crossing, from.max(crossing.entry), own, is_new);
                    match known {
                        Some((_, exit)) => *exit = exit.max(crossing.exit),
                        None => passed.push((hit.rig, crossing.exit)),
                    }
                    (penetration, is_new)
                }
            };
            if let (Met::Hitbox(hit), true) = (&crossing.met, is_new) {
                confirm(shot, part, *hit, Some(penetration), evidence, verdicts);
                if !matches!(outcome, PelletOutcome::Hit { .. }) {
                    outcome = PelletOutcome::hit(hit);
                }
            }
            if penetration.energy_left.is_none() {
                break;
            }
        }
        match outcome {
            PelletOutcome::Blocked => verdicts.reject(shot.rejected(part, RejectReason::Blocked, evidence)),
            PelletOutcome::Missed => verdicts.reject(shot.rejected(part, RejectReason::Missed, evidence)),
            PelletOutcome::Hit { .. } => {}
        }
        volley.note(outcome);
    }
}

/// A bullet on its way through things.
struct Flight {
    piercing: Piercing,
    energy: f32,
    /// How many things it has gone into.
    order: u32,
}

impl Flight {
    /// Goes through the part of a crossing that lies behind `from` metres, into something `new` or not.
    fn pass(&mut self, crossing: &Crossing, from: f32, resistance: Resistance, new: bool) -> Penetration {
        let thickness = (crossing.exit - from).max(0.0);
        let resistance = if new { resistance } else { Resistance { surface: 0.0, ..resistance } };
        let order = self.order;
        self.order += u32::from(new);
        let left = self.energy - resistance.cost(thickness);
        // What is not a number goes nowhere.
        let energy_left = (left >= 0.0 && self.order <= u32::from(self.piercing.most)).then_some(left);
        self.energy = left;
        Penetration { order: order as u8, exit: crossing.exit, thickness, energy_left }
    }
}

impl Crossing {
    fn wall(&self) -> Option<Blocker> {
        match self.met {
            Met::Wall(wall) => Some(wall),
            Met::Hitbox(_) => None,
        }
    }
}

impl PelletOutcome {
    fn hit(hit: &RewoundHit) -> Self {
        Self::Hit { rig: hit.rig, life: hit.life, zone: hit.zone }
    }
}

fn confirm(
    shot: &AdmittedShot,
    part: u32,
    hit: RewoundHit,
    penetration: Option<Penetration>,
    evidence: Evidence,
    verdicts: &mut Verdicts,
) {
    verdicts.confirm(HitConfirmed { penetration, ..shot.confirmed(part, HitBy::Bullet, hit, evidence) });
}
