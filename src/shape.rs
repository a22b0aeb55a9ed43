//! The shapes of hitboxes, and where rays and other shapes meet them.

mod convex;
mod near;
mod ray;
mod sector;
mod sweep;

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};
use serde::{Deserialize, Serialize};

use ray::{cast_at_ball, cast_at_capsule, cast_at_cuboid};

pub(crate) use ray::PreciseRay;
pub use sector::Sector;

/// The shape of a hitbox, centred on its own origin. All lengths are in metres; one that is negative, infinite or not a number
/// makes a hitbox that is never hit.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[non_exhaustive]
pub enum Shape {
    /// The points within `radius` of a segment along the local Y axis, from `-half_height` to `half_height`.
    Capsule {
        /// Half the length of the segment; the whole capsule is `2 * (half_height + radius)` high.
        half_height: f32,
        /// Radius of the body and of both caps.
        radius: f32,
    },
    /// The points within `radius` of the origin.
    Ball {
        /// Radius of the ball.
        radius: f32,
    },
    /// A box along the local axes.
    Cuboid {
        /// Half the edge lengths along X, Y and Z.
        half_extents: Vec3,
    },
}

impl Shape {
    /// The shape under the scale of its entity.
    ///
    /// Round parts stay round: a ball grows by the largest factor, the radius of a capsule by the larger of X and Z.
    /// Negative factors count like positive ones.
    pub fn scaled(self, scale: Vec3) -> Self {
        let scale = scale.abs();
        match self {
            Shape::Capsule { half_height, radius } => {
                Shape::Capsule { half_height: half_height * scale.y, radius: radius * scale.x.max(scale.z) }
            }
            Shape::Ball { radius } => Shape::Ball { radius: radius * scale.max_element() },
            Shape::Cuboid { half_extents } => Shape::Cuboid { half_extents: half_extents * scale },
        }
    }

    /// Whether all lengths are finite and none is negative.
    pub(crate) fn is_sound(self) -> bool {
        let lengths = match self {
            Shape::Capsule { half_height, radius } => Vec3::new(half_height, radius, 0.0),
            Shape::Ball { radius } => Vec3::splat(radius),
            Shape::Cuboid { half_extents } => half_extents,
        };
        lengths.is_finite() && lengths.min_element() >= 0.0
    }

    /// Whether this is the other shape, but for rounding: to a hundred-thousandth of its lengths.
    pub(crate) fn is_close_to(self, other: Self) -> bool {
        let close = |a: f32, b: f32| (a - b).abs() <= 1e-5 * a.abs().max(b.abs());
        match (self, other) {
            (Shape::Capsule { half_height: h, radius: r }, Shape::Capsule { half_height, radius }) => {
                close(h, half_height) && close(r, radius)
            }
            (Shape::Ball { radius: r }, Shape::Ball { radius }) => close(r, radius),
            (Shape::Cuboid { half_extents: a }, Shape::Cuboid { half_extents: b }) => {
                close(a.x, b.x) && close(a.y, b.y) && close(a.z, b.z)
            }
            _ => false,
        }
    }

    /// The radius of the smallest ball around the origin that holds the shape in any rotation, in metres.
    pub fn bounding_radius(self) -> f32 {
        match self {
            Shape::Capsule { half_height, radius } => half_height + radius,
            Shape::Ball { radius } => radius,
            Shape::Cuboid { half_extents } => half_extents.length(),
        }
    }

    /// The distance along `ray` at which it meets the solid shape at `pose`, in metres, if that is at most `range`.
    ///
    /// 0 if the ray begins inside; what lies behind its origin is never hit. Touching counts as a hit. The answer is right
    /// to the rounding of its `f32`: at 200 m that is 0.01 mm.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::Shape;
    ///
    /// let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
    /// let ball = Shape::Ball { radius: 0.5 };
    /// let pose = Isometry3d::from_translation(Vec3::new(0.0, 0.0, 10.0));
    /// assert_eq!(ball.cast_ray(pose, ray, 100.0), Some(9.5));
    /// assert_eq!(ball.cast_ray(pose, ray, 9.0), None);
    /// ```
    pub fn cast_ray(self, pose: Isometry3d, ray: Ray3d, range: f32) -> Option<f32> {
        self.cast_precisely(pose, &ray.into(), range)
    }

