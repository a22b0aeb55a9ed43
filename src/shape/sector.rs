//! The reach of a blow.

use core::f32::consts::FRAC_PI_2;

use bevy::{
    math::{DVec3, ops},
    prelude::*,
};

use super::{
    Shape,
    convex::{Convex, Placed, gap},
};

/// All points within `reach` of `apex` and within `half_angle` of `axis`: a cone with a round end.
///
/// ```
/// use core::f32::consts::FRAC_PI_4;
///
/// use bevy::prelude::*;
/// use bevy_hindsight::{Sector, Shape};
///
/// let blow = Sector { apex: Vec3::ZERO, axis: Dir3::Z, reach: 2.0, half_angle: FRAC_PI_4 };
/// let ball = Shape::Ball { radius: 0.5 };
/// let at = |x, z| Isometry3d::from_xyz(x, 0.0, z);
/// assert_eq!(blow.meets(ball, at(0.0, 2.0)), Some(Vec3::Z * 1.5));
/// assert_eq!(blow.meets(ball, at(0.0, 2.6)), None);
/// assert_eq!(blow.meets(ball, at(2.0, 0.0)), None);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sector {
    /// Where it begins, in the world.
    pub apex: Vec3,
    /// Its middle.
    pub axis: Dir3,
    /// How far it reaches, in metres.
    pub reach: f32,
    /// Half its opening angle, in radians. More than a right angle counts as all around.
    pub half_angle: f32,
}

impl Sector {
    /// A point of the solid shape at `pose` that lies in the sector, if there is one: the one nearest to the apex, if that does, or
    /// else any. What is not a number is not met.
    ///
    /// Takes less than a microsecond.
    pub fn meets(&self, shape: Shape, pose: Isometry3d) -> Option<Vec3> {
        let nearest = shape.closest_point(pose, self.apex);
        let distance = nearest.distance(self.apex);
        if distance > self.reach || distance.is_nan() {
            return None;
        }
        let is_all_around = self.half_angle > FRAC_PI_2;
        if is_all_around || distance == 0.0 {
            return Some(nearest);
        }
        let cone = Cone::new(self);
        let towards = (nearest - self.apex).as_dvec3();
        if towards.dot(cone.axis) >= cone.cos * towards.length() {
            return Some(nearest);
        }
        let shape = Placed::new(shape, pose);
        let gap = gap(&cone, &shape)?;
        (gap.distance <= shape.radius()).then(|| gap.first.as_vec3())
    }
}

/// A sector in `f64`.
struct Cone {
    apex: DVec3,
    axis: DVec3,
    reach: f64,
    sin: f64,
    cos: f64,
}

impl Cone {
    fn new(sector: &Sector) -> Self {
        let (sin, cos) = ops::sin_cos(sector.half_angle.clamp(0.0, FRAC_PI_2));
        Self {
            apex: sector.apex.as_dvec3(),
            axis: sector.axis.as_dvec3().normalize(),
            reach: f64::from(sector.reach),
            sin: f64::from(sin),
            // The cosine of a right angle is not quite 0 in `f32`.
            cos: f64::from(cos.max(0.0)),
        }
    }
}

impl Convex for Cone {
    fn support(&self, direction: DVec3) -> DVec3 {
        let length = direction.length();
        let along = direction.dot(self.axis);
        let across = direction - self.axis * along;
        // On the round end, on its rim, or at the apex.
        let towards = if along >= self.cos * length {
            direction / length
        } else {
            // Against the axis, nothing but rounding is left across it.
            let is_across = across.length() > 1e-9 * length;
            let across = if is_across { across.normalize() } else { self.axis.any_orthonormal_vector() };
            self.axis * self.cos + across * self.sin
        };
        if towards.dot(direction) > 0.0 { self.apex + towards * self.reach } else { self.apex }
    }

    fn radius(&self) -> f64 {
        0.0
    }
}
