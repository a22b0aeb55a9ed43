//! A small world of its own for each shot.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::rapier::{
    geometry::{Aabb, ColliderBuilder, ColliderHandle, ColliderSet, SharedShape},
    math::Pose,
    parry::{
        partitioning::{Bvh, BvhBuildStrategy},
        query::DefaultQueryDispatcher,
    },
    pipeline::{QueryFilter, QueryPipeline},
    prelude::RigidBodySet,
};

use super::{
    Approach,
    rapier::{self, World},
};
use crate::{
    answer::{Answer, Met},
    clock::{Clock, Took},
    scene::{HZ, NOW, Scene, Shot, Shots},
};

/// For each shot, the rigs and occluders that its rays come near are found by balls around them, and colliders are put where they
/// stood; rapier builds a tree over them and casts. Walls stay in a world of their own.
///
/// It is the fastest of the variants that were tried: colliders are kept in a pool and only moved, and the tree is built at once.
/// It reads the poses of the past from the scene, and leaves out how the game finds them.
pub struct QueryWorld {
    walls: World,
    shapes: Vec<SharedShape>,
    occluders: Vec<SharedShape>,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    pool: Vec<ColliderHandle>,
    /// What each collider of the pool stands for, in this shot.
    things: Vec<Met>,
    leaves: Vec<(usize, Aabb)>,
    balls: Vec<Balls>,
    near: Vec<usize>,
}

/// The balls around all rigs and then occluders in one tick.
#[derive(Default)]
struct Balls {
    centers: Vec<Vec3A>,
    radii: Vec<f32>,
}

impl QueryWorld {
    /// With the walls, and an empty pool.
    pub fn new(scene: &Scene) -> Self {
        Self {
            walls: World::of_walls(scene),
            shapes: rapier::shapes(scene),
            occluders: scene.occluders.iter().map(|occluder| rapier::cuboid(occluder.half)).collect(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            pool: Vec::new(),
            things: Vec::new(),
            leaves: Vec::new(),
            balls: (0..=NOW).map(|_| Balls::default()).collect(),
            near: Vec::new(),
        }
    }

    /// The rigs and occluders whose ball any ray of the shot enters.
    fn find_near(&mut self, shot: &Shot, rays: &[Ray3d]) {
        let t = shot.fraction_f32();
        let (from, to) = (&self.balls[shot.tick], &self.balls[shot.tick + 1]);
        self.near.clear();
        for thing in (0..from.radii.len()).filter(|thing| *thing != shot.shooter) {
            let center = from.centers[thing].lerp(to.centers[thing], t) - Vec3A::from(shot.origin);
            let radius = from.radii[thing].max(to.radii[thing]) + 1e-3;
            let is_near = |ray: &Ray3d| {
                let direction = Vec3A::from(*ray.direction);
                let along = center.dot(direction).max(0.0);
                (center - direction * along).length_squared() <= radius * radius
            };
            if rays.iter().any(is_near) {
                self.near.push(thing);
            }
        }
    }

    /// Puts a collider of the pool there.
    fn put(&mut self, shape: SharedShape, pose: Pose, met: Met) {
        let next = self.leaves.len();
        if next == self.pool.len() {
            let collider = ColliderBuilder::new(shape.clone()).user_data(next as u128);
            self.pool.push(self.colliders.insert(collider));
            self.things.push(met);
        }
        let handle = self.pool[next];
        let Some(collider) = self.colliders.get_mut(handle) else { return };
        collider.set_shape(shape);
        collider.set_position(pose);
        self.things[next] = met;
        self.leaves.push((handle.into_raw_parts().0 as usize, collider.compute_aabb()));
    }

    fn put_all(&mut self, scene: &Scene, shot: &Shot) {
        let t = shot.fraction_f32();
        self.leaves.clear();
        for thing in core::mem::take(&mut self.near) {
            if let Some(number) = thing.checked_sub(scene.setup.rigs) {
                let [from, to] = [0, 1].map(|later| scene.occluder_poses(shot.tick + later)[number]);
                let shape = self.occluders[number].clone();
                self.put(shape, rapier::between(from, to, t), Met::Occluder(number as u32));
            } else {
                for part in 0..self.shapes.len() {
                    let [from, to] = [0, 1].map(|later| scene.hitboxes(shot.tick + later, thing)[part]);
                    let met = Met::Hitbox { rig: thing as u32, part: part as u32 };
                    self.put(self.shapes[part].clone(), rapier::between(from, to, t), met);
                }
            }
        }
    }
}

impl Approach for QueryWorld {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        let balls = &mut self.balls[tick];
        for rig in 0..scene.setup.rigs {
            let hitboxes = scene.hitboxes(tick, rig);
            let center = hitboxes.iter().map(|pose| pose.translation).sum::<Vec3A>() / hitboxes.len() as f32;
            let reach = |(pose, shape): (&Isometry3d, &bevy_hindsight::Shape)| {
                pose.translation.distance(center) + shape.bounding_radius()
            };
            balls.centers.push(center);
            balls.radii.push(hitboxes.iter().zip(scene.shapes()).map(reach).fold(0.0, f32::max));
        }
        for (occluder, pose) in scene.occluders.iter().zip(scene.occluder_poses(tick)) {
            balls.centers.push(pose.translation);
            balls.radii.push(occluder.half.length());
        }
        None
    }

    fn trace(&mut self, scene: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let start = Clock::start();
        answers.clear();
        for shot in &shots.shots {
            let rays = &shots.rays[shot.rays()];
            self.find_near(shot, rays);
            self.put_all(scene, shot);
            let tree = Bvh::from_iter(BvhBuildStrategy::Binned, self.leaves.iter().copied());
            let query = QueryPipeline {
                dispatcher: &DefaultQueryDispatcher,
                bvh: &tree,
                bodies: &self.bodies,
                colliders: &self.colliders,
                filter: QueryFilter::default(),
            };
            let walls = self.walls.query(QueryFilter::default());
            for ray in rays {
                let mut answer = rapier::nothing();
                rapier::cast(&query, *ray, &self.things, &mut answer);
                rapier::cast(&walls, *ray, &self.walls.things, &mut answer);
                answers.push(answer);
            }
        }
        start.elapsed()
    }

    fn bytes_per_rig_second(&self, scene: &Scene) -> f64 {
        // Poses, in whatever list the game keeps them, and a ball.
        (size_of::<[f32; 7]>() * scene.shapes().len() + size_of::<[f32; 4]>()) as f64 * HZ
    }
}
