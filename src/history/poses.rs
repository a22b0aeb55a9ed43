//! How the poses of records are stored.

use core::ops::Range;

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};

use super::pose_list::PoseList;

/// How exactly poses are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum PoseStorage {
    /// As they are, in 28 bytes a pose.
    #[default]
    Full,
    /// In 11 bytes a pose: positions relative to the rig in 16 bits an axis, rotations by their three smallest components in
    /// 40 bits. The rig's own pose stays as it is.
    ///
    /// For hitboxes within a ball of radius r, positions are wrong by up to r / 37,000 (0.04 mm for r = 1.5 m), and rotations
    /// by up to 0.06°.
    Compact,
}

/// The places of four poses: their coordinates along X, Y and Z. Apart from the rotations, which few questions come to, and four at
/// a time, as processors like it.
pub(super) type Places = [Vec4; 3];

/// The poses of all slots of a ring.
#[derive(Debug, Default)]
pub(super) struct PoseStore {
    /// As many poses for each slot.
    stride: usize,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    /// For each slot first all places in groups, and then all rotations: what is recorded together lies together.
    Full(Vec<Vec4>),
    Compact {
        positions: Vec<[i16; 3]>,
        rotations: Vec<[u8; 5]>,
    },
}

/// The poses of one record.
#[derive(Clone, Copy)]
pub(super) enum Poses<'a> {
    Full { places: &'a [Places], rotations: &'a [Vec4] },
    Compact { positions: &'a [[i16; 3]], rotations: &'a [[u8; 5]], frame: Frame },
}

impl<'a> Poses<'a> {
    #[inline]
    pub(super) fn read(&self, index: usize) -> Isometry3d {
        match self {
            Self::Full { rotations, .. } => {
                Isometry3d { translation: self.place(index), rotation: Quat::from_vec4(rotations[index]) }
            }
            Self::Compact { rotations, .. } => {
                Isometry3d { translation: self.place(index), rotation: unpack_rotation(rotations[index]) }
            }
        }
    }

    /// All places in groups, if they are stored so.
    #[inline]
    pub(super) fn places(&self) -> Option<&'a [Places]> {
        match self {
            Self::Full { places, .. } => Some(places),
            Self::Compact { .. } => None,
        }
    }

    /// The place of a pose alone.
    #[inline]
    pub(super) fn place(&self, index: usize) -> Vec3A {
        match self {
            Self::Full { places, .. } => {
                let [x, y, z] = places[index / GROUP].map(|axis| axis[index % GROUP]);
                Vec3A::new(x, y, z)
            }
            Self::Compact { positions, frame, .. } => {
                let [x, y, z] = positions[index].map(|number| f32::from(number) / f32::from(i16::MAX));
                Vec3A::from(frame.center) + Vec3A::new(x, y, z) * frame.radius
            }
        }
    }
}

/// What compact positions are relative to: all of them lie within `radius` of `center`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Frame {
    pub(super) center: Vec3,
    pub(super) radius: f32,
}

const GROUP: usize = 4;

impl Default for Numbers {
    fn default() -> Self {
        Self::Full(Vec::new())
    }
}

impl PoseStore {
    /// Room for at least `stride` poses in each of so many slots.
    pub(super) fn new(storage: PoseStorage, slots: usize, stride: usize) -> Self {
        match storage {
            PoseStorage::Full => {
                let stride = stride.next_multiple_of(GROUP);
                let mut vectors = vec![Vec4::ZERO; slot_of_vectors(slots, stride).start];
                for slot in 0..slots {
                    split(&mut vectors[slot_of_vectors(slot, stride)], stride).1.fill(Quat::IDENTITY.into());
                }
                Self { stride, numbers: Numbers::Full(vectors) }
            }
            PoseStorage::Compact => {
                let len = slots * stride;
                let (positions, rotations) = (vec![[0; 3]; len], vec![[0; 5]; len]);
                Self { stride, numbers: Numbers::Compact { positions, rotations } }
            }
        }
    }

