//! Projectiles on their way through the past, and the present.

use bevy::prelude::*;

use super::{answer::RewoundCast, blast, filter::RewoundFilter, query::RewoundQuery, screen::Screen};
use crate::{
    policy::CheckPolicy,
    shape::Shape,
    shot::{
        Adjustment, AdmittedShot, CompensatedProjectile, Evidence, HitBy, ProjectileEnded, ProjectileLaunched,
        RejectReason, RewoundHit, Verdicts,
    },
    time::{Tick, ViewTime},
    weapon::Projectile,
};

/// Spawns the projectile of an admitted shot.
pub(super) fn launch(mut shot: AdmittedShot, projectile: Projectile, now: Tick, order: u64, commands: &mut Commands) {
    let Evidence { command_tick, view_time, link, .. } = shot.evidence;
    let view = projectile.leaves_at(view_time, command_tick);
    if view != view_time {
        let cut = Adjustment { policy: CheckPolicy::Clamp, reason: RejectReason::ViewTimeTooOld };
        shot.evidence.adjusted.get_or_insert(cut);
    }
    let flight = CompensatedProjectile::launch(shot, projectile, view, now, order);
    let entity = commands.spawn((flight, Transform::from_translation(flight.place))).id();
    let launched = ProjectileLaunched { projectile: entity, shooter: shot.shooter, shot: shot.id, link };
    commands.write_message(launched);
    commands.trigger(launched);
}

/// Lists kept between ticks for their memory.
#[derive(Default)]
pub(crate) struct Scratch {
    order: Vec<(u64, Entity)>,
    blast: blast::Scratch,
}

/// Where a flight ends.
struct Impact {
    place: Vec3,
    normal: Option<Dir3>,
    hit: Option<RewoundHit>,
    /// Of the instant and the way on which it ended.
    evidence: Evidence,
}

/// Flies all projectiles up to this tick, in the order in which they were launched.
pub(crate) fn fly_projectiles(
    query: RewoundQuery,
    mut projectiles: Query<(Entity, &mut CompensatedProjectile, Option<&mut Transform>)>,
    mut verdicts: ResMut<Verdicts>,
    mut commands: Commands,
    mut scratch: Local<Scratch>,
) {
    let Scratch { order, blast } = &mut *scratch;
    order.clear();
    order.extend(projectiles.iter().map(|(entity, flight, _)| (flight.order, entity)));
    order.sort_unstable();
    let now = query.tick.0;
    let mut budget = query.config.max_catch_up_steps;
    for (_, entity) in order {
        let Ok((_, mut flight, transform)) = projectiles.get_mut(*entity) else { continue };
        let impact = fly(&mut flight, &query, now, &mut budget);
        if let Some(mut transform) = transform {
            transform.translation = impact.as_ref().map_or(flight.place, |impact| impact.place);
        }
        let Some(impact) = impact else { continue };
        flight.has_ended = true;
        answer(&flight, &impact, &query, &mut verdicts, blast);
        let ended = ProjectileEnded {
            projectile: *entity,
            shooter: flight.shot.shooter,
            shot: flight.shot.id,
            place: impact.place,
            normal: impact.normal,
            flown: flight.flown,
        };
        commands.write_message(ended);
        commands.trigger(ended);
        commands.entity(*entity).try_despawn();
    }
}

/// Flies one projectile up to this tick, as far as the budget of steps through the past goes.
fn fly(flight: &mut CompensatedProjectile, query: &RewoundQuery, now: Tick, budget: &mut u32) -> Option<Impact> {
    while flight.view.is_before(ViewTime::at(now)) {
        // Which steps there are does not depend on when they are taken.
        let (ticks, tested_at) = if flight.is_live() {
            (1.0, ViewTime::at(flight.view.tick + 1))
        } else {
            (ViewTime::at(flight.launched).ticks_after(flight.view).min(1.0), flight.view)
        };
        if tested_at != ViewTime::at(now) {
            *budget = budget.checked_sub(1)?;
        }
        let left = f64::from(flight.projectile.ticks) - flight.flown;
        let impact = step(flight, query, ticks.min(left), tested_at);
        if impact.is_some() {
            return impact;
        }
        flight.view = if flight.is_live() {
            tested_at
        } else {
            ViewTime::before(flight.launched, ViewTime::at(flight.launched).ticks_after(flight.view) - ticks)
        };
        if left <= ticks {
            let evidence = Evidence { view_time: tested_at, ..flight.shot.evidence };
            return Some(Impact { place: flight.place, normal: None, hit: None, evidence });
        }
    }
    None
}

