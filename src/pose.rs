//! Poses in the world: how they follow from `Transform`s, and how they blend.

mod lanes;

use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

pub(crate) use lanes::Pose;

/// The pose `t` of the way from `from` to `to`: positions in a straight line, rotations along the shorter arc.
///
/// `t` lies in `0.0..=1.0`; at 0 and 1 the answer is `from` and `to` to the last bit. This is the rule by which lightyear
/// blends `Transform`s on the client ([`Vec3::lerp`], [`Quat::slerp`]).
#[inline]
pub fn interpolate(from: Isometry3d, to: Isometry3d, t: f32) -> Isometry3d {
    if t <= 0.0 {
        from
    } else if t >= 1.0 {
        to
    } else {
        Isometry3d {
            translation: from.translation.lerp(to.translation, t),
            rotation: from.rotation.slerp(to.rotation, t),
        }
    }
}

/// The place of what [`interpolate`] gives, to the last bit. The rotation takes ten times as long.
#[inline]
pub(crate) fn interpolate_place(from: Vec3A, to: Vec3A, t: f32) -> Vec3A {
    if t <= 0.0 {
        from
    } else if t >= 1.0 {
        to
    } else {
        from.lerp(to, t)
    }
}

/// The pose of a transform, without its scale.
#[inline]
pub(crate) fn of(transform: &Transform) -> Isometry3d {
    Isometry3d::new(transform.translation, transform.rotation)
}

/// The transform of an entity in the world, as exact as it can be said.
///
/// Translation, rotation and scale are carried on as they are, to the last bit of a root's own `Transform`. Only below an
/// entity whose scale differs between its axes can a turned child be sheared, which those three cannot say; from there on
/// an affine matrix is carried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WorldTransform {
    Plain(Transform),
    Sheared(Affine3A),
}

impl WorldTransform {
    /// The world transform of a child of the entity that stands at `self`.
    #[inline]
    pub(crate) fn child(&self, local: &Transform) -> Self {
        match self {
            Self::Plain(parent) if is_even(parent.scale) || local.rotation == Quat::IDENTITY => {
                let pose = |transform: &Transform| Pose::from(of(transform));
                let Isometry3d { translation, rotation } =
                    pose(parent).child(parent.scale.to_array(), pose(local)).into();
                Self::Plain(Transform { translation: translation.into(), rotation, scale: parent.scale * local.scale })
            }
            _ => self.sheared_child(local),
        }
    }

    /// Few figures have any, and so it is kept out of the way of all others.
    #[cold]
    fn sheared_child(&self, local: &Transform) -> Self {
        let parent = match self {
            Self::Plain(parent) => parent.compute_affine(),
            Self::Sheared(parent) => *parent,
        };
        Self::Sheared(parent * local.compute_affine())
    }

    /// The world transform of what is fixed to the entity.
    #[inline]
    pub(crate) fn with_offset(self, offset: Isometry3d) -> Self {
        if offset == Isometry3d::IDENTITY { self } else { self.child(&Transform::from_isometry(offset)) }
    }

    /// Translation, rotation and scale. Where the transform is sheared, the translation, the direction of the Y axis (along
    /// which capsules lie) and the lengths of all axes are right; the other two axes are turned to stand upright on it.
    #[inline]
    pub(crate) fn to_transform(self) -> Transform {
        match self {
            Self::Plain(transform) => transform,
            Self::Sheared(affine) => unshear(affine),
        }
    }
}

#[cold]
fn unshear(affine: Affine3A) -> Transform {
    let [x, y, z] = [affine.x_axis, affine.y_axis, affine.z_axis];
    let scale = Vec3::new(x.length(), y.length(), z.length());
    let y = y.normalize_or(Vec3A::Y);
    let z = x.cross(y).normalize_or(y.any_orthonormal_vector());
    let rotation = Quat::from_mat3a(&Mat3A::from_cols(y.cross(z), y, z));
    Transform { translation: affine.translation.into(), rotation, scale }
}

/// Whether it is the same along all axes.
#[inline]
pub(crate) fn is_even(scale: Vec3) -> bool {
    scale.x == scale.y && scale.y == scale.z
}

#[cfg(test)]
mod tests {
    use core::f32::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn interpolation_gives_its_ends_bit_for_bit() {
        let from = Isometry3d::new(Vec3::new(0.1, 0.2, 0.3), Quat::from_rotation_y(0.7));
        let to = Isometry3d::new(Vec3::new(7.1, -0.2, 9.3), Quat::from_rotation_x(1.9));
        assert_eq!(interpolate(from, to, 0.0), from);
        assert_eq!(interpolate(from, to, 1.0), to);
    }

    #[test]
    fn rotations_take_the_shorter_way() {
        let from = Isometry3d::from_rotation(Quat::from_rotation_y(0.9 * PI));
        let to = Isometry3d::from_rotation(Quat::from_rotation_y(-0.9 * PI));
        let half = interpolate(from, to, 0.5);
        let expected = Quat::from_rotation_y(PI);
        assert!(half.rotation.angle_between(expected) < 1e-3, "{half:?}");
    }

    #[test]
    fn world_transforms_agree_with_global_transform() {
        let turn = Quat::from_rotation_y(FRAC_PI_2);
        let parents = [
            Transform::from_xyz(1.0, 2.0, 3.0).with_rotation(turn),
            Transform::from_xyz(1.0, 2.0, 3.0).with_scale(Vec3::splat(2.0)),
            Transform::from_xyz(1.0, 2.0, 3.0).with_rotation(turn).with_scale(Vec3::new(1.0, 3.0, 0.5)),
        ];
        let child = Transform::from_xyz(0.0, 1.0, 0.5).with_rotation(Quat::from_rotation_x(0.3));
        for parent in parents {
            let world = WorldTransform::Plain(parent).child(&child).child(&child).to_transform();
            let expected = GlobalTransform::from(parent).mul_transform(child).mul_transform(child);
            assert!(world.translation.distance(expected.translation()) < 1e-5, "{world:?}");
            assert!(world.rotation.is_normalized(), "{world:?}");
            assert!((world.rotation * Vec3::Y).distance(*expected.up()) < 1e-5, "{world:?}");
            assert!(world.scale.distance(expected.scale()) < 1e-5, "{world:?}");
        }
    }

    #[test]
    fn even_scales_leave_rotations_exact() {
        let parent = Transform::from_rotation(Quat::from_rotation_z(0.4)).with_scale(Vec3::splat(3.0));
        let child = Transform::from_rotation(Quat::from_rotation_x(0.3));
        let world = WorldTransform::Plain(parent).child(&child).to_transform();
        let expected = parent.rotation * child.rotation;
        assert!((world.rotation - expected).length() < 1e-6, "{world:?}");
        // Elsewhere, glam adds in another order.
        if cfg!(target_feature = "sse2") {
            assert_eq!(world.rotation, expected);
        }
    }
}
