//! The rays of a fan, four side by side.

use core::{array, cell::Cell};

use arrayvec::ArrayVec;
use bevy::math::{
    Vec3A, Vec4,
    bounding::{Aabb3d, BoundingSphere},
};

use super::{fan::Fan, region::Place};
use crate::{
    history::{Beam, BoxTree, Frustum},
    shape::PreciseRay,
};

/// The rays of a fan, each as far as something nearer has not been found on it.
///
/// A look at all of them takes little more than a look at one, and so they go through the world together.
pub(super) struct RayPacket<'a> {
    fan: &'a Fan<'a>,
    /// What lies between them, if they all go the same way.
    frustum: Option<Frustum>,
    groups: &'a [Group],
}

const LANES: usize = 4;

/// Room for the rays of a packet. It is too large to be moved about.
pub(super) type Room = ArrayVec<Group, { Fan::MOST / LANES }>;

/// Four rays.
pub(super) struct Group {
    direction: [Vec4; 3],
    inverse: [Vec4; 3],
    /// How far along each ray things are still looked for; of what is free, less than nothing.
    reach: Cell<Vec4>,
}

/// Some rays of a packet, by their numbers; one bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct RaySet(u64);

impl<'a> RayPacket<'a> {
    pub(super) fn new(fan: &'a Fan<'a>, room: &'a mut Room) -> Self {
        let group = |rays: &[PreciseRay]| {
            let of = |axis: usize| array::from_fn(|lane| rays.get(lane).map_or(0.0, |ray| ray.direction[axis]));
            let direction = [0, 1, 2].map(|axis| Vec4::from_array(of(axis)));
            // A number that is none would be met everywhere.
            let tamed = |along: f32| if along.abs() < 1e-12 { 1e12_f32.copysign(along) } else { along.recip() };
            let inverse = direction.map(|axis| Vec4::from_array(axis.to_array().map(tamed)));
            let reach = array::from_fn(|lane| if lane < rays.len() { fan.range } else { f32::NEG_INFINITY });
            Group { direction, inverse, reach: Cell::new(Vec4::from_array(reach)) }
        };
        room.clear();
        room.extend(fan.rays.chunks(LANES).map(group));
        let frustum = Frustum::new(fan.axis().origin, fan.rays.iter().map(|ray| ray.direction));
        Self { fan, frustum, groups: room }
    }

    pub(super) fn rays(&self) -> &'a [PreciseRay] {
        self.fan.rays
    }

    /// How far along a ray things are still looked for.
    #[inline]
    pub(super) fn reach_of(&self, number: usize) -> f32 {
        self.groups[number / LANES].reach.get()[number % LANES]
    }

    /// From now on, no further along a ray than this.
    #[inline]
    pub(super) fn shrink(&self, number: usize, distance: f32) {
        let reach = &self.groups[number / LANES].reach;
        let mut shrunk = reach.get();
        shrunk[number % LANES] = distance;
        reach.set(shrunk);
    }

    /// The rays that may meet anything within a ball; too many rather than too few.
    #[inline]
    pub(super) fn near_ball(&self, bounds: BoundingSphere) -> RaySet {
        let to_center = (bounds.center - Vec3A::from(self.fan.axis().origin)).to_array().map(Vec4::splat);
        let radius = Vec4::splat(bounds.radius() + 1e-3);
        self.select(|Group { direction, reach, .. }| {
            let [x, y, z] = *direction;
            let [to_x, to_y, to_z] = to_center;
            let along = (to_x * x + to_y * y + to_z * z).max(Vec4::ZERO).min(reach.get());
            let (off_x, off_y, off_z) = (to_x - x * along, to_y - y * along, to_z - z * along);
            // Rounding in `f32` grows with the distance; this is more than it can be.
            let radius = radius + along * 1e-5;
            // Less than nothing is no distance, and no reach either.
            let is_near = (off_x * off_x + off_y * off_y + off_z * off_z).cmple(radius * radius);
            (is_near & reach.get().cmpge(Vec4::ZERO)).bitmask()
        })
    }

    /// The rays that may meet anything within a box; too many rather than too few.
    #[inline]
    pub(super) fn near_box(&self, bounds: Aabb3d) -> RaySet {
        let origin = Vec3A::from(self.fan.axis().origin);
        let (min, max) = (bounds.min - origin, bounds.max - origin);
        // More than rounding can be, as above.
        let margin = 1e-3 + 4e-5 * min.abs().max(max.abs()).max_element() + 1e-6 * origin.abs().max_element();
        let min = (min - margin).to_array().map(Vec4::splat);
        let max = (max + margin).to_array().map(Vec4::splat);
        self.select(|Group { inverse, reach, .. }| {
            let pass = |axis: usize| {
                let (a, b) = (min[axis] * inverse[axis], max[axis] * inverse[axis]);
                (a.min(b), a.max(b))
            };
            let ((enter_x, leave_x), (enter_y, leave_y), (enter_z, leave_z)) = (pass(0), pass(1), pass(2));
            let enter = enter_x.max(enter_y).max(enter_z).max(Vec4::ZERO);
            let leave = leave_x.min(leave_y).min(leave_z).min(reach.get());
            // What is not a number may be anywhere.
            !enter.cmpgt(leave).bitmask() & 0b1111
        })
    }

    #[inline(always)]
    fn select(&self, of: impl Fn(&Group) -> u32) -> RaySet {
        // The last group first, to be shifted furthest.
        let bits = self.groups.iter().rev().fold(0, |bits, group| bits << LANES | u64::from(of(group)));
        RaySet(bits & (u64::MAX >> (Fan::MOST - self.fan.rays.len())))
    }
}

