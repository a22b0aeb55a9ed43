//! The bare kernel: what the geometry alone costs.

mod lanes;
mod ring;
mod tree;

use bevy::{
    math::{Vec3A, bounding::Aabb3d},
    prelude::*,
};
use bevy_hindsight::Shape;

use super::Approach;
use crate::{
    answer::{Answer, Met},
    clock::{Clock, Took},
    scene::{Block, HZ, RANGE, REWIND, Scene, Shot, Shots},
};
use ring::{RigRing, SLOTS};
use tree::Tree;

/// Flat arrays, two trees of eight-wide boxes (one over the static boxes, one over where rigs and occluders were within the
/// window), and a ray against a whole rig, eight hitboxes at a time; in safe and portable code, on one thread.
///
/// It leaves out all that a game needs around this: entities, shots as messages, checks, teams, lives, spawning and changing of
/// shape, walls other than boxes, evidence. It remembers 250 ms only, and reads the poses of the scene from one flat list.
pub struct Kernel {
    walls: Vec<Block>,
    wall_tree: Tree,
    occluders: Vec<Block>,
    /// Where rigs and then occluders were within the window.
    tree: Tree,
    window: Vec<Aabb3d>,
    /// The box of each rig and then occluder, in each slot.
    boxes: Vec<Aabb3d>,
    occluder_poses: Vec<Isometry3d>,
    rigs: RigRing,
}

impl Kernel {
    /// With all walls, and no history yet.
    pub fn new(scene: &Scene) -> Self {
        let walls: Vec<_> = scene.walls.iter().map(|wall| box_of(wall.half, wall.pose)).collect();
        let (rigs, occluders) = (scene.setup.rigs, scene.occluders.len());
        let nowhere = Aabb3d { min: Vec3A::ZERO, max: Vec3A::ZERO };
        Self {
            wall_tree: Tree::new(&walls),
            walls: scene.walls.clone(),
            occluders: scene.occluders.clone(),
            tree: Tree::default(),
            window: vec![nowhere; rigs + occluders],
            boxes: vec![nowhere; SLOTS * (rigs + occluders)],
            occluder_poses: vec![Isometry3d::IDENTITY; SLOTS * occluders],
            rigs: RigRing::new(scene.shapes(), rigs),
        }
    }

    fn boxes_at(&self, tick: usize) -> &[Aabb3d] {
        let count = self.window.len();
        &self.boxes[tick % SLOTS * count..][..count]
    }

    fn occluder_at(&self, tick: usize, number: usize) -> Isometry3d {
        self.occluder_poses[tick % SLOTS * self.occluders.len() + number]
    }

    fn cast(&self, shot: &Shot, ray: Ray3d) -> Answer {
        let mut answer = Answer { distance: RANGE, ..default() };
        self.wall_tree.traverse(ray, RANGE, |number, reach| {
            let wall = &self.walls[number as usize];
            match enter_box(wall.half, wall.pose, ray) {
                Some(distance) if distance < reach => {
                    answer = Answer { met: Met::Wall(number), distance, ..answer };
                    distance
                }
                _ => reach,
            }
        });
        let (from, to, t) = (self.boxes_at(shot.tick), self.boxes_at(shot.tick + 1), shot.fraction_f32());
        let rigs = self.rigs.len();
        self.tree.traverse(ray, answer.distance, |number, reach| {
            let thing = number as usize;
            if thing == shot.shooter || !may_enter(&from[thing], &to[thing], t, ray, reach) {
                return reach;
            }
            let found = if thing < rigs {
                self.rigs.cast(thing, shot.tick, t, ray).map(|(distance, part)| {
                    let met = Met::Hitbox { rig: number, part };
                    Answer { met, distance, ..answer }
                })
            } else {
                let number = thing - rigs;
                let pose = self.occluder_between(shot.tick, t, number);
                let distance = enter_box(self.occluders[number].half, pose, ray);
                distance.map(|distance| Answer { met: Met::Occluder(number as u32), distance, ..answer })
            };
            let is_nearer = |found: &Answer| found.distance < reach;
            let wins_tie = |found: &Answer| found.distance == reach && is_earlier(found.met, answer.met);
            match found {
                Some(found) if is_nearer(&found) || wins_tie(&found) => {
                    answer = found;
                    found.distance
                }
                _ => reach,
            }
        });
        Answer { normal: self.normal(shot, answer, ray), ..answer }
    }

    fn occluder_between(&self, tick: usize, t: f32, number: usize) -> Isometry3d {
        let [from, to] = [tick, tick + 1].map(|tick| self.occluder_at(tick, number));
        Isometry3d {
            translation: from.translation.lerp(to.translation, t),
            rotation: from.rotation.slerp(to.rotation, t),
        }
    }

