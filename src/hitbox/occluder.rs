//! What stops bullets, moves, and is no hitbox.

use bevy::prelude::*;

/// A moving thing that stops bullets: a door, a lift, a shield. Goes onto an entity with a rapier `Collider`.
///
/// It is recorded like a [`Rig`](crate::Rig), and blocks where it stood at the view time of a shot. Colliders without it block
/// where they stand in the present, which is right for all that never moves. A collider that has stood still and becomes an
/// occluder counts as having stood there; one that was an occluder and is none any more still blocks where it was.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_hindsight::prelude::*;
/// use bevy_rapier3d::prelude::*;
///
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Occluder::default(),
///     RigidBody::KinematicPositionBased,
///     Collider::cuboid(0.6, 1.1, 0.05),
///     Transform::from_xyz(0.0, 1.1, 5.0),
/// ));
/// # }
/// # bevy::ecs::system::assert_is_system(spawn);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[require(Transform)]
pub struct Occluder {
    /// Where it stands between two ticks.
    pub motion: OccluderMotion,
    /// Whether it stops the shots of its owner: the [`Rig`](crate::Rig) on or above its entity. Default: `false`, as for a
    /// shield that one shoots past.
    pub blocks_owner: bool,
}

/// Where an [`Occluder`] stands between two ticks; it should be what the client shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum OccluderMotion {
    /// On the way from one to the next.
    #[default]
    Interpolated,
    /// Still where it stood, until the tick in which it moves: for what snaps shut at a moment.
    Discrete,
}
