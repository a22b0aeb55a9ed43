//! All that is needed to draw and to explain a verdict.

use core::time::Duration;

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
use serde::{Deserialize, Serialize};

use super::{Blocker, Evidence, HitBy, RejectReason, RewoundHit, ShotId};
use crate::{hitbox::Zone, shape::Shape, time::ViewTime};

/// Whether verdicts are explained: a switch for debugging, off by default.
///
/// On a server, each verdict is then told once more as a [`ShotTraced`]; on a client of the `lightyear` feature,
/// [`DisplayedShots`](crate::DisplayedShots) keeps what the screen showed for each shot. It may be changed at any time. Off, it costs
/// nothing; on, it allocates, and looks at each shot a second time: for about 20 µs among 64 rigs of 19 hitboxes, and 100 µs if the
/// victim has been behind [`Cover`] for 20 ticks.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{ShotTraced, ShotTracing, prelude::*};
///
/// fn complain(mut traced: MessageReader<ShotTraced>) {
///     for shot in traced.read() {
///         if let (Some(victim), Some(cover)) = (shot.victim(), shot.cover) {
///             info!("{victim} was hit {} ms after they had taken cover", cover.time.as_millis());
///         }
///     }
/// }
///
/// # let mut app = App::new();
/// app.add_plugins(LagCompensationPlugin::default())
///     .insert_resource(ShotTracing { enabled: true, ..default() })
///     .add_systems(Update, complain);
/// ```
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Default)]
pub struct ShotTracing {
    /// Whether anything is collected. Default: `false`.
    pub enabled: bool,
    /// How many verdicts of a tick are explained, the first ones. Default: 16; a shotgun has one for each pellet.
    ///
    /// Too low, and in a crowd some shots have no ghosts; too high, and a hail of pellets costs a long tick.
    pub max_shots: usize,
    /// How many hitboxes are told of a shot, those of the nearest rigs. Default: 64, which is three figures.
    ///
    /// Each takes 77 bytes of the message, if it is sent to a client.
    pub max_hitboxes: usize,
    /// How many moving occluders are told of a shot, the nearest ones. Default: 8.
    pub max_occluders: usize,
    /// Of how many shots a client keeps what its screen showed, the latest ones. Default: 64.
    pub max_displayed: usize,
}

impl Default for ShotTracing {
    fn default() -> Self {
        Self { enabled: false, max_shots: 16, max_hitboxes: 64, max_occluders: 8, max_displayed: 64 }
    }
}

/// One verdict, with all that is needed to draw and to explain it.
///
/// Written on the server together with the verdict, if [`ShotTracing`] is on. On a client of the `lightyear` feature,
/// those that the server streams are written: of its own shots, and of those that hit it; see
/// `lightyear::EvidenceViewer`. There, entities are those of the client's world, and
/// [`Entity::PLACEHOLDER`] where it has none.
///
/// It is a wall hack to whoever reads it: it tells where others stand now. Show it to players only when that does no harm.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShotTraced {
    /// Which shot. On the client that has fired it, the id that `FireShots::fire` returned; the connection of those of others
    /// is not 0.
    pub shot: ShotId,
    /// Which part of it; see [`HitConfirmed::part`](crate::HitConfirmed::part).
    pub part: u32,
    /// Who shot.
    pub shooter: Entity,
    /// Where the shot began; see [`Evidence::origin`].
    pub origin: Vec3,
    /// Where it went, from there to what stopped it: of unit length, or 0 if the shot named no direction.
    pub direction: Vec3,
    /// Metres from the origin to what stopped it; of a miss, to the end of its range. 0 if that is not finite.
    pub length: f32,
    /// What became of it.
    pub outcome: TracedOutcome,
    /// What the verdict rests on.
    pub evidence: Evidence,
    /// The length of a tick of the server.
    pub timestep: Duration,
    /// The hitboxes of all rigs that it came near, as they were tested and as they stand now. Empty if the shot was not traced.
    pub hitboxes: Vec<TracedHitbox>,
    /// The moving [`Occluder`](crate::Occluder)s that it came near, likewise.
    pub occluders: Vec<TracedOccluder>,
    /// What stands between the muzzle and the victim by now, if anything does: what the victim calls being shot around a corner.
    pub cover: Option<Cover>,
}