    pub(crate) fn cast_precisely(self, pose: Isometry3d, ray: &PreciseRay, range: f32) -> Option<f32> {
        let distance = self.cast(pose, ray.origin, ray.direction)? as f32;
        (distance <= range).then_some(distance)
    }

    /// The distances along `ray` at which it goes into the solid shape at `pose` and comes out of it, in metres, if the first one
    /// is at most `range`. That one is what [`cast_ray`](Self::cast_ray) finds, and costs as much again.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::Shape;
    ///
    /// let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
    /// let ball = Shape::Ball { radius: 0.5 };
    /// let pose = Isometry3d::from_translation(Vec3::new(0.0, 0.0, 10.0));
    /// assert_eq!(ball.cross_ray(pose, ray, 100.0), Some((9.5, 10.5)));
    /// ```
    pub fn cross_ray(self, pose: Isometry3d, ray: Ray3d, range: f32) -> Option<(f32, f32)> {
        let entry = self.cast_ray(pose, ray, range)?;
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
        // Seen from behind, it goes in where it comes out.
        let along = (Vec3::from(pose.translation).as_dvec3() - origin).dot(direction);
        let behind = along + f64::from(self.bounding_radius()) + 1.0;
        let exit = self.cast(pose, origin + direction * behind, -direction);
        Some((entry, exit.map_or(entry, |distance| entry.max((behind - distance) as f32))))
    }

    /// Where a ray, in `f64`, meets the solid shape.
    fn cast(self, pose: Isometry3d, origin: DVec3, direction: DVec3) -> Option<f64> {
        let origin = origin - Vec3::from(pose.translation).as_dvec3();
        match self {
            Shape::Capsule { half_height, radius } => {
                let half_axis = axes(pose) * DVec3::Y * f64::from(half_height);
                cast_at_capsule(origin, direction, half_axis, f64::from(radius))
            }
            Shape::Ball { radius } => cast_at_ball(origin, direction, f64::from(radius)),
            Shape::Cuboid { half_extents } => {
                let to_local = axes(pose).inverse();
                cast_at_cuboid(to_local * origin, to_local * direction, half_extents.as_dvec3())
            }
        }
    }

    /// The outward unit normal of the shape at `pose`, for a `point` on or near its surface.
    ///
    /// `None` at points that have no nearest spot on the surface, such as the centre of a ball.
    pub fn normal_at(self, pose: Isometry3d, point: Vec3) -> Option<Dir3> {
        let local = Vec3::from(pose.inverse_transform_point(point));
        let normal = match self {
            Shape::Capsule { half_height, .. } => {
                let half_height = half_height.max(0.0);
                local - Vec3::Y * local.y.clamp(-half_height, half_height)
            }
            Shape::Ball { .. } => local,
            Shape::Cuboid { half_extents } => {
                let depth = local.abs() - half_extents;
                let axis = match depth.max_position() {
                    0 => Vec3::X,
                    1 => Vec3::Y,
                    _ => Vec3::Z,
                };
                axis * local
            }
        };
        Dir3::new(pose.rotation * normal).ok()
    }
}

fn axes(pose: Isometry3d) -> DQuat {
    pose.rotation.as_dquat().normalize()
}

#[cfg(test)]
mod tests {
    use core::f32::consts::FRAC_PI_2;

    use super::*;

    const CAPSULE: Shape = Shape::Capsule { half_height: 0.5, radius: 0.3 };

