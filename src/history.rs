//! The past: one record of each rig for each tick, and how it is looked up.

#[cfg(test)]
mod changes;
mod columns;
mod index;
mod layout;
mod lineage;
#[cfg(test)]
mod model;
mod plan;
mod pose_list;
mod poses;
mod posing;
mod record;
mod ring;
mod sample;
mod segment;
mod sieve;
mod spots;
mod tombstone;
mod tree;
mod write;

use bevy::prelude::*;

use crate::{hitbox::DisplayParameters, time::Tick};
use layout::{Layout, LayoutTable, RigState};
use poses::{Frame, PoseStore, Poses};

pub(crate) use index::{BoxIndex, Whereabout};
pub(crate) use layout::RecordedHitbox;
pub(crate) use lineage::Lineage;
pub(crate) use plan::{RigPlan, forget_inserted, forget_removed};
pub use poses::PoseStorage;
pub(crate) use record::{Hierarchy, record_history};
pub(crate) use ring::TickRing;
pub(crate) use sample::PosedSample;
#[cfg(test)]
pub(crate) use sample::SAMPLES;
pub use sample::{RewoundHitbox, Sample};
pub use segment::BeginSegment;
pub(crate) use segment::{SpeedLimit, begin_segment};
pub(crate) use spots::{RigIndex, SpotAt};
pub(crate) use tombstone::{Tombstones, bury_rig, forget_tombstones};
pub(crate) use tree::{Beam, BoxTree, Frustum};

/// The last second of a [`Rig`](crate::Rig): where its hitboxes stood after each tick, and what they were.
///
/// The plugin writes one record in each fixed step, after movement, physics and animation, from the `Transform`s as they are
/// at that moment. When the buffer is full, the oldest record makes room. Its length in time is
/// [`LagCompensationConfig::history`](crate::LagCompensationConfig::history), and how exactly it remembers is
/// [`LagCompensationConfig::storage`](crate::LagCompensationConfig::storage). Nothing is allocated once the buffer is full and
/// the set of hitboxes is stable.
///
/// # Segments
///
/// A record is blended with the next one only if both are of one segment. A new segment begins with
///
/// * the first record, so that nothing comes flying in from nowhere;
/// * a [`BeginSegment`] event on it or above it, which a game triggers when it moves something at once (teleport, respawn
///   point, vehicle seat);
/// * another [`Life`](crate::Life), or its end;
/// * another parent, or another one above that; a hitbox with another parent begins a segment of its own;
/// * a rig that becomes [`Unhittable`](crate::Unhittable), or no longer is;
/// * a [`DisplayRule`](crate::DisplayRule) that is inserted or removed;
/// * a step faster than [`LagCompensationConfig::max_speed`](crate::LagCompensationConfig::max_speed).
///
/// Until the first tick of the new segment, the rig stays where the old one ended.
#[derive(Component, Debug, Default)]
pub struct HistoryBuffer {
    ring: TickRing,
    /// One for each slot of the ring.
    records: Vec<Record>,
    /// Those of each slot of the ring, relative to the root.
    poses: PoseStore,
    /// One for each slot of the ring, instead of poses, if the rig is posed by a rule.
    parameters: Vec<DisplayParameters>,
    layouts: LayoutTable,
    latest: Option<Latest>,
    segment_ends: bool,
    /// What each hitbox of the newest record hung on below the rig, to find those with another parent.
    hitbox_lineages: Vec<Lineage>,
    /// The largest radius of any record so far.
    widest: f32,
    /// Its number in the index of all rigs.
    number: Option<u32>,
}

/// What a record says of the whole rig.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Where the rig's own entity stands: translation, and rotation without the padding of a `Quat`.
    root: (Vec3, [f32; 4]),
    /// All hitboxes, in any rotation of theirs, lie within this distance of the layout's centre.
    radius: f32,
    /// The number of the layout that the poses follow.
    layout: u32,
}

/// What the newest record is compared with to find the end of a segment.
#[derive(Clone, Copy, Debug)]
struct Latest {
    state: RigState,
    lineage: Lineage,
    hittable: bool,
    ruled: bool,
    place: Vec3,
}

impl HistoryBuffer {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether nothing has been recorded yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether older records have had to make room.
    pub(crate) fn is_full(&self) -> bool {
        self.ring.len() == self.ring.capacity()
    }

    /// The first tick that is still remembered.
    pub fn oldest(&self) -> Option<Tick> {
        self.ring.oldest()
    }

    /// The last tick that was recorded.
    pub fn newest(&self) -> Option<Tick> {
        self.ring.newest()
    }

    /// Memory that the history takes besides the component itself, in bytes.
    pub fn bytes(&self) -> usize {
        self.ring.bytes()
            + size_of_val(self.records.as_slice())
            + self.poses.bytes()
            + size_of_val(self.parameters.as_slice())
            + self.layouts.bytes()
            + self.hitbox_lineages.capacity() * size_of::<Lineage>()
    }

    /// The record of the next tick begins a new segment. [`BeginSegment`] does this for a rig and for an
    /// [`Occluder`](crate::Occluder).
    pub fn begin_segment(&mut self) {
        self.segment_ends = true;
    }

    /// The number of the segment that the newest record belongs to.
    #[cfg(feature = "lightyear")]
    pub(crate) fn segment(&self) -> Option<u32> {
        Some(self.latest?.state.segment)
    }

    #[inline]
    fn layout(&self, slot: usize) -> &Layout {
        self.layouts.get(self.records[slot].layout)
    }

    /// Those of the newest record.
    fn newest_hitboxes(&self) -> &[RecordedHitbox] {
        &self.layout(self.ring.slot(0)).hitboxes
    }

    #[inline]
    fn root(&self, slot: usize) -> Isometry3d {
        let (translation, rotation) = self.records[slot].root;
        Isometry3d::new(translation, Quat::from_array(rotation))
    }

    /// The poses of all hitboxes in a record, relative to the root.
    #[inline]
    fn poses(&self, slot: usize) -> Poses<'_> {
        self.poses.read(slot, self.frame(slot))
    }

    #[inline]
    fn frame(&self, slot: usize) -> Frame {
        Frame { center: self.layout(slot).head.center, radius: self.records[slot].radius }
    }
}
