//! Questions to the past agree with a plain and slow oracle in `f64`, which remembers everything and looks at everything.
//!
//! `ORACLE_QUERIES=1000000 cargo test --test queries_agree_with_the_oracle -- --nocapture` asks a million; without it, it is a
//! few thousand.

#[path = "fixture/oracle.rs"]
mod oracle;

use core::f32::consts::{FRAC_PI_2, TAU};

use bevy::{
    math::{DQuat, DVec3, ops},
    prelude::*,
};
use bevy_hindsight::{
    Blocker, Crossing, Met, PelletPattern, RewoundCast, RewoundFilter, RewoundHit, RewoundQuery, Shape, Tick,
    prelude::*, test_app::TestApp,
};
use bevy_rapier3d::prelude::*;
use oracle::Solid;

/// Metres within which a touch may count as a hit or as a miss.
const TIE: f64 = 1e-4;
/// Distances of rays and of sweeps, in metres.
const RAY: f64 = 1e-4;
const SWEEP: f64 = 1e-3;
const RANGE: f32 = 60.0;
/// How far back questions go, in ticks.
const WINDOW: u32 = 40;

struct Random(u64);

impl Random {
    /// `SplitMix64`.
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.bits() >> 40) as f32 / (1_u32 << 24) as f32)
    }

    fn below(&mut self, number: usize) -> usize {
        (self.bits() % number as u64) as usize
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    fn unit(&mut self) -> Vec3 {
        loop {
            let vector = self.vector(1.0);
            if (0.1..1.0).contains(&vector.length()) {
                return vector.normalize();
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        Quat::from_axis_angle(self.unit(), self.between(0.0, TAU))
    }

    fn shape(&mut self, size: f32) -> Shape {
        match self.below(4) {
            0 => Shape::Ball { radius: self.between(0.2, 1.0) * size },
            1 => Shape::Cuboid { half_extents: Vec3::splat(size) * (self.vector(0.4).abs() + 0.1) },
            _ => Shape::Capsule { half_height: self.between(0.1, 1.0) * size, radius: self.between(0.1, 0.5) * size },
        }
    }
}

/// What the oracle knows of something that can be met.
struct Known {
    entity: Entity,
    /// Of a hitbox.
    rig: Option<Entity>,
    zone: Zone,
    shape: Shape,
    /// Where it hangs, relative to what moves it, in each tick.
    local: Vec<(DVec3, DQuat)>,
    /// Where that stood in each tick; not at all if it never moves.
    root: Vec<(DVec3, DQuat)>,
}

#[derive(Resource)]
struct Oracle {
    random: Random,
    known: Vec<Known>,
    /// The tick of the first records.
    first: Tick,
    asked: u32,
    met: [u32; 6],
    ties: u32,
}

impl Known {
    /// As it stood at an instant: blended in the space of what moves it.
    fn at(&self, view: ViewTime, first: Tick) -> Solid {
        let index = view.tick.since(first) as usize;
        let t = f64::from(view.fraction) / 65_536.0;
        let blend = |poses: &[(DVec3, DQuat)]| {
            let (from, from_turned) = poses[index.min(poses.len() - 1)];
            let (to, to_turned) = poses[(index + 1).min(poses.len() - 1)];
            (from.lerp(to, t), from_turned.slerp(to_turned, t))
        };
        let (place, turned) = blend(&self.root);
        let (offset, own) = blend(&self.local);
        let mut solid = Solid::new(self.shape, Isometry3d::IDENTITY);
        (solid.center, solid.rotation) = (place + turned * offset, (turned * own).normalize());
        solid
    }
}

/// Rigs, walls and doors at random, and the oracle that knows of them.
fn world() -> TestApp {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    let mut random = Random(7);
    let mut known = Vec::new();
    let own = |entity, rig, zone, shape| Known { entity, rig, zone, shape, local: Vec::new(), root: Vec::new() };
    let zones = [Zone::Head, Zone::Torso, Zone::Arm, Zone::Leg];
    for _ in 0..14 {
        let place = Transform::from_translation(random.vector(9.0) * Vec3::new(1.0, 0.3, 1.0));
        let rig = app.world_mut().spawn((Rig, Walker(random.vector(0.1), random.unit()), place)).id();
        for part in 0..5 {
            let zone = zones[random.below(4)];
            let shape = random.shape(0.45);
            // Close enough to overlap; one of them swings.
            let place = Transform { translation: random.vector(0.6), rotation: random.rotation(), ..default() };
            let hitbox = (Hitbox::new(shape).in_zone(zone), place, ChildOf(rig));
            let hitbox = app.world_mut().spawn(hitbox).id();
            if part == 0 {
                app.world_mut().entity_mut(hitbox).insert(Swinging);
            }
            known.push(own(hitbox, Some(rig), zone, shape));
        }
    }
    for number in 0..18 {
        let shape = random.shape(1.0);
        let collider = match shape {
            Shape::Ball { radius } => Collider::ball(radius),
            Shape::Capsule { half_height, radius } => Collider::capsule_y(half_height, radius),
            Shape::Cuboid { half_extents: Vec3 { x, y, z } } => Collider::cuboid(x, y, z),
            other => panic!("no collider for {other:?}"),
        };
        let translation = random.vector(10.0) * Vec3::new(1.0, 0.4, 1.0);
        let place = Transform { translation, rotation: random.rotation(), ..default() };
        let wall = app.world_mut().spawn((collider, place)).id();
        if number < 5 {
            let moving =
                (Occluder::default(), RigidBody::KinematicPositionBased, Walker(random.vector(0.1), random.unit()));
            app.world_mut().entity_mut(wall).insert(moving);
        } else {
            app.world_mut().entity_mut(wall).insert(RigidBody::Fixed);
        }
        known.push(own(wall, None, Zone::Torso, shape));
    }
    app.insert_resource(Oracle { random, known, first: Tick(1), asked: 0, met: [0; 6], ties: 0 });
    app.add_systems(FixedUpdate, (walk, swing).before(PhysicsSet::SyncBackend));
    let after = LagCompensationSystems::RecordHistory;
    app.add_systems(FixedPostUpdate, (remember, ask).chain().after(after).after(PhysicsSet::Writeback));
    app
}

/// Metres in each tick, and the axis around which it turns.
#[derive(Component)]
struct Walker(Vec3, Vec3);

#[derive(Component)]
struct Swinging;

fn walk(mut walkers: Query<(&mut Transform, &Walker)>, tick: Res<CurrentTick>) {
    for (mut transform, Walker(way, axis)) in &mut walkers {
        let forth = if (tick.0.0 / 32).is_multiple_of(2) { 1.0 } else { -1.0 };
        transform.translation += *way * forth;
        transform.rotation = (Quat::from_axis_angle(*axis, 0.05) * transform.rotation).normalize();
    }
}

fn swing(mut limbs: Query<&mut Transform, With<Swinging>>, tick: Res<CurrentTick>) {
    for (number, mut limb) in limbs.iter_mut().enumerate() {
        let phase = 0.2 * tick.0.0 as f32 + number as f32;
        limb.translation.y = 0.4 * ops::sin(phase);
        limb.rotation = Quat::from_rotation_x(ops::cos(phase));
    }
}

fn remember(mut oracle: ResMut<Oracle>, transforms: Query<&Transform>, walkers: Query<(), With<Walker>>) {
    let pose = |entity: Entity| {
        let transform = transforms.get(entity).expect("nothing is despawned");
        (transform.translation.as_dvec3(), transform.rotation.as_dquat().normalize())
    };
    for known in &mut oracle.known {
        match known.rig {
            Some(rig) => {
                known.root.push(pose(rig));
                known.local.push(pose(known.entity));
            }
            None => {
                known.root.push(pose(known.entity));
                known.local.push((DVec3::ZERO, DQuat::IDENTITY));
                if !walkers.contains(known.entity) {
                    // It has always stood there.
                    known.root.truncate(1);
                }
            }
        }
    }
}

/// A tenth of a millimetre thinner, as far as there is anything to be thinner.
fn thinner(solid: &Solid) -> Solid {
    if solid.radius > 0.0 { solid.grown(-TIE) } else { Solid { half: (solid.half - TIE).max(DVec3::ZERO), ..*solid } }
}

/// What there was of hitboxes or of walls.
type Solids<'a> = Vec<(&'a Known, Solid)>;

/// Whether what was found first is what the oracle finds first, or as near; whether something was found.
fn check_first(
    found: Option<(Entity, f32)>,
    solids: &Solids,
    range: f32,
    precision: f64,
    meet: impl Fn(&Solid, f64) -> Option<f64>,
    context: &dyn core::fmt::Debug,
) -> bool {
    let reach = match found {
        Some((entity, distance)) => {
            let (_, solid) = solids.iter().find(|(known, _)| known.entity == entity).expect("it should be known");
            let distance = f64::from(distance);
            let outer = meet(&solid.grown(TIE), distance + 1.0);
            let outer = outer.unwrap_or_else(|| panic!("{context:?}: {entity} is not there at all"));
            // Where it is only brushed, the spot is not well defined.
            let inner = meet(&thinner(solid), distance + 1.0).unwrap_or(distance + precision);
            assert!(
                (outer - precision..=inner + precision).contains(&distance),
                "{context:?}: {entity} at {distance}, not within {outer} to {inner}"
            );
            distance
        }
        None => f64::from(range),
    };
    for (known, solid) in solids {
        let nearer = meet(&thinner(solid), reach).filter(|distance| *distance < reach - 2.0 * precision);
        assert!(nearer.is_none(), "{context:?}: {} at {nearer:?} comes before {reach}", known.entity);
    }
    found.is_some()
}

fn ask(
    query: RewoundQuery,
    mut oracle: ResMut<Oracle>,
    tick: Res<CurrentTick>,
    mut crossings: Local<Vec<Crossing>>,
    mut overlaps: Local<Vec<Met>>,
    mut firsts: Local<Vec<Option<Met>>>,
) {
    const QUESTIONS: u32 = 250;
    if tick.0.since(oracle.first) <= WINDOW as i32 + 2 {
        return;
    }
    let Oracle { random, known, first, asked, met, ties } = &mut *oracle;
    for _ in 0..QUESTIONS {
        let delay = f64::from(random.between(0.0, WINDOW as f32));
        let view = ViewTime::before(tick.0, if random.below(4) == 0 { delay.floor() } else { delay });
        let (hitboxes, walls): (Solids, Solids) =
            known.iter().map(|known| (known, known.at(view, *first))).partition(|(known, _)| known.rig.is_some());
        let filter = RewoundFilter::new();
        *asked += 1;
        let kind = random.below(10);
        let ray = question(random, &hitboxes);
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
        let context = (view, ray);
        let zone_of = |hit: &RewoundHit| {
            known.iter().find(|known| known.entity == hit.hitbox).map(|known| (known.zone, known.rig))
        };
        let by_ray = |solid: &Solid, range: f64| solid.meet_ray(origin, direction, range);
        match kind {
            0..=3 => {
                let cast = query.cast_ray(view, ray, RANGE, &filter);
                assert!(cast.evidence.remembered);
                let first = cast.victim().map(Met::Hitbox).or(cast.blocker.map(Met::Wall));
                assert_eq!(query.cast_ray_first(view, ray, RANGE, &filter), first);
                // Together with others around it, up to such as go anywhere, each meets what it meets alone.
                let mut aside = Random(u64::from(*asked));
                let spread = [0.01, 0.1, 0.6, FRAC_PI_2][aside.below(4)];
                let count = 1 + aside.below(PelletPattern::MOST) as u8;
                let pellets = PelletPattern::cone(count, spread).seeded(aside.bits() as u32);
                let mut directions = vec![ray.direction];
                directions.extend(pellets.directions(ray.direction));
                directions.extend((aside.below(4) == 0).then_some(-ray.direction));
                query.cast_rays_first(view, ray.origin, &directions, RANGE, &filter, &mut firsts);
                let alone = directions
                    .iter()
                    .map(|direction| query.cast_ray_first(view, Ray3d::new(ray.origin, *direction), RANGE, &filter));
                assert_eq!(*firsts, alone.collect::<Vec<_>>());
                let hit = cast.hit.map(|hit| (hit.hitbox, hit.distance));
                met[0] += u32::from(check_first(hit, &hitboxes, RANGE, RAY, by_ray, &context));
                check_first(blocker_of(cast.blocker), &walls, RANGE, RAY, by_ray, &context);
                if let Some(hit) = cast.hit {
                    assert_eq!(zone_of(&hit), Some((hit.zone, Some(hit.rig))));
                    // Exactly as long as the distance, it arrives; a hair shorter, it does not.
                    let again = |range| query.cast_ray(view, ray, range, &filter).hit.map(|hit| hit.distance);
                    assert_eq!(again(hit.distance), Some(hit.distance));
                    assert!(
                        hit.distance == 0.0 || again(hit.distance.next_down()).is_none_or(|other| other < hit.distance)
                    );
                }
            }
            4 => {
                query.cast_ray_all(view, ray, RANGE, &filter, &mut crossings);
                assert!(crossings.is_sorted_by(|a, b| a.entry <= b.entry));
                let all = || hitboxes.iter().chain(&walls);
                for crossing in &*crossings {
                    let entity = crossing.met.entity().expect("everything has one");
                    let (_, solid) = all().find(|(known, _)| known.entity == entity).expect("it should be known");
                    let at = |way: f32| solid.distance_to(origin + direction * f64::from(way));
                    assert!(at(crossing.entry) < RAY && at(crossing.exit) < RAY, "{context:?}: {crossing:?}");
                    assert!(solid.grown(TIE).meet_ray(origin, direction, 2.0 * f64::from(RANGE)).is_some());
                }
                for (known, solid) in all() {
                    let is_met = thinner(solid).meet_ray(origin, direction, f64::from(RANGE) - TIE).is_some();
                    let is_found = crossings.iter().any(|crossing| crossing.met.entity() == Some(known.entity));
                    assert!(is_found || !is_met, "{context:?}: {} is left out", known.entity);
                    *ties += u32::from(is_found && !is_met);
                }
                met[1] += u32::from(!crossings.is_empty());
            }
            5 | 6 => {
                let shape = random.shape(0.5);
                let from = Isometry3d::new(ray.origin, random.rotation());
                let moving = Solid::new(shape, from);
                let cast = query.cast_shape(view, shape, from, ray.direction, 20.0, &filter);
                let meet = |solid: &Solid, range: f64| solid.meet(&moving, direction, range);
                let context = (context, shape, from);
                let hit = cast.hit.map(|hit| (hit.hitbox, hit.distance));
                met[2] += u32::from(check_first(hit, &hitboxes, 20.0, SWEEP, meet, &context));
                check_first(blocker_of(cast.blocker), &walls, 20.0, SWEEP, meet, &context);
                for (point, way, entity) in touches(&cast) {
                    let (_, solid) = hitboxes
                        .iter()
                        .chain(&walls)
                        .find(|(known, _)| known.entity == entity)
                        .expect("it should be known");
                    assert!(solid.distance_to(point.as_dvec3()) < SWEEP, "{context:?}: {point} is not on {entity}");
                    let arrived = moving.moved(direction * f64::from(way));
                    assert!(arrived.distance_to(point.as_dvec3()) < SWEEP, "{context:?}: {point} is not at the shape");
                }
            }
            7 => {
                let shape = random.shape(1.0);
                let near = hitboxes[random.below(hitboxes.len())].1.center.as_vec3();
                let pose = Isometry3d::new(near + random.vector(1.5), random.rotation());
                let own = Solid::new(shape, pose);
                query.intersections_with_shape(view, shape, pose, &filter, &mut overlaps);
                for (known, solid) in hitboxes.iter().chain(&walls) {
                    let is_found = overlaps.iter().any(|overlap| overlap.entity() == Some(known.entity));
                    let distance = solid.distance(&own);
                    let is_deep = thinner(solid).distance(&thinner(&own)) == 0.0;
                    assert!(if is_found { distance < TIE } else { !is_deep }, "{context:?}: {}", known.entity);
                }
                met[3] += u32::from(!overlaps.is_empty());
            }
            8 => {
                let point = ray.get_point(random.between(0.0, 5.0));
                let nearest = |solids: &Solids| {
                    solids.iter().map(|(_, solid)| solid.distance_to(point.as_dvec3())).fold(f64::INFINITY, f64::min)
                };
                let cast = query.closest_point(view, point, 3.0, &filter);
                let found = [cast.hit.map(|hit| hit.distance), cast.blocker.map(|blocker| blocker.distance)];
                for (found, expected) in found.into_iter().zip([nearest(&hitboxes), nearest(&walls)]) {
                    let agrees = match found {
                        Some(found) => (f64::from(found) - expected).abs() < TIE,
                        None => expected > 3.0 - TIE,
                    };
                    assert!(agrees, "{context:?}: {found:?} instead of {expected}");
                }
                met[4] += u32::from(cast.hit.is_some());
            }
            _ => {
                let all: Vec<_> =
                    hitboxes.iter().chain(walls.iter().filter(|(known, _)| known.root.len() > 1)).collect();
                let (known, solid) = all[random.below(all.len())];
                let pose = query.pose_at(view, known.entity).pose.expect("it was there");
                let place = Vec3::from(pose.translation).as_dvec3();
                assert!(place.distance(solid.center) < TIE, "{context:?}: {place} instead of {}", solid.center);
                let turned = pose.rotation.as_dquat().normalize();
                assert!(
                    [DVec3::X, DVec3::Y].iter().all(|axis| (turned * *axis).distance(solid.rotation * *axis) < TIE)
                );
                met[5] += 1;
            }
        }
    }
}

fn blocker_of(blocker: Option<Blocker>) -> Option<(Entity, f32)> {
    blocker.map(|blocker| (blocker.entity.expect("each wall here has one"), blocker.distance))
}

/// Where a shape on its way touches, after how many metres, and what.
fn touches(cast: &RewoundCast) -> impl Iterator<Item = (Vec3, f32, Entity)> {
    let hit = cast.hit.map(|hit| (hit.point, hit.distance, hit.hitbox));
    let wall = cast.blocker.and_then(|blocker| Some((blocker.point, blocker.distance, blocker.entity?)));
    [hit, wall].into_iter().flatten()
}

/// A ray at something, just past it, along an axis, from within, or anywhere.
fn question(random: &mut Random, hitboxes: &Solids) -> Ray3d {
    let (_, solid) = hitboxes[random.below(hitboxes.len())];
    let center = solid.center.as_vec3();
    let reach = (solid.half.length() + solid.radius) as f32;
    let (origin, direction) = match random.below(8) {
        0 => (random.vector(12.0), random.unit()),
        1 => {
            let inside = center + random.unit() * 0.3 * solid.radius.max(solid.half.x) as f32;
            (inside, random.unit())
        }
        2 => {
            // Along the axis, within or at the very edge.
            let axis = (solid.rotation * DVec3::Y).as_vec3();
            let aside = axis.cross(random.unit()).normalize_or(Vec3::X);
            let off = [0.0, 0.5, 0.999, 1.001][random.below(4)] * solid.radius as f32;
            (center - axis * random.between(2.0, 12.0) + aside * off, axis)
        }
        3 => {
            let towards = random.unit();
            let aside = towards.cross(random.unit()).normalize_or(Vec3::X);
            let off = [0.98, 0.9999, 1.0001, 1.02][random.below(4)] * solid.radius as f32;
            (center - towards * random.between(1.0, 20.0) + aside * off, towards)
        }
        _ => {
            let origin = random.vector(12.0);
            (origin, center + random.vector(0.6 * reach) - origin)
        }
    };
    Ray3d::new(origin, Dir3::new(direction).unwrap_or(Dir3::X))
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are wanted")]
fn every_question_has_the_answer_of_the_oracle() {
    let wanted = std::env::var("ORACLE_QUERIES").ok().and_then(|number| number.parse().ok()).unwrap_or(5_000);
    let mut app = world();
    while app.world().resource::<Oracle>().asked < wanted {
        app.tick();
    }
    let Oracle { asked, met, ties, .. } = app.world().resource::<Oracle>();
    println!("{asked} questions, 0 wrong; {ties} within a tenth of a millimetre; met by kind: {met:?}");
    assert!(met.iter().all(|met| *met > asked / 100), "the questions are not varied enough: {met:?}");
}
