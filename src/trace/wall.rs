//! What stops bullets and is no hitbox: an occluder of the past, or a collider of the live world.

use core::cmp::Ordering;

use bevy::prelude::*;
use bevy_rapier3d::rapier::{
    math::Pose,
    parry::{
        query::{ShapeCastOptions, cast_shapes, intersection_test},
        shape::{Shape as ParryShape, SharedShape, TypedShape},
    },
};

use super::{
    cast::{cast_at, cmp_places, contact_normal, exit_of, isometry, known_shape, normal_of, parry_shape},
    packet::{RayPacket, RaySet},
};
use crate::{
    shape::{PreciseRay, Shape},
    shot::Blocker,
};

#[derive(Clone, Copy)]
pub(super) struct Wall<'a> {
    /// `None` for a collider that the game made without an entity.
    pub(super) entity: Option<Entity>,
    pub(super) pose: Pose,
    pub(super) shape: &'a dyn ParryShape,
    /// Whether that is a pose of the past.
    pub(super) rewound: bool,
}

/// A wall that is met after so many metres.
#[derive(Clone, Copy)]
pub(super) struct Stop<'a> {
    pub(super) wall: Wall<'a>,
    pub(super) distance: f32,
}

impl<'a> Wall<'a> {
    /// Where a ray meets it.
    pub(super) fn stop(self, ray: &PreciseRay, range: f32) -> Option<Stop<'a>> {
        let distance = cast_at(self.shape, &self.pose, ray, range)?;
        Some(Stop { wall: self, distance })
    }

    /// The same for some rays of a packet: where it is the first so far, and `stops` lets it stop them, it is put into `nearest`.
    pub(super) fn stop_each(
        self,
        packet: &RayPacket,
        rays: RaySet,
        nearest: &mut [Option<Stop<'a>>],
        stops: impl Fn(&Stop) -> bool,
    ) {
        for number in rays {
            let nearest = &mut nearest[number];
            let stop = self.stop(&packet.rays()[number], packet.reach_of(number));
            let is_nearer = |stop: &Stop| nearest.is_none_or(|nearest| stop.cmp(&nearest).is_lt());
            if let Some(stop) = stop.filter(|stop| is_nearer(stop) && stops(stop)) {
                packet.shrink(number, stop.distance);
                *nearest = Some(stop);
            }
        }
    }
}

impl Stop<'_> {
    /// Nearer first; ties are broken by what does not depend on the order in which things were spawned, as long as they stand
    /// in different places.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let by_place = || cmp_places(isometry(&self.wall.pose), isometry(&other.wall.pose));
        let by_entity = || self.wall.entity.cmp(&other.wall.entity);
        self.distance.total_cmp(&other.distance).then_with(by_place).then_with(by_entity)
    }

    /// What is told of it.
    pub(super) fn blocker(&self, ray: Ray3d) -> Blocker {
        let Wall { entity, pose, shape, rewound } = self.wall;
        Blocker {
            entity,
            pose: isometry(&pose),
            rewound,
            point: ray.get_point(self.distance),
            normal: normal_of(shape, &pose, ray, self.distance),
            distance: self.distance,
        }
    }
}