    fn cast(shape: Shape, pose: Isometry3d, origin: Vec3, direction: Dir3) -> Option<f32> {
        shape.cast_ray(pose, Ray3d::new(origin, direction), 200.0)
    }

    #[test]
    fn rays_meet_body_and_caps_of_a_capsule() {
        let pose = Isometry3d::IDENTITY;
        assert_eq!(cast(CAPSULE, pose, Vec3::new(-5.0, 0.2, 0.0), Dir3::X), Some(4.7));
        assert_eq!(cast(CAPSULE, pose, Vec3::new(0.0, 9.0, 0.0), Dir3::NEG_Y), Some(8.2));
        assert_eq!(cast(CAPSULE, pose, Vec3::new(-5.0, 0.81, 0.0), Dir3::X), None);
        assert_eq!(cast(CAPSULE, pose, Vec3::new(0.31, 9.0, 0.0), Dir3::NEG_Y), None);
    }

    #[test]
    fn nothing_behind_the_origin_is_hit() {
        for shape in [CAPSULE, Shape::Ball { radius: 0.3 }, Shape::Cuboid { half_extents: Vec3::splat(0.3) }] {
            assert_eq!(cast(shape, Isometry3d::IDENTITY, Vec3::X * 2.0, Dir3::X), None);
        }
    }

    #[test]
    fn rays_from_inside_hit_at_once() {
        for shape in [CAPSULE, Shape::Ball { radius: 0.3 }, Shape::Cuboid { half_extents: Vec3::splat(0.3) }] {
            assert_eq!(cast(shape, Isometry3d::IDENTITY, Vec3::new(0.1, 0.1, 0.0), Dir3::Z), Some(0.0));
        }
    }

    #[test]
    fn turned_boxes_are_hit_where_they_stand() {
        let shape = Shape::Cuboid { half_extents: Vec3::new(0.2, 0.9, 1.0) };
        let straight = Isometry3d::IDENTITY;
        let turned = Isometry3d::from_rotation(Quat::from_rotation_y(FRAC_PI_2));
        let origin = Vec3::new(0.6, 0.0, -5.0);
        assert_eq!(cast(shape, straight, origin, Dir3::Z), None);
        assert!((cast(shape, turned, origin, Dir3::Z).unwrap() - 4.8).abs() < 1e-6);
    }

    #[test]
    fn lengths_that_are_none_are_found() {
        assert!(CAPSULE.is_sound() && Shape::Ball { radius: 0.0 }.is_sound());
        assert!(!Shape::Ball { radius: -1.0 }.is_sound());
        assert!(!Shape::Capsule { half_height: f32::NAN, radius: 1.0 }.is_sound());
        assert!(!Shape::Cuboid { half_extents: Vec3::new(1.0, f32::INFINITY, 1.0) }.is_sound());
    }

    #[test]
    fn normals_point_outwards() {
        let pose = Isometry3d::from_translation(Vec3::Y);
        let side = CAPSULE.normal_at(pose, Vec3::new(0.3, 1.2, 0.0)).unwrap();
        assert!(side.abs_diff_eq(Vec3::X, 1e-6));
        let cuboid = Shape::Cuboid { half_extents: Vec3::new(1.0, 2.0, 3.0) };
        let below = cuboid.normal_at(pose, Vec3::new(0.9, -1.0, 2.0)).unwrap();
        assert!(below.abs_diff_eq(Vec3::NEG_Y, 1e-6));
        assert_eq!(Shape::Ball { radius: 1.0 }.normal_at(pose, Vec3::Y), None);
    }

    #[test]
    fn scaling_keeps_round_things_round() {
        let scale = Vec3::new(2.0, -3.0, 1.0);
        assert_eq!(CAPSULE.scaled(scale), Shape::Capsule { half_height: 1.5, radius: 0.6 });
        assert_eq!(Shape::Ball { radius: 1.0 }.scaled(scale), Shape::Ball { radius: 3.0 });
    }
}
