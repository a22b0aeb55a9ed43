//! The leaves of rapier's tree once more, eight to a node.

use core::{
    ops::Deref,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use bevy::{
    math::{Vec3A, bounding::Aabb3d},
    platform::sync::{RwLock, RwLockReadGuard},
    prelude::*,
};
use bevy_rapier3d::{plugin::context::RapierContextSimulation, rapier::parry::partitioning::Bvh};

use crate::{
    history::{Beam, BoxTree},
    time::Tick,
    trace::region::Place,
};

/// The colliders of all worlds of rapier, as its last steps left them.
///
/// To ask rapier's own tree, with two boxes to a node, takes twice as long. Only boxes are kept here; whatever else is to be known of
/// a collider is read from rapier when a ray comes to it. After each step, the first rays ask rapier's tree; if many follow, the boxes
/// are compared with rapier's, which takes as long as some rays do, and from then on these here are asked.
#[derive(Resource, Default)]
pub(crate) struct ColliderIndex(RwLock<Vec<World>>);

struct World {
    context: Entity,
    /// What was compared last, and what was asked for last.
    followed: Option<Moment>,
    asked: AtomicU64,
    /// How many rays have asked for that.
    rays: AtomicU32,
    leaves: Leaves,
}

/// A step of rapier's, by Bevy's change detection, in a tick of the game: occluders may come and go in others, too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::trace) struct Moment(u64);

impl Moment {
    pub(in crate::trace) fn new(simulation: &Ref<RapierContextSimulation>, tick: Tick) -> Self {
        Self(u64::from(simulation.last_changed().get()) << 32 | u64::from(tick.0))
    }
}

/// The leaves of a world, as long as they are looked at.
pub(super) struct Followed<'a> {
    worlds: RwLockReadGuard<'a, Vec<World>>,
    number: usize,
}

impl Deref for Followed<'_> {
    type Target = Leaves;

    fn deref(&self) -> &Leaves {
        &self.worlds[self.number].leaves
    }
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

impl ColliderIndex {
    /// Boxes that are compared in the time that a ray saves.
    const BOXES_FOR_A_RAY: u32 = 15;

    /// The leaves of a world at a moment, if that is worth it for so many more rays.
    ///
    /// They must not be asked for again while they are looked at.
    pub(super) fn leaves(
        &self,
        context: Entity,
        now: Moment,
        bvh: &Bvh,
        more: u32,
        is_recorded: impl Fn(u32) -> bool,
    ) -> Option<Followed<'_>> {
        let find = |worlds: &[World]| worlds.iter().position(|world| world.context == context);
        // After a panic in another thread, rapier's own tree will do.
        let worlds = self.0.read().ok()?;
        let known = find(&worlds);
        if let Some(number) = known {
            let world = &worlds[number];
            if world.followed == Some(now) {
                return Some(Followed { worlds, number });
            }
            if world.asked.swap(now.0, Relaxed) != now.0 {
                world.rays.store(0, Relaxed);
            }
            let rays = world.rays.fetch_add(more, Relaxed) + more;
            if rays.saturating_mul(Self::BOXES_FOR_A_RAY) < bvh.leaf_count() {
                return None;
            }
        }
        drop(worlds);
        let mut worlds = self.0.write().ok()?;
        let number = find(&worlds).unwrap_or_else(|| {
            let (asked, rays) = (AtomicU64::new(now.0), AtomicU32::new(0));
            worlds.push(World { context, followed: None, asked, rays, leaves: Leaves::default() });
            worlds.len() - 1
        });
        if known.is_some() && worlds[number].followed != Some(now) {
            worlds[number].leaves.follow(bvh, is_recorded);
            worlds[number].followed = Some(now);
        }
        None
    }
}

/// Forgets the boxes of worlds that are no more.
pub(crate) fn forget_worlds(worlds: Query<(), With<RapierContextSimulation>>, mut index: ResMut<ColliderIndex>) {
    if let Ok(known) = index.0.get_mut() {
        known.retain(|world| worlds.contains(world.context));
    }
}

impl Leaves {
    /// Shows the keys of those that a beam meets, nearer ones sooner but for those that move, as far as `visit` says that it is still
    /// worth it.
    pub(super) fn visit_beam(&self, beam: Beam, visit: &mut dyn FnMut(u32) -> f32) {
        let reach = self.still.visit_beam(beam, visit);
        self.loose.visit_beam(Beam { range: reach, ..beam }, visit);
    }

    /// The same for a place.
    pub(super) fn search(&self, place: &impl Place, mut visit: impl FnMut(u32) -> f32) {
        place.search(&self.still, 0.0, &mut visit);
        place.search(&self.loose, 0.0, &mut visit);
    }

    /// A box as it has been followed, by its key.
    pub(super) fn bounds(&self, key: u32) -> Aabb3d {
        self.boxes[key as usize]
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
