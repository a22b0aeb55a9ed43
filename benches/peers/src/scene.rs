//! The one scene of all: rigs that run in circles, static boxes, and doors and lifts that move; all of it decided by a seed.

mod figure;
mod shots;

use core::f32::consts::TAU;

use bevy::{
    math::{Isometry3d, ops},
    prelude::*,
};
use bevy_hindsight::Shape;
use rand::{Rng, SeedableRng, rngs::SmallRng};

pub use figure::Figure;
pub use shots::{Shot, Shots};

/// Ticks per second.
pub const HZ: f64 = 64.0;
/// The ticks that are played, 1 to this one; shots are fired in the last.
pub const NOW: usize = 96;
/// The furthest that a view lies back, in ticks: 250 ms.
pub const REWIND: usize = 16;
/// Metres that a shot goes.
pub const RANGE: f32 = 200.0;
/// Metres from the middle of the arena to its edges; also of the crowded one, whose rigs stand close together.
const HALF_ARENA: f32 = 100.0;
const WALLS: usize = 2_000;
const OCCLUDERS: usize = 50;

/// What a scene is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setup {
    /// The number of rigs.
    pub rigs: usize,
    /// Whether they stand within 30 × 30 m instead of 200 × 200 m.
    pub crowded: bool,
    /// What each of them consists of.
    pub figure: Figure,
}

/// A box.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Half its edge lengths, in metres.
    pub half: Vec3,
    /// Where it stands; of what moves, where it stands first.
    pub pose: Isometry3d,
}

/// Where everything stands in each tick.
pub struct Scene {
    /// What it is made of.
    pub setup: Setup,
    /// The boxes that never move; the first one is the ground.
    pub walls: Vec<Block>,
    /// The boxes that do.
    pub occluders: Vec<Block>,
    roots: Vec<Isometry3d>,
    /// Relative to the roots.
    locals: Vec<Isometry3d>,
    hitboxes: Vec<Isometry3d>,
    occluder_poses: Vec<Isometry3d>,
}

impl Scene {
    /// The scene of this make and seed.
    pub fn new(setup: Setup, seed: u64) -> Self {
        let mut chance = SmallRng::seed_from_u64(seed);
        let walls = walls(&mut chance);
        let movers: Vec<_> = (0..OCCLUDERS).map(|number| Mover::new(number, &mut chance)).collect();
        let half = if setup.crowded { 15.0 } else { HALF_ARENA };
        let runners: Vec<_> = (0..setup.rigs).map(|_| Runner::new(half, &mut chance)).collect();
        let mut scene = Self {
            setup,
            walls,
            occluders: movers.iter().map(|mover| Block { half: mover.half(), pose: mover.pose(0) }).collect(),
            roots: Vec::new(),
            locals: Vec::new(),
            hitboxes: Vec::new(),
            occluder_poses: Vec::new(),
        };
        for tick in 0..=NOW {
            scene.occluder_poses.extend(movers.iter().map(|mover| mover.pose(tick)));
            for runner in &runners {
                let root = runner.root(tick);
                scene.roots.push(root);
                for local in setup.figure.pose(runner.phase(tick), runner.gait()) {
                    scene.locals.push(local);
                    // As Bevy and this crate find it.
                    let world = Transform::from_isometry(root) * Transform::from_isometry(local);
                    scene.hitboxes.push(world.to_isometry());
                }
            }
        }
        scene
    }

    /// The shapes of the hitboxes of each rig.
    pub fn shapes(&self) -> &'static [Shape] {
        self.setup.figure.shapes()
    }

    /// Where the rigs stand.
    pub fn roots(&self, tick: usize) -> &[Isometry3d] {
        let rigs = self.setup.rigs;
        &self.roots[tick * rigs..][..rigs]
    }

    /// Where the hitboxes of a rig stand, relative to it.
    pub fn locals(&self, tick: usize, rig: usize) -> &[Isometry3d] {
        &self.locals[self.first(tick, rig)..][..self.shapes().len()]
    }

    /// Where the hitboxes of a rig stand in the world.
    pub fn hitboxes(&self, tick: usize, rig: usize) -> &[Isometry3d] {
        &self.hitboxes[self.first(tick, rig)..][..self.shapes().len()]
    }

    /// Where the occluders stand.
    pub fn occluder_poses(&self, tick: usize) -> &[Isometry3d] {
        &self.occluder_poses[tick * OCCLUDERS..][..OCCLUDERS]
    }

    fn first(&self, tick: usize, rig: usize) -> usize {
        (tick * self.setup.rigs + rig) * self.shapes().len()
    }
}

