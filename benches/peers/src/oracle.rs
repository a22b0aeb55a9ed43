//! The truth about a ray, in `f64`: everything is tested, nothing but a ball around each thing saves work. It shares no code
//! with any approach.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};
use bevy_hindsight::Shape;

use crate::{
    answer::{Answer, Met},
    scene::{RANGE, Scene, Shot, Shots},
};

/// What "where it stood between two ticks" means for a hitbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blend {
    /// The rig is blended, and the hitbox in the space of the rig, as a client shows a figure on an interpolated root.
    OfTheRig,
    /// The hitbox is blended in the world.
    World,
}

/// What a ray truly meets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Truth {
    /// The nearest thing.
    pub met: Met,
    /// Metres from the origin.
    pub distance: f64,
}

/// A distance up to which an answer is as good as the truth, in metres.
const CLOSE: f64 = 1e-3;
/// No hitbox is further from the feet of its rig, in metres.
const REACH: f64 = 3.0;
/// A miss by less than this, in metres, may count as a hit, and the reverse.
const GRAZE: f64 = 1e-4;

/// A solid: all points within `radius` of a box.
#[derive(Clone, Copy)]
struct Solid {
    center: DVec3,
    rotation: DQuat,
    half: DVec3,
    radius: f64,
}

impl Solid {
    fn new(shape: Shape, center: DVec3, rotation: DQuat) -> Self {
        let (half, radius) = match shape {
            Shape::Capsule { half_height, radius } => (DVec3::Y * f64::from(half_height), f64::from(radius)),
            Shape::Ball { radius } => (DVec3::ZERO, f64::from(radius)),
            Shape::Cuboid { half_extents } => (half_extents.as_dvec3(), 0.0),
            other => unreachable!("no scene has {other:?}"),
        };
        Self { center, rotation, half, radius }
    }

    fn cuboid(half: Vec3, pose: (DVec3, DQuat)) -> Self {
        Self { center: pose.0, rotation: pose.1, half: half.as_dvec3(), radius: 0.0 }
    }

    /// Larger by so many metres on all sides.
    fn grown(self, by: f64) -> Self {
        let half = if self.radius == 0.0 { self.half + by } else { self.half };
        let radius = if self.radius == 0.0 { 0.0 } else { self.radius + by };
        Self { half, radius, ..self }
    }

    /// Where a ray of unit length enters it; 0 from inside.
    fn meet(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        let to_center = self.center - origin;
        let along = to_center.dot(direction).max(0.0);
        let reach = self.half.length() + self.radius;
        if (to_center - direction * along).length_squared() > reach * reach {
            return None;
        }
        let back = self.rotation.inverse();
        let (origin, direction) = (back * -to_center, back * direction);
        if self.radius == 0.0 {
            enter_box(origin, direction, self.half)
        } else {
            enter_capsule(origin, direction, self.half.y, self.radius)
        }
    }
}

/// By its three pairs of planes.
fn enter_box(origin: DVec3, direction: DVec3, half: DVec3) -> Option<f64> {
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if origin[axis].abs() > half[axis] {
                return None;
            }
            continue;
        }
        let planes = [-half[axis], half[axis]].map(|plane| (plane - origin[axis]) / direction[axis]);
        enter = enter.max(planes[0].min(planes[1]));
        leave = leave.min(planes[0].max(planes[1]));
    }
    (enter <= leave).then_some(enter)
}

/// The nearest of: inside, the ball at either end, the tube between them. The axis is Y.
fn enter_capsule(origin: DVec3, direction: DVec3, half_height: f64, radius: f64) -> Option<f64> {
    let on_axis = DVec3::Y * origin.y.clamp(-half_height, half_height);
    if origin.distance_squared(on_axis) <= radius * radius {
        return Some(0.0);
    }
    let balls = [-half_height, half_height].map(|end| enter_round(origin - DVec3::Y * end, direction, radius));
    let flat = DVec3::new(1.0, 0.0, 1.0);
    let tube = enter_round(origin * flat, direction * flat, radius);
    let tube = tube.filter(|way| (origin.y + direction.y * way).abs() <= half_height);
    balls.into_iter().chain([tube]).flatten().min_by(f64::total_cmp)
}

/// Where a line enters a ball around zero, if that lies ahead.
fn enter_round(origin: DVec3, direction: DVec3, radius: f64) -> Option<f64> {
    let length = direction.length_squared();
    let nearest = -origin.dot(direction) / length;
    let beside = origin + direction * nearest;
    let inside = radius * radius - beside.length_squared();
    let way = nearest - (inside / length).sqrt();
    // Neither is true for what is not a number.
    (inside >= 0.0 && way >= 0.0).then_some(way)
}

fn exact(pose: Isometry3d) -> (DVec3, DQuat) {
    (Vec3::from(pose.translation).as_dvec3(), pose.rotation.as_dquat().normalize())
}