    /// As many poses there is room for in each slot.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn storage(&self) -> PoseStorage {
        match self.numbers {
            Numbers::Full(_) => PoseStorage::Full,
            Numbers::Compact { .. } => PoseStorage::Compact,
        }
    }

    /// The poses of a slot, which are all in the same frame.
    #[inline]
    pub(super) fn read(&self, slot: usize, frame: Frame) -> Poses<'_> {
        match &self.numbers {
            Numbers::Full(vectors) => {
                let vectors = &vectors[slot_of_vectors(slot, self.stride)];
                let (places, rotations) = vectors.split_at(self.stride / GROUP * 3);
                Poses::Full { places: places.as_chunks().0, rotations }
            }
            Numbers::Compact { positions, rotations } => {
                let range = slot * self.stride..(slot + 1) * self.stride;
                Poses::Compact { positions: &positions[range.clone()], rotations: &rotations[range], frame }
            }
        }
    }

    /// Writes the poses of a slot.
    pub(super) fn write(&mut self, slot: usize, poses: &PoseList, frame: Frame) {
        let stride = self.stride;
        match &mut self.numbers {
            Numbers::Full(vectors) => {
                let (places, rotations) = split(&mut vectors[slot_of_vectors(slot, stride)], stride);
                let slots = places.iter_mut().zip(rotations.as_chunks_mut().0);
                for (group, (places, rotations)) in poses.groups().iter().zip(slots) {
                    (*places, *rotations) = (group.place, group.rotations());
                }
            }
            Numbers::Compact { positions, rotations } => {
                let slots = positions[slot * stride..].iter_mut().zip(&mut rotations[slot * stride..]);
                for (pose, (position, rotation)) in poses.iter().zip(slots) {
                    (*position, *rotation) = (pack_position(pose.translation, frame), pack_rotation(pose.rotation));
                }
            }
        }
    }

    /// Copies a slot of another store with no more room; exactly, if both store poses in the same way.
    pub(super) fn copy(&mut self, slot: usize, other: &Self, from: usize, frame: Frame) {
        let (stride, old) = (self.stride, other.read(from, frame));
        match (&mut self.numbers, old) {
            (Numbers::Full(vectors), Poses::Full { places: old_places, rotations: old_rotations }) => {
                let (places, rotations) = split(&mut vectors[slot_of_vectors(slot, stride)], stride);
                places[..old_places.len()].copy_from_slice(old_places);
                rotations[..old_rotations.len()].copy_from_slice(old_rotations);
            }
            (
                Numbers::Compact { positions, rotations },
                Poses::Compact { positions: old_positions, rotations: old_rotations, .. },
            ) => {
                positions[slot * stride..][..old_positions.len()].copy_from_slice(old_positions);
                rotations[slot * stride..][..old_rotations.len()].copy_from_slice(old_rotations);
            }
            (_, old) => {
                let mut poses = PoseList::default();
                (0..other.stride).for_each(|index| poses.push(old.read(index)));
                self.write(slot, &poses, frame);
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Full(vectors) => size_of_val(vectors.as_slice()),
            Numbers::Compact { positions, rotations } => {
                size_of_val(positions.as_slice()) + size_of_val(rotations.as_slice())
            }
        }
    }
}

/// Where the vectors of a slot are: three for the places of a group, and one for each rotation.
fn slot_of_vectors(slot: usize, stride: usize) -> Range<usize> {
    let len = stride / GROUP * 3 + stride;
    slot * len..(slot + 1) * len
}

/// The places and the rotations of a slot.
fn split(vectors: &mut [Vec4], stride: usize) -> (&mut [Places], &mut [Vec4]) {
    let (places, rotations) = vectors.split_at_mut(stride / GROUP * 3);
    (places.as_chunks_mut().0, rotations)
}

