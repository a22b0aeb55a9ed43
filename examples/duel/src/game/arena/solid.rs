//! A box in the way.

use bevy::prelude::*;
use bevy_hindsight::Shape;

/// A box along the axes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Solid {
    /// Its middle.
    pub center: Vec3,
    /// Half its edge lengths, in metres.
    pub half_extents: Vec3,
}

impl Solid {
    /// The height of its upper face, in metres.
    pub fn top(&self) -> f32 {
        self.center.y + self.half_extents.y
    }

    /// The height of its lower face, in metres.
    pub fn bottom(&self) -> f32 {
        self.center.y - self.half_extents.y
    }

    /// Whether any of it is between two heights.
    pub fn is_between(&self, low: f32, high: f32) -> bool {
        self.top() > low && self.bottom() < high
    }

    /// The nearest place beside it for a body of `radius`, seen from above; `None` if it is not in the way.
    pub fn push_out(&self, at: Vec2, radius: f32) -> Option<Vec2> {
        let (center, half_size) = (self.center.xz(), self.half_extents.xz());
        let local = at - center;
        let nearest = local.clamp(-half_size, half_size);
        let (outwards, distance) = (local - nearest).normalize_and_length();
        if distance >= radius {
            return None;
        }
        if distance > 0.0 {
            return Some(center + nearest + outwards * radius);
        }
        // The centre of the body is inside: the shortest way out is over the nearest edge.
        let depth = half_size - local.abs();
        let side = if depth.x < depth.y { Vec2::X } else { Vec2::Y };
        let sign = Vec2::new(1.0_f32.copysign(local.x), 1.0_f32.copysign(local.y));
        Some(center + local * (Vec2::ONE - side) + sign * side * (half_size + radius))
    }

    /// The height of its upper face, if feet at this place are on or above it.
    pub fn ground_below(&self, feet: Vec3, radius: f32) -> Option<f32> {
        let is_above = self.push_out(feet.xz(), radius).is_some() && self.top() <= feet.y;
        is_above.then(|| self.top())
    }

    /// Where the ray meets it, in metres from its origin, if that is at most `range`.
    pub fn cast_ray(&self, ray: Ray3d, range: f32) -> Option<f32> {
        let shape = Shape::Cuboid { half_extents: self.half_extents };
        shape.cast_ray(Isometry3d::from_translation(self.center), ray, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f32 = 0.35;

    #[test]
    fn bodies_end_up_outside_of_what_they_walk_into() {
        let solid = Solid { center: Vec3::new(1.5, 1.1, 7.0), half_extents: Vec3::new(0.6, 1.1, 0.6) };
        for offset in [Vec2::ZERO, Vec2::new(0.3, 0.1), Vec2::new(-0.7, 0.7), Vec2::new(0.0, -0.9)] {
            let out = solid.push_out(solid.center.xz() + offset, RADIUS).unwrap();
            let gap = (out - solid.center.xz()).abs() - solid.half_extents.xz();
            assert!(gap.max(Vec2::ZERO).length() > RADIUS - 1e-4, "{offset} to {out}");
        }
        assert_eq!(solid.push_out(Vec2::new(5.0, 7.0), RADIUS), None);
    }

    #[test]
    fn feet_stand_on_what_is_below_them() {
        let solid = Solid { center: Vec3::Y, half_extents: Vec3::ONE };
        assert_eq!(solid.ground_below(Vec3::Y * 3.0, RADIUS), Some(2.0));
        assert_eq!(solid.ground_below(Vec3::Y * 1.9, RADIUS), None, "they are in it");
        assert_eq!(solid.ground_below(Vec3::new(2.0, 3.0, 0.0), RADIUS), None, "they are beside it");
        assert!(solid.is_between(1.9, 5.0) && !solid.is_between(2.0, 5.0));
    }
}