fn blend(from: Isometry3d, to: Isometry3d, t: f64) -> (DVec3, DQuat) {
    let ((place, rotation), (end_place, end_rotation)) = (exact(from), exact(to));
    (place.lerp(end_place, t), rotation.slerp(end_rotation, t))
}

/// The scene as one shot saw it.
struct View<'a> {
    scene: &'a Scene,
    tick: usize,
    t: f64,
    blend: Blend,
}

impl<'a> View<'a> {
    fn new(scene: &'a Scene, shot: &Shot, blend: Blend) -> Self {
        Self { scene, tick: shot.tick, t: f64::from(shot.fraction) / 65_536.0, blend }
    }

    fn hitbox(&self, rig: usize, part: usize) -> Solid {
        let Self { scene, tick, t, .. } = *self;
        let of = |hitboxes: fn(&Scene, usize, usize) -> &[Isometry3d]| {
            blend(hitboxes(scene, tick, rig)[part], hitboxes(scene, tick + 1, rig)[part], t)
        };
        let (center, rotation) = match self.blend {
            Blend::World => of(Scene::hitboxes),
            Blend::OfTheRig => {
                let (place, turn) = blend(scene.roots(tick)[rig], scene.roots(tick + 1)[rig], t);
                let (local, rotation) = of(Scene::locals);
                (place + turn * local, turn * rotation)
            }
        };
        Solid::new(scene.shapes()[part], center, rotation)
    }

    fn solid(&self, met: Met) -> Option<Solid> {
        let Self { scene, tick, t, .. } = *self;
        Some(match met {
            Met::Nothing => return None,
            Met::Hitbox { rig, part } => self.hitbox(rig as usize, part as usize),
            Met::Wall(number) => {
                let wall = scene.walls[number as usize];
                Solid::cuboid(wall.half, exact(wall.pose))
            }
            Met::Occluder(number) => {
                let number = number as usize;
                let [from, to] = [tick, tick + 1].map(|tick| scene.occluder_poses(tick)[number]);
                Solid::cuboid(scene.occluders[number].half, blend(from, to, t))
            }
        })
    }

    /// The distance of one thing, grown by so many metres.
    fn distance(&self, met: Met, ray: Ray3d, grown: f64) -> Option<f64> {
        self.solid(met)?.grown(grown).meet(ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize())
    }

    /// Where the rigs stand, and their numbers; without the shooter.
    fn places(&self, shooter: usize) -> Vec<(usize, DVec3)> {
        let [from, to] = [self.tick, self.tick + 1].map(|tick| self.scene.roots(tick));
        let place = |root: &Isometry3d| Vec3::from(root.translation).as_dvec3();
        let places = from.iter().zip(to).map(|(from, to)| place(from).lerp(place(to), self.t));
        places.enumerate().filter(|(rig, _)| *rig != shooter).collect()
    }
}

/// The static boxes of a scene.
pub struct Walls(Vec<Solid>);

impl Walls {
    /// All of them.
    pub fn new(scene: &Scene) -> Self {
        Self(scene.walls.iter().map(|wall| Solid::cuboid(wall.half, exact(wall.pose))).collect())
    }

    /// The distance of the nearest one on a ray, or infinity.
    pub fn first(&self, ray: Ray3d) -> f32 {
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        self.0.iter().filter_map(|wall| wall.meet(origin, direction)).fold(f64::INFINITY, f64::min) as f32
    }
}

/// What each ray of these shots meets.
pub fn trace(scene: &Scene, shots: &Shots, blend: Blend) -> Vec<Truth> {
    let Walls(walls) = Walls::new(scene);
    let mut truths = Vec::with_capacity(shots.rays.len());
    for shot in &shots.shots {
        let view = View::new(scene, shot, blend);
        let occluders: Vec<_> =
            (0..scene.occluders.len() as u32).filter_map(|number| view.solid(Met::Occluder(number))).collect();
        let places = view.places(shot.shooter);
        for ray in &shots.rays[shot.rays()] {
            let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
            let mut truth = Truth { met: Met::Nothing, distance: f64::from(RANGE) };
            let mut take = |met: Met, solid: &Solid| {
                if let Some(distance) = solid.meet(origin, direction)
                    && distance < truth.distance
                {
                    truth = Truth { met, distance };
                }
            };
            (0..).zip(&walls).for_each(|(number, wall)| take(Met::Wall(number), wall));
            (0..).zip(&occluders).for_each(|(number, occluder)| take(Met::Occluder(number), occluder));
            let is_near = |place: DVec3| {
                let along = (place - origin).dot(direction).max(0.0);
                place.distance_squared(origin + direction * along) < REACH * REACH
            };
            for (rig, _) in places.iter().filter(|(_, place)| is_near(*place)) {
                for part in 0..scene.shapes().len() {
                    take(Met::Hitbox { rig: *rig as u32, part: part as u32 }, &view.hitbox(*rig, part));
                }
            }
            truths.push(truth);
        }
    }
    truths
}

