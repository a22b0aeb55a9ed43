//! The arena: a walled square with cover in it, as plain data.

use bevy::prelude::*;
use bevy_hindsight::Shape;

/// Half the edge length of the floor, in metres.
pub const HALF_SIZE: f32 = 20.0;

const WALL_HEIGHT: f32 = 3.0;
const WALL_HALF_THICKNESS: f32 = 0.25;

/// A box that stands still. It stops bullets, and what is no floor stops characters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Its centre.
    pub center: Vec3,
    /// Half its edge lengths, in metres.
    pub half_extents: Vec3,
}

/// A place for a character to begin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpawnPoint {
    /// Where the feet are.
    pub position: Vec3,
    /// The direction of view, in radians from -Z.
    pub yaw: f32,
}

impl Block {
    /// A block that stands on the floor.
    const fn standing(x: f32, z: f32, width: f32, height: f32, depth: f32) -> Self {
        Self { center: Vec3::new(x, height / 2.0, z), half_extents: Vec3::new(width / 2.0, height / 2.0, depth / 2.0) }
    }

    /// Where the ray meets the block, in metres from its origin.
    fn cast_ray(&self, ray: Ray3d, range: f32) -> Option<f32> {
        let shape = Shape::Cuboid { half_extents: self.half_extents };
        shape.cast_ray(Isometry3d::from_translation(self.center), ray, range)
    }
}

/// What characters walk on.
pub const FLOOR: Block =
    Block { center: Vec3::new(0.0, -0.5, 0.0), half_extents: Vec3::new(HALF_SIZE, 0.5, HALF_SIZE) };

/// The four walls and the cover between them.
pub const OBSTACLES: [Block; 9] = {
    const OUTER: f32 = HALF_SIZE + WALL_HALF_THICKNESS;
    const LENGTH: f32 = 2.0 * (HALF_SIZE + 2.0 * WALL_HALF_THICKNESS);
    const THICKNESS: f32 = 2.0 * WALL_HALF_THICKNESS;
    [
        Block::standing(0.0, -OUTER, LENGTH, WALL_HEIGHT, THICKNESS),
        Block::standing(0.0, OUTER, LENGTH, WALL_HEIGHT, THICKNESS),
        Block::standing(-OUTER, 0.0, THICKNESS, WALL_HEIGHT, LENGTH),
        Block::standing(OUTER, 0.0, THICKNESS, WALL_HEIGHT, LENGTH),
        // Low enough to show head and shoulders of who stands behind it.
        Block::standing(-5.0, 1.0, 2.4, 1.1, 0.6),
        Block::standing(6.0, -2.0, 0.6, 1.1, 2.4),
        // High enough to hide behind.
        Block::standing(1.5, 7.0, 1.2, 2.2, 1.2),
        Block::standing(-2.5, -7.5, 1.2, 2.2, 1.2),
        Block::standing(11.0, 9.0, 1.6, 2.2, 0.8),
    ]
};

/// Where characters begin, one after the other.
pub const SPAWN_POINTS: [SpawnPoint; 4] = {
    use core::f32::consts::{FRAC_PI_2, PI};
    [
        SpawnPoint { position: Vec3::new(0.0, 0.0, 8.0), yaw: 0.0 },
        SpawnPoint { position: Vec3::new(0.0, 0.0, -8.0), yaw: PI },
        SpawnPoint { position: Vec3::new(-12.0, 0.0, 0.0), yaw: -FRAC_PI_2 },
        SpawnPoint { position: Vec3::new(12.0, 0.0, 0.0), yaw: FRAC_PI_2 },
    ]
};

/// All blocks, the floor first.
pub fn blocks() -> impl Iterator<Item = Block> {
    core::iter::once(FLOOR).chain(OBSTACLES)
}

