//! The system that writes history.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData, system::SystemParam},
    prelude::*,
};

use super::{
    HistoryBuffer, Lineage, RecordedHitbox, RigIndex, SpeedLimit,
    columns::Tables,
    plan::{Changes, Node, PlannedHitbox, Plans, RigPlan},
    pose_list::{PoseList, fill_up},
    posing::{Part, Posing},
    write::{Retention, RigRecord},
};
use crate::{
    config::LagCompensationConfig,
    hitbox::{Bone, ColliderOff, DisplayParameters, DisplayRule, Hitbox, HitboxScale, Life, Rig, Unhittable},
    pose::{self, WorldTransform},
    time::CurrentTick,
};

/// Lists kept between ticks for their memory.
#[derive(Default)]
pub(crate) struct Scratch {
    /// With the transform and the number of their parents; of the rig, its own and none.
    open: Vec<(Entity, WorldTransform, Lineage, Option<u32>)>,
    /// All entities that have been looked at, and those that cannot be.
    nodes: Vec<Node>,
    absent: Vec<Entity>,
    hitboxes: Vec<RecordedHitbox>,
    poses: PoseList,
    /// How far each hitbox reaches from its middle.
    reaches: Vec<f32>,
    /// Where those stand that others hang on.
    transforms: Vec<WorldTransform>,
    lineages: Vec<Lineage>,
    /// What hitboxes hang on, if the rig is posed by a rule.
    parts: Vec<Part>,
}

impl Scratch {
    fn clear(&mut self) {
        self.nodes.clear();
        self.absent.clear();
        self.hitboxes.clear();
        self.reaches.clear();
        self.lineages.clear();
        self.parts.clear();
    }
}

/// An entity of a hierarchy.
#[derive(QueryData)]
pub(crate) struct NodeData {
    transform: Option<&'static Transform>,
    children: Option<&'static Children>,
    is_rig: Has<Rig>,
    hitbox: Option<&'static Hitbox>,
    scale: Option<&'static HitboxScale>,
    unhittable: Has<Unhittable>,
    collider_off: Has<ColliderOff>,
}

/// The hierarchy of entities as it is now, `Transform`s included.
///
/// `GlobalTransform` is not read: within the fixed loop it is as old as the last frame.
#[derive(SystemParam)]
pub(crate) struct Hierarchy<'w, 's> {
    transforms: Query<'w, 's, &'static Transform>,
    parents: Query<'w, 's, &'static ChildOf>,
    /// All of an entity below a rig in one look, since each look takes about as long as all else that is done with it.
    nodes: Query<'w, 's, NodeData>,
    bones: Query<'w, 's, &'static Bone>,
    rigs: Query<'w, 's, (), With<Rig>>,
}

impl Hierarchy<'_, '_> {
    fn local(&self, entity: Entity) -> Transform {
        self.local_if_any(entity).copied().unwrap_or_default()
    }

    pub(super) fn local_if_any(&self, entity: Entity) -> Option<&Transform> {
        self.transforms.get(entity).ok()
    }

    /// Whether an entity exists, and is not disabled.
    pub(super) fn is_there(&self, entity: Entity) -> bool {
        self.nodes.contains(entity)
    }

    pub(crate) fn in_world(&self, entity: Entity) -> WorldTransform {
        match self.parents.get(entity) {
            Ok(parent) => self.in_world(parent.parent()).child(&self.local(entity)),
            Err(_) => WorldTransform::Plain(self.local(entity)),
        }
    }

    /// What the entity hangs on.
    pub(crate) fn lineage(&self, entity: Entity) -> Lineage {
        Lineage::of(self.parents.iter_ancestors(entity))
    }

    /// The entity itself and all above it.
    pub(crate) fn ancestry(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        core::iter::once(entity).chain(self.parents.iter_ancestors(entity))
    }

    /// The rig on or above an entity.
    pub(crate) fn rig_of(&self, entity: Entity) -> Option<Entity> {
        self.ancestry(entity).find(|entity| self.rigs.contains(*entity))
    }