/// How many answers are wrong: they name another thing than the truth, or are more than a millimetre off. Not counted as
/// wrong is the name of something that is met within a millimetre of the truth, nor an answer that would be right if something
/// were 0.1 mm larger or smaller.
pub fn count_wrong(scene: &Scene, shots: &Shots, blend: Blend, truths: &[Truth], answers: &[Answer]) -> usize {
    let rays = shots.shots.iter().flat_map(|shot| shot.rays().map(move |number| (shot, number)));
    rays.filter(|(shot, number)| {
        let view = View::new(scene, shot, blend);
        is_wrong(&view, shots.rays[*number], truths[*number], answers[*number])
    })
    .count()
}

fn is_wrong(view: &View, ray: Ray3d, truth: Truth, answer: Answer) -> bool {
    let said = f64::from(answer.distance);
    if answer.met == truth.met {
        let is_close = (said - truth.distance).abs() <= CLOSE;
        // Along an edge, a hair's breadth moves the place by much.
        return truth.met != Met::Nothing && !is_close && !is_graze(view, truth.met, ray, said);
    }
    let is_tie = view.distance(answer.met, ray, 0.0).is_some_and(|way| (way - truth.distance).abs() <= CLOSE);
    let is_missed_graze = truth.met != Met::Nothing && view.distance(truth.met, ray, -GRAZE).is_none();
    let is_touched_graze = answer.met != Met::Nothing
        && view.distance(answer.met, ray, 0.0).is_none()
        && view.distance(answer.met, ray, GRAZE).is_some();
    !(is_tie && (said - truth.distance).abs() <= CLOSE || is_missed_graze || is_touched_graze)
}

/// Whether it is as far as said if it is 0.1 mm larger or smaller.
fn is_graze(view: &View, met: Met, ray: Ray3d, said: f64) -> bool {
    let [near, far] = [GRAZE, -GRAZE].map(|grown| view.distance(met, ray, grown));
    near.is_some_and(|near| said >= near - CLOSE) && far.is_none_or(|far| said <= far + CLOSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(solid: Solid, origin: DVec3, direction: DVec3) -> Option<f64> {
        solid.meet(origin, direction.normalize())
    }

    #[test]
    fn solids_are_met_where_they_end() {
        let turn = DQuat::from_rotation_z(core::f64::consts::FRAC_PI_2);
        let capsule = Solid { center: DVec3::X, rotation: turn, half: DVec3::Y * 2.0, radius: 0.5 };
        assert_eq!(meet(capsule, DVec3::new(-9.0, 0.0, 0.0), DVec3::X), Some(7.5));
        let side = meet(capsule, DVec3::new(2.0, 9.0, 0.0), DVec3::NEG_Y).unwrap();
        assert!((side - 8.5).abs() < 1e-12, "{side}");
        assert_eq!(meet(capsule, DVec3::new(3.2, 0.0, 0.0), DVec3::X), Some(0.0));
        assert_eq!(meet(capsule, DVec3::new(3.6, 0.0, 0.0), DVec3::X), None);
        let cuboid = Solid { center: DVec3::ZERO, rotation: DQuat::IDENTITY, half: DVec3::ONE, radius: 0.0 };
        assert_eq!(meet(cuboid, DVec3::new(-3.0, 0.5, 0.5), DVec3::X), Some(2.0));
        assert_eq!(meet(cuboid, DVec3::new(-3.0, 1.5, 0.5), DVec3::X), None);
    }

    /// Against walking as far as it is safe.
    #[test]
    fn distances_are_those_of_a_walk() {
        let (mut met, golden) = (0, 0.618_034);
        let spread = |n: u32, k: f64| (f64::from(n) * golden * k).fract() - 0.5;
        for n in 0..2_000 {
            let solid = Solid {
                center: DVec3::new(0.0, 0.0, 10.0),
                rotation: DQuat::from_rotation_x(6.0 * spread(n, 1.7)) * DQuat::from_rotation_z(6.0 * spread(n, 2.9)),
                half: if n % 2 == 0 { DVec3::Y * 0.4 } else { DVec3::new(0.4, 0.2, 0.3) },
                radius: if n % 2 == 0 { 0.2 } else { 0.0 },
            };
            let direction = DVec3::new(0.08 * spread(n, 5.3), 0.08 * spread(n, 7.1), 1.0).normalize();
            let mut way = 0.0;
            while way < 20.0 {
                let local = solid.rotation.inverse() * (direction * way - solid.center);
                let distance = (local.abs() - solid.half).max(DVec3::ZERO).length() - solid.radius;
                if distance < 1e-10 {
                    break;
                }
                way += distance;
            }
            let walked = (way < 20.0).then_some(way);
            let found = solid.meet(DVec3::ZERO, direction);
            assert_eq!(walked.is_some(), found.is_some(), "{n}");
            if let (Some(walked), Some(found)) = (walked, found) {
                assert!((walked - found).abs() < 1e-7, "{n}: {walked} {found}");
                met += 1;
            }
        }
        assert!(met > 500, "{met}");
    }
}
