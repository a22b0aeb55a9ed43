//! Where rays meet solids, in closed form.
//!
//! These compute in `f64` from `f32` data. Coordinates of an arena and the size of a hand differ by four orders of magnitude, and
//! single precision loses up to half a millimetre of a hit 200 m away.

use bevy::{
    math::{DVec3, Ray3d},
    prelude::Deref,
};

/// A ray that is held against many solids.
#[derive(Clone, Copy, Deref)]
pub(crate) struct PreciseRay {
    #[deref]
    ray: Ray3d,
    pub(super) origin: DVec3,
    pub(super) direction: DVec3,
}

impl From<Ray3d> for PreciseRay {
    fn from(ray: Ray3d) -> Self {
        Self { ray, origin: ray.origin.as_dvec3(), direction: ray.direction.as_dvec3().normalize() }
    }
}

/// First hit of a ray with the ball of `radius` around the origin.
pub(super) fn cast_at_ball(origin: DVec3, direction: DVec3, radius: f64) -> Option<f64> {
    let inside = origin.length_squared() <= radius * radius;
    if inside { Some(0.0) } else { cast_at_sphere(origin, direction, radius) }
}

/// Where a ray enters the sphere of `radius` around the origin, unless that is behind the ray.
fn cast_at_sphere(origin: DVec3, direction: DVec3, radius: f64) -> Option<f64> {
    // From the point of the ray closest to the centre; the textbook discriminant cancels at long range.
    let closest = -origin.dot(direction);
    let offset = origin + direction * closest;
    let half_chord_squared = radius * radius - offset.length_squared();
    if half_chord_squared < 0.0 {
        return None;
    }
    let distance = closest - half_chord_squared.sqrt();
    (distance >= 0.0).then_some(distance)
}

/// First hit of a ray with the capsule of `radius` around the segment from `-half_axis` to `half_axis`.
pub(super) fn cast_at_capsule(origin: DVec3, direction: DVec3, half_axis: DVec3, radius: f64) -> Option<f64> {
    let half_length_squared = half_axis.length_squared();
    if half_length_squared == 0.0 {
        return cast_at_ball(origin, direction, radius);
    }
    let along = (origin.dot(half_axis) / half_length_squared).clamp(-1.0, 1.0);
    if (origin - half_axis * along).length_squared() <= radius * radius {
        return Some(0.0);
    }

    // The endless cylinder around the axis, in the plane at right angles to it. A ray that enters it beyond an end of the
    // segment can only meet the cap of that end: the disc between cap and body lies inside the cap's sphere.
    let slope = half_axis.cross(direction);
    let arm = half_axis.cross(origin);
    let slope_squared = slope.length_squared();
    let parallel = slope_squared <= 1e-16 * half_length_squared;
    let end = if parallel {
        -half_axis.dot(direction).signum()
    } else {
        let closest = -arm.dot(slope) / slope_squared;
        let offset = arm + slope * closest;
        let half_chord_squared = radius * radius * half_length_squared - offset.length_squared();
        if half_chord_squared < 0.0 {
            return None;
        }
        let distance = closest - (half_chord_squared / slope_squared).sqrt();
        let along = (origin + direction * distance).dot(half_axis) / half_length_squared;
        if along.abs() <= 1.0 {
            return (distance >= 0.0).then_some(distance);
        }
        along.signum()
    };
    cast_at_sphere(origin - half_axis * end, direction, radius)
}

/// First hit of a ray with the box from `-half_extents` to `half_extents` along the axes.
pub(super) fn cast_at_cuboid(origin: DVec3, direction: DVec3, half_extents: DVec3) -> Option<f64> {
    if origin.is_nan() {
        return None;
    }
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if origin[axis].abs() > half_extents[axis] {
                return None;
            }
            continue;
        }
        let near = (-half_extents[axis] - origin[axis]) / direction[axis];
        let far = (half_extents[axis] - origin[axis]) / direction[axis];
        enter = enter.max(near.min(far));
        leave = leave.min(near.max(far));
    }
    (enter <= leave).then_some(enter)
}
