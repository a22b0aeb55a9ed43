//! Where records must not be blended.

use core::time::Duration;

use bevy::prelude::*;

use super::HistoryBuffer;

/// An entity jumps in this tick: no rig or occluder on it or below it is blended with what it was before.
///
/// Trigger it in the tick of the jump, before [`LagCompensationSystems::RecordHistory`](crate::LagCompensationSystems).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_hindsight::prelude::*;
/// # #[derive(Component)] struct OnTeleporter;
/// fn teleport(mut players: Query<(Entity, &mut Transform), With<OnTeleporter>>, mut commands: Commands) {
///     for (player, mut transform) in &mut players {
///         transform.translation = Vec3::new(40.0, 0.0, 0.0);
///         commands.trigger(BeginSegment { entity: player });
///     }
/// }
/// # bevy::ecs::system::assert_is_system(teleport);
/// ```
#[derive(EntityEvent, Clone, Copy, PartialEq, Eq, Debug)]
pub struct BeginSegment {
    /// The rig or occluder, or what carries it.
    pub entity: Entity,
}

pub(crate) fn begin_segment(
    begin: On<BeginSegment>,
    mut histories: Query<&mut HistoryBuffer>,
    children: Query<&Children>,
) {
    for entity in core::iter::once(begin.entity).chain(children.iter_descendants(begin.entity)) {
        if let Ok(mut history) = histories.get_mut(entity) {
            history.begin_segment();
        }
    }
}

/// The speed above which a step counts as a jump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedLimit {
    metres_per_tick: f32,
}

impl SpeedLimit {
    pub(crate) const NONE: Self = Self { metres_per_tick: f32::INFINITY };

    pub(crate) fn new(metres_per_second: Option<f32>, timestep: Duration) -> Self {
        metres_per_second.map_or(Self::NONE, |speed| Self { metres_per_tick: speed * timestep.as_secs_f32() })
    }

    /// Whether something may have moved from one place to the other within this many ticks.
    pub(crate) fn allows(self, from: Vec3, to: Vec3, ticks: i32) -> bool {
        from.distance(to) <= self.metres_per_tick * ticks.max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B30: the limit is a speed, whatever the tick rate, and in all directions.
    #[test]
    fn b30_the_limit_scales_with_the_tick() {
        for hz in [20.0, 30.0, 64.0, 128.0] {
            let limit = SpeedLimit::new(Some(100.0), Duration::from_secs_f32(1.0 / hz));
            for direction in [Vec3::X, Vec3::Y, Vec3::NEG_Z] {
                assert!(limit.allows(Vec3::ONE, Vec3::ONE + direction * 99.0 / hz, 1));
                assert!(!limit.allows(Vec3::ONE, Vec3::ONE + direction * 101.0 / hz, 1));
                assert!(limit.allows(Vec3::ONE, Vec3::ONE + direction * 299.0 / hz, 3), "skipped ticks");
            }
        }
        assert!(SpeedLimit::NONE.allows(Vec3::ZERO, Vec3::splat(1e9), 1));
    }
}