/// What became of a shot that was traced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TracedOutcome {
    /// It hit.
    #[non_exhaustive]
    Hit {
        /// How the rig was met.
        by: HitBy,
        /// Where, and the hitbox that was met.
        hit: RewoundHit,
    },
    /// It did not.
    Rejected(RejectReason),
}

/// A hitbox near a shot.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TracedHitbox {
    /// The rig that it belongs to.
    pub rig: Entity,
    /// The entity with the hitbox; it may be gone by now.
    pub hitbox: Entity,
    /// Which part of the body it is.
    pub zone: Zone,
    /// The shape that was tested.
    pub shape: Shape,
    /// The pose that was tested; in [`DisplayedShots`](crate::DisplayedShots), the one on the screen.
    pub pose: Isometry3d,
    /// Where it stands in the tick of the verdict. `None` if it cannot be hit any more, or its rig is dead or in another life.
    pub live: Option<Isometry3d>,
}

/// A moving [`Occluder`](crate::Occluder) near a shot.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TracedOccluder {
    /// Its entity, which may be gone by now.
    pub occluder: Option<Entity>,
    /// Its shape, as far as it is a ball, a capsule or a box; else the box around it.
    pub shape: Shape,
    /// Where that was tested; in [`DisplayedShots`](crate::DisplayedShots), where it was on the screen.
    pub pose: Isometry3d,
    /// Where it stands in the tick of the verdict. `None` if it stops nothing any more.
    pub live: Option<Isometry3d>,
}

/// What a victim has behind them, or before them: the line from the muzzle to where they were hit is blocked, now that the verdict
/// has come.
///
/// Told of confirmed bullets that went through nothing, and of beams. It is found by walking back through history, tick by tick,
/// from the present to the view time; each of them costs a ray against the walls.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cover {
    /// What blocks the line now; its distance is from the muzzle.
    pub blocker: Blocker,
    /// Where the point that was hit is now.
    pub point: Vec3,
    /// The instant from which on the line has been blocked.
    pub since: ViewTime,
    /// How long that was before the verdict: by so much the victim was shot around a corner.
    pub time: Duration,
}

impl ShotTraced {
    /// Where the shot ended.
    pub fn end(&self) -> Vec3 {
        self.origin + self.direction * self.length
    }

    /// Where it hit, if it did.
    pub fn hit(&self) -> Option<&RewoundHit> {
        match &self.outcome {
            TracedOutcome::Hit { hit, .. } => Some(hit),
            TracedOutcome::Rejected(_) => None,
        }
    }

    /// The rig that was hit.
    pub fn victim(&self) -> Option<Entity> {
        self.hit().map(|hit| hit.rig)
    }

    /// Why nothing was hit.
    pub fn rejected(&self) -> Option<RejectReason> {
        match self.outcome {
            TracedOutcome::Hit { .. } => None,
            TracedOutcome::Rejected(reason) => Some(reason),
        }
    }

    /// How old the picture was by which the shot was judged, in ticks: from the view time to the tick of the verdict.
    pub fn rewind_ticks(&self) -> f64 {
        self.evidence.view_time.ticks_before(self.evidence.judged_at)
    }

    /// The same in milliseconds.
    pub fn rewind_ms(&self) -> f64 {
        self.rewind_ticks() * self.timestep.as_secs_f64() * 1e3
    }
}

