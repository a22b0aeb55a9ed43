//! The way that is told everywhere: put everyone back, shoot, put everyone where they were.

use bevy::prelude::*;
use bevy_rapier3d::rapier::{
    geometry::{Collider, ColliderHandle},
    pipeline::QueryFilter,
};

use super::{
    Approach,
    rapier::{self, World},
};
use crate::{
    answer::{Answer, Met},
    clock::{Clock, Took},
    scene::{HZ, NOW, Scene, Shots},
};

/// Hitboxes are live colliders of rapier. For each shot, all of them and the occluders are moved to its view time, the tree is
/// brought up to date, all rays of the shot are cast at once, and everything is moved back.
///
/// It reads the poses of the past from the scene. It leaves out what the physics step pays for 19 moving colliders of each rig,
/// and for having found all of them moved; and that a shot which panics half-way leaves the world in the past.
pub struct Textbook {
    world: World,
    movers: Vec<ColliderHandle>,
    refresh: Refresh,
}

/// How the tree is brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// Box by box, by `BroadPhaseBvh::set_aabb`.
    Boxes,
    /// All at once, by `BroadPhaseBvh::update`, as a physics step does it.
    Tree,
}

impl Textbook {
    /// With all colliders of the scene.
    pub fn new(scene: &Scene, refresh: Refresh) -> Self {
        let mut world = World::of_walls(scene);
        let movers = world.insert_movers(scene);
        Self { world, movers, refresh }
    }

    fn put(&mut self, scene: &Scene, tick: usize, t: f32) {
        for handle in &self.movers {
            let Some(collider) = self.world.colliders.get_mut(*handle) else { continue };
            let at = |tick: usize| match self.world.things[collider.user_data as usize] {
                Met::Hitbox { rig, part } => scene.hitboxes(tick, rig as usize)[part as usize],
                Met::Occluder(number) => scene.occluder_poses(tick)[number as usize],
                Met::Wall(_) | Met::Nothing => Isometry3d::IDENTITY,
            };
            collider.set_position(rapier::between(at(tick), at((tick + 1).min(NOW)), t));
            if self.refresh == Refresh::Boxes {
                self.world.tree.set_aabb(&self.world.parameters, *handle, collider.compute_aabb());
            }
        }
        if self.refresh == Refresh::Tree {
            let World { tree, parameters, colliders, bodies, .. } = &mut self.world;
            tree.update(parameters, colliders, bodies, &self.movers, &[], &mut Vec::new());
        }
    }
}

impl Approach for Textbook {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        // Everyone stands in the present before and after each shot, where the physics step has put them.
        if tick == NOW {
            self.put(scene, tick, 0.0);
        }
        None
    }

    fn trace(&mut self, scene: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let start = Clock::start();
        answers.clear();
        for shot in &shots.shots {
            self.put(scene, shot.tick, shot.fraction_f32());
            let is_met = |_: ColliderHandle, collider: &Collider| !self.world.is_of(collider, shot.shooter);
            let query = self.world.query(QueryFilter::default().predicate(&is_met));
            for ray in &shots.rays[shot.rays()] {
                let mut answer = rapier::nothing();
                rapier::cast(&query, *ray, &self.world.things, &mut answer);
                answers.push(answer);
            }
            self.put(scene, NOW, 0.0);
        }
        start.elapsed()
    }

    fn bytes_per_rig_second(&self, scene: &Scene) -> f64 {
        // Poses, in whatever list the game keeps them.
        (size_of::<[f32; 7]>() * scene.shapes().len()) as f64 * HZ
    }
}
