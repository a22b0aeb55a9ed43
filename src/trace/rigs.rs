//! Rays against the rigs of the past.

use core::cmp::Ordering;

use bevy::{
    ecs::system::SystemParam,
    math::{Vec3A, bounding::BoundingSphere},
    prelude::*,
};

use crate::{
    history::{HistoryBuffer, RewoundHitbox, Sample, Tombstones},
    hitbox::{LifeNumber, Rig, RigId},
    shot::{DisplayedRigs, PoseBasis, SentTicks},
    time::ViewTime,
};

/// All rigs with their histories, and those that are gone but not forgotten.
#[derive(SystemParam)]
pub(crate) struct RewoundRigs<'w, 's> {
    histories: Query<'w, 's, (Entity, &'static HistoryBuffer, Option<&'static RigId>), With<Rig>>,
    rigs: Query<'w, 's, (), With<Rig>>,
    parents: Query<'w, 's, &'static ChildOf>,
    tombstones: Res<'w, Tombstones>,
}

/// Where a ray meets a rig.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) rig: Entity,
    pub(super) life: LifeNumber,
    pub(super) hitbox: RewoundHitbox,
    pub(super) basis: PoseBasis,
    pub(super) distance: f32,
    id: RigId,
}

/// What the shooter's screen showed, and of what it was made.
pub(super) struct Screen<'a> {
    pub(super) view: ViewTime,
    pub(super) displayed: Option<DisplayedRigs>,
    pub(super) sent: &'a SentTicks,
    /// The most metres between where it showed a rig and where that was.
    pub(super) max_deviation: f32,
}

impl Screen<'_> {
    /// The rig as the screen showed it: blended from the snapshots that the shot names, if they lie near enough to the truth,
    /// or else from those that were sent, or else, and if nothing is known of snapshots, from the full history. `None` if it
    /// was not there.
    fn show<'h>(&self, rig: Entity, history: &'h HistoryBuffer) -> Option<(Sample<'h>, PoseBasis)> {
        let from_history = || Some((history.sample(self.view)?, PoseBasis::History));
        let Some(displayed) = self.displayed else { return from_history() };
        let between = |start, end| {
            let sample = history.sample_between(start, end, self.view)?;
            Some((sample, PoseBasis::Snapshots { start, end }))
        };
        let named = displayed.iter().flatten().find(|pair| pair.rig == rig);
        let named =
            named.and_then(|pair| between(pair.start, pair.end)).filter(|(shown, _)| self.is_near(shown, history));
        if named.is_some() {
            return named;
        }
        match self.sent.around(self.view) {
            // It has come since the last snapshot, and is not on the screen yet.
            Some((start, _)) if history.oldest().is_some_and(|oldest| oldest.since(start) > 0) => None,
            Some((start, Some(end))) => between(start, Some(end)).or_else(from_history),
            _ => from_history(),
        }
    }

    /// Whether a rig was near to where it is shown.
    fn is_near(&self, shown: &Sample, history: &HistoryBuffer) -> bool {
        let stood = history.sample(self.view);
        stood.is_none_or(|stood| shown.bounds().center.distance(stood.bounds().center) <= self.max_deviation)
    }
}

impl RewoundRigs<'_, '_> {
    /// Whether an entity belongs to some rig, or to the shooter, which need not be one.
    pub(super) fn is_part_of_rig_or(&self, entity: Entity, shooter: Entity) -> bool {
        self.ancestry(entity).any(|entity| entity == shooter || self.rigs.contains(entity))
    }

    /// Whether an entity is a rig now.
    pub(super) fn is_rig(&self, entity: Entity) -> bool {
        self.rigs.contains(entity)
    }

    /// Whether a rig is the shooter's own: on their entity or above it, as the car that a driver sits in.
    pub(super) fn are_one_with(&self, rig: Entity, shooter: Entity) -> bool {
        self.ancestry(shooter).any(|entity| entity == rig)
    }

    /// The nearest hitbox on the ray as the screen showed them, those of the shooter's own rigs left out, and those of the dead
    /// if they cannot be hit.
    ///
    /// A rig that was not there then is not hit.
    pub(super) fn nearest_hit(
        &self,
        screen: &Screen,
        ray: Ray3d,
        range: f32,
        shooter: Entity,
        hit_corpses: bool,
    ) -> Option<Nearest> {
        let present = self.histories.iter().map(|(rig, history, id)| (rig, history, id.copied().unwrap_or_default()));
        let mut best: Option<Nearest> = None;
        for (rig, history, id) in present.chain(self.tombstones.iter()) {
            let Some((sample, basis)) = screen.show(rig, history) else { continue };
            if !hit_corpses && !sample.is_alive() {
                continue;
            }
            let reach = best.map_or(range, |best| best.distance);
            if !may_meet(ray, reach, sample.rough_bounds()) || !may_meet(ray, reach, sample.bounds()) {
                continue;
            }
            if self.are_one_with(rig, shooter) {
                continue;
            }
            for hitbox in sample.hitboxes() {
                let reach = best.map_or(range, |best| best.distance);
                let bounds = BoundingSphere::new(hitbox.pose.translation, hitbox.shape.bounding_radius());
                if !may_meet(ray, reach, bounds) {
                    continue;
                }
                let Some(distance) = hitbox.shape.cast_ray(hitbox.pose, ray, reach) else { continue };
                let found = Nearest { rig, life: sample.life(), hitbox, basis, distance, id };
                if best.is_none_or(|best| found.cmp(&best).is_lt()) {
                    best = Some(found);
                }
            }
        }
        best
    }

    /// The entity itself and all above it.
    fn ancestry(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity))
    }
}

impl Nearest {
    /// Nearer first. Ties are broken by what does not depend on the order in which entities were spawned, and only
    /// between hitboxes that are alike in all of that by their ids.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |nearest: &Self| {
            let Isometry3d { translation: t, rotation: q } = nearest.hitbox.pose;
            // Adding 0 makes one zero of both.
            [t.x, t.y, t.z, q.x, q.y, q.z, q.w].map(|number| number + 0.0)
        };
        self.distance
            .total_cmp(&other.distance)
            .then_with(|| self.id.cmp(&other.id))
            .then_with(|| self.hitbox.zone.cmp(&other.hitbox.zone))
            .then_with(|| {
                place(self)
                    .iter()
                    .zip(&place(other))
                    .fold(Ordering::Equal, |so_far, (a, b)| so_far.then(a.total_cmp(b)))
            })
            .then_with(|| self.rig.cmp(&other.rig))
            .then_with(|| self.hitbox.entity.cmp(&other.hitbox.entity))
    }
}

/// Whether a ray may meet anything within `bounds`; says yes rather too often than too rarely.
pub(super) fn may_meet(ray: Ray3d, range: f32, bounds: BoundingSphere) -> bool {
    let to_center = bounds.center - Vec3A::from(ray.origin);
    let direction = Vec3A::from(*ray.direction);
    let along = to_center.dot(direction).clamp(0.0, range);
    // Rounding in `f32` grows with the distance; this is more than it can be.
    let radius = bounds.radius() + 1e-3 + 1e-5 * along;
    (to_center - direction * along).length_squared() <= radius * radius
}
