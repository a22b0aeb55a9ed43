//! The leaves of rapier's tree once more, eight to a node.

use bevy::{
    ecs::change_detection::Tick,
    math::{Vec3A, bounding::Aabb3d},
    prelude::*,
};
use bevy_rapier3d::{
    plugin::context::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet},
    rapier::parry::partitioning::Bvh,
};

use super::{entity_of, pipeline};
use crate::{
    history::{Beam, BoxTree},
    hitbox::Occluder,
    trace::region::{Place as _, Region},
};

/// The colliders of all worlds of rapier, as its last steps left them.
///
/// To ask rapier's own tree, with two boxes to a node, takes twice as long. Only boxes are kept here, and compared with rapier's in
/// each tick; whatever else is to be known of a collider is read from rapier when a ray comes to it. If rapier has been at work since
/// the boxes were compared, its own tree is asked.
#[derive(Resource, Default)]
pub(crate) struct ColliderIndex(Vec<World>);

struct World {
    context: Entity,
    /// When rapier was last at work there, by Bevy's change detection.
    followed: Tick,
    leaves: Leaves,
}

/// The leaves of a tree of rapier's, by its keys.
#[derive(Default)]
pub(in crate::trace) struct Leaves {
    boxes: Vec<Aabb3d>,
    kinds: Vec<Kind>,
    /// Those that have not moved since it was built.
    still: BoxTree,
    /// All others.
    loose: BoxTree,
    refits: u32,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Kind {
    #[default]
    Nowhere,
    Still,
    /// It has come, and not moved so far.
    Fresh,
    Moving,
    /// It is recorded as an occluder, and met as that.
    Recorded,
}

impl Kind {
    fn is_loose(self) -> bool {
        matches!(self, Self::Fresh | Self::Moving)
    }
}

/// Follows what rapier has done since the last tick.
pub(crate) fn index_colliders(
    worlds: Query<(Entity, Ref<RapierContextSimulation>, &RapierContextColliders, &RapierRigidBodySet)>,
    occluders: Query<(), With<Occluder>>,
    mut index: ResMut<ColliderIndex>,
) {
    index.0.retain(|world| worlds.contains(world.context));
    for (context, simulation, colliders, bodies) in &worlds {
        let followed = simulation.last_changed();
        let known = index.0.iter().position(|world| world.context == context).unwrap_or_else(|| {
            index.0.push(World { context, followed, leaves: Leaves::default() });
            index.0.len() - 1
        });
        index.0[known].followed = followed;
        let is_recorded = |leaf| entity_of(&colliders.colliders, leaf).is_some_and(|entity| occluders.contains(entity));
        index.0[known].leaves.follow(pipeline(&simulation, colliders, bodies).bvh, is_recorded);
    }
}

impl ColliderIndex {
    /// The leaves of a world, unless rapier has been at work there since.
    pub(in crate::trace) fn of(&self, context: Entity, simulation: &Ref<RapierContextSimulation>) -> Option<&Leaves> {
        let world = self.0.iter().find(|world| world.context == context)?;
        (world.followed == simulation.last_changed()).then_some(&world.leaves)
    }
}

impl Leaves {
    /// Shows the keys of those that a beam meets, nearer ones sooner but for those that move, as far as `visit` says that it is still
    /// worth it.
    pub(super) fn visit_beam(&self, beam: Beam, mut visit: impl FnMut(u32) -> f32) {
        let mut reach = beam.range;
        self.still.visit_beam(beam, |key| {
            reach = visit(key);
            reach
        });
        self.loose.visit_beam(Beam { range: reach.min(beam.range), ..beam }, visit);
    }

    /// Shows the keys of those near a region.
    pub(super) fn visit(&self, region: &Region, mut visit: impl FnMut(u32)) {
        for tree in [&self.still, &self.loose] {
            region.search(tree, 0.0, |key| {
                visit(key);
                region.reach()
            });
        }
    }

    fn follow(&mut self, bvh: &Bvh, is_recorded: impl Fn(u32) -> bool) {
        let Self { boxes, kinds, still, loose, refits } = self;
        let (mut known, mut has_left, mut have_moved, mut has_come) = (0, false, false, false);
        for ((key, own), kind) in
            (0..).zip(boxes.iter_mut()).zip(kinds.iter_mut()).filter(|(_, kind)| **kind != Kind::Nowhere)
        {
            let (now, before) = (box_of(bvh, key), *kind);
            let has_moved = now != Some(*own);
            known += u32::from(now.is_some());
            *own = now.unwrap_or(BoxTree::EMPTY);
            *kind = match before {
                _ if now.is_none() => Kind::Nowhere,
                // Those that stay where they are need not be asked.
                Kind::Still if !has_moved => Kind::Still,
                _ if is_recorded(key) => Kind::Recorded,
                Kind::Fresh if !has_moved => Kind::Fresh,
                _ => Kind::Moving,
            };
            has_left |= before == Kind::Still && *kind != Kind::Still;
            has_come |= kind.is_loose() && !before.is_loose();
            have_moved |= before.is_loose() && (has_moved || !kind.is_loose());
        }
        if known < bvh.leaf_count() {
            has_come = true;
            for leaf in bvh.leaves(|_| true) {
                let needed = leaf as usize + 1;
                if kinds.len() < needed {
                    kinds.resize(needed, Kind::Nowhere);
                    boxes.resize(needed, BoxTree::EMPTY);
                }
                if kinds[leaf as usize] == Kind::Nowhere {
                    kinds[leaf as usize] = if is_recorded(leaf) { Kind::Recorded } else { Kind::Fresh };
                    boxes[leaf as usize] = box_of(bvh, leaf).unwrap_or(BoxTree::EMPTY);
                }
            }
            let count = |kind: Kind| kinds.iter().filter(|other| **other == kind).count();
            // Those that stay where they are, if they are many, are worth the time.
            if count(Kind::Fresh) > 32 + count(Kind::Still) / 4 {
                kinds.iter_mut().filter(|kind| **kind == Kind::Fresh).for_each(|kind| *kind = Kind::Still);
                still.build(|key| boxes[key as usize], of_kind(kinds, |kind| kind == Kind::Still));
                has_left = false;
            }
        }
        if has_left {
            still.refit(|key| (kinds[key as usize] == Kind::Still).then(|| boxes[key as usize]));
        }
        if has_come || *refits >= BoxTree::MOST_REFITS {
            loose.build(|key| boxes[key as usize], of_kind(kinds, Kind::is_loose));
            *refits = 0;
        } else if have_moved {
            loose.refit(|key| kinds[key as usize].is_loose().then(|| boxes[key as usize]));
            *refits += 1;
        }
    }
}

fn of_kind(kinds: &[Kind], is_it: impl Fn(Kind) -> bool) -> impl Iterator<Item = u32> {
    (0..).zip(kinds).filter(move |(_, kind)| is_it(**kind)).map(|(key, _)| key)
}

fn box_of(bvh: &Bvh, key: u32) -> Option<Aabb3d> {
    let node = bvh.leaf_node(key)?;
    Some(Aabb3d { min: Vec3A::from(node.mins()), max: Vec3A::from(node.maxs()) })
}