impl Place for RayPacket<'_> {
    #[inline]
    fn may_meet(&self, bounds: BoundingSphere) -> bool {
        !self.near_ball(bounds).is_empty()
    }

    fn beam(&self) -> Beam {
        self.fan.beam_to(self.reach())
    }

    #[inline]
    fn reach(&self) -> f32 {
        let reaches = self.groups.iter().map(|group| group.reach.get());
        reaches.fold(Vec4::NEG_INFINITY, Vec4::max).max_element()
    }

    fn search(&self, tree: &BoxTree, around: f32, mut visit: impl FnMut(u32) -> f32) {
        let Some(frustum) = &self.frustum else {
            self.fan.search_to(self.reach(), tree, around, visit);
            return;
        };
        // With room around, rays are not told apart.
        let is_near = |bounds: Aabb3d| around > 0.0 || !self.near_box(bounds).is_empty();
        tree.visit_frustum(frustum, self.reach(), around, &is_near, &mut visit);
    }
}

impl RaySet {
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of the ray, if it is one.
    pub(super) fn single(self) -> Option<usize> {
        self.0.is_power_of_two().then(|| self.0.trailing_zeros() as usize)
    }
}

impl Iterator for RaySet {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let first = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        Some(first as usize)
    }
}

const _: () = assert!(Fan::MOST == u64::BITS as usize, "a bit for each ray");

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use proptest::prelude::*;

    use super::{
        super::{fan::tests::rays, region::may_meet},
        *,
    };
    use crate::shape::Shape;

    proptest! {
        #[test]
        fn a_packet_leaves_out_no_ray_that_may_meet_a_ball(
            count in 1_u8..=64,
            spread in 0.0_f32..1.57,
            seed: u32,
            center in prop::array::uniform3(-30.0_f32..30.0),
            radius in 0.01_f32..3.0,
            reaches in prop::collection::vec(0.0_f32..40.0, 64),
        ) {
            let rays = rays(Vec3::new(1.0, 2.0, 3.0), Dir3::Z, count, spread, seed);
            let fan = Fan::new(&rays, 25.0);
            let mut room = Room::new();
            let packet = RayPacket::new(&fan, &mut room);
            reaches.iter().take(rays.len()).enumerate().for_each(|(number, reach)| packet.shrink(number, *reach));
            let bounds = BoundingSphere::new(Vec3A::from(center), radius);
            let near: Vec<_> = packet.near_ball(bounds).collect();
            for (number, ray) in rays.iter().enumerate() {
                // They round differently.
                let smaller = BoundingSphere::new(Vec3A::from(center), radius - 1e-3);
                prop_assert!(!may_meet(**ray, reaches[number], smaller) || near.contains(&number), "{number} of {near:?}");
            }
            prop_assert!(near.iter().all(|number| *number < rays.len()));
            prop_assert_eq!(packet.may_meet(bounds), !near.is_empty());
        }

        #[test]
        fn a_packet_leaves_out_no_ray_that_meets_a_box(
            count in 1_u8..=64,
            spread in 0.0_f32..1.57,
            aim in prop_oneof![Just(Vec3::X), Just(-Vec3::Y), prop::array::uniform3(-1.0_f32..1.0).prop_map(Vec3::from)],
            seed: u32,
            center in prop::array::uniform3(-30.0_f32..30.0),
            half in prop::array::uniform3(0.0_f32..5.0),
            reaches in prop::collection::vec(0.0_f32..60.0, 64),
        ) {
            let rays = rays(Vec3::new(1.0, 2.0, 3.0), Dir3::new(aim).unwrap_or(Dir3::X), count, spread, seed);
            let fan = Fan::new(&rays, 25.0);
            let mut room = Room::new();
            let packet = RayPacket::new(&fan, &mut room);
            reaches.iter().take(rays.len()).enumerate().for_each(|(number, reach)| packet.shrink(number, *reach));
            let near: Vec<_> = packet.near_box(Aabb3d::new(Vec3::from(center), Vec3::from(half))).collect();
            let shape = Shape::Cuboid { half_extents: half.into() };
            for (number, ray) in rays.iter().enumerate() {
                let met = shape.cast_precisely(Isometry3d::from_translation(Vec3::from(center)), ray, reaches[number]);
                prop_assert!(met.is_none() || near.contains(&number), "{number} of {near:?}");
            }
            prop_assert!(near.iter().all(|number| *number < rays.len()));
        }
    }

    #[test]
    fn what_is_not_a_number_is_met_by_all_or_nothing() {
        let rays = rays(Vec3::ZERO, Dir3::Z, 5, 0.1, 1);
        let fan = Fan::new(&rays, 25.0);
        let mut room = Room::new();
        let packet = RayPacket::new(&fan, &mut room);
        let nowhere = Aabb3d { min: Vec3A::NAN, max: Vec3A::NAN };
        assert_eq!(packet.near_box(nowhere).count(), 5);
        assert!(!packet.may_meet(BoundingSphere::new(Vec3A::NAN, 1.0)));
        for range in [-1.0, f32::NAN] {
            let fan = Fan::new(&rays, range);
            let mut room = Room::new();
            let packet = RayPacket::new(&fan, &mut room);
            assert!(!packet.may_meet(BoundingSphere::new(Vec3::ZERO, 1.0)), "{range}");
        }
    }

    #[test]
    fn rays_are_told_by_their_numbers() {
        assert_eq!(RaySet(0b1_0010).collect::<Vec<_>>(), [1, 4]);
        assert_eq!((RaySet(0b100).single(), RaySet(0b101).single(), RaySet(0).single()), (Some(2), None, None));
    }
}