/// Flies so many ticks on, and meets what stood there at an instant.
fn step(flight: &mut CompensatedProjectile, query: &RewoundQuery, ticks: f64, at: ViewTime) -> Option<Impact> {
    /// How far off a wall a projectile is put that bounces, in metres.
    const SKIN: f32 = 1e-3;
    /// In a corner, one bounce follows another.
    const MOST_BOUNCES: u32 = 16;
    let CompensatedProjectile { shot, projectile, .. } = *flight;
    // What the shot says of its screen is of no other instant.
    let displayed = shot.displayed.filter(|_| at == shot.evidence.view_time);
    let screen = Screen::new(at, displayed, &query.arena.sent);
    let filter = RewoundFilter::new().fired_by(shot.shooter).targets(shot.targets);
    let timestep = query.time.timestep().as_secs_f64();
    let mut left = ticks;
    for _ in 0..=MOST_BOUNCES {
        let seconds = |ticks: f64| (ticks * timestep) as f32;
        let (place, velocity) = projectile.ballistics.fly(flight.place, flight.velocity, seconds(left));
        let way = Dir3::new_and_length(place - flight.place).ok();
        let cast = way.map(|(direction, length)| {
            let way = Ray3d::new(flight.place, direction);
            (way, length, cast(query, &screen, way, length, projectile.radius, &filter))
        });
        let met = cast.and_then(|(way, length, cast)| {
            let evidence = Evidence {
                view_time: at,
                origin: way.origin,
                direction: *way.direction,
                range: length,
                rigs: cast.evidence.rigs,
                hit: cast.hit,
                blocker: cast.blocker,
                ..shot.evidence
            };
            let place = |distance| way.get_point(distance);
            match (cast.victim(), cast.blocker) {
                (Some(hit), _) => {
                    let (place, normal) = (place(hit.distance), Some(hit.normal));
                    Some((hit.distance / length, Impact { place, normal, hit: Some(hit), evidence }))
                }
                (None, Some(wall)) if cast.is_blocked() => {
                    let (place, normal) = (place(wall.distance), Some(wall.normal));
                    Some((wall.distance / length, Impact { place, normal, hit: None, evidence }))
                }
                _ => None,
            }
        });
        let Some((part, impact)) = met else {
            (flight.place, flight.velocity) = (place, velocity);
            flight.flown += left;
            return None;
        };
        let used = left * f64::from(part);
        flight.flown += used;
        flight.place = impact.place;
        left -= used;
        let Some(normal) = impact.normal.filter(|_| impact.hit.is_none() && flight.bounces_left > 0) else {
            return Some(impact);
        };
        flight.bounces_left -= 1;
        let velocity = projectile.ballistics.fly(Vec3::ZERO, flight.velocity, seconds(used)).1;
        flight.velocity = velocity.reflect(*normal) * projectile.restitution.clamp(0.0, 1.0);
        flight.place += normal * SKIN;
    }
    flight.flown += left;
    None
}

/// What a projectile meets on a straight way.
fn cast(
    query: &RewoundQuery,
    screen: &Screen,
    way: Ray3d,
    length: f32,
    radius: f32,
    filter: &RewoundFilter,
) -> RewoundCast {
    if radius > 0.0 {
        let from = Isometry3d::from_translation(way.origin);
        query.cast_shape_on(screen, Shape::Ball { radius }, from, way.direction, length, filter)
    } else {
        query.cast_ray_on(screen, way, length, filter)
    }
}

/// Gives a projectile that has come to its end its one verdict: on whom it hit, and on those whom its blast meets.
fn answer(
    flight: &CompensatedProjectile,
    impact: &Impact,
    query: &RewoundQuery,
    verdicts: &mut Verdicts,
    scratch: &mut blast::Scratch,
) {
    /// How far before what it met a blast goes off, in metres, so that this does not hide all from it.
    const STAND_OFF: f32 = 0.01;
    let CompensatedProjectile { shot, projectile, .. } = *flight;
    let mut evidence = Evidence { judged_at: query.tick.0, ..impact.evidence };
    if let Some(hit) = impact.hit {
        verdicts.confirm(shot.confirmed(0, HitBy::Projectile, hit, evidence));
    }
    let mut has_met = impact.hit.is_some();
    let mut is_covered = false;
    if let Some(blast) = projectile.blast {
        let displayed = shot.displayed.filter(|_| evidence.view_time == shot.evidence.view_time);
        let screen = Screen::new(evidence.view_time, displayed, &query.arena.sent);
        let filter = RewoundFilter::new().targets(shot.targets);
        let center = impact.place + impact.normal.map_or(Vec3::ZERO, |normal| normal * STAND_OFF);
        let aftermath = blast::explode(query, &screen, center, blast, shot.shooter, &filter, scratch);
        is_covered = aftermath.blocked;
        evidence = Evidence { origin: center, range: blast.radius, rigs: aftermath.rigs, blocker: None, ..evidence };
        let is_direct = |hit: &RewoundHit| impact.hit.is_some_and(|direct| direct.rig == hit.rig);
        for hit in scratch.victims().iter().filter(|hit| !is_direct(hit)) {
            has_met = true;
            let evidence = Evidence { hit: Some(*hit), ..evidence };
            verdicts.confirm(shot.confirmed(0, HitBy::Blast, *hit, evidence));
        }
    }
    let is_stopped = impact.normal.is_some() && projectile.blast.is_none();
    let reason = if is_stopped || is_covered { RejectReason::Blocked } else { RejectReason::Missed };
    if !has_met {
        verdicts.reject(shot.rejected(0, reason, Evidence { judged_at: query.tick.0, ..impact.evidence }));
    }
    verdicts.count(&shot.evidence, (!has_met).then_some(reason));
}
