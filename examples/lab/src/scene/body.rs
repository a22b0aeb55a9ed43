//! The hitboxes of targets, the same on the server and on each screen.

use bevy::prelude::*;
use bevy_hindsight::{Hitbox, Shape, Zone};
use serde::{Deserialize, Serialize};

use super::{Role, walker};

/// How tall a target makes itself. Clients show it stepwise: the old one until the new one's snapshot.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stance {
    /// Upright.
    Standing,
    /// Ducked.
    Crouched,
}

impl Stance {
    /// What lightyear shows between two snapshots.
    pub fn step(start: Self, end: Self, t: f32) -> Self {
        if t < 1.0 { start } else { end }
    }

    fn shape(self) -> Shape {
        let half_height = match self {
            Self::Standing => 0.6,
            Self::Crouched => 0.2,
        };
        Shape::Capsule { half_height, radius: 0.25 }
    }
}

/// A target that has its hitboxes.
#[derive(Component)]
pub(super) struct Embodied;

/// Gives hitboxes to targets as soon as they stand somewhere.
pub(super) fn embody(targets: Query<(Entity, &Role), (With<Transform>, Without<Embodied>)>, mut commands: Commands) {
    for (target, role) in &targets {
        let mut target = commands.entity(target);
        target.insert(Embodied);
        match role {
            Role::Crouches => {
                target.insert(Hitbox::new(Stance::Standing.shape()));
            }
            Role::Turns => {
                let arms = Hitbox::cuboid(Vec3::new(0.7, 0.08, 0.1)).in_zone(Zone::Arm);
                target.insert(torso()).with_child((arms, Transform::from_xyz(0.0, 0.35, 0.15)));
            }
            Role::Walks | Role::WalksWithoutRule => walker::embody(target, *role),
            _ => {
                target.insert(torso()).with_children(|parts| {
                    parts.spawn((Hitbox::ball(0.13).in_zone(Zone::Head), Transform::from_xyz(0.0, 0.72, 0.0)));
                    let legs = Hitbox::capsule(0.3, 0.16).in_zone(Zone::Leg);
                    parts.spawn((legs, Transform::from_xyz(0.0, -0.55, 0.0)));
                });
            }
        }
    }
}

fn torso() -> Hitbox {
    Hitbox::capsule(0.25, 0.24)
}

/// Fits the hitbox of a target to its stance.
pub(super) fn take_stance(mut targets: Query<(&Stance, &mut Hitbox)>) {
    for (stance, mut hitbox) in &mut targets {
        hitbox.set_if_neq(Hitbox { shape: stance.shape(), ..*hitbox });
    }
}