// Shapes against walls. Parry's answers for what it alone knows (cylinders, cones, convex hulls, meshes).
impl<'a> Wall<'a> {
    /// How far a shape gets before it touches the wall.
    pub(super) fn stop_shape(self, shape: Shape, from: Isometry3d, direction: Dir3, range: f32) -> Option<Stop<'a>> {
        let distance = self.parts_min(|wall| match known_shape(wall.shape, &wall.pose) {
            Some((resting, pose)) => resting.cast_shape(pose, shape, from, direction, range),
            None => {
                let options = ShapeCastOptions { max_time_of_impact: range, ..ShapeCastOptions::default() };
                let from = Pose::from_parts(from.translation.into(), from.rotation);
                let moving = parry_shape(shape);
                let met = cast_shapes(&from, *direction, moving.as_ref(), &wall.pose, Vec3::ZERO, wall.shape, options);
                met.ok().flatten().map(|hit| hit.time_of_impact)
            }
        })?;
        Some(Stop { wall: self, distance })
    }

    pub(super) fn overlaps(&self, shape: Shape, pose: Isometry3d) -> bool {
        let overlap = self.parts_min(|wall| {
            let overlaps = match known_shape(wall.shape, &wall.pose) {
                Some((own, own_pose)) => own.overlaps(own_pose, shape, pose),
                None => {
                    let other = Pose::from_parts(pose.translation.into(), pose.rotation);
                    let shape = parry_shape(shape);
                    intersection_test(&wall.pose, wall.shape, &other, shape.as_ref()).unwrap_or(false)
                }
            };
            overlaps.then_some(0.0)
        });
        overlap.is_some()
    }

    /// How far it is from a point.
    pub(super) fn near(self, point: Vec3) -> Stop<'a> {
        Stop { wall: self, distance: self.closest_point(point).distance(point) }
    }

    fn closest_point(&self, point: Vec3) -> Vec3 {
        let distance = |to: &Vec3| to.distance(point);
        let part = |wall: &Wall| match known_shape(wall.shape, &wall.pose) {
            Some((shape, pose)) => shape.closest_point(pose, point),
            None => wall.shape.project_point(&wall.pose, point, true).point,
        };
        match self.shape.as_typed_shape() {
            TypedShape::Compound(compound) => {
                let parts = compound.shapes().iter().map(|(offset, shape)| self.part(offset, shape));
                let points = parts.map(|wall| wall.closest_point(point));
                points.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(point)
            }
            _ => part(self),
        }
    }

    /// The least of what is found for its parts, or for itself.
    fn parts_min(&self, find: impl Fn(&Wall) -> Option<f32> + Copy) -> Option<f32> {
        match self.shape.as_typed_shape() {
            TypedShape::Compound(compound) => {
                let parts = compound.shapes().iter().map(|(offset, shape)| self.part(offset, shape));
                parts.filter_map(|part| part.parts_min(find)).min_by(f32::total_cmp)
            }
            _ => find(self),
        }
    }

    fn part<'p>(&self, offset: &Pose, shape: &'p SharedShape) -> Wall<'p> {
        Wall { entity: self.entity, pose: self.pose * *offset, shape: shape.as_ref(), rewound: self.rewound }
    }
}

impl Stop<'_> {
    /// Metres from the origin of a ray to where it comes out of the wall; infinite if it does not.
    pub(super) fn exit(&self, ray: Ray3d) -> f32 {
        exit_of(self.wall.shape, &self.wall.pose, ray, self.distance)
    }

    /// What is told of it to someone who looks from a point.
    pub(super) fn blocker_near(&self, point: Vec3) -> Blocker {
        let on_wall = self.wall.closest_point(point);
        self.blocker_at(on_wall, Dir3::new(on_wall - point).unwrap_or(Dir3::NEG_Y))
    }

    /// What is told of it to a shape that has come from this direction and now touches it.
    pub(super) fn blocker_of_shape(&self, shape: Shape, there: Isometry3d, direction: Dir3) -> Blocker {
        let Wall { shape: wall, pose, .. } = self.wall;
        let touch = known_shape(wall, &pose).and_then(|(wall, pose)| wall.touch(pose, shape, there));
        let center = there.translation.into();
        let point = touch.unwrap_or_else(|| self.wall.closest_point(center));
        // On a mesh, the way to the middle of the shape is the way out.
        self.blocker_at(point, Dir3::new(point - center).unwrap_or(direction))
    }

    fn blocker_at(&self, point: Vec3, towards: Dir3) -> Blocker {
        let Wall { entity, pose, shape, rewound } = self.wall;
        let known = known_shape(shape, &pose);
        let normal = known.map(|(shape, pose)| contact_normal(shape, pose, point, towards, self.distance));
        let normal = normal.unwrap_or(-towards);
        Blocker { entity, pose: isometry(&pose), rewound, point, normal, distance: self.distance }
    }
}
