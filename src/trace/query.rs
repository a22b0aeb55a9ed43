//! Questions to the past.

use arrayvec::ArrayVec;
use bevy::{ecs::system::SystemParam, prelude::*};

use super::{
    answer::{Crossing, Met, RewoundCast, RewoundEvidence, RewoundPose},
    arena::Arena,
    cast::{contact_normal, surface_normal},
    fan::Fan,
    filter::RewoundFilter,
    packet::RayPacket,
    region::Region,
    rigs::Nearest,
    screen::Screen,
    tested::Tested,
    wall::Stop,
};
use crate::{
    config::LagCompensationConfig,
    hitbox::Life,
    shape::{PreciseRay, Shape},
    shot::{Blocker, RewoundHit, RewoundRigs},
    time::{CurrentTick, ViewTime},
    weapon::Resistance,
};

/// Questions to the past, for weapons and rules of a game's own: where something stood at any [`ViewTime`], and what a ray or a
/// shape would have met.
///
/// It only reads. Rigs and [`Occluder`](crate::Occluder)s are those of the view time, from the full history; all other
/// colliders stand where they stand, and only if rapier simulates in the app. Each answer tells what it rests on, also if
/// nothing was met. At an instant that is not remembered ([`RewoundEvidence::remembered`]) no rig and no occluder is there; nor is
/// one before its first record.
///
/// Use it in the fixed schedule after
/// [`LagCompensationSystems::RecordHistory`](crate::LagCompensationSystems::RecordHistory) for the present of the tick, or
/// anywhere for what lies before.
///
/// # Cost
///
/// Each question walks through trees of boxes around walls and around the past of rigs and occluders, and looks at the hitboxes of
/// those that it comes near. A ray among 64 rigs of 19 hitboxes, 2,000 walls and 50 doors takes about a microsecond, and twice
/// as long among 1,024 rigs; the first few of a tick take many times that, until what they need is in the caches
/// (`cargo run --release -p peers`). Lists that are filled keep their memory. Questions may be asked from several threads at once.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{RewoundFilter, RewoundQuery, prelude::*};
///
/// /// Whether a guard saw anyone half a second ago.
/// fn witness(query: RewoundQuery, tick: Res<CurrentTick>, guard: Single<(Entity, &Transform), With<Rig>>) {
///     let (guard, place) = *guard;
///     let eyes = Ray3d::new(place.translation, place.forward());
///     let seen = query.cast_ray(ViewTime::before(tick.0, 32.0), eyes, 50.0, &RewoundFilter::new().fired_by(guard));
///     if let Some(suspect) = seen.victim() {
///         info!("{} was there, its {:?} {} m away", suspect.rig, suspect.zone, suspect.distance);
///     }
/// }
/// # bevy::ecs::system::assert_is_system(witness);
/// ```
#[derive(SystemParam)]
pub struct RewoundQuery<'w, 's> {
    pub(super) arena: Arena<'w, 's>,
    pub(super) config: Res<'w, LagCompensationConfig>,
    pub(super) tick: Res<'w, CurrentTick>,
    pub(super) time: Res<'w, Time<Fixed>>,
    lives: Query<'w, 's, &'static Life>,
    resistances: Query<'w, 's, &'static Resistance>,
}

impl RewoundQuery<'_, '_> {
    /// The first hitbox and the first wall on a ray of `range` metres. What it touches, it meets; what it begins in, at
    /// once. In a range that is negative or not a number, nothing is met.
    ///
    /// [`cast_ray_first`](Self::cast_ray_first) tells less, and sooner.
    pub fn cast_ray(&self, view: ViewTime, ray: Ray3d, range: f32, filter: &RewoundFilter) -> RewoundCast {
        self.cast_ray_on(&self.screen(view), ray, range, filter)
    }

