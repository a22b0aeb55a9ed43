//! Hitboxes that are posed by a rule.

use bevy::prelude::*;

use crate::hitbox::{Bone, DisplayParameters, DisplayRule};

/// How the hitboxes of a rig follow from its [`DisplayParameters`].
#[derive(Clone, Debug)]
pub(crate) struct Posing {
    rule: DisplayRule,
    /// That of the rig in the world.
    scale: Vec3,
    /// One for each hitbox.
    pub(super) parts: Vec<Part>,
}

/// What a hitbox hangs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// `None` for one that is fixed to the rig.
    bone: Option<Bone>,
    /// Its place on the bone or rig, with all scales.
    offset: Isometry3d,
}

impl Part {
    pub(super) fn of_bone(bone: Bone, offset: Isometry3d) -> Self {
        Self { bone: Some(bone), offset }
    }

    pub(super) fn fixed(offset: Isometry3d) -> Self {
        Self { bone: None, offset }
    }

    /// Whether nothing but rounding has changed.
    fn is_still(&self, other: &Self) -> bool {
        let translation = |part: &Self| part.offset.translation;
        // A tenth of a millimetre: far from the origin of the world, positions are no more exact.
        self.bone == other.bone
            && translation(self).abs_diff_eq(translation(other), 1e-4)
            && self.offset.rotation.abs_diff_eq(other.offset.rotation, 1e-5)
    }
}

impl Posing {
    pub(super) fn new(rule: DisplayRule, scale: Vec3, parts: Vec<Part>) -> Self {
        Self { rule, scale, parts }
    }

    /// Becomes the other one, in its own memory.
    pub(super) fn copy_from(&mut self, other: &Self) {
        (self.rule, self.scale) = (other.rule, other.scale);
        self.parts.clone_from(&other.parts);
    }

    /// The pose of a hitbox relative to the rig.
    pub(super) fn pose(&self, parameters: &DisplayParameters, index: usize) -> Isometry3d {
        let part = &self.parts[index];
        match part.bone {
            Some(bone) => {
                let pose = self.rule.pose(parameters, bone);
                Isometry3d::new(Vec3::from(pose.translation) * self.scale, pose.rotation) * part.offset
            }
            None => part.offset,
        }
    }

    /// How far hitboxes reach from the rig.
    pub(super) fn reach(&self) -> f32 {
        self.rule.reach() * self.scale.abs().max_element()
    }

    /// Whether nothing but rounding has changed.
    pub(super) fn is_still(&self, other: &Self) -> bool {
        self.rule == other.rule
            && self.scale.abs_diff_eq(other.scale, 1e-5)
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(part, other)| part.is_still(other))
    }

    /// Memory of the list.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.parts.capacity() * size_of::<Part>()
    }
}
