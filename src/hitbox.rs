//! What can be hit, [`Hitbox`]es and the [`Rig`]s they belong to; and what moves and stops bullets, [`Occluder`]s.

mod life;
mod occluder;
mod rule;
mod zone;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    history::{HistoryBuffer, RigPlan},
    shape::Shape,
};

pub use life::{Life, LifeNumber};
pub use occluder::{Occluder, OccluderMotion};
pub use rule::{Bone, DisplayParameters, DisplayRule, pose_bones};
pub use zone::Zone;

/// The lag-compensated entity: a character, a vehicle, anything that is shot at and moves.
///
/// Its hitboxes are the [`Hitbox`]es on this entity and on its descendants. A descendant that is a `Rig` itself (the driver
/// of a car) begins a rig of its own. The plugin records every rig in each tick, see [`HistoryBuffer`].
///
/// An entity with Bevy's `Disabled` is not there for the plugin, nor in its past. For players who come back use
/// [`Life`] or [`Unhittable`], and trigger a [`BeginSegment`](crate::BeginSegment) when a pooled rig is enabled again.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_hindsight::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Rig,
///     Transform::from_xyz(0.0, 0.0, 10.0),
///     Hitbox::capsule(0.5, 0.3).with_offset(Vec3::Y * 0.8),
///     children![(Hitbox::ball(0.12).in_zone(Zone::Head), Transform::from_xyz(0.0, 1.7, 0.0))],
/// ));
/// # }
/// # bevy::ecs::system::assert_is_system(spawn);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[require(HistoryBuffer, RigPlan, Life, Transform)]
pub struct Rig;

/// A number of the game's own by which a [`Rig`] wins or loses a tie: the smaller one is hit.
///
/// Ties (two hitboxes at exactly the same distance) are rare, and are broken by zone and place. Only rigs that stand in
/// exactly the same place need this number to be told apart in the same way in each run, for example the slot of a player.
/// Rigs without it count as 0.
#[derive(Component, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, Reflect)]
#[reflect(Component, Default)]
pub struct RigId(pub u64);

/// Which shots meet a [`Rig`]: those with at least one of these bits in their [`ShotEvent::targets`](crate::ShotEvent::targets);
/// all others pass through it. Without it, a rig has all bits. It is read as it is in the tick of the verdict.
///
/// With a bit for each team, a shot passes through team mates:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{TargetGroups, prelude::*};
///
/// fn pass_through_mates(mut shots: MessageMutator<ShotEvent>, teams: Query<&TargetGroups>) {
///     for shot in shots.read() {
///         if let Ok(own) = teams.get(shot.shooter) {
///             shot.targets = !own.0;
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(pass_through_mates);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Default)]
pub struct TargetGroups(pub u32);

impl Default for TargetGroups {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

/// Nothing of this entity can be hit: on a [`Rig`] none of its hitboxes (a spectator, a player who is invulnerable), on a
/// [`Hitbox`] that one (a helmet that is off), on a rapier `Collider` neither that (an invisible barrier).
///
/// For rigs, hitboxes and [`Occluder`]s it is recorded like everything else: a shot that was fired before it was inserted still
/// hits; so does one fired after it was removed, and none in between. For other colliders the present counts.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct Unhittable;

/// On a [`Hitbox`] whose rapier collider is disabled.
#[derive(Component, Default)]
pub(crate) struct ColliderOff;

/// Changes how a [`Hitbox`] grows with the scale of its entity in the world.
///
/// A `ColliderScale` of bevy_rapier on the same entity does the same, and is copied into this component in each tick.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component)]
pub enum HitboxScale {
    /// The shape grows by this factor, too.
    Relative(Vec3),
    /// The shape grows by this factor only.
    Absolute(Vec3),
}

impl HitboxScale {
    pub(crate) fn apply_to(self, world: Vec3) -> Vec3 {
        match self {
            Self::Relative(scale) => world * scale,
            Self::Absolute(scale) => scale,
        }
    }
}

/// A part of a [`Rig`] that can be hit.
///
/// It belongs to the nearest `Rig` on its own entity or above it, and follows the `Transform`s in between. Without such a
/// `Rig` it is not hit at all. Hitboxes are plain data: they are no colliders, and cost the physics step nothing.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component)]
#[require(Transform)]
pub struct Hitbox {
    /// What is hit; it grows with the scale of the entity.
    pub shape: Shape,
    /// Which part of the body this is. Default: [`Zone::Torso`].
    pub zone: Zone,
    /// Where the shape stands in the space of the entity; moved by its scale, too. Default: in its origin.
    pub offset: Isometry3d,
}

impl Hitbox {
    /// A hitbox of any shape.
    pub const fn new(shape: Shape) -> Self {
        Self { shape, zone: Zone::Torso, offset: Isometry3d::IDENTITY }
    }

    /// A capsule along the local Y axis; lengths in metres. See [`Shape::Capsule`].
    pub const fn capsule(half_height: f32, radius: f32) -> Self {
        Self::new(Shape::Capsule { half_height, radius })
    }

    /// A ball; its radius in metres.
    pub const fn ball(radius: f32) -> Self {
        Self::new(Shape::Ball { radius })
    }

    /// A box along the local axes; half its edge lengths in metres.
    pub const fn cuboid(half_extents: Vec3) -> Self {
        Self::new(Shape::Cuboid { half_extents })
    }

    /// The same hitbox as part of another zone.
    pub const fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// The same hitbox at another place (a `Vec3`), in another rotation (a `Quat`), or both (an `Isometry3d`) relative to its
    /// entity.
    pub fn with_offset(self, offset: impl Into<Isometry3d>) -> Self {
        Self { offset: offset.into(), ..self }
    }
}