    /// Only of what is met in the end.
    fn normal(&self, shot: &Shot, answer: Answer, ray: Ray3d) -> Vec3 {
        if answer.distance == 0.0 {
            return Vec3::ZERO;
        }
        let point = ray.get_point(answer.distance);
        match answer.met {
            Met::Nothing => Vec3::ZERO,
            Met::Hitbox { rig, part } => {
                self.rigs.normal(rig as usize, part as usize, shot.tick, shot.fraction_f32(), point)
            }
            Met::Wall(number) => {
                let wall = &self.walls[number as usize];
                box_normal(wall.half, wall.pose, point)
            }
            Met::Occluder(number) => {
                let number = number as usize;
                let pose = self.occluder_between(shot.tick, shot.fraction_f32(), number);
                box_normal(self.occluders[number].half, pose, point)
            }
        }
    }
}

impl Approach for Kernel {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        let start = Clock::start();
        let (slot, rigs, things) = (tick % SLOTS, self.rigs.len(), self.window.len());
        for rig in 0..rigs {
            let poses = scene.hitboxes(tick, rig);
            self.boxes[slot * things + rig] = self.rigs.write(rig, tick, poses);
        }
        for (number, pose) in scene.occluder_poses(tick).iter().enumerate() {
            self.occluder_poses[slot * self.occluders.len() + number] = *pose;
            self.boxes[slot * things + rigs + number] = box_of(self.occluders[number].half, *pose);
        }
        // The slots that have been written.
        let slots = SLOTS.min(tick);
        self.window.copy_from_slice(&self.boxes[slot * things..][..things]);
        for earlier in 1..slots {
            let boxes = &self.boxes[(tick - earlier) % SLOTS * things..][..things];
            for (window, earlier) in self.window.iter_mut().zip(boxes) {
                *window = Aabb3d { min: window.min.min(earlier.min), max: window.max.max(earlier.max) };
            }
        }
        if tick == 1 || tick.is_multiple_of(64) {
            self.tree = Tree::new(&self.window);
        } else {
            self.tree.refit(&self.window);
        }
        Some(start.elapsed())
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let start = Clock::start();
        answers.clear();
        for shot in &shots.shots {
            answers.extend(shots.rays[shot.rays()].iter().map(|ray| self.cast(shot, *ray)));
        }
        start.elapsed()
    }

    fn bytes_per_rig_second(&self, _: &Scene) -> f64 {
        (self.rigs.bytes_per_tick() + size_of::<Aabb3d>()) as f64 * HZ
    }
}

const _: () = assert!(SLOTS >= REWIND + 2, "both ends of the oldest view are remembered");

/// In a tie, the smaller number wins, whatever the tree looks like.
fn is_earlier(a: Met, b: Met) -> bool {
    match (a, b) {
        (Met::Hitbox { rig: a, .. }, Met::Hitbox { rig: b, .. }) => a < b,
        _ => false,
    }
}

/// The box around a turned box.
fn box_of(half: Vec3, pose: Isometry3d) -> Aabb3d {
    let axes = Mat3::from_quat(pose.rotation);
    let reach = Vec3A::from(axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z);
    Aabb3d { min: pose.translation - reach, max: pose.translation + reach }
}

/// Whether a ray enters the blend of two boxes within its reach; a millimetre larger, for rounding.
fn may_enter(from: &Aabb3d, to: &Aabb3d, t: f32, ray: Ray3d, reach: f32) -> bool {
    const SKIN: f32 = 1e-3;
    let (origin, inverse) = (Vec3A::from(ray.origin), tree::inverse(ray.direction));
    let low = (from.min.lerp(to.min, t) - SKIN - origin) * inverse;
    let high = (from.max.lerp(to.max, t) + SKIN - origin) * inverse;
    let (enter, leave) = (low.min(high).max_element(), low.max(high).min_element());
    enter <= leave && leave >= 0.0 && enter <= reach
}

/// Where a ray enters a box; 0 from inside.
fn enter_box(half: Vec3, pose: Isometry3d, ray: Ray3d) -> Option<f32> {
    let back = pose.rotation.inverse();
    let origin = Vec3A::from(back * Vec3::from(Vec3A::from(ray.origin) - pose.translation));
    let inverse = tree::inverse(Dir3::new_unchecked(back * *ray.direction));
    let half = Vec3A::from(half);
    let (low, high) = ((-half - origin) * inverse, (half - origin) * inverse);
    let (enter, leave) = (low.min(high).max_element().max(0.0), low.max(high).min_element());
    (enter <= leave).then_some(enter)
}

/// Outwards from the face that a point lies on.
fn box_normal(half: Vec3, pose: Isometry3d, point: Vec3) -> Vec3 {
    let local = pose.rotation.inverse() * (point - Vec3::from(pose.translation));
    let outside = local.abs() - half;
    let largest = outside.max_element();
    let axis = if outside.x == largest {
        Vec3::X
    } else if outside.y == largest {
        Vec3::Y
    } else {
        Vec3::Z
    };
    pose.rotation * (axis * local.signum())
}

/// Half the axis and the radius of a hitbox.
fn round(shape: Shape) -> (f32, f32) {
    match shape {
        Shape::Capsule { half_height, radius } => (half_height, radius),
        Shape::Ball { radius } => (0.0, radius),
        other => unreachable!("no figure has {other:?}"),
    }
}
