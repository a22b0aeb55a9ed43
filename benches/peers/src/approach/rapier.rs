//! What approaches on rapier share.

use bevy::prelude::*;
use bevy_hindsight::Shape;
use bevy_rapier3d::rapier::{
    geometry::{BroadPhaseBvh, Collider, ColliderBuilder, ColliderHandle, ColliderSet, SharedShape},
    math::Pose,
    parry::query::DefaultQueryDispatcher,
    pipeline::{QueryFilter, QueryPipeline},
    prelude::{IntegrationParameters, Ray, RigidBodySet},
};

use crate::{
    answer::{Answer, Met},
    scene::{RANGE, Scene},
};

/// Colliders without bodies, and the tree over them.
pub(super) struct World {
    pub(super) bodies: RigidBodySet,
    pub(super) colliders: ColliderSet,
    pub(super) tree: BroadPhaseBvh,
    pub(super) parameters: IntegrationParameters,
    /// What a collider is, by its number in [`Collider::user_data`].
    pub(super) things: Vec<Met>,
}

impl World {
    /// The static boxes.
    pub(super) fn of_walls(scene: &Scene) -> Self {
        let mut world = Self {
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            tree: BroadPhaseBvh::new(),
            parameters: IntegrationParameters::default(),
            things: Vec::new(),
        };
        for (number, wall) in (0..).zip(&scene.walls) {
            world.insert(cuboid(wall.half), pose(wall.pose), Met::Wall(number));
        }
        world.settle();
        world
    }

    /// All that moves, where it stands at first: occluders, then hitboxes rig by rig.
    pub(super) fn insert_movers(&mut self, scene: &Scene) -> Vec<ColliderHandle> {
        let shapes = shapes(scene);
        let mut handles = Vec::new();
        for (number, occluder) in (0..).zip(&scene.occluders) {
            handles.push(self.insert(cuboid(occluder.half), pose(occluder.pose), Met::Occluder(number)));
        }
        for rig in 0..scene.setup.rigs {
            let hitboxes = shapes.iter().zip(scene.hitboxes(0, rig));
            for (part, (shape, hitbox)) in (0..).zip(hitboxes) {
                let met = Met::Hitbox { rig: rig as u32, part };
                handles.push(self.insert(shape.clone(), pose(*hitbox), met));
            }
        }
        // Once for the tree, once more to balance it.
        self.settle();
        self.settle();
        handles
    }

    pub(super) fn insert(&mut self, shape: SharedShape, pose: Pose, met: Met) -> ColliderHandle {
        let number = self.things.len() as u128;
        self.things.push(met);
        self.colliders.insert(ColliderBuilder::new(shape).position(pose).user_data(number))
    }

    /// Takes all colliders into the tree.
    fn settle(&mut self) {
        let all: Vec<_> = self.colliders.iter().map(|(handle, _)| handle).collect();
        self.tree.update(&self.parameters, &self.colliders, &self.bodies, &all, &[], &mut Vec::new());
    }

    pub(super) fn query<'a>(&'a self, filter: QueryFilter<'a>) -> QueryPipeline<'a> {
        self.tree.as_query_pipeline(&DefaultQueryDispatcher, &self.bodies, &self.colliders, filter)
    }

    pub(super) fn thing(&self, collider: &Collider) -> Met {
        self.things[collider.user_data as usize]
    }

    /// Whether a collider is a hitbox of this rig.
    pub(super) fn is_of(&self, collider: &Collider, shooter: usize) -> bool {
        matches!(self.thing(collider), Met::Hitbox { rig, .. } if rig as usize == shooter)
    }
}

/// The first collider on a ray within reach of the answer so far, which it replaces. The normal is found for the winner only:
/// rapier's `cast_ray_and_get_normal` takes twice as long.
pub(super) fn cast(query: &QueryPipeline, ray: Ray3d, things: &[Met], answer: &mut Answer) {
    let ray = Ray::new(ray.origin, *ray.direction);
    if let Some((handle, distance)) = query.cast_ray(&ray, answer.distance, true) {
        let collider = &query.colliders[handle];
        let normal = collider.shape().cast_ray_and_get_normal(collider.position(), &ray, RANGE, true);
        let normal = normal.map_or(Vec3::ZERO, |hit| hit.normal);
        *answer = Answer { met: things[collider.user_data as usize], distance, normal };
    }
}

/// Nothing so far.
pub(super) fn nothing() -> Answer {
    Answer { distance: RANGE, ..default() }
}

pub(super) fn cuboid(half: Vec3) -> SharedShape {
    SharedShape::cuboid(half.x, half.y, half.z)
}

/// The shapes of a rig.
pub(super) fn shapes(scene: &Scene) -> Vec<SharedShape> {
    let shape = |shape: &Shape| match *shape {
        Shape::Capsule { half_height, radius } => SharedShape::capsule_y(half_height, radius),
        Shape::Ball { radius } => SharedShape::ball(radius),
        other => unreachable!("no figure has {other:?}"),
    };
    scene.shapes().iter().map(shape).collect()
}

pub(super) fn pose(pose: Isometry3d) -> Pose {
    Pose::from_parts(pose.translation.into(), pose.rotation)
}

/// Where something is between two ticks.
pub(super) fn between(from: Isometry3d, to: Isometry3d, t: f32) -> Pose {
    let translation = Vec3::from(from.translation.lerp(to.translation, t));
    // `Quat::lerp` takes the shorter way, and makes a unit one of it.
    Pose::from_parts(translation, from.rotation.lerp(to.rotation, t))
}
