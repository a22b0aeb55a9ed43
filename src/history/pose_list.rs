//! The poses of a rig's hitboxes on their way into its history.

use bevy::{
    math::{
        Vec4,
        bounding::{Aabb3d, BoundingVolume},
    },
    prelude::*,
};

use crate::pose::Pose;

/// Poses relative to a root, four side by side.
#[derive(Debug)]
pub(super) struct PoseList {
    root: Pose<Vec4>,
    groups: Vec<Pose<Vec4>>,
    len: usize,
}

impl Default for PoseList {
    fn default() -> Self {
        Self { root: Pose::splat(Isometry3d::IDENTITY), groups: Vec::new(), len: 0 }
    }
}

impl PoseList {
    /// Forgets all poses; the next ones are relative to this root.
    pub(super) fn begin(&mut self, root: Isometry3d) {
        self.root = Pose::splat(root);
        self.groups.clear();
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
        let lane = self.len % 4;
        if lane == 0 {
            self.groups.push(Pose::default());
        }
        let group = self.len / 4;
        self.groups[group].set(lane, Pose::from(pose).seen_from(self.root.get(0)));
        self.len += 1;
    }

    /// Adds four poses in the world, of which the first `count` matter, to groups that are full.
    #[inline]
    pub(super) fn push_group(&mut self, group: Pose<Vec4>, count: usize) {
        debug_assert!(self.len.is_multiple_of(4) && (1..=4).contains(&count));
        self.groups.push(group.seen_from(self.root));
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
        if self.len == 0 {
            return Vec3::ZERO;
        }
        Aabb3d::from_point_cloud(Isometry3d::IDENTITY, self.iter().map(|pose| pose.translation)).center().into()
    }

    /// The radius of a ball around `center` that holds all hitboxes in any rotation of theirs, so that the blend of two such balls
    /// holds the blend of their poses. `reaches` tells how far each reaches from its place, [filled up](fill_up).
    pub(super) fn radius(&self, center: Vec3, reaches: &[f32]) -> f32 {
        let center = center.to_array().map(Vec4::splat);
        let (reaches, rest) = reaches.as_chunks::<4>();
        debug_assert!(rest.is_empty() && reaches.len() == self.groups.len());
        let groups = self.groups.iter().zip(reaches);
        let radii = groups.fold(Vec4::ZERO, |radii, (group, reaches)| {
            let [x, y, z] = [0, 1, 2].map(|axis| group.place[axis] - center[axis]);
            let squares = x * x + y * y + z * z;
            radii.max(Vec4::from_array(squares.to_array().map(f32::sqrt)) + Vec4::from_array(*reaches))
        });
        radii.max_element()
    }
}

/// Fills the last group of reaches up with those of nothing.
pub(super) fn fill_up(reaches: &mut Vec<f32>) {
    reaches.resize(reaches.len().next_multiple_of(4), f32::NEG_INFINITY);
}