    /// What a ray of `range` metres meets first, a hitbox or a wall; in a tie the wall.
    ///
    /// That is the [`victim`](RewoundCast::victim) that [`cast_ray`](Self::cast_ray) finds, or else its blocker, to the last bit. But
    /// nothing is looked for behind walls, nor who came close: that saves a quarter of the time among 64 rigs, and more than half among
    /// 1,024.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::{RewoundFilter, RewoundQuery, Tick, prelude::*};
    ///
    /// /// Whether a guard saw the intruder's face, a quarter of a second ago.
    /// fn saw_face(query: &RewoundQuery, now: Tick, eyes: Vec3, face: Vec3, guard: Entity) -> bool {
    ///     let Ok((direction, distance)) = Dir3::new_and_length(face - eyes) else { return true };
    ///     let (view, filter) = (ViewTime::before(now, 16.0), RewoundFilter::new().fired_by(guard));
    ///     let first = query.cast_ray_first(view, Ray3d::new(eyes, direction), distance + 0.2, &filter);
    ///     first.is_some_and(|met| met.hitbox().is_some_and(|hit| hit.zone == Zone::Head))
    /// }
    /// # fn is_system(query: RewoundQuery) { let _ = saw_face(&query, Tick(0), Vec3::ZERO, Vec3::Z, Entity::PLACEHOLDER); }
    /// # bevy::ecs::system::assert_is_system(is_system);
    /// ```
    pub fn cast_ray_first(&self, view: ViewTime, ray: Ray3d, range: f32, filter: &RewoundFilter) -> Option<Met> {
        self.first_on(&self.screen(view), &ray.into(), range, &self.with_defaults(filter))
    }

    /// What each of several rays from one point meets first, put into `found` after clearing it, in their order: the pellets of a
    /// shot, or what a guard sees.
    ///
    /// That is what [`cast_ray_first`](Self::cast_ray_first) finds on each of them, to the last bit. They share the way through the
    /// trees of boxes: that takes the less time, the closer together they are.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::{Met, PelletPattern, RewoundFilter, RewoundQuery, Tick, prelude::*};
    ///
    /// /// How many of eight pellets would have met someone, a quarter of a second ago.
    /// fn hits(query: &RewoundQuery, now: Tick, muzzle: Vec3, aim: Dir3, found: &mut Vec<Option<Met>>) -> usize {
    ///     let pellets: Vec<Dir3> = PelletPattern::cone(8, 0.05).directions(aim).collect();
    ///     query.cast_rays_first(ViewTime::before(now, 16.0), muzzle, &pellets, 40.0, &RewoundFilter::new(), found);
    ///     found.iter().flatten().filter(|met| met.hitbox().is_some()).count()
    /// }
    /// # fn is_system(query: RewoundQuery) { let _ = hits(&query, Tick(0), Vec3::ZERO, Dir3::Z, &mut Vec::new()); }
    /// # bevy::ecs::system::assert_is_system(is_system);
    /// ```
    pub fn cast_rays_first(
        &self,
        view: ViewTime,
        origin: Vec3,
        directions: &[Dir3],
        range: f32,
        filter: &RewoundFilter,
        found: &mut Vec<Option<Met>>,
    ) {
        found.clear();
        let (screen, filter) = (self.screen(view), self.with_defaults(filter));
        for directions in directions.chunks(Fan::MOST) {
            let mut rays = ArrayVec::<PreciseRay, { Fan::MOST }>::new();
            rays.extend(directions.iter().map(|direction| Ray3d::new(origin, *direction).into()));
            if let [ray] = &*rays {
                found.push(self.first_on(&screen, ray, range, &filter));
                continue;
            }
            let fan = Fan::new(&rays, range);
            let mut room = default();
            let packet = RayPacket::new(&fan, &mut room);
            let mut walls = ArrayVec::<Option<Stop>, { Fan::MOST }>::new();
            walls.extend(rays.iter().map(|_| None));
            self.arena.nearest_walls(&screen, &packet, &filter, &mut walls);
            let mut nearest = ArrayVec::<Option<Nearest>, { Fan::MOST }>::new();
            nearest.extend(rays.iter().map(|_| None));
            self.arena.rigs.nearest_hits_only(&screen, &packet, &filter, &mut nearest);
            let both = walls.iter().zip(&nearest).zip(&rays);
            found.extend(both.map(|((wall, nearest), ray)| self.first_of(*wall, *nearest, **ray)));
        }
    }

    fn first_on(&self, screen: &Screen, ray: &PreciseRay, range: f32, filter: &RewoundFilter) -> Option<Met> {
        let wall = self.arena.nearest_wall(screen, ray, range, filter);
        let reach = wall.map_or(range, |wall| wall.distance);
        let nearest = self.arena.rigs.nearest_hit(screen, ray, reach, filter);
        self.first_of(wall, nearest, **ray)
    }

    /// In a tie, the wall.
    fn first_of(&self, wall: Option<Stop>, nearest: Option<Nearest>, ray: Ray3d) -> Option<Met> {
        match nearest.filter(|nearest| wall.is_none_or(|wall| nearest.distance < wall.distance)) {
            Some(nearest) => Some(Met::Hitbox(self.hit_by_ray(&nearest, ray))),
            None => wall.map(|wall| Met::Wall(wall.blocker(ray))),
        }
    }

