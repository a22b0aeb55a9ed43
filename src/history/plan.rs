//! What a rig consists of, kept from one tick to the next.

use bevy::{
    ecs::{entity_disabling::Disabled, query::Allow, system::SystemParam},
    prelude::*,
};

use super::{HistoryBuffer, RecordedHitbox, record::Hierarchy};
use crate::{
    hitbox::{ColliderOff, Hitbox, HitboxScale, Rig, Unhittable},
    pose::{self, WorldTransform},
    shape::Shape,
    time::Tick,
};

/// The entities of a rig on the way to its hitboxes, in the order of its hierarchy.
///
/// To walk through a hierarchy and to look at all components takes most of the time of recording it. As long as only `Transform`s
/// change, the next record needs nothing else. Whatever else changes makes the rig forget its plan.
#[derive(Debug)]
pub(super) struct Plan {
    nodes: Vec<Node>,
    /// Where those stand now that others hang on, kept for its memory.
    transforms: Vec<WorldTransform>,
    /// Entities of the rig that could not be looked at when it was made, since they were disabled.
    absent: Vec<Entity>,
    /// Whether all hitboxes have the shapes of the last record.
    pub(super) is_same: bool,
}

/// An entity of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) entity: Entity,
    /// The number of the one that it hangs on; in a plan, among those that others hang on. The rig itself, which comes first, hangs on
    /// none here.
    pub(super) parent: Option<u32>,
    pub(super) is_parent: bool,
    pub(super) has_transform: bool,
    pub(super) hitbox: Option<PlannedHitbox>,
}

/// A hitbox without its pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedHitbox {
    pub(super) hitbox: Hitbox,
    pub(super) scale: Option<HitboxScale>,
    /// The scale in the world, and the shape at that.
    pub(super) scaled: (Vec3, Shape),
}

impl PlannedHitbox {
    /// The shape at a scale in the world.
    pub(super) fn shape_at(hitbox: &Hitbox, scale: Option<&HitboxScale>, world: Vec3) -> Shape {
        hitbox.shape.scaled(scale.map_or(world, |scale| scale.apply_to(world)))
    }
}

impl Plan {
    /// The plan of a rig with all of these entities, parents before children.
    pub(super) fn new(nodes: &[Node], absent: &[Entity]) -> Self {
        let mut is_needed: Vec<_> = nodes.iter().map(|node| node.hitbox.is_some()).collect();
        let mut is_parent = vec![false; nodes.len()];
        for (number, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.filter(|_| is_needed[number]) {
                (is_needed[parent as usize], is_parent[parent as usize]) = (true, true);
            }
        }
        let mut numbers = vec![0; nodes.len()];
        let mut parents = 0;
        let mut kept: Vec<Node> = Vec::new();
        for (number, node) in nodes.iter().enumerate().filter(|(number, _)| is_needed[*number]) {
            let is_parent = is_parent[number];
            numbers[number] = parents;
            parents += u32::from(is_parent);
            kept.push(Node { parent: node.parent.map(|parent| numbers[parent as usize]), is_parent, ..*node });
        }
        let transforms = Vec::with_capacity(parents as usize);
        Self { nodes: kept, transforms, absent: absent.to_vec(), is_same: false }
    }

    /// Finds where all hitboxes stand now; false if the plan does not hold any more.
    pub(super) fn follow(&mut self, hierarchy: &Hierarchy, root: WorldTransform, poses: &mut Vec<Isometry3d>) -> bool {
        let Self { nodes, transforms, absent, is_same } = self;
        if absent.iter().any(|entity| hierarchy.is_there(*entity)) {
            return false;
        }
        transforms.clear();
        poses.clear();
        for node in nodes {
            let transform = match node.parent {
                None => root,
                Some(parent) => {
                    let local = hierarchy.local_if_any(node.entity);
                    if local.is_some() != node.has_transform {
                        return false;
                    }
                    transforms[parent as usize].child(&local.unwrap_or_default())
                }
            };
            if node.is_parent {
                transforms.push(transform);
            }
            let Some(PlannedHitbox { hitbox, scale, scaled }) = &mut node.hitbox else { continue };
            let world = transform.with_offset(hitbox.offset).to_transform();
            if world.scale != scaled.0 {
                *scaled = (world.scale, PlannedHitbox::shape_at(hitbox, scale.as_ref(), world.scale));
                *is_same = false;
            }
            if !world.translation.is_finite() || !world.rotation.is_finite() || !scaled.1.is_sound() {
                return false;
            }
            poses.push(pose::of(&world));
        }
        true
    }

