//! Which rigs an answer tells of.

use bevy::{math::Vec3A, prelude::*};

use super::rigs::NearRig;
use crate::shot::{RewoundRig, RewoundRigs};

/// The rigs that something came closest to.
pub(super) struct Tested<'a> {
    /// With how far along the way they stood, and their roots, if those have been found already.
    rigs: [Option<(f32, NearRig<'a>, Option<Isometry3d>)>; 4],
    /// Their order along the way.
    order: [usize; 4],
    count: usize,
    way: Ray3d,
}

impl<'a> Tested<'a> {
    pub(super) fn new(way: Ray3d) -> Self {
        Self { rigs: [const { None }; 4], order: [0, 1, 2, 3], count: 0, way }
    }

    pub(super) fn insert(&mut self, near: &NearRig<'a>, root: Option<Isometry3d>) {
        let along = (near.rough.center - Vec3A::from(self.way.origin)).dot(Vec3A::from(*self.way.direction));
        let mut place = self.count;
        while place > 0 {
            let Some((other_along, other, _)) = &self.rigs[self.order[place - 1]] else { break };
            let by_name = || near.id.cmp(&other.id).then(near.rig.cmp(&other.rig));
            if !along.total_cmp(other_along).then_with(by_name).is_lt() {
                break;
            }
            place -= 1;
        }
        if place < self.order.len() {
            let order = &mut self.order[place..];
            // What is the last of all makes room.
            order.rotate_right(1);
            self.rigs[self.order[place]] = Some((along, *near, root));
            self.count = (self.count + 1).min(self.rigs.len());
        }
    }

    /// Those that are left, as they were tested, in the order along the way.
    pub(super) fn rigs(&self) -> RewoundRigs {
        self.order.map(|number| {
            let (_, near, root) = self.rigs[number].as_ref()?;
            let NearRig { rig, view_time, basis, .. } = *near;
            Some(RewoundRig { rig, root: root.unwrap_or_else(|| near.root()), view_time, basis })
        })
    }

    /// How far along the way a rig can lie and still be among them.
    pub(super) fn reach(&self) -> f32 {
        let last = self.rigs[self.order[3]].as_ref();
        // More than rounding can be.
        last.map_or(f32::INFINITY, |(along, ..)| along + 1e-3 + 1e-5 * along.abs())
    }
}