    /// All hitboxes and walls on a ray of `range` metres, in the order in which it goes into them, put into `found` after
    /// clearing it. Between equals, walls come first.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::{Crossing, Met, RewoundFilter, RewoundQuery, prelude::*};
    ///
    /// /// A rule of the game's own: 5 for each millimetre of anything.
    /// fn depth(query: &RewoundQuery, view: ViewTime, ray: Ray3d, crossings: &mut Vec<Crossing>) -> Option<Met> {
    ///     query.cast_ray_all(view, ray, 100.0, &RewoundFilter::new(), crossings);
    ///     let mut energy = 1_000.0;
    ///     crossings.iter().find_map(|crossing| {
    ///         energy -= 5_000.0 * crossing.thickness();
    ///         (energy < 0.0).then_some(crossing.met)
    ///     })
    /// }
    /// # fn is_system(query: RewoundQuery) { let _ = depth(&query, ViewTime::at(bevy_hindsight::Tick(0)), Ray3d::new(Vec3::ZERO, Dir3::Z), &mut Vec::new()); }
    /// # bevy::ecs::system::assert_is_system(is_system);
    /// ```
    pub fn cast_ray_all(
        &self,
        view: ViewTime,
        ray: Ray3d,
        range: f32,
        filter: &RewoundFilter,
        found: &mut Vec<Crossing>,
    ) -> RewoundEvidence {
        found.clear();
        let rigs = self.crossings(
            &self.screen(view),
            &Fan::new(&[ray.into()], range),
            &self.with_defaults(filter),
            |_, crossing| {
                found.push(crossing);
            },
        );
        found.sort_unstable_by(Crossing::cmp);
        self.evidence(view, rigs)
    }

    /// The first hitbox and the first wall that `shape` meets on its way from `from`, `range` metres along `direction` and without
    /// turning. [`RewoundHit::distance`] is how far it gets, and [`RewoundHit::point`] where they touch; if they overlap from
    /// the start, 0, and a point of the hitbox.
    pub fn cast_shape(
        &self,
        view: ViewTime,
        shape: Shape,
        from: Isometry3d,
        direction: Dir3,
        range: f32,
        filter: &RewoundFilter,
    ) -> RewoundCast {
        self.cast_shape_on(&self.screen(view), shape, from, direction, range, filter)
    }

    /// All hitboxes and walls that `shape` at `pose` overlaps, put into `found` after clearing it; nearest to its centre first.
    /// [`RewoundHit::distance`] is from that centre to the nearest point of the hitbox. (The nearest point of a wall with a
    /// shape of rapier's own is what parry takes for it.)
    pub fn intersections_with_shape(
        &self,
        view: ViewTime,
        shape: Shape,
        pose: Isometry3d,
        filter: &RewoundFilter,
        found: &mut Vec<Met>,
    ) -> RewoundEvidence {
        found.clear();
        let screen = self.screen(view);
        let center = Vec3::from(pose.translation);
        let region = Region::ball(center, shape.bounding_radius());
        let overlaps = |nearest: &Nearest| nearest.hitbox.shape.overlaps(nearest.hitbox.pose, shape, pose);
        let rigs = self.near_point(&screen, center, &region, filter, |nearest| {
            if overlaps(&nearest) {
                found.push(Met::Hitbox(self.hit_near(&nearest, center)));
            }
        });
        self.arena.visit_walls(&screen, filter, &region, |wall| {
            if wall.overlaps(shape, pose) {
                found.push(Met::Wall(wall.near(center).blocker_near(center)));
            }
        });
        found.sort_unstable_by(Met::cmp);
        self.evidence(view, rigs)
    }

    /// The hitbox and the wall that lie nearest to a point, if they lie within `range` metres of it, with the nearest point of
    /// each; that is the point itself if it lies inside.
    pub fn closest_point(&self, view: ViewTime, point: Vec3, range: f32, filter: &RewoundFilter) -> RewoundCast {
        let screen = self.screen(view);
        let region = Region::ball(point, range);
        let mut nearest: Option<Nearest> = None;
        let rigs = self.near_point(&screen, point, &region, filter, |found| {
            if found.distance <= range && nearest.is_none_or(|nearest| found.cmp(&nearest).is_lt()) {
                nearest = Some(found);
            }
        });
        let mut wall: Option<Stop> = None;
        self.arena.visit_walls(&screen, filter, &region, |found| {
            let found = found.near(point);
            if found.distance <= range && wall.is_none_or(|wall| found.cmp(&wall).is_lt()) {
                wall = Some(found);
            }
        });
        RewoundCast {
            hit: nearest.map(|nearest| self.hit_near(&nearest, point)),
            blocker: wall.map(|wall| wall.blocker_near(point)),
            evidence: self.evidence(view, rigs),
        }
    }

