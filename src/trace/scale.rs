//! What is said of rapier's colliders, taken over for hitboxes on the same entity.

use bevy::prelude::*;
use bevy_rapier3d::geometry::{ColliderDisabled, ColliderScale};

use crate::hitbox::{ColliderOff, Hitbox, HitboxScale};

/// A hitbox on an entity with a `ColliderScale` grows as its collider does.
pub(crate) fn adopt_collider_scale(
    changed: Query<(Entity, &ColliderScale), (With<Hitbox>, Or<(Changed<ColliderScale>, Added<Hitbox>)>)>,
    mut commands: Commands,
) {
    for (entity, scale) in &changed {
        let scale = match scale {
            ColliderScale::Relative(scale) => HitboxScale::Relative(*scale),
            ColliderScale::Absolute(scale) => HitboxScale::Absolute(*scale),
        };
        commands.entity(entity).try_insert(scale);
    }
}

/// At once, since a message of the removal may be gone before the next tick.
pub(super) fn drop_collider_scale(removed: On<Remove, ColliderScale>, mut commands: Commands) {
    commands.entity(removed.entity).try_remove::<HitboxScale>();
}

/// A hitbox on an entity with `ColliderDisabled` cannot be hit.
pub(super) fn disable_hitbox(disabled: On<Insert, ColliderDisabled>, mut commands: Commands) {
    commands.entity(disabled.entity).try_insert(ColliderOff);
}

pub(super) fn enable_hitbox(enabled: On<Remove, ColliderDisabled>, mut commands: Commands) {
    commands.entity(enabled.entity).try_remove::<ColliderOff>();
}
