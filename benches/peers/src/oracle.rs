//! The truth about a ray, in `f64`: everything is tested, nothing but a ball around each thing saves work. It shares no code
//! with any approach.

mod solid;

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};

use crate::{
    answer::{Answer, Met},
    scene::{RANGE, Scene, Shot, Shots},
};
use solid::Solid;

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

/// How many answers were compared, and how many of them are wrong.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// All of them.
    pub judged: usize,
    /// Those that name another thing than the truth does. Not counted is the name of something that is met within a millimetre
    /// of the truth, nor an answer that would be right if something were 0.1 mm larger or smaller.
    pub other: usize,
    /// Those that name the right thing, and are more than a millimetre off.
    pub off: usize,
}

impl Tally {
    /// All that are wrong.
    pub fn wrong(&self) -> usize {
        self.other + self.off
    }

    /// Adds another one.
    pub fn merge(&mut self, more: Self) {
        let Self { judged, other, off } = more;
        self.judged += judged;
        self.other += other;
        self.off += off;
    }
}

/// Compares answers with the truth.
pub fn judge(scene: &Scene, shots: &Shots, blend: Blend, truths: &[Truth], answers: &[Answer]) -> Tally {
    let mut tally = Tally::default();
    for shot in &shots.shots {
        let view = View::new(scene, shot, blend);
        for number in shot.rays() {
            let (ray, truth, answer) = (shots.rays[number], truths[number], answers[number]);
            tally.judged += 1;
            if answer.met != truth.met {
                tally.other += usize::from(is_other(&view, ray, truth, answer));
            } else if truth.met != Met::Nothing {
                tally.off += usize::from(is_off(&view, ray, truth, answer));
            }
        }
    }
    tally
}

fn is_other(view: &View, ray: Ray3d, truth: Truth, answer: Answer) -> bool {
    let said = f64::from(answer.distance);
    let own = view.distance(answer.met, ray, 0.0);
    let is_tie = own.is_some_and(|way| (way - truth.distance).abs() <= CLOSE) && (said - truth.distance).abs() <= CLOSE;
    let is_missed_graze = truth.met != Met::Nothing && view.distance(truth.met, ray, -GRAZE).is_none();
    let is_touched_graze = own.is_none() && view.distance(answer.met, ray, GRAZE).is_some();
    !(is_tie || is_missed_graze || is_touched_graze)
}

/// Along an edge, a hair's breadth moves the place by much.
fn is_off(view: &View, ray: Ray3d, truth: Truth, answer: Answer) -> bool {
    let said = f64::from(answer.distance);
    (said - truth.distance).abs() > CLOSE && !is_graze(view, truth.met, ray, said)
}

/// Whether it is as far as said if it is 0.1 mm larger or smaller.
fn is_graze(view: &View, met: Met, ray: Ray3d, said: f64) -> bool {
    let [near, far] = [GRAZE, -GRAZE].map(|grown| view.distance(met, ray, grown));
    near.is_some_and(|near| said >= near - CLOSE) && far.is_none_or(|far| said <= far + CLOSE)
}
