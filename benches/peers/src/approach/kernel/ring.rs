//! The poses of all rigs in the last ticks, and a ray against a whole rig between two of them.

use bevy::{
    math::{Vec3A, bounding::Aabb3d},
    prelude::*,
};
use bevy_hindsight::Shape;
use wide::{CmpLe, CmpLt, f32x8};

use super::{lanes::Vectors, round};
use crate::scene::REWIND;

/// The ticks that are remembered: 250 ms, and both ends of the oldest view.
pub(super) const SLOTS: usize = REWIND + 2;
/// Nineteen hitboxes in lanes of eight.
const GROUPS: usize = 3;

/// Position and rotation of all hitboxes of a rig relative to its middle, coordinate by coordinate.
type Poses = [[f32x8; 7]; GROUPS];

/// Where a rig was in one tick.
#[derive(Clone, Copy)]
struct Ball {
    center: Vec3,
    radius: f32,
}

/// All rigs, each with its last ticks one after the other.
pub(super) struct RigRing {
    half_heights: [f32x8; GROUPS],
    /// Of lanes without a hitbox, negative.
    radii: [f32x8; GROUPS],
    /// The furthest that a hitbox reaches from its own centre, whatever its rotation.
    reaches: Vec<f32>,
    balls: Vec<Ball>,
    poses: Vec<Poses>,
}

impl RigRing {
    pub(super) fn new(shapes: &[Shape], rigs: usize) -> Self {
        let mut ring = Self {
            half_heights: [f32x8::ZERO; GROUPS],
            radii: [f32x8::splat(-1.0); GROUPS],
            reaches: Vec::new(),
            balls: vec![Ball { center: Vec3::ZERO, radius: 0.0 }; rigs * SLOTS],
            poses: vec![[[f32x8::ZERO; 7]; GROUPS]; rigs * SLOTS],
        };
        for (part, shape) in shapes.iter().enumerate() {
            let (half_height, radius) = round(*shape);
            ring.half_heights[part / 8].as_array_mut()[part % 8] = half_height;
            ring.radii[part / 8].as_array_mut()[part % 8] = radius;
            ring.reaches.push(half_height + radius);
        }
        ring
    }

    pub(super) fn len(&self) -> usize {
        self.balls.len() / SLOTS
    }

    pub(super) fn bytes_per_tick(&self) -> usize {
        size_of::<Poses>() + size_of::<Ball>()
    }

    fn slot(rig: usize, tick: usize) -> usize {
        rig * SLOTS + tick % SLOTS
    }

    /// Writes a record, and returns the box around it.
    pub(super) fn write(&mut self, rig: usize, tick: usize, poses: &[Isometry3d]) -> Aabb3d {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for (pose, reach) in poses.iter().zip(&self.reaches) {
            (min, max) = (min.min(pose.translation - *reach), max.max(pose.translation + *reach));
        }
        let center = 0.5 * (min + max);
        let mut radius = 0.0_f32;
        // Of the tick before; rotations go on from there, since one and its opposite are the same.
        let before = self.poses[Self::slot(rig, tick + SLOTS - 1)];
        let record = &mut self.poses[Self::slot(rig, tick)];
        for (part, (pose, reach)) in poses.iter().zip(&self.reaches).enumerate() {
            let (group, lane) = (part / 8, part % 8);
            let local = pose.translation - center;
            radius = radius.max(local.length() + reach);
            let was = Quat::from_array(core::array::from_fn(|axis| before[group][3 + axis].as_array_ref()[lane]));
            let rotation = if was.dot(pose.rotation) < 0.0 { -pose.rotation } else { pose.rotation };
            let [x, y, z, w] = rotation.to_array();
            for (lanes, number) in record[group].iter_mut().zip([local.x, local.y, local.z, x, y, z, w]) {
                lanes.as_array_mut()[lane] = number;
            }
        }
        self.balls[Self::slot(rig, tick)] = Ball { center: center.into(), radius };
        Aabb3d { min, max }
    }

    /// One end and the whole axis of eight hitboxes between two ticks. Rotations are not made unit ones; the length of the
    /// axis is put right instead.
    #[inline(always)]
    fn axes(&self, rig: usize, tick: usize, t: f32, group: usize) -> (Vectors, Vectors) {
        let from = &self.poses[Self::slot(rig, tick)][group];
        let to = &self.poses[Self::slot(rig, tick + 1)][group];
        let t = f32x8::splat(t);
        let [px, py, pz, x, y, z, w]: [f32x8; 7] = core::array::from_fn(|n| from[n] + (to[n] - from[n]) * t);
        let norm = x * x + y * y + z * z + w * w;
        let scale = self.half_heights[group] / norm.fast_max(f32x8::splat(1e-20));
        let twice = scale + scale;
        // The Y axis, turned.
        let half = Vectors {
            x: (x * y - w * z) * twice,
            y: (w * w + y * y - x * x - z * z) * scale,
            z: (y * z + w * x) * twice,
        };
        (Vectors { x: px, y: py, z: pz } - half, half + half)
    }