    /// Lists the hitboxes of a rig with their poses in the world, parents before children; and with what they hang on, if the
    /// rig is `ruled`.
    fn list_hitboxes(&self, rig: Entity, root: WorldTransform, hittable: bool, ruled: bool, scratch: &mut Scratch) {
        scratch.poses.begin(pose::of(&root.to_transform()));
        scratch.open.push((rig, root, Lineage::NONE, None));
        while let Some((entity, parent, lineage, above)) = scratch.open.pop() {
            let Ok(node) = self.nodes.get(entity) else {
                scratch.absent.push(entity);
                continue;
            };
            let is_root = entity == rig;
            if node.is_rig && !is_root {
                continue;
            }
            let local = || node.transform.copied().unwrap_or_default();
            let transform = if is_root { parent } else { parent.child(&local()) };
            let number = scratch.nodes.len() as u32;
            scratch.nodes.push(Node {
                entity,
                parent: above,
                is_parent: false,
                number: 0,
                has_transform: node.transform.is_some(),
                hitbox: None,
            });
            if let Some(hitbox) = node.hitbox {
                let world = transform.with_offset(hitbox.offset).to_transform();
                let shape = PlannedHitbox::shape_at(hitbox, node.scale, world.scale);
                let planned =
                    PlannedHitbox { hitbox: *hitbox, scale: node.scale.copied(), scaled: (world.scale, shape) };
                scratch.nodes[number as usize].hitbox = Some(planned);
                if shape.is_sound() && world.translation.is_finite() && world.rotation.is_finite() {
                    scratch.hitboxes.push(RecordedHitbox {
                        entity,
                        zone: hitbox.zone,
                        shape,
                        hittable: hittable && !node.unhittable && !node.collider_off,
                        is_fresh: false,
                    });
                    scratch.poses.push(pose::of(&world));
                    scratch.reaches.push(shape.bounding_radius());
                    scratch.lineages.push(lineage);
                    if ruled {
                        scratch.parts.push(self.part(entity, hitbox, root, transform, &world));
                    }
                } else {
                    warn_once!("the hitbox of `{entity}` cannot be hit: {shape:?} at {world:?}");
                }
            }
            if let Some(children) = node.children {
                let below = lineage.below(entity.to_bits());
                scratch.open.extend(children.iter().rev().map(|child| (child, transform, below, Some(number))));
            }
        }
        fill_up(&mut scratch.reaches);
    }
}

impl Hierarchy<'_, '_> {
    /// What a hitbox of a rig with a rule hangs on.
    fn part(
        &self,
        entity: Entity,
        hitbox: &Hitbox,
        root: WorldTransform,
        own: WorldTransform,
        pose: &Transform,
    ) -> Part {
        match self.bones.get(entity) {
            Ok(bone) => {
                let Isometry3d { translation, rotation } = hitbox.offset;
                Part::of_bone(*bone, Isometry3d::new(Vec3::from(translation) * own.to_transform().scale, rotation))
            }
            Err(_) => Part::fixed(pose::of(&root.to_transform()).inverse_mul(pose::of(pose))),
        }
    }
}

impl HistoryBuffer {
    /// Marks the hitboxes that hang on something else than in the last record.
    fn mark_fresh(&mut self, scratch: &mut Scratch) {
        let hitboxes = scratch.hitboxes.iter_mut().zip(&scratch.lineages).enumerate();
        for (index, (hitbox, lineage)) in hitboxes.filter(|_| !self.is_empty()) {
            let before = self.layout(self.ring.slot(0)).index_of(hitbox.entity, index);
            hitbox.is_fresh = before.is_some_and(|before| self.hitbox_lineages[before] != *lineage);
        }
        self.hitbox_lineages.clone_from(&scratch.lineages);
    }
}

