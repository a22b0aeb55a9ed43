//! Rapier's scale of colliders, taken over for hitboxes.

use bevy::prelude::*;
use bevy_rapier3d::geometry::ColliderScale;

use crate::hitbox::{Hitbox, HitboxScale};

/// A hitbox on an entity with a `ColliderScale` grows as its collider does.
pub(crate) fn adopt_collider_scale(
    changed: Query<(Entity, &ColliderScale), (With<Hitbox>, Or<(Changed<ColliderScale>, Added<Hitbox>)>)>,
    mut removed: RemovedComponents<ColliderScale>,
    mut commands: Commands,
) {
    for entity in removed.read() {
        commands.entity(entity).try_remove::<HitboxScale>();
    }
    for (entity, scale) in &changed {
        let scale = match scale {
            ColliderScale::Relative(scale) => HitboxScale::Relative(*scale),
            ColliderScale::Absolute(scale) => HitboxScale::Absolute(*scale),
        };
        commands.entity(entity).try_insert(scale);
    }
}
