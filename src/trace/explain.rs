//! What is told of a verdict to those who want to see it: all that the shot came near, then and now.

use core::time::Duration;

use bevy::{math::bounding::BoundingVolume, prelude::*};

use super::{
    cast::{isometry, known_shape},
    filter::RewoundFilter,
    query::RewoundQuery,
    region::{Region, may_meet},
    rigs::{NEAR, Notes, Reach, ShownRig},
    screen::Screen,
    wall::Wall,
};
use crate::{
    history::Sample,
    hitbox::RigId,
    shape::Shape,
    shot::{
        AdmittedShots, Cover, DisplayedRigs, Evidence, HitBy, HitConfirmed, HitRejected, RejectReason, ShotId,
        ShotTraced, ShotTracing, TracedHitbox, TracedOccluder, TracedOutcome, Verdicts,
    },
    time::ViewTime,
};

/// What the shots that were admitted in this tick say of their screens. Verdicts do not tell.
#[derive(Resource, Default)]
pub(crate) struct Screens(Vec<(Entity, ShotId, ViewTime, DisplayedRigs)>);

pub(crate) fn is_tracing(tracing: Res<ShotTracing>) -> bool {
    tracing.enabled
}

/// Keeps the screens of this tick's shots until these have been traced.
pub(crate) fn keep_screens(shots: Res<AdmittedShots>, mut screens: ResMut<Screens>) {
    screens.0.clear();
    screens.0.extend(
        shots.0.iter().filter_map(|shot| Some((shot.shooter, shot.id, shot.evidence.view_time, shot.displayed?))),
    );
}

/// Explains the verdicts of this tick.
pub(crate) fn explain_verdicts(
    query: RewoundQuery,
    verdicts: Res<Verdicts>,
    screens: Res<Screens>,
    tracing: Res<ShotTracing>,
    mut traced: MessageWriter<ShotTraced>,
) {
    let explained = verdicts.answers().take(tracing.max_shots);
    traced.write_batch(explained.map(|answer| explain(&query, answer, &screens, &tracing)));
}

fn explain(
    query: &RewoundQuery,
    answer: Result<&HitConfirmed, &HitRejected>,
    screens: &Screens,
    tracing: &ShotTracing,
) -> ShotTraced {
    let (shooter, shot, part, evidence, outcome) = match answer {
        Ok(HitConfirmed { shooter, shot, part, evidence, by, hit, .. }) => {
            (*shooter, *shot, *part, evidence, TracedOutcome::Hit { by: *by, hit: *hit })
        }
        Err(HitRejected { shooter, shot, part, evidence, reason }) => {
            (*shooter, *shot, *part, evidence, TracedOutcome::Rejected(*reason))
        }
    };
    let (direction, length) = way(evidence, &outcome);
    let mut traced = ShotTraced {
        shot,
        part,
        shooter,
        origin: evidence.origin,
        direction,
        length,
        outcome,
        evidence: *evidence,
        timestep: query.time.timestep(),
        hitboxes: Vec::new(),
        occluders: Vec::new(),
        cover: None,
    };
    let was_traced = traced.rejected().is_none_or(RejectReason::was_traced);
    if let (Ok(direction), true) = (Dir3::new(direction), was_traced) {
        // What the shot says of its screen is of no other instant.
        let is_its = |(by, id, at, _): &&(Entity, ShotId, ViewTime, DisplayedRigs)| {
            (*by, *id, *at) == (shooter, shot, evidence.view_time)
        };
        let displayed = screens.0.iter().find(is_its).map(|(.., displayed)| *displayed);
        let screen = Screen::new(evidence.view_time, displayed, &query.arena.sent);
        let filter = RewoundFilter::new().fired_by(shooter);
        // Also to whom a wall has protected.
        let reach = evidence.hit.map_or(length, |hit| length.max(hit.distance));
        let ray = Ray3d::new(evidence.origin, direction);
        let now = ViewTime::at(query.tick.0);
        (traced.hitboxes, traced.occluders) = query.surroundings(&screen, ray, reach, &filter, tracing, Some(now));
    }
    if let Ok(HitConfirmed { by: HitBy::Bullet | HitBy::Beam, penetration: None, .. }) = answer {
        traced.cover = query.cover(&traced);
    }
    traced
}

/// Where a shot went, and how far.
fn way(evidence: &Evidence, outcome: &TracedOutcome) -> (Vec3, f32) {
    let met = match outcome {
        TracedOutcome::Hit { hit, .. } => Some(hit.point),
        TracedOutcome::Rejected(_) => evidence.blocker.map(|blocker| blocker.point),
    };
    let to_met = met.and_then(|point| Dir3::new_and_length(point - evidence.origin).ok());
    match (to_met, met) {
        (Some((direction, length)), _) => (*direction, length),
        // It was met where the shot began.
        (None, Some(_)) => (evidence.direction, 0.0),
        (None, None) => {
            let length = if evidence.range.is_finite() { evidence.range.max(0.0) } else { 0.0 };
            (evidence.direction.normalize_or_zero(), length)
        }
    }
}

impl RewoundQuery<'_, '_> {
    /// The hitboxes of all rigs, and the occluders, that a ray of so many metres came near at an instant.
    #[cfg(feature = "lightyear")]
    pub(crate) fn shown_around(
        &self,
        view: ViewTime,
        ray: Ray3d,
        range: f32,
        filter: &RewoundFilter,
        tracing: &ShotTracing,
    ) -> (Vec<TracedHitbox>, Vec<TracedOccluder>) {
        self.surroundings(&Screen::new(view, None, &self.arena.sent), ray, range, filter, tracing, None)
    }

