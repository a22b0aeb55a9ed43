//! The system that writes history.

use bevy::{ecs::system::SystemParam, prelude::*};

use super::{HistoryBuffer, RecordedHitbox, Retention, RigRecord, SpeedLimit};
use crate::{
    config::LagCompensationConfig,
    hitbox::{Hitbox, HitboxScale, Life, Rig, Unhittable},
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
    hitboxes: Query<'w, 's, (&'static Hitbox, Option<&'static HitboxScale>, Has<Unhittable>)>,
    rigs: Query<'w, 's, (), With<Rig>>,
}

impl Hierarchy<'_, '_> {
    fn local(&self, entity: Entity) -> Transform {
        self.transforms.get(entity).copied().unwrap_or_default()
    }

    pub(crate) fn in_world(&self, entity: Entity) -> WorldTransform {
        match self.parents.get(entity) {
            Ok(parent) => self.in_world(parent.parent()).child(&self.local(entity)),
            Err(_) => WorldTransform::Plain(self.local(entity)),
        }
    }

    /// The rig on or above an entity.
    pub(crate) fn rig_of(&self, entity: Entity) -> Option<Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity)).find(|entity| self.rigs.contains(*entity))
    }

    /// Lists the hitboxes of a rig with their poses in the world, parents before children.
    fn list_hitboxes(&self, rig: Entity, root: WorldTransform, hittable: bool, scratch: &mut Scratch) {
        scratch.open.push((rig, root));
        while let Some((entity, transform)) = scratch.open.pop() {
            if let Ok((hitbox, scale, unhittable)) = self.hitboxes.get(entity) {
                let world = transform.child(&Transform::from_isometry(hitbox.offset)).to_transform();
                scratch.hitboxes.push(RecordedHitbox {
                    entity,
                    zone: hitbox.zone,
                    shape: hitbox.shape.scaled(scale.map_or(world.scale, |scale| scale.apply_to(world.scale))),
                    hittable: hittable && !unhittable,
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
    mut rigs: Query<(Entity, &mut HistoryBuffer, &Life, Option<&ChildOf>, Has<Unhittable>), With<Rig>>,
    hierarchy: Hierarchy,
    mut scratch: Local<Scratch>,
) {
    let retention = Retention {
        // Both ends of the span are records.
        capacity: config.history_ticks(time.timestep()) as usize + 1,
        storage: config.storage,
        speed_limit: SpeedLimit::new(config.max_speed, time.timestep()),
    };
    for (rig, mut history, life, parent, unhittable) in &mut rigs {
        let root = hierarchy.in_world(rig);
        scratch.hitboxes.clear();
        scratch.poses.clear();
        hierarchy.list_hitboxes(rig, root, !unhittable, &mut scratch);
        let record = RigRecord {
            root: pose::of(&root.to_transform()),
            parent: parent.map(ChildOf::parent),
            life: *life,
            hittable: !unhittable,
            hitboxes: &scratch.hitboxes,
            poses: &scratch.poses,
        };
        history.record(tick.0, &record, retention);
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
