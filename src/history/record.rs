//! The system that writes history.

use bevy::{ecs::system::SystemParam, prelude::*};

use super::{HistoryBuffer, RecordedHitbox};
use crate::{
    config::LagCompensationConfig,
    hitbox::{Hitbox, Rig},
    pose::{self, WorldTransform},
    time::CurrentTick,
};

/// Lists kept between ticks for their memory.
#[derive(Default)]
pub(crate) struct Scratch {
    open: Vec<(Entity, WorldTransform)>,
    hitboxes: Vec<RecordedHitbox>,
    poses: Vec<Isometry3d>,
}

/// The hierarchy of entities as it is now, `Transform`s included.
///
/// `GlobalTransform` is not read: within the fixed loop it is as old as the last frame.
#[derive(SystemParam)]
pub(crate) struct Hierarchy<'w, 's> {
    transforms: Query<'w, 's, &'static Transform>,
    parents: Query<'w, 's, &'static ChildOf>,
    children: Query<'w, 's, &'static Children>,
    hitboxes: Query<'w, 's, &'static Hitbox>,
    rigs: Query<'w, 's, (), With<Rig>>,
}

impl Hierarchy<'_, '_> {
    fn local(&self, entity: Entity) -> Transform {
        self.transforms.get(entity).copied().unwrap_or_default()
    }

    fn in_world(&self, entity: Entity) -> WorldTransform {
        match self.parents.get(entity) {
            Ok(parent) => self.in_world(parent.parent()).child(&self.local(entity)),
            Err(_) => WorldTransform::Plain(self.local(entity)),
        }
    }

    /// Lists the hitboxes of a rig with their poses in the world, parents before children.
    fn list_hitboxes(&self, rig: Entity, root: WorldTransform, scratch: &mut Scratch) {
        scratch.open.push((rig, root));
        while let Some((entity, transform)) = scratch.open.pop() {
            if let Ok(hitbox) = self.hitboxes.get(entity) {
                let offset = Transform::from_isometry(hitbox.offset);
                let world = transform.child(&offset).to_transform();
                scratch.hitboxes.push(RecordedHitbox {
                    entity,
                    zone: hitbox.zone,
                    shape: hitbox.shape.scaled(world.scale),
                });
                scratch.poses.push(pose::of(&world));
            }
            for child in self.children.get(entity).into_iter().flatten().rev() {
                if !self.rigs.contains(*child) {
                    scratch.open.push((*child, transform.child(&self.local(*child))));
                }
            }
        }
    }
}

/// Writes one record of each rig: where it stands after movement, physics and animation of this tick.
pub(crate) fn record_history(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    config: Res<LagCompensationConfig>,
    mut rigs: Query<(Entity, &mut HistoryBuffer), With<Rig>>,
    hierarchy: Hierarchy,
    mut scratch: Local<Scratch>,
) {
    // Both ends of the span are records.
    let capacity = config.history_ticks(time.timestep()) as usize + 1;
    for (rig, mut history) in &mut rigs {
        let root = hierarchy.in_world(rig);
        scratch.hitboxes.clear();
        scratch.poses.clear();
        hierarchy.list_hitboxes(rig, root, &mut scratch);
        history.record(tick.0, capacity, pose::of(&root.to_transform()), &scratch.hitboxes, &scratch.poses);
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;

    use super::*;
    use crate::{Tick, ViewTime};

    fn world() -> World {
        let mut world = World::new();
        world.init_resource::<CurrentTick>();
        world.init_resource::<Time<Fixed>>();
        world.init_resource::<LagCompensationConfig>();
        world
    }

    fn poses(world: &mut World, rig: Entity) -> Vec<(Entity, Vec3)> {
        world.run_system_once(record_history).unwrap();
        let history = world.get::<HistoryBuffer>(rig).unwrap();
        let sample = history.sample(ViewTime::at(Tick(0))).unwrap();
        sample.hitboxes().map(|hitbox| (hitbox.entity, hitbox.pose.translation.into())).collect()
    }

    #[test]
    fn hitboxes_several_levels_deep_are_found_with_their_world_poses() {
        let mut world = world();
        let vehicle = world.spawn(Transform::from_xyz(10.0, 0.0, 0.0).with_scale(Vec3::splat(2.0))).id();
        let rig = world.spawn((Rig, Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(vehicle))).id();
        let bone = world.spawn((Transform::from_xyz(0.0, 0.0, 1.0), ChildOf(rig))).id();
        let hand = world.spawn((Hitbox::ball(0.1).with_offset(Vec3::X), ChildOf(bone))).id();
        assert_eq!(poses(&mut world, rig), [(hand, Vec3::new(12.0, 2.0, 2.0))]);
    }

    #[test]
    fn a_rig_on_a_rig_keeps_its_own_hitboxes() {
        let mut world = world();
        let car = world.spawn((Rig, Hitbox::cuboid(Vec3::ONE))).id();
        let driver = world.spawn((Rig, Hitbox::ball(0.3), Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(car))).id();
        assert_eq!(poses(&mut world, car), [(car, Vec3::ZERO)]);
        assert_eq!(poses(&mut world, driver), [(driver, Vec3::Y)]);
    }

    #[test]
    fn a_rig_without_hitboxes_is_recorded_and_cannot_be_hit() {
        let mut world = world();
        let rig = world.spawn(Rig).id();
        assert_eq!(poses(&mut world, rig), []);
    }
}