fn walls(chance: &mut SmallRng) -> Vec<Block> {
    let ground = Block { half: Vec3::new(110.0, 0.5, 110.0), pose: Isometry3d::from_xyz(0.0, -0.5, 0.0) };
    let mut walls = vec![ground];
    walls.resize_with(WALLS, || {
        let half =
            Vec3::new(chance.random_range(0.25..1.5), chance.random_range(0.25..2.0), chance.random_range(0.25..1.5));
        // One in twenty hangs above the heads.
        let height = if chance.random_bool(0.05) { chance.random_range(2.5..5.0) } else { half.y };
        let place = Vec3::new(along(HALF_ARENA, chance), height, along(HALF_ARENA, chance));
        Block { half, pose: Isometry3d::new(place, Quat::from_rotation_y(chance.random_range(0.0..TAU))) }
    });
    walls
}

fn along(half: f32, chance: &mut SmallRng) -> f32 {
    chance.random_range(-half..half)
}

fn seconds(tick: usize) -> f32 {
    tick as f32 / HZ as f32
}

/// A door that swings on its hinge, or a lift.
struct Mover {
    is_door: bool,
    place: Vec3,
    turn: f32,
    phase: f32,
}

impl Mover {
    fn new(number: usize, chance: &mut SmallRng) -> Self {
        Self {
            is_door: number.is_multiple_of(2),
            place: Vec3::new(along(HALF_ARENA, chance), 0.0, along(HALF_ARENA, chance)),
            turn: chance.random_range(0.0..TAU),
            phase: chance.random_range(0.0..TAU),
        }
    }

    fn half(&self) -> Vec3 {
        if self.is_door { Vec3::new(0.6, 1.1, 0.08) } else { Vec3::new(1.5, 0.15, 1.5) }
    }

    fn pose(&self, tick: usize) -> Isometry3d {
        let swing = ops::sin(self.phase + 2.5 * seconds(tick));
        if self.is_door {
            let turn = Quat::from_rotation_y(self.turn + 0.8 * swing);
            Isometry3d::new(self.place + Vec3::Y * 1.1 + turn * Vec3::X * 0.6, turn)
        } else {
            Isometry3d::new(self.place + Vec3::Y * (1.5 + 1.2 * swing), Quat::from_rotation_y(self.turn))
        }
    }
}

/// Someone who runs in a circle at up to 8 m/s, or stands.
struct Runner {
    center: Vec3,
    radius: f32,
    /// Metres per second.
    speed: f32,
    leftwards: bool,
    phase: f32,
}

impl Runner {
    fn new(half_arena: f32, chance: &mut SmallRng) -> Self {
        let radius = chance.random_range(2.0..12.0_f32.min(0.4 * half_arena));
        let room = half_arena - radius;
        Self {
            center: Vec3::new(along(room, chance), 0.0, along(room, chance)),
            radius,
            speed: if chance.random_bool(0.2) { 0.0 } else { chance.random_range(2.0..8.0) },
            leftwards: chance.random_bool(0.5),
            phase: chance.random_range(0.0..TAU),
        }
    }

    fn root(&self, tick: usize) -> Isometry3d {
        let way = self.speed / self.radius * seconds(tick);
        let turn = Quat::from_rotation_y(self.phase + if self.leftwards { way } else { -way });
        Isometry3d::new(self.center + turn * Vec3::X * self.radius, turn)
    }

    /// How wide the steps are, 0 to 1.
    fn gait(&self) -> f32 {
        (self.speed / 8.0).max(0.05)
    }

    /// Where in its step it is, in radians.
    fn phase(&self, tick: usize) -> f32 {
        self.phase + TAU * (0.3 + 2.2 * self.gait()) * seconds(tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_scene() {
        let setup = Setup { rigs: 3, crowded: false, figure: Figure::Body };
        let [a, b] = [7, 7].map(|seed| Scene::new(setup, seed));
        assert_eq!(a.hitboxes, b.hitboxes);
        assert_eq!(a.occluder_poses, b.occluder_poses);
        assert_ne!(a.hitboxes, Scene::new(setup, 8).hitboxes);
    }

    #[test]
    fn nobody_runs_faster_than_8_metres_per_second_or_leaves_the_arena() {
        for (crowded, half) in [(false, 100.0), (true, 15.0)] {
            let scene = Scene::new(Setup { rigs: 64, crowded, figure: Figure::Body }, 1);
            for tick in 1..=NOW {
                for (before, after) in scene.roots(tick - 1).iter().zip(scene.roots(tick)) {
                    assert!(before.translation.distance(after.translation) <= 8.001 / HZ as f32);
                    assert!(after.translation.abs().max_element() <= half);
                }
            }
        }
    }
}
