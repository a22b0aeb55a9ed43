//! What a rig consists of, kept from one tick to the next.

use bevy::{
    ecs::{entity_disabling::Disabled, query::Allow, system::SystemParam},
    math::Vec4,
    prelude::*,
};

use super::{
    HistoryBuffer, RecordedHitbox,
    columns::{Columns, Row},
    pose_list::{PoseList, fill_up},
    record::Hierarchy,
};
use crate::{
    hitbox::{ColliderOff, Hitbox, HitboxScale, Rig, Unhittable},
    pose::{self, Pose, WorldTransform, is_even},
    shape::Shape,
    time::Tick,
};

/// The entities of a rig on the way to its hitboxes, in the order of its hierarchy.
///
/// To walk through a hierarchy and to look at all components takes most of the time of recording it. As long as only `Transform`s
/// change, the next record needs nothing else. Whatever else changes makes the rig forget its plan.
#[derive(Component, Debug, Default)]
pub(crate) struct RigPlan {
    /// Whether it holds.
    is_made: bool,
    steps: Vec<Step>,
    /// One for each step with a hitbox; and how far each of them reaches from its middle, [filled up](fill_up).
    hitboxes: Vec<PlannedHitbox>,
    reaches: Vec<f32>,
    /// All hitboxes in groups of four, the last one again to fill them up; none unless each has a `Transform` and no offset, and
    /// hangs on the rig itself, which is no hitbox.
    groups: Vec<[(Entity, Row); 4]>,
    /// Whether all that are in a known table have been found where they were.
    is_in_place: bool,
    /// The scale of all hitboxes in the world, if it is the same.
    scale: Option<Vec3>,
    /// Entities of the rig that could not be looked at when it was made, since they were disabled.
    absent: Vec<Entity>,
    /// Whether all hitboxes have the shapes of the last record.
    is_same: bool,
}

/// An entity of a plan, with no more than is needed in each tick: most of the time of recording is spent waiting for memory.
#[derive(Clone, Copy, Debug)]
struct Step {
    entity: Entity,
    /// Where it was found last.
    row: Row,
    /// The number of the one that it hangs on, among those that others hang on; [`Step::ROOT`] for the rig itself, which comes first.
    parent: u32,
    is_parent: bool,
    has_transform: bool,
    has_hitbox: bool,
    has_offset: bool,
}

impl Step {
    const ROOT: u32 = u32::MAX;
}

/// An entity of a rig.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) entity: Entity,
    /// The number of the one that it hangs on.
    pub(super) parent: Option<u32>,
    pub(super) is_parent: bool,
    /// Its own number among those that others hang on.
    pub(super) number: u32,
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

impl RigPlan {
    /// From all of a rig's entities, parents before children.
    pub(super) fn make(&mut self, nodes: &mut [Node], absent: &[Entity]) {
        for index in (0..nodes.len()).rev() {
            let is_needed = nodes[index].hitbox.is_some() || nodes[index].is_parent;
            if let Some(parent) = nodes[index].parent.filter(|_| is_needed) {
                nodes[parent as usize].is_parent = true;
            }
        }
        self.steps.clear();
        self.hitboxes.clear();
        self.reaches.clear();
        let mut parents = 0;
        for index in 0..nodes.len() {
            let Node { entity, parent, is_parent, has_transform, hitbox, .. } = nodes[index];
            nodes[index].number = parents;
            parents += u32::from(is_parent);
            if is_parent || hitbox.is_some() {
                self.steps.push(Step {
                    entity,
                    row: Row::NOWHERE,
                    parent: parent.map_or(Step::ROOT, |parent| nodes[parent as usize].number),
                    is_parent,
                    has_transform,
                    has_hitbox: hitbox.is_some(),
                    has_offset: hitbox.is_some_and(|hitbox| hitbox.hitbox.offset != Isometry3d::IDENTITY),
                });
                self.hitboxes.extend(hitbox);
                self.reaches.extend(hitbox.map(|hitbox| hitbox.scaled.1.bounding_radius()));
            }
        }
        fill_up(&mut self.reaches);
        self.absent.clear();
        self.absent.extend_from_slice(absent);
        (self.is_made, self.is_same, self.is_in_place) = (true, false, false);
        self.compare_scales();
    }

    /// Finds out where to look for all entities.
    fn locate(&mut self, columns: &Columns) {
        self.is_in_place = true;
        self.groups.clear();
        self.steps.iter_mut().for_each(|step| step.row = columns.find(step.entity));
        let Some((root, parts)) = self.steps.split_first() else { return };
        let hangs_on_root = |step: &Step| step.parent == 0 && step.has_transform && !step.has_offset;
        if !root.has_hitbox && parts.iter().all(hangs_on_root) {
            let part = |step: &Step| (step.entity, step.row);
            let group = |steps: &[Step]| [0, 1, 2, 3].map(|lane| part(&steps[lane.min(steps.len() - 1)]));
            self.groups.extend(parts.chunks(4).map(group));
        }
    }

    fn compare_scales(&mut self) {
        let mut scales = self.hitboxes.iter().map(|hitbox| hitbox.scaled.0);
        let first = scales.next();
        self.scale = first.filter(|first| scales.all(|scale| scale == *first));
    }

    /// How far each hitbox reaches from its middle.
    pub(super) fn reaches(&self) -> &[f32] {
        &self.reaches
    }