    /// The hitboxes of all rigs, and the occluders, that a ray of so many metres comes near: the nearest ones, and where they
    /// stand `now`, if that is asked.
    fn surroundings(
        &self,
        screen: &Screen,
        ray: Ray3d,
        range: f32,
        filter: &RewoundFilter,
        tracing: &ShotTracing,
        now: Option<ViewTime>,
    ) -> (Vec<TracedHitbox>, Vec<TracedOccluder>) {
        let along = |place: Vec3| (place - ray.origin).dot(*ray.direction);
        let mut hitboxes: Vec<((f32, RigId), TracedHitbox)> = Vec::new();
        self.arena.rigs.visit_near(
            screen,
            &self.with_defaults(filter),
            &Region::ray(ray, range),
            Notes::Kept,
            |near| {
                let (rig, sample) = near.show();
                if !may_meet(ray, range, sample.bounds().grow(NEAR)) {
                    return Reach::ALL;
                }
                let live = now.and_then(|now| self.live(&rig, now));
                let key = (along(sample.root().translation.into()), rig.id);
                hitboxes.extend(sample.hitboxes().map(|hitbox| {
                    let live = live.and_then(|live| live.hitboxes().find(|live| live.entity == hitbox.entity));
                    let live = live.map(|live| live.pose);
                    let (shape, pose) = (hitbox.shape, hitbox.pose);
                    (key, TracedHitbox { rig: rig.rig, hitbox: hitbox.entity, zone: hitbox.zone, shape, pose, live })
                }));
                Reach::ALL
            },
        );
        // Those of one rig stay in their order.
        hitboxes.sort_by(|((a, id), hitbox), ((b, other_id), other)| {
            a.total_cmp(b).then(id.cmp(other_id)).then(hitbox.rig.cmp(&other.rig))
        });
        hitboxes.truncate(tracing.max_hitboxes);
        let mut occluders: Vec<(f32, TracedOccluder)> = Vec::new();
        self.arena.visit_walls(screen, filter, &Region::ray(ray, range), |wall| {
            if wall.rewound {
                let (shape, pose) = wall.rough_shape();
                let at = |now| Screen::new(now, None, &self.arena.sent);
                let live = now.zip(wall.entity).and_then(|(now, entity)| self.arena.occluder_pose(&at(now), entity));
                // The shape need not stand in the middle of the collider.
                let live = live.map(|live| live * isometry(&wall.pose).inverse() * pose);
                occluders.push((
                    along(pose.translation.into()),
                    TracedOccluder { occluder: wall.entity, shape, pose, live },
                ));
            }
        });
        occluders.sort_by(|(a, occluder), (b, other)| a.total_cmp(b).then(occluder.occluder.cmp(&other.occluder)));
        occluders.truncate(tracing.max_occluders);
        let hitboxes = hitboxes.into_iter().map(|(_, hitbox)| hitbox).collect();
        (hitboxes, occluders.into_iter().map(|(_, occluder)| occluder).collect())
    }

    /// A rig as it stands now, if it is still in this life.
    fn live(&self, rig: &ShownRig, now: ViewTime) -> Option<Sample<'_>> {
        let history = self.arena.rigs.history(rig.rig).filter(|_| self.arena.rigs.is_rig(rig.rig))?;
        history.sample(now).filter(|live| live.is_alive() && live.life() == rig.life)
    }

    /// What stands between the muzzle and where the victim is now, and since when.
    fn cover(&self, traced: &ShotTraced) -> Option<Cover> {
        let hit = traced.hit()?;
        let history = self.arena.rigs.history(hit.rig).filter(|_| self.arena.rigs.is_rig(hit.rig))?;
        let on_hitbox = hit.pose.inverse() * hit.point;
        let filter = RewoundFilter::new().fired_by(traced.shooter);
        let now = self.tick.0;
        // The line so many ticks ago, and what blocked it.
        let blocked = |ago: f64| {
            let at = ViewTime::before(now, ago);
            let sample = history.sample(at).filter(|sample| sample.is_alive() && sample.life() == hit.life)?;
            let point = sample.hitboxes().find(|hitbox| hitbox.entity == hit.hitbox)?.pose * on_hitbox;
            let (direction, length) = Dir3::new_and_length(point - traced.origin).ok()?;
            let ray = Ray3d::new(traced.origin, direction);
            let screen = Screen::new(at, None, &self.arena.sent);
            let blocker = self.nearest_blocker(&screen, ray, length, &filter)?;
            Some((blocker, point))
        };
        let (blocker, point) = blocked(0.0)?;
        let furthest = traced.rewind_ticks();
        let mut since = 0.0;
        while since < furthest {
            let earlier = (since + 1.0_f64).min(furthest);
            if blocked(earlier).is_some() {
                since = earlier;
                continue;
            }
            since = last_true(since, earlier, |ago| blocked(ago).is_some());
            break;
        }
        let time = Duration::from_secs_f64(since * traced.timestep.as_secs_f64());
        Some(Cover { blocker, point, since: ViewTime::before(now, since), time })
    }
}

impl Wall<'_> {
    /// Its shape and where that stands; if it is no shape of ours, the box around it.
    fn rough_shape(&self) -> (Shape, Isometry3d) {
        known_shape(self.shape, &self.pose).unwrap_or_else(|| {
            let bounds = self.shape.compute_local_aabb();
            let middle = Isometry3d::from_translation(bounds.center());
            (Shape::Cuboid { half_extents: bounds.half_extents() }, isometry(&self.pose) * middle)
        })
    }
}

/// Up to where something is true that is true at `yes` and not at `no`, to a 256th of the way.
fn last_true(mut yes: f64, mut no: f64, is: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..8 {
        let middle = 0.5 * (yes + no);
        *(if is(middle) { &mut yes } else { &mut no }) = middle;
    }
    yes
}