/// The distance at which the ray first meets a block, in metres, if that is at most `range`.
pub fn cast_ray(ray: Ray3d, range: f32) -> Option<f32> {
    blocks().filter_map(|block| block.cast_ray(ray, range)).min_by(f32::total_cmp)
}

/// Whether nothing stands between two points.
pub fn is_clear(from: Vec3, to: Vec3) -> bool {
    match Dir3::new_and_length(to - from) {
        Ok((direction, distance)) => cast_ray(Ray3d::new(from, direction), distance).is_none(),
        Err(_) => true,
    }
}

/// Whether a body of `radius` can stand here without touching an obstacle.
pub fn is_free(position: Vec3, radius: f32) -> bool {
    push_out(position, radius) == position
}

/// The nearest place beside all obstacles for a body of `radius` that stands on the floor.
pub fn push_out(position: Vec3, radius: f32) -> Vec3 {
    let mut at = position.xz();
    for block in &OBSTACLES {
        at = push_out_of(block, at, radius);
    }
    Vec3::new(at.x, position.y, at.y)
}

fn push_out_of(block: &Block, at: Vec2, radius: f32) -> Vec2 {
    let (center, half_size) = (block.center.xz(), block.half_extents.xz());
    let local = at - center;
    let nearest = local.clamp(-half_size, half_size);
    let (outwards, distance) = (local - nearest).normalize_and_length();
    if distance >= radius {
        return at;
    }
    if distance > 0.0 {
        return center + nearest + outwards * radius;
    }
    // The centre of the body is inside: the shortest way out is over the nearest edge.
    let depth = half_size - local.abs();
    let side = if depth.x < depth.y { Vec2::X } else { Vec2::Y };
    let sign = Vec2::new(1.0_f32.copysign(local.x), 1.0_f32.copysign(local.y));
    center + local * (Vec2::ONE - side) + sign * side * (half_size + radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f32 = 0.35;

    #[test]
    fn spawn_points_are_free_and_look_at_the_middle() {
        for SpawnPoint { position, yaw } in SPAWN_POINTS {
            assert!(is_free(position, RADIUS), "{position}");
            let forward = Quat::from_rotation_y(yaw) * Vec3::NEG_Z;
            assert!(forward.dot(-position.normalize()) > 0.999, "{position}");
        }
    }

    #[test]
    fn bodies_end_up_outside_of_what_they_walk_into() {
        let block = OBSTACLES[6];
        for offset in [Vec3::ZERO, Vec3::new(0.3, 0.0, 0.1), Vec3::new(-0.7, 0.0, 0.7), Vec3::new(0.0, 0.0, -0.9)] {
            let out = push_out(block.center.with_y(0.0) + offset, RADIUS);
            let gap = (out - block.center).xz().abs() - block.half_extents.xz();
            assert!(gap.max(Vec2::ZERO).length() > RADIUS - 1e-4, "{offset} to {out}");
        }
    }

    #[test]
    fn nobody_leaves_the_arena() {
        let out = push_out(Vec3::new(HALF_SIZE + 0.1, 0.0, -HALF_SIZE), RADIUS);
        assert!(out.xz().abs().max_element() <= HALF_SIZE - RADIUS + 1e-4, "{out}");
    }

    #[test]
    fn cover_hides_what_is_behind_it() {
        let eye = Vec3::new(1.5, 1.6, 12.0);
        assert!(!is_clear(eye, Vec3::new(1.5, 1.6, 0.0)));
        assert!(is_clear(eye, Vec3::new(1.5, 1.6, 9.0)));
        assert!(is_clear(Vec3::new(-5.0, 1.5, 4.0), Vec3::new(-5.0, 1.5, -4.0)), "over the low block");
    }

    #[test]
    fn the_nearest_block_stops_a_ray() {
        let ray = Ray3d::new(Vec3::new(1.5, 1.0, 12.0), Dir3::NEG_Z);
        assert!((cast_ray(ray, 100.0).unwrap() - 4.4).abs() < 1e-4);
    }
}