    /// Where a rig, a hitbox or an occluder stood.
    ///
    /// Of a hitbox that has moved to another rig since, nothing is known here.
    pub fn pose_at(&self, view: ViewTime, entity: Entity) -> RewoundPose {
        let screen = self.screen(view);
        let mut tested = Tested::new(Ray3d::new(Vec3::ZERO, Dir3::X));
        let mut pose = None;
        self.arena.rigs.visit_rig_of(&screen, entity, |near, sample| {
            tested.insert(&near, None);
            let hitbox = || sample.hitboxes().find(|hitbox| hitbox.entity == entity).map(|hitbox| hitbox.pose);
            pose = if near.rig == entity { Some(sample.root()) } else { hitbox() };
        });
        let pose = pose.or_else(|| self.arena.occluder_pose(&screen, entity));
        RewoundPose { pose, evidence: self.evidence(view, tested.rigs()) }
    }
}

// What weapons are made of: the same on the screen of a shot.
impl RewoundQuery<'_, '_> {
    fn screen(&self, view: ViewTime) -> Screen<'_> {
        Screen::new(view, None, &self.arena.sent)
    }

    fn evidence(&self, view_time: ViewTime, rigs: RewoundRigs) -> RewoundEvidence {
        let now = self.tick.0;
        let window = self.config.history_ticks(self.time.timestep());
        let remembered = !view_time.is_after(now) && view_time.tick.since(now - window) >= 0;
        RewoundEvidence { view_time, remembered, rigs }
    }

    pub(super) fn with_defaults<'f>(&self, filter: &RewoundFilter<'f>) -> RewoundFilter<'f> {
        filter.corpses(filter.corpses.unwrap_or(self.config.hit_corpses))
    }

    pub(super) fn cast_ray_on(&self, screen: &Screen, ray: Ray3d, range: f32, filter: &RewoundFilter) -> RewoundCast {
        let mut nearest = [None];
        let filter = self.with_defaults(filter);
        let rigs = self.arena.rigs.nearest_hits(screen, &Fan::new(&[ray.into()], range), &filter, &mut nearest);
        let blocker = self.nearest_blocker(screen, ray, range, &filter);
        let hit = nearest[0].map(|nearest| self.hit_by_ray(&nearest, ray));
        RewoundCast { hit, blocker, evidence: self.evidence(screen.view, rigs) }
    }

    pub(super) fn nearest_blocker(
        &self,
        screen: &Screen,
        ray: Ray3d,
        range: f32,
        filter: &RewoundFilter,
    ) -> Option<Blocker> {
        self.arena.nearest_wall(screen, &ray.into(), range, filter).map(|stop| stop.blocker(ray))
    }

    /// Finds all that the rays of a fan pass through, in no order; with the number of the ray.
    pub(super) fn crossings(
        &self,
        screen: &Screen,
        fan: &Fan,
        filter: &RewoundFilter,
        mut found: impl FnMut(usize, Crossing),
    ) -> RewoundRigs {
        let rigs = self.arena.rigs.crossings(screen, fan, filter, |number, nearest, exit| {
            let met = Met::Hitbox(self.hit_by_ray(&nearest, *fan.rays[number]));
            found(number, Crossing { met, entry: nearest.distance, exit });
        });
        for (number, ray) in fan.rays.iter().enumerate() {
            self.arena.visit_walls(screen, filter, &Region::ray(**ray, fan.range), |wall| {
                if let Some(stop) = wall.stop(ray, fan.range) {
                    let (met, entry) = (Met::Wall(stop.blocker(**ray)), stop.distance);
                    found(number, Crossing { met, entry, exit: stop.exit(**ray) });
                }
            });
        }
        rigs
    }

    pub(super) fn cast_shape_on(
        &self,
        screen: &Screen,
        shape: Shape,
        from: Isometry3d,
        direction: Dir3,
        range: f32,
        filter: &RewoundFilter,
    ) -> RewoundCast {
        let way = Ray3d::new(from.translation.into(), direction);
        let region = Region::sweep(way, shape.bounding_radius(), range);
        let mut nearest: Option<Nearest> = None;
        let mut tested = Tested::new(way);
        self.arena.rigs.visit_hitboxes(screen, &self.with_defaults(filter), &region, &mut tested, |rig, hitbox| {
            let reach = nearest.map_or(range, |nearest| nearest.distance);
            if let Some(distance) = hitbox.shape.cast_shape(hitbox.pose, shape, from, direction, reach) {
                let found = Nearest { rig, hitbox, distance };
                if nearest.is_none_or(|nearest| found.cmp(&nearest).is_lt()) {
                    nearest = Some(found);
                }
            }
        });
        let mut wall: Option<Stop> = None;
        self.arena.visit_walls(screen, filter, &region, |found| {
            let reach = wall.map_or(range, |wall| wall.distance);
            if let Some(found) = found.stop_shape(shape, from, direction, reach)
                && wall.is_none_or(|wall| found.cmp(&wall).is_lt())
            {
                wall = Some(found);
            }
        });
        let there = |distance: f32| Isometry3d::new(way.get_point(distance), from.rotation);
        let hit = nearest.map(|nearest| {
            let there = there(nearest.distance);
            let Nearest { hitbox, .. } = nearest;
            let touch = hitbox.shape.touch(hitbox.pose, shape, there);
            let point = touch.unwrap_or(there.translation.into());
            let normal = contact_normal(hitbox.shape, hitbox.pose, point, direction, nearest.distance);
            self.hit(&nearest, point, normal)
        });
        let blocker = wall.map(|wall| wall.blocker_of_shape(shape, there(wall.distance), direction));
        RewoundCast { hit, blocker, evidence: self.evidence(screen.view, tested.rigs()) }
    }

    /// Shows all hitboxes in a region, with the distance of each from a point.
    pub(super) fn near_point(
        &self,
        screen: &Screen,
        point: Vec3,
        region: &Region,
        filter: &RewoundFilter,
        mut found: impl FnMut(Nearest),
    ) -> RewoundRigs {
        let mut tested = Tested::new(Ray3d::new(point, Dir3::X));
        self.arena.rigs.visit_hitboxes(screen, &self.with_defaults(filter), region, &mut tested, |rig, hitbox| {
            let distance = hitbox.shape.closest_point(hitbox.pose, point).distance(point);
            found(Nearest { rig, hitbox, distance });
        });
        tested.rigs()
    }

    pub(super) fn resistance(&self, entity: Entity) -> Option<Resistance> {
        self.resistances.get(entity).ok().copied()
    }

    /// What is told of a hitbox that a ray meets.
    pub(super) fn hit_by_ray(&self, nearest: &Nearest, ray: Ray3d) -> RewoundHit {
        let Nearest { hitbox, distance, .. } = *nearest;
        self.hit(nearest, ray.get_point(distance), surface_normal(hitbox.shape, hitbox.pose, ray, distance))
    }

    /// What is told of a hitbox that is met at a point of it, from the origin of a ray.
    pub(super) fn hit_at(&self, nearest: &Nearest, from: Ray3d, point: Vec3) -> RewoundHit {
        let Nearest { hitbox, distance, .. } = *nearest;
        let towards = Dir3::new(point - from.origin).unwrap_or(from.direction);
        self.hit(nearest, point, contact_normal(hitbox.shape, hitbox.pose, point, towards, distance))
    }

    /// What is told of a hitbox near a point.
    pub(super) fn hit_near(&self, nearest: &Nearest, point: Vec3) -> RewoundHit {
        let on_hitbox = nearest.hitbox.shape.closest_point(nearest.hitbox.pose, point);
        let towards = Dir3::new(on_hitbox - point).unwrap_or(Dir3::NEG_Y);
        let normal = contact_normal(nearest.hitbox.shape, nearest.hitbox.pose, on_hitbox, towards, nearest.distance);
        self.hit(nearest, on_hitbox, normal)
    }

    fn hit(&self, nearest: &Nearest, point: Vec3, normal: Dir3) -> RewoundHit {
        let Nearest { rig, hitbox, distance } = *nearest;
        let lives_on = |life: &Life| life.is_alive() && life.number() == rig.life;
        RewoundHit {
            rig: rig.rig,
            rig_id: rig.id,
            life: rig.life,
            still_alive: self.arena.rigs.is_rig(rig.rig) && self.lives.get(rig.rig).is_ok_and(lives_on),
            hitbox: hitbox.entity,
            zone: hitbox.zone,
            point,
            normal,
            distance,
            pose: hitbox.pose,
            basis: rig.basis,
            shape: hitbox.shape,
        }
    }
}