/// Writes one record of each rig: where it stands after movement, physics and animation of this tick.
pub(crate) fn record_history(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    config: Res<LagCompensationConfig>,
    changes: Changes,
    mut histories: ParamSet<(
        Plans,
        Query<
            (
                Entity,
                &mut HistoryBuffer,
                &mut RigPlan,
                &Life,
                Has<Unhittable>,
                Option<(&DisplayRule, &DisplayParameters)>,
                Option<&Transform>,
                Has<ChildOf>,
            ),
            With<Rig>,
        >,
        Query<(Entity, &mut HistoryBuffer), (With<Rig>, With<Disabled>)>,
    )>,
    hierarchy: Hierarchy,
    mut tables: Tables,
    mut index: ResMut<RigIndex>,
    mut scratch: Local<Scratch>,
) {
    let retention = Retention {
        // Both ends of the span are records.
        capacity: config.history_ticks(time.timestep()) as usize + 1,
        storage: config.storage,
        speed_limit: SpeedLimit::new(config.max_speed, time.timestep()),
    };
    changes.apply(&mut histories.p0());
    let columns = tables.columns();
    let none = PoseList::default();
    index.begin(tick.0, retention.capacity);
    for (rig, mut history, mut plan, life, unhittable, rule, transform, has_parent) in &mut histories.p1() {
        let (root, lineage) = if has_parent {
            (hierarchy.in_world(rig), hierarchy.lineage(rig))
        } else {
            (WorldTransform::Plain(transform.copied().unwrap_or_default()), Lineage::NONE)
        };
        let root_transform = root.to_transform();
        let bare = RigRecord {
            root: pose::of(&root_transform),
            lineage,
            life: *life,
            hittable: !unhittable,
            hitboxes: None,
            poses: &none,
            reaches: &[],
            posing: None,
        };
        let Scratch { hitboxes, poses, transforms, .. } = &mut *scratch;
        if rule.is_none()
            && let Some(listed) = plan.follow(tick.0, &history, &hierarchy, &columns, root, hitboxes, poses, transforms)
        {
            history.record(tick.0, &RigRecord { hitboxes: listed, poses, reaches: plan.reaches(), ..bare }, retention);
            index.put(rig, &mut history);
            continue;
        }
        scratch.clear();
        hierarchy.list_hitboxes(rig, root, !unhittable, rule.is_some(), &mut scratch);
        history.mark_fresh(&mut scratch);
        let Scratch { nodes, absent, hitboxes, .. } = &mut *scratch;
        let is_sound = nodes.iter().filter(|node| node.hitbox.is_some()).count() == hitboxes.len();
        plan.forget();
        if is_sound && rule.is_none() {
            plan.make(nodes, absent);
        }
        let parts = core::mem::take(&mut scratch.parts);
        let posing = rule.map(|(rule, parameters)| (Posing::new(*rule, root_transform.scale, parts), *parameters));
        let record = RigRecord {
            hitboxes: Some(&scratch.hitboxes),
            poses: &scratch.poses,
            reaches: &scratch.reaches,
            posing: posing.as_ref().map(|(posing, parameters)| (posing, *parameters)),
            ..bare
        };
        history.record(tick.0, &record, retention);
        if let Some((posing, _)) = posing {
            scratch.parts = posing.parts;
        }
        index.put(rig, &mut history);
    }
    // They may be enabled again before the next record.
    for (rig, mut history) in &mut histories.p2() {
        index.put_disabled(rig, &mut history);
    }
    index.finish();
}

#[cfg(test)]
pub(super) mod tests {
    use bevy::{ecs::system::RunSystemOnce, math::DAffine3};
    use proptest::prelude::*;

    use super::{super::model, *};
    use crate::{Tick, ViewTime};