impl MapEntities for ShotTraced {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.shooter.map_entities(mapper);
        if let TracedOutcome::Hit { hit, .. } = &mut self.outcome {
            hit.map_entities(mapper);
        }
        self.evidence.map_entities(mapper);
        for hitbox in &mut self.hitboxes {
            hitbox.rig.map_entities(mapper);
            hitbox.hitbox.map_entities(mapper);
        }
        for occluder in &mut self.occluders {
            map_or_forget(&mut occluder.occluder, mapper);
        }
        if let Some(cover) = &mut self.cover {
            map_or_forget(&mut cover.blocker.entity, mapper);
        }
    }
}

impl MapEntities for Evidence {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        map_or_forget(&mut self.link, mapper);
        if let Some(blocker) = &mut self.blocker {
            map_or_forget(&mut blocker.entity, mapper);
        }
        if let Some(hit) = &mut self.hit {
            hit.map_entities(mapper);
        }
        for rig in self.rigs.iter_mut().flatten() {
            rig.rig.map_entities(mapper);
        }
    }
}

impl MapEntities for RewoundHit {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.rig.map_entities(mapper);
        self.hitbox.map_entities(mapper);
    }
}

/// Mappers map what they do not know to the placeholder.
fn map_or_forget(entity: &mut Option<Entity>, mapper: &mut impl EntityMapper) {
    *entity = entity.map(|entity| mapper.get_mapped(entity)).filter(|entity| *entity != Entity::PLACEHOLDER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hitbox::{LifeNumber, RigId},
        shot::{PoseBasis, ShotEvent},
        time::Tick,
    };

    /// Knows one entity, and no other.
    struct Known(Entity, Entity);

    impl EntityMapper for Known {
        fn get_mapped(&mut self, source: Entity) -> Entity {
            if source == self.0 { self.1 } else { Entity::PLACEHOLDER }
        }

        fn set_mapped(&mut self, _: Entity, _: Entity) {}
    }

    #[test]
    fn what_another_world_does_not_know_is_a_placeholder_or_nothing() {
        let [rig, bone, theirs] = [7, 8, 9].map(|number| Entity::from_raw_u32(number).unwrap());
        let (pose, shape, zone) = (Isometry3d::IDENTITY, Shape::Ball { radius: 1.0 }, Zone::Head);
        let hit = RewoundHit {
            rig,
            rig_id: RigId(0),
            life: LifeNumber(0),
            still_alive: true,
            hitbox: bone,
            zone,
            point: Vec3::ZERO,
            normal: Dir3::Y,
            distance: 1.0,
            pose,
            basis: PoseBasis::History,
            shape,
        };
        let shot = ShotEvent::new(rig, Tick(9), Vec3::ZERO, Vec3::Z).from_link(bone);
        let mut traced = ShotTraced {
            shot: ShotId::local(1),
            part: 0,
            shooter: rig,
            origin: Vec3::ZERO,
            direction: Vec3::Z,
            length: 1.0,
            outcome: TracedOutcome::Hit { by: HitBy::Bullet, hit },
            evidence: Evidence { hit: Some(hit), ..Evidence::of(&shot, Tick(9)) },
            timestep: Duration::ZERO,
            hitboxes: vec![TracedHitbox { rig, hitbox: bone, zone, shape, pose, live: None }],
            occluders: vec![TracedOccluder { occluder: Some(bone), shape, pose, live: None }],
            cover: None,
        };
        traced.map_entities(&mut Known(rig, theirs));
        let here = |hit: &RewoundHit| (hit.rig, hit.hitbox);
        let expected = (theirs, Entity::PLACEHOLDER);
        assert_eq!(traced.shooter, theirs);
        assert_eq!((traced.hit().map(here), traced.evidence.hit.as_ref().map(here)), (Some(expected), Some(expected)));
        assert_eq!((traced.hitboxes[0].rig, traced.hitboxes[0].hitbox), expected);
        assert_eq!((traced.occluders[0].occluder, traced.evidence.link), (None, None));
    }
}
