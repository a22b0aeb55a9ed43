//! Shapes on their way to others.

use bevy::{math::DVec3, prelude::*};

use super::{
    Shape,
    convex::{Convex, Placed, gap},
    ray::cast_at_capsule,
};

impl Shape {
    /// How far `moving` gets from `from` along `direction`, without turning, until it touches the solid shape at `pose`: in
    /// metres, if that is at most `range`. 0 if they overlap where it starts.
    ///
    /// Right to 0.1 mm; so are touches in passing. Balls against balls and capsules cost as much as a ray, all else a few
    /// microseconds. What is not a number is never met.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::Shape;
    ///
    /// let wall = Shape::Cuboid { half_extents: Vec3::new(2.0, 2.0, 0.5) };
    /// let figure = Shape::Capsule { half_height: 0.6, radius: 0.3 };
    /// let pose = Isometry3d::from_xyz(0.0, 0.0, 10.0);
    /// let way = wall.cast_shape(pose, figure, Isometry3d::IDENTITY, Dir3::Z, 100.0);
    /// assert!((way.unwrap() - 9.2).abs() < 1e-5);
    /// ```
    pub fn cast_shape(
        self,
        pose: Isometry3d,
        moving: Shape,
        from: Isometry3d,
        direction: Dir3,
        range: f32,
    ) -> Option<f32> {
        let (resting, start) = (Placed::new(self, pose), Placed::new(moving, from));
        let direction = direction.as_dvec3().normalize();
        let distance = match (self, moving) {
            (Shape::Ball { .. } | Shape::Capsule { .. }, Shape::Ball { .. }) => {
                let (origin, half_axis) = (start.center() - resting.center(), resting.half_axis());
                cast_at_capsule(origin, direction, half_axis, resting.radius() + start.radius())
            }
            (Shape::Ball { .. }, Shape::Capsule { .. }) => {
                let (origin, half_axis) = (resting.center() - start.center(), start.half_axis());
                cast_at_capsule(origin, -direction, half_axis, resting.radius() + start.radius())
            }
            _ => approach(&resting, &start, direction, range),
        }? as f32;
        (distance <= range).then_some(distance)
    }
}

/// How far `start` gets until it touches `resting`.
///
/// The distance between two convex solids is a convex function of the way of one of them. So Newton's method comes to the first
/// touch from before it, and never passes it.
fn approach(resting: &Placed, start: &Placed, direction: DVec3, range: f32) -> Option<f64> {
    /// Metres that count as none.
    const TOUCH: f64 = 1e-8;
    /// Metres that count as none where two brush past each other, and Newton's method halves the rest with each step.
    const BRUSH: f64 = 1e-5;
    const STEPS: usize = 64;
    let reach = resting.radius() + start.radius();
    let mut way = 0.0;
    let mut left = f64::INFINITY;
    for _ in 0..STEPS {
        let gap = gap(resting, &start.moved(direction * way))?;
        left = gap.distance - reach;
        if left <= TOUCH {
            return Some(way);
        }
        let speed = (gap.first - gap.second).dot(direction) / gap.distance;
        if speed <= 0.0 {
            break;
        }
        way += left / speed;
        // Rounded, as the answer will be.
        if way as f32 > range || way.is_nan() {
            break;
        }
    }
    (left <= BRUSH && way as f32 <= range).then_some(way)
}
