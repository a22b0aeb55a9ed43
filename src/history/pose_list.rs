//! The poses of a rig's hitboxes on their way into its history.

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};

use super::{poses::Places, tree::each_axis};
use crate::pose::Pose;

/// Poses relative to a root, four side by side.
#[derive(Debug)]
pub(super) struct PoseList {
    root: Pose<Vec4>,
    to_root: Pose<Vec4>,
    groups: Vec<Pose<Vec4>>,
    /// Where hitboxes are, by another way than poses are found: it tells who is noted in the evidence, to the last bit.
    places: Vec<Places>,
    len: usize,
}

impl Default for PoseList {
    fn default() -> Self {
        let identity = Pose::splat(Isometry3d::IDENTITY);
        Self { root: identity, to_root: identity, groups: Vec::new(), places: Vec::new(), len: 0 }
    }
}

impl PoseList {
    /// Forgets all poses; the next ones are relative to this root.
    pub(super) fn begin(&mut self, root: Isometry3d) {
        (self.root, self.to_root) = (Pose::splat(root), Pose::splat(root.inverse()));
        self.groups.clear();
        self.places.clear();
        self.len = 0;
    }

    /// Of poses in the world.
    #[cfg(test)]
    pub(super) fn of(root: Isometry3d, poses: &[Isometry3d]) -> Self {
        let mut list = Self::default();
        list.begin(root);
        poses.iter().for_each(|pose| list.push(*pose));
        list
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a pose in the world.
    pub(super) fn push(&mut self, pose: Isometry3d) {
        let (group, lane) = (self.len / 4, self.len % 4);
        if lane == 0 {
            self.groups.push(Pose::splat(Isometry3d::IDENTITY));
            self.places.push([Vec4::ZERO; 3]);
        }
        let pose = Pose::from(pose);
        self.groups[group].set(lane, pose.seen_from(self.root.get(0)));
        for (axis, number) in self.places[group].iter_mut().zip(self.to_root.get(0).carry(pose.place)) {
            axis[lane] = number;
        }
        self.len += 1;
    }

    /// Adds four poses in the world, of which the first `count` matter, to groups that are full.
    #[inline]
    pub(super) fn push_group(&mut self, group: Pose<Vec4>, count: usize) {
        debug_assert!(self.len.is_multiple_of(4) && (1..=4).contains(&count));
        self.groups.push(group.seen_from(self.root));
        self.places.push(self.to_root.carry(group.place));
        self.len += count;
    }

    /// In the last group, whatever comes after the last pose is no pose.
    pub(super) fn groups(&self) -> &[Pose<Vec4>] {
        &self.groups
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Isometry3d> {
        (0..self.len).map(|index| self.groups[index / 4].get(index % 4).into())
    }

    /// The middle of all places.
    pub(super) fn center(&self) -> Vec3 {
        let place = |index: usize| Vec3A::from_array(self.places[index / 4].map(|axis| axis[index % 4]));
        let start = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let (min, max) = (0..self.len).map(place).fold(start, |(min, max), place| (min.min(place), max.max(place)));
        if min.is_finite() { min.midpoint(max).into() } else { Vec3::ZERO }
    }

    /// The radius of a ball around `center` that holds all hitboxes in any rotation of theirs, so that the blend of two such balls
    /// holds the blend of their poses. `reaches` tells how far each reaches from its place, [filled up](fill_up).
    pub(super) fn radius(&self, center: Vec3, reaches: &[f32]) -> f32 {
        let center = center.to_array().map(Vec4::splat);
        let (reaches, rest) = reaches.as_chunks::<4>();
        debug_assert!(rest.is_empty() && reaches.len() == self.places.len());
        let groups = self.places.iter().zip(reaches);
        let radii = groups.fold(Vec4::ZERO, |radii, (places, reaches)| {
            let [x, y, z] = each_axis(|axis| places[axis] - center[axis]);
            let squares = x * x + y * y + z * z;
            let found = Vec4::from_array(squares.to_array().map(f32::sqrt)) + Vec4::from_array(*reaches);
            // What is no number is not more: in the last group, those that fill it up may be endlessly far away.
            Vec4::select(found.cmpgt(radii), found, radii)
        });
        radii.max_element()
    }
}

/// Fills the last group of reaches up with those of nothing.
pub(super) fn fill_up(reaches: &mut Vec<f32>) {
    reaches.resize(reaches.len().next_multiple_of(4), f32::NEG_INFINITY);
}