    /// The shapes of all hitboxes, in their order.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.nodes.iter().filter_map(|node| Some(node.hitbox?.scaled.1))
    }

    /// Memory of the lists.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.nodes.capacity() * size_of::<Node>()
            + self.transforms.capacity() * size_of::<WorldTransform>()
            + self.absent.capacity() * size_of::<Entity>()
    }
}

impl HistoryBuffer {
    /// Finds where all hitboxes stand in `tick`, by the plan of the last one; `None` if there is none, or it does not hold any more.
    /// The list of hitboxes is only given if it is not that of the last record.
    pub(super) fn follow_plan<'a>(
        &mut self,
        tick: Tick,
        hierarchy: &Hierarchy,
        root: WorldTransform,
        hitboxes: &'a mut Vec<RecordedHitbox>,
        poses: &mut Vec<Isometry3d>,
    ) -> Option<Option<&'a [RecordedHitbox]>> {
        // While a rig was not recorded, anything may have happened to it.
        let goes_on = self.newest().is_some_and(|newest| (0..=1).contains(&tick.since(newest)));
        let mut plan = self.plan.take().filter(|_| goes_on)?;
        if !plan.follow(hierarchy, root, poses) {
            return None;
        }
        let listed = (!plan.is_same).then(|| {
            hitboxes.clear();
            hitboxes.extend_from_slice(&self.layout(self.ring.slot(0)).hitboxes);
            for (hitbox, shape) in hitboxes.iter_mut().zip(plan.shapes()) {
                (hitbox.shape, hitbox.is_fresh) = (shape, false);
            }
            &**hitboxes
        });
        plan.is_same = true;
        self.plan = Some(plan);
        Some(listed)
    }
}

/// Rigs whose plans may have to be forgotten.
#[derive(SystemParam)]
pub(crate) struct Plans<'w, 's> {
    histories: Query<'w, 's, &'static mut HistoryBuffer, Allow<Disabled>>,
    parents: Query<'w, 's, &'static ChildOf, Allow<Disabled>>,
}

impl Plans<'_, '_> {
    /// Makes all rigs on or above an entity forget theirs.
    fn forget(&mut self, entity: Entity) {
        for entity in core::iter::once(entity).chain(self.parents.iter_ancestors(entity)) {
            if let Ok(mut history) = self.histories.get_mut(entity) {
                history.plan = None;
            }
        }
    }
}

/// What plans are made of, if it has been changed in place, or has come.
#[derive(SystemParam)]
pub(crate) struct Changes<'w, 's> {
    hitboxes: Query<'w, 's, Entity, (Changed<Hitbox>, Allow<Disabled>)>,
    scales: Query<'w, 's, Entity, (Changed<HitboxScale>, Allow<Disabled>)>,
    children: Query<'w, 's, Entity, (Changed<Children>, Allow<Disabled>)>,
}

impl Changes<'_, '_> {
    /// Makes rigs forget the plans that do not hold any more.
    pub(super) fn apply(&self, plans: &mut Plans) {
        for entity in self.hitboxes.iter().chain(&self.scales).chain(&self.children) {
            plans.forget(entity);
        }
    }
}

/// Another rig, or what cannot be hit.
pub(crate) fn forget_inserted(inserted: On<Insert, (Rig, Unhittable, ColliderOff)>, mut plans: Plans) {
    plans.forget(inserted.entity);
}

pub(crate) fn forget_removed(
    removed: On<Remove, (Rig, Unhittable, ColliderOff, Hitbox, HitboxScale, Children)>,
    mut plans: Plans,
) {
    plans.forget(removed.entity);
}