    pub(crate) fn world() -> World {
        let mut world = World::new();
        world.init_resource::<CurrentTick>();
        world.init_resource::<RigIndex>();
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

    /// A node of a random hierarchy: whose child it is, whether it is a rig, a hitbox, or scaled unevenly, and where it is.
    pub(crate) type Node = (usize, bool, bool, bool, [f32; 3], [f32; 3]);

    pub(crate) fn nodes() -> impl Strategy<Value = Vec<Node>> {
        let numbers = || prop::array::uniform3(-3.0_f32..3.0);
        let node =
            (any::<usize>(), prop::bool::weighted(0.3), any::<bool>(), prop::bool::weighted(0.2), numbers(), numbers());
        prop::collection::vec(node, 1..24)
    }

    fn local((_, _, _, uneven, place, turn): &Node) -> Transform {
        let [x, y, z] = *turn;
        let scale = if *uneven { Vec3::new(1.0, 2.0, 0.5) } else { Vec3::splat(1.5) };
        Transform::from_translation((*place).into())
            .with_rotation(Quat::from_euler(EulerRot::XYZ, x, y, z))
            .with_scale(scale)
    }

    /// The parent of a node: none, or one before it.
    fn parent_of(index: usize, node: &Node) -> Option<usize> {
        (node.0 % (index + 1)).checked_sub(1)
    }

    pub(crate) fn spawn(world: &mut World, nodes: &[Node]) -> Vec<Entity> {
        let mut entities: Vec<Entity> = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let entity = world.spawn(local(node)).id();
            if node.1 {
                world.entity_mut(entity).insert(Rig);
            }
            if node.2 {
                world.entity_mut(entity).insert(Hitbox::ball(0.5));
            }
            if let Some(parent) = parent_of(index, node) {
                world.entity_mut(entity).insert(ChildOf(entities[parent]));
            }
            entities.push(entity);
        }
        entities
    }

    proptest! {
        #![proptest_config(model::cases())]

        #[test]
        fn hitboxes_belong_to_the_nearest_rig_and_stand_where_the_hierarchy_puts_them(nodes in nodes()) {
            let mut world = world();
            let entities = spawn(&mut world, &nodes);
            world.run_system_once(record_history).expect("it runs");

            let in_world = |index: usize| {
                let mut chain = DAffine3::IDENTITY;
                let mut next = Some(index);
                while let Some(index) = next {
                    let Transform { translation, rotation, scale } = local(&nodes[index]);
                    let (scale, rotation) = (scale.as_dvec3(), rotation.as_dquat().normalize());
                    let own = DAffine3::from_scale_rotation_translation(scale, rotation, translation.as_dvec3());
                    chain = own * chain;
                    next = parent_of(index, &nodes[index]);
                }
                chain
            };
            let mut expected: Vec<(Entity, Entity, DAffine3)> = Vec::new();
            for index in (0..nodes.len()).filter(|index| nodes[*index].2) {
                let mut above = Some(index);
                while above.is_some_and(|index| !nodes[index].1) {
                    above = above.and_then(|index| parent_of(index, &nodes[index]));
                }
                if let Some(rig) = above {
                    expected.push((entities[rig], entities[index], in_world(index)));
                }
            }
            let mut found = 0;
            let mut histories = world.query::<(Entity, &HistoryBuffer)>();
            for (rig, history) in histories.iter(&world) {
                for hitbox in history.sample(ViewTime::at(Tick(0))).expect("it is recorded").hitboxes() {
                    let owned = expected.iter().find(|(owner, entity, _)| (*owner, *entity) == (rig, hitbox.entity));
                    let (_, _, place) = owned.expect("it belongs to this rig");
                    let reach = 1e-5 * (1.0 + place.translation.length());
                    let at = Vec3::from(hitbox.pose.translation).as_dvec3();
                    prop_assert!(at.distance(place.translation) < reach, "{hitbox:?} instead of {place:?}");
                    let up = (hitbox.pose.rotation * Vec3::Y).as_dvec3();
                    prop_assert!(up.distance(place.y_axis.normalize()) < 1e-4, "{hitbox:?} instead of {place:?}");
                    found += 1;
                }
            }
            prop_assert_eq!(found, expected.len());
        }
    }
}