fn pack_position(place: Vec3A, frame: Frame) -> [i16; 3] {
    let relative = (Vec3::from(place) - frame.center) / frame.radius.max(f32::MIN_POSITIVE);
    // `as` saturates.
    relative.to_array().map(|part| (part * f32::from(i16::MAX)).round() as i16)
}

/// Bits of each of the three smallest components; two more tell which the largest one is.
const BITS: [u32; 3] = [13, 13, 12];
/// No component but the largest of a unit quaternion is larger than this.
const LARGEST: f32 = core::f32::consts::FRAC_1_SQRT_2;

fn pack_rotation(rotation: Quat) -> [u8; 5] {
    let parts = rotation.normalize().to_array();
    let largest = (0..4).fold(0, |best, i| if parts[i].abs() > parts[best].abs() { i } else { best });
    // A rotation and its negative are the same; the largest component is kept positive, and so need not be stored.
    let sign = if parts[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut packed = largest as u64;
    for (part, bits) in others(largest).map(|i| parts[i] * sign).into_iter().zip(BITS) {
        let steps = ((1_u32 << bits) - 1) as f32;
        let number = (0.5 * (part / LARGEST + 1.0) * steps).round() as u64;
        packed = (packed << bits) | number.min(steps as u64);
    }
    let [a, b, c, d, e, ..] = packed.to_le_bytes();
    [a, b, c, d, e]
}

fn unpack_rotation([a, b, c, d, e]: [u8; 5]) -> Quat {
    let mut packed = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
    let mut small = [0.0; 3];
    for (part, bits) in small.iter_mut().zip(BITS).rev() {
        let steps = (1_u64 << bits) - 1;
        *part = ((packed & steps) as f32 / steps as f32 * 2.0 - 1.0) * LARGEST;
        packed >>= bits;
    }
    let largest = packed as usize & 3;
    let mut parts = [0.0; 4];
    for (i, part) in others(largest).into_iter().zip(small) {
        parts[i] = part;
    }
    parts[largest] = (1.0 - small.iter().map(|part| part * part).sum::<f32>()).max(0.0).sqrt();
    Quat::from_array(parts).normalize()
}

/// The indices of all components but one.
fn others(largest: usize) -> [usize; 3] {
    [usize::from(largest == 0), 1 + usize::from(largest <= 1), 2 + usize::from(largest <= 2)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn compact_poses_are_right_to_a_millimetre_and_a_tenth_of_a_degree(
            position in prop::array::uniform3(-1.5_f32..1.5),
            rotation in prop::array::uniform4(-1.0_f32..1.0),
            center in prop::array::uniform3(-500.0_f32..500.0),
        ) {
            let rotation = Quat::from_array(rotation);
            prop_assume!(rotation.length() > 0.1);
            let frame = Frame { center: center.into(), radius: 2.6 };
            let pose = Isometry3d::new(Vec3::from(position) + frame.center, rotation.normalize());
            let mut store = PoseStore::new(PoseStorage::Compact, 1, 1);
            store.write(0, &PoseList::of(Isometry3d::IDENTITY, &[pose]), frame);
            let back = store.read(0, frame).read(0);
            // Positions 500 m away have steps of 0.03 mm of their own.
            prop_assert!(back.translation.distance(pose.translation) < 2.6 / 37_000.0 + 1e-4);
            // In `f64`: near zero, the angle between `f32` rotations is mostly rounding.
            let angle = back.rotation.as_dquat().normalize().angle_between(pose.rotation.as_dquat().normalize());
            prop_assert!(angle.to_degrees() < 0.06, "{}°", angle.to_degrees());
        }
    }

    #[test]
    fn compact_rotations_keep_axes_and_half_turns() {
        for rotation in [
            Quat::IDENTITY,
            -Quat::IDENTITY,
            Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
            Quat::from_xyzw(0.5, -0.5, 0.5, -0.5),
        ] {
            let back = unpack_rotation(pack_rotation(rotation));
            assert!(back.dot(rotation).abs() > 1.0 - 1e-6, "{rotation} came back as {back}");
        }
    }
}
