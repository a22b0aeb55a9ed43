//! What moves and stops bullets: a door and a lift.

use bevy::prelude::*;
use bevy_hindsight::{Occluder, Shape};
use bevy_rapier3d::prelude::Collider;
use lightyear::prelude::{InterpolationTarget, NetworkTarget, Replicate};
use serde::{Deserialize, Serialize};

use super::Role;

/// A moving box that stops bullets.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Barrier {
    /// Slides open and shut in front of the one who passes it.
    Door,
    /// Goes up and down with its rider.
    Lift,
}

impl Barrier {
    const ALL: [Self; 2] = [Self::Door, Self::Lift];

    /// Half its edge lengths, in metres.
    pub const fn half_extents(self) -> Vec3 {
        match self {
            Self::Door => Vec3::new(0.8, 1.2, 0.05),
            Self::Lift => Vec3::new(1.2, 0.1, 1.2),
        }
    }

    /// Its shape, for a ray.
    pub const fn shape(self) -> Shape {
        Shape::Cuboid { half_extents: self.half_extents() }
    }

    /// Where it stands after so many ticks.
    fn place(self, ticks: u32) -> Vec3 {
        match self {
            Self::Door => Role::PassesDoor.home() + Vec3::new(1.8 * shuttle(ticks, 38, 32), 0.2, -1.0),
            Self::Lift => Role::RidesLift.home() + Vec3::Y * (-1.1 + 3.0 * shuttle(ticks, 96, 32)),
        }
    }
}

/// Goes from 0 to 1 in `way` ticks, and back again, and rests in between.
fn shuttle(ticks: u32, way: u32, rest: u32) -> f32 {
    let leg = way + rest;
    let gone = ((ticks % leg) as f32 / way as f32).min(1.0);
    if (ticks / leg).is_multiple_of(2) { gone } else { 1.0 - gone }
}

pub(super) fn spawn_barriers(commands: &mut Commands) {
    for barrier in Barrier::ALL {
        let Vec3 { x, y, z } = barrier.half_extents();
        commands.spawn((
            barrier,
            Occluder::default(),
            Collider::cuboid(x, y, z),
            Transform::from_translation(barrier.place(0)),
            Replicate::to_clients(NetworkTarget::All),
            InterpolationTarget::to_clients(NetworkTarget::All),
        ));
    }
}

pub(super) fn move_barriers(mut barriers: Query<(&Barrier, &mut Transform)>, mut ticks: Local<u32>) {
    *ticks += 1;
    for (barrier, mut transform) in &mut barriers {
        transform.translation = barrier.place(*ticks);
    }
}
