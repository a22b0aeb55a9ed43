//! A copy of the collision world for each tick.

use alloc::collections::VecDeque;

use bevy::prelude::*;
use bevy_rapier3d::rapier::{
    geometry::{Collider, ColliderHandle, ColliderSet},
    parry::{partitioning::Bvh, query::DefaultQueryDispatcher},
    pipeline::{QueryFilter, QueryPipeline},
};

use super::{
    Approach,
    rapier::{self, World},
};
use crate::{
    answer::{Answer, Met},
    clock::{Clock, Took},
    scene::{HZ, NOW, REWIND, Scene, Shots},
};

/// As the physics history of Unity's Netcode for Entities does it: after each tick, colliders and tree are cloned, and a shot is
/// traced in the clone that is nearest to its view time. There is nothing between two ticks, which is where its wrong answers
/// come from.
///
/// It keeps 250 ms. Recording is cloning only; it leaves out that the live colliders must be moved and their tree kept, which
/// the physics step does (for 256 rigs of 19 it takes milliseconds). Its memory is what colliders and tree hold at least.
pub struct WorldPerTick {
    live: World,
    movers: Vec<ColliderHandle>,
    past: VecDeque<Copy>,
}

struct Copy {
    tick: usize,
    colliders: ColliderSet,
    tree: Bvh,
}

impl WorldPerTick {
    /// With all colliders of the scene.
    pub fn new(scene: &Scene) -> Self {
        let mut live = World::of_walls(scene);
        let movers = live.insert_movers(scene);
        Self { live, movers, past: VecDeque::new() }
    }

    fn move_on(&mut self, scene: &Scene, tick: usize) {
        let World { colliders, things, tree, parameters, bodies } = &mut self.live;
        for handle in &self.movers {
            let Some(collider) = colliders.get_mut(*handle) else { continue };
            collider.set_position(rapier::pose(match things[collider.user_data as usize] {
                Met::Hitbox { rig, part } => scene.hitboxes(tick, rig as usize)[part as usize],
                Met::Occluder(number) => scene.occluder_poses(tick)[number as usize],
                Met::Wall(_) | Met::Nothing => Isometry3d::IDENTITY,
            }));
        }
        tree.update(parameters, colliders, bodies, &self.movers, &[], &mut Vec::new());
        // As a physics step does, or copies would hold long lists of what has moved.
        colliders.take_modified();
    }
}

impl Approach for WorldPerTick {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        // Enough to fill its history and to be timed, and no more, since many colliders take long to move.
        if tick + 2 * REWIND <= NOW {
            return None;
        }
        self.move_on(scene, tick);
        let start = Clock::start();
        if self.past.len() > REWIND + 1 {
            self.past.pop_front();
        }
        let (colliders, tree) = (self.live.colliders.clone(), self.live.query(QueryFilter::default()).bvh.clone());
        self.past.push_back(Copy { tick, colliders, tree });
        Some(start.elapsed())
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let start = Clock::start();
        answers.clear();
        let first = self.past.front().map_or(0, |copy| copy.tick);
        for shot in &shots.shots {
            let nearest = shot.tick + usize::from(shot.fraction >= 0x8000);
            let Copy { colliders, tree, .. } = &self.past[nearest - first];
            let is_met = |_: ColliderHandle, collider: &Collider| !self.live.is_of(collider, shot.shooter);
            let query = QueryPipeline {
                dispatcher: &DefaultQueryDispatcher,
                bvh: tree,
                bodies: &self.live.bodies,
                colliders,
                filter: QueryFilter::default().predicate(&is_met),
            };
            for ray in &shots.rays[shot.rays()] {
                let mut answer = rapier::nothing();
                rapier::cast(&query, *ray, &self.live.things, &mut answer);
                answers.push(answer);
            }
        }
        start.elapsed()
    }

    fn bytes_per_rig_second(&self, scene: &Scene) -> f64 {
        /// A leaf of the tree, half an inner node, and where it is found.
        const LEAF: usize = 64 + 8;
        let copy = self.live.colliders.len() * (size_of::<Collider>() + LEAF);
        copy as f64 * HZ / scene.setup.rigs as f64
    }
}