    fn center(&self, rig: usize, tick: usize, t: f32) -> Ball {
        let [from, to] = [tick, tick + 1].map(|tick| self.balls[Self::slot(rig, tick)]);
        Ball { center: from.center + (to.center - from.center) * t, radius: from.radius.max(to.radius) }
    }

    /// Where a ray enters the first hitbox of a rig, and which one that is.
    #[inline]
    pub(super) fn cast(&self, rig: usize, tick: usize, t: f32, ray: Ray3d) -> Option<(f32, u32)> {
        const SKIN: f32 = 1e-3;
        let Ball { center, radius } = self.center(rig, tick, t);
        let from_center = ray.origin - center;
        let direction = *ray.direction;
        let starts_inside = from_center.length_squared() <= (radius + SKIN) * (radius + SKIN);
        // Far away, numbers are rounded to more than hitboxes can bear: the ray is moved on to where it passes the rig.
        let along = if starts_inside { 0.0 } else { -from_center.dot(direction) };
        let origin = Vectors::splat(from_center + direction * along);
        let (least, part) = if starts_inside {
            self.enter::<true>(rig, tick, t, origin, direction)
        } else {
            self.enter::<false>(rig, tick, t, origin, direction)
        };
        let distance = least + along;
        (0.0..f32::INFINITY).contains(&distance).then_some((distance, part))
    }

    /// The least way to any hitbox of a rig, which may be behind the origin unless the ray starts inside the rig's ball.
    #[inline(always)]
    fn enter<const STARTS_INSIDE: bool>(
        &self,
        rig: usize,
        tick: usize,
        t: f32,
        origin: Vectors,
        direction: Vec3,
    ) -> (f32, u32) {
        let direction = Vectors::splat(direction);
        let (zero, never) = (f32x8::ZERO, f32x8::splat(f32::INFINITY));
        let (mut least, mut nearest) = (never, zero);
        for group in 0..GROUPS {
            let (end, axis) = self.axes(rig, tick, t, group);
            let radius = self.radii[group];
            let exists = zero.cmp_lt(radius);
            let square = radius * radius;
            let from_end = origin - end;
            let length = axis.dot(axis);
            let slope = axis.dot(direction);
            let height = axis.dot(from_end);
            let across = axis.cross(direction);
            let apart = across.dot(across);
            let beside = across.dot(from_end);
            // The tube, from the distance between two lines; all scaled by the length of the axis.
            let depth = length * (apart * square - beside * beside);
            let back = length * direction.dot(from_end) - height * slope;
            let tube = (zero - back - depth.fast_max(zero).sqrt()) / apart;
            let met_at = height + tube * slope;
            // Along the axis, there is no tube; the ball that comes first is met.
            let is_parallel = apart.cmp_le(length * f32x8::splat(1e-7));
            let met_at = is_parallel.blend(zero - slope * f32x8::splat(1e12), met_at);
            let is_tube = zero.cmp_le(depth) & zero.cmp_lt(met_at) & met_at.cmp_lt(length);
            let is_first_end = met_at.cmp_le(zero);
            let other_end = from_end - axis;
            let ball = Vectors {
                x: is_first_end.blend(from_end.x, other_end.x),
                y: is_first_end.blend(from_end.y, other_end.y),
                z: is_first_end.blend(from_end.z, other_end.z),
            };
            let ahead = direction.dot(ball);
            let off = ball - direction * ahead;
            let within = square - off.dot(off);
            let cap = zero - ahead - within.fast_max(zero).sqrt();
            let mut is_met = (is_tube | zero.cmp_le(within)) & exists;
            let mut way = is_tube.blend(tube, cap);
            if STARTS_INSIDE {
                let part = (height / length.fast_max(f32x8::splat(1e-20))).fast_max(zero).fast_min(f32x8::splat(1.0));
                let off = from_end - axis * part;
                let is_within = off.dot(off).cmp_le(square) & exists;
                is_met = (is_met & zero.cmp_le(way)) | is_within;
                way = is_within.blend(zero, way);
            }
            let way = is_met.blend(way, never);
            let is_less = way.cmp_lt(least);
            least = is_less.blend(way, least);
            nearest = is_less.blend(f32x8::splat(group as f32), nearest);
        }
        let lanes = least.to_array().into_iter().zip(nearest.to_array()).enumerate();
        lanes.fold((f32::INFINITY, 0), |best, (lane, (way, group))| {
            let part = 8 * group as u32 + lane as u32;
            if way < best.0 || (way == best.0 && part < best.1) { (way, part) } else { best }
        })
    }

    /// Outwards from a hitbox at a point of its surface.
    pub(super) fn normal(&self, rig: usize, part: usize, tick: usize, t: f32, point: Vec3) -> Vec3 {
        let (end, axis) = self.axes(rig, tick, t, part / 8);
        let (end, axis) = (end.lane(part % 8), axis.lane(part % 8));
        let from_end = point - self.center(rig, tick, t).center - end;
        let length = axis.length_squared();
        let along = if length > 0.0 { (from_end.dot(axis) / length).clamp(0.0, 1.0) } else { 0.0 };
        (from_end - axis * along).normalize_or_zero()
    }
}