    /// It does not hold any more.
    pub(super) fn forget(&mut self) {
        self.is_made = false;
    }

    /// Finds where all hitboxes stand in `tick`; `None` if it does not hold any more. The list of hitboxes is only given if it is not
    /// that of the last record.
    pub(super) fn follow<'a>(
        &mut self,
        tick: Tick,
        history: &HistoryBuffer,
        hierarchy: &Hierarchy,
        columns: &Columns,
        root: WorldTransform,
        hitboxes: &'a mut Vec<RecordedHitbox>,
        poses: &mut PoseList,
        transforms: &mut Vec<WorldTransform>,
    ) -> Option<Option<&'a [RecordedHitbox]>> {
        // While a rig was not recorded, anything may have happened to it.
        let goes_on = history.newest().is_some_and(|newest| (0..=1).contains(&tick.since(newest)));
        self.is_made &= goes_on;
        self.is_made = self.is_made && self.find(hierarchy, columns, root, poses, transforms);
        if !self.is_made {
            return None;
        }
        if self.is_same {
            return Some(None);
        }
        self.is_same = true;
        self.compare_scales();
        hitboxes.clear();
        hitboxes.extend_from_slice(history.newest_hitboxes());
        let shapes = self.hitboxes.iter().map(|hitbox| hitbox.scaled.1);
        for (hitbox, shape) in hitboxes.iter_mut().zip(shapes) {
            (hitbox.shape, hitbox.is_fresh) = (shape, false);
        }
        Some(Some(hitboxes))
    }

    /// Finds where all hitboxes stand now; false if the plan does not hold any more.
    fn find(
        &mut self,
        hierarchy: &Hierarchy,
        columns: &Columns,
        root: WorldTransform,
        poses: &mut PoseList,
        transforms: &mut Vec<WorldTransform>,
    ) -> bool {
        if self.absent.iter().any(|entity| hierarchy.is_there(*entity)) {
            return false;
        }
        if !self.is_in_place {
            self.locate(columns);
        }
        if self.find_by_fours(columns, root, poses).is_some() {
            return true;
        }
        let Self { steps, hitboxes, reaches, scale: common, is_same, is_in_place, .. } = self;
        transforms.clear();
        poses.begin(pose::of(&root.to_transform()));
        for step in steps {
            let transform = match step.parent {
                Step::ROOT => root,
                parent => {
                    let found = columns.get(step.row, step.entity);
                    *is_in_place &= found.is_some() || step.row == Row::NOWHERE;
                    match found.or_else(|| hierarchy.local_if_any(step.entity)) {
                        Some(local) if step.has_transform => transforms[parent as usize].child(local),
                        None if !step.has_transform && hierarchy.is_there(step.entity) => {
                            transforms[parent as usize].child(&Transform::IDENTITY)
                        }
                        _ => return false,
                    }
                }
            };
            if step.is_parent {
                transforms.push(transform);
            }
            if !step.has_hitbox {
                continue;
            }
            let number = poses.len();
            let world = if step.has_offset { transform.with_offset(hitboxes[number].hitbox.offset) } else { transform };
            let world = world.to_transform();
            if world.scale != common.unwrap_or_else(|| hitboxes[number].scaled.0) {
                let PlannedHitbox { hitbox, scale, scaled } = &mut hitboxes[number];
                let shape = PlannedHitbox::shape_at(hitbox, scale.as_ref(), world.scale);
                if !shape.is_sound() {
                    return false;
                }
                *scaled = (world.scale, shape);
                (*common, reaches[number], *is_same) = (None, shape.bounding_radius(), false);
            }
            let pose = pose::of(&world);
            if !pose.translation.is_finite() || !pose.rotation.is_finite() {
                return false;
            }
            poses.push(pose);
        }
        true
    }

    /// For hitboxes that all hang on the rig itself and have the scales of the last record, as most do.
    fn find_by_fours(&self, columns: &Columns, root: WorldTransform, poses: &mut PoseList) -> Option<()> {
        let WorldTransform::Plain(transform) = root else { return None };
        let common = self.scale.filter(|_| is_even(transform.scale) && !self.groups.is_empty())?.extend(0.0);
        let (root, scale) = (pose::of(&transform), transform.scale);
        let (lanes, axes) = (Pose::splat(root), scale.to_array().map(Vec4::splat));
        poses.begin(root);
        let mut left = self.hitboxes.len();
        for group in &self.groups {
            let local = columns.get_four(group)?;
            let pose = lanes.child(axes, local.pose);
            let are_as_ever = local.scales.iter().all(|own| scale.extend(0.0) * *own == common);
            if !are_as_ever || !pose.is_finite() {
                return None;
            }
            poses.push_group(pose, left.min(4));
            left = left.saturating_sub(4);
        }
        Some(())
    }
}

/// Rigs whose plans may have to be forgotten.
#[derive(SystemParam)]
pub(crate) struct Plans<'w, 's> {
    plans: Query<'w, 's, &'static mut RigPlan, Allow<Disabled>>,
    parents: Query<'w, 's, &'static ChildOf, Allow<Disabled>>,
}

impl Plans<'_, '_> {
    /// Makes all rigs on or above an entity forget theirs.
    fn forget(&mut self, entity: Entity) {
        for entity in core::iter::once(entity).chain(self.parents.iter_ancestors(entity)) {
            if let Ok(mut plan) = self.plans.get_mut(entity) {
                plan.forget();
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
