//! Capsules, balls and boxes in `f64`, and where a ray enters them.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};
use bevy_hindsight::Shape;

/// A solid: all points within `radius` of a box.
#[derive(Clone, Copy)]
pub(super) struct Solid {
    center: DVec3,
    rotation: DQuat,
    half: DVec3,
    radius: f64,
}

impl Solid {
    pub(super) fn new(shape: Shape, center: DVec3, rotation: DQuat) -> Self {
        let (half, radius) = match shape {
            Shape::Capsule { half_height, radius } => (DVec3::Y * f64::from(half_height), f64::from(radius)),
            Shape::Ball { radius } => (DVec3::ZERO, f64::from(radius)),
            Shape::Cuboid { half_extents } => (half_extents.as_dvec3(), 0.0),
            other => unreachable!("no scene has {other:?}"),
        };
        Self { center, rotation, half, radius }
    }

    pub(super) fn cuboid(half: Vec3, pose: (DVec3, DQuat)) -> Self {
        Self { center: pose.0, rotation: pose.1, half: half.as_dvec3(), radius: 0.0 }
    }

    /// Larger by so many metres on all sides.
    pub(super) fn grown(self, by: f64) -> Self {
        let half = if self.radius == 0.0 { self.half + by } else { self.half };
        let radius = if self.radius == 0.0 { 0.0 } else { self.radius + by };
        Self { half, radius, ..self }
    }

    /// Where a ray of unit length enters it; 0 from inside.
    pub(super) fn meet(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        let to_center = self.center - origin;
        let along = to_center.dot(direction).max(0.0);
        let reach = self.half.length() + self.radius;
        if (to_center - direction * along).length_squared() > reach * reach {
            return None;
        }
        let back = self.rotation.inverse();
        let (origin, direction) = (back * -to_center, back * direction);
        if self.radius == 0.0 {
            enter_box(origin, direction, self.half)
        } else {
            enter_capsule(origin, direction, self.half.y, self.radius)
        }
    }
}

/// By its three pairs of planes.
fn enter_box(origin: DVec3, direction: DVec3, half: DVec3) -> Option<f64> {
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if origin[axis].abs() > half[axis] {
                return None;
            }
            continue;
        }
        let planes = [-half[axis], half[axis]].map(|plane| (plane - origin[axis]) / direction[axis]);
        enter = enter.max(planes[0].min(planes[1]));
        leave = leave.min(planes[0].max(planes[1]));
    }
    (enter <= leave).then_some(enter)
}

/// The nearest of: inside, the ball at either end, the tube between them. The axis is Y.
fn enter_capsule(origin: DVec3, direction: DVec3, half_height: f64, radius: f64) -> Option<f64> {
    let on_axis = DVec3::Y * origin.y.clamp(-half_height, half_height);
    if origin.distance_squared(on_axis) <= radius * radius {
        return Some(0.0);
    }
    let balls = [-half_height, half_height].map(|end| enter_round(origin - DVec3::Y * end, direction, radius));
    let flat = DVec3::new(1.0, 0.0, 1.0);
    let tube = enter_round(origin * flat, direction * flat, radius);
    let tube = tube.filter(|way| (origin.y + direction.y * way).abs() <= half_height);
    balls.into_iter().chain([tube]).flatten().min_by(f64::total_cmp)
}

/// Where a line enters a ball around zero, if that lies ahead.
fn enter_round(origin: DVec3, direction: DVec3, radius: f64) -> Option<f64> {
    let length = direction.length_squared();
    let nearest = -origin.dot(direction) / length;
    let beside = origin + direction * nearest;
    let inside = radius * radius - beside.length_squared();
    let way = nearest - (inside / length).sqrt();
    // Neither is true for what is not a number.
    (inside >= 0.0 && way >= 0.0).then_some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(solid: Solid, origin: DVec3, direction: DVec3) -> Option<f64> {
        solid.meet(origin, direction.normalize())
    }

    #[test]
    fn solids_are_met_where_they_end() {
        let turn = DQuat::from_rotation_z(core::f64::consts::FRAC_PI_2);
        let capsule = Solid { center: DVec3::X, rotation: turn, half: DVec3::Y * 2.0, radius: 0.5 };
        assert_eq!(meet(capsule, DVec3::new(-9.0, 0.0, 0.0), DVec3::X), Some(7.5));
        let side = meet(capsule, DVec3::new(2.0, 9.0, 0.0), DVec3::NEG_Y).unwrap();
        assert!((side - 8.5).abs() < 1e-12, "{side}");
        assert_eq!(meet(capsule, DVec3::new(3.2, 0.0, 0.0), DVec3::X), Some(0.0));
        assert_eq!(meet(capsule, DVec3::new(3.6, 0.0, 0.0), DVec3::X), None);
        let cuboid = Solid { center: DVec3::ZERO, rotation: DQuat::IDENTITY, half: DVec3::ONE, radius: 0.0 };
        assert_eq!(meet(cuboid, DVec3::new(-3.0, 0.5, 0.5), DVec3::X), Some(2.0));
        assert_eq!(meet(cuboid, DVec3::new(-3.0, 1.5, 0.5), DVec3::X), None);
    }

    /// Against walking as far as it is safe.
    #[test]
    fn distances_are_those_of_a_walk() {
        let (mut met, golden) = (0, 0.618_034);
        let spread = |n: u32, k: f64| (f64::from(n) * golden * k).fract() - 0.5;
        for n in 0..2_000 {
            let solid = Solid {
                center: DVec3::new(0.0, 0.0, 10.0),
                rotation: DQuat::from_rotation_x(6.0 * spread(n, 1.7)) * DQuat::from_rotation_z(6.0 * spread(n, 2.9)),
                half: if n % 2 == 0 { DVec3::Y * 0.4 } else { DVec3::new(0.4, 0.2, 0.3) },
                radius: if n % 2 == 0 { 0.2 } else { 0.0 },
            };
            let direction = DVec3::new(0.08 * spread(n, 5.3), 0.08 * spread(n, 7.1), 1.0).normalize();
            let mut way = 0.0;
            while way < 20.0 {
                let local = solid.rotation.inverse() * (direction * way - solid.center);
                let distance = (local.abs() - solid.half).max(DVec3::ZERO).length() - solid.radius;
                if distance < 1e-10 {
                    break;
                }
                way += distance;
            }
            let walked = (way < 20.0).then_some(way);
            let found = solid.meet(DVec3::ZERO, direction);
            assert_eq!(walked.is_some(), found.is_some(), "{n}");
            if let (Some(walked), Some(found)) = (walked, found) {
                assert!((walked - found).abs() < 1e-7, "{n}: {walked} {found}");
                met += 1;
            }
        }
        assert!(met > 500, "{met}");
    }
}
