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
#[derive(Debug)]
pub(super) enum PoseStore {
    Full { places: Vec<Places>, rotations: Vec<Quat> },
    Compact { positions: Vec<[i16; 3]>, rotations: Vec<[u8; 5]> },
}

/// The poses of one record.
#[derive(Clone, Copy)]
pub(super) enum Poses<'a> {
    Full { places: &'a [Places], rotations: &'a [Quat] },
    Compact { positions: &'a [[i16; 3]], rotations: &'a [[u8; 5]], frame: Frame },
}

impl<'a> Poses<'a> {
    #[inline]
    pub(super) fn read(&self, index: usize) -> Isometry3d {
        match self {
            Self::Full { rotations, .. } => Isometry3d { translation: self.place(index), rotation: rotations[index] },
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
                let [x, y, z] = places[index / PoseStore::GROUP].map(|axis| axis[index % PoseStore::GROUP]);
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

impl Default for PoseStore {
    fn default() -> Self {
        Self::Full { places: Vec::new(), rotations: Vec::new() }
    }
}

impl PoseStore {
    const GROUP: usize = 4;

    /// How many poses are stored for a slot that needs so many.
    pub(super) fn stride(storage: PoseStorage, poses: usize) -> usize {
        match storage {
            PoseStorage::Full => poses.next_multiple_of(Self::GROUP),
            PoseStorage::Compact => poses,
        }
    }

    pub(super) fn with_len(storage: PoseStorage, len: usize) -> Self {
        match storage {
            PoseStorage::Full => {
                let places = vec![[Vec4::ZERO; 3]; len.div_ceil(Self::GROUP)];
                Self::Full { places, rotations: vec![Quat::IDENTITY; len] }
            }
            PoseStorage::Compact => Self::Compact { positions: vec![[0; 3]; len], rotations: vec![[0; 5]; len] },
        }
    }

    pub(super) fn storage(&self) -> PoseStorage {
        match self {
            Self::Full { .. } => PoseStorage::Full,
            Self::Compact { .. } => PoseStorage::Compact,
        }
    }

    /// Some of the poses, from the beginning of a group on; all of them are in the same frame.
    #[inline]
    pub(super) fn range(&self, range: Range<usize>, frame: Frame) -> Poses<'_> {
        match self {
            Self::Full { places, rotations } => {
                let groups = range.start / Self::GROUP..range.end.div_ceil(Self::GROUP);
                Poses::Full { places: &places[groups], rotations: &rotations[range] }
            }
            Self::Compact { positions, rotations } => {
                Poses::Compact { positions: &positions[range.clone()], rotations: &rotations[range], frame }
            }
        }
    }

    pub(super) fn write(&mut self, index: usize, pose: Isometry3d, frame: Frame) {
        match self {
            Self::Full { places, rotations } => {
                let group = &mut places[index / Self::GROUP];
                for (axis, place) in group.iter_mut().enumerate() {
                    place[index % Self::GROUP] = pose.translation[axis];
                }
                rotations[index] = pose.rotation;
            }
            Self::Compact { positions, rotations } => {
                let relative = (Vec3::from(pose.translation) - frame.center) / frame.radius.max(f32::MIN_POSITIVE);
                // `as` saturates.
                positions[index] = relative.to_array().map(|part| (part * f32::from(i16::MAX)).round() as i16);
                rotations[index] = pack_rotation(pose.rotation);
            }
        }
    }

    /// Writes the poses of a record, from the beginning of a group on.
    pub(super) fn write_all(&mut self, start: usize, poses: &PoseList, frame: Frame) {
        match self {
            Self::Full { places, rotations } => {
                let places = &mut places[start / Self::GROUP..];
                let (rotations, _) = rotations[start..].as_chunks_mut::<{ Self::GROUP }>();
                for (group, (places, rotations)) in poses.groups().iter().zip(places.iter_mut().zip(rotations)) {
                    (*places, *rotations) = (group.place, group.rotations());
                }
            }
            Self::Compact { .. } => {
                (start..).zip(poses.iter()).for_each(|(index, pose)| self.write(index, pose, frame));
            }
        }
    }

    /// Copies poses of another store, from the beginning of a group on; exactly, if both store them in the same way.
    pub(super) fn copy(&mut self, to: usize, other: &Self, from: Range<usize>, frame: Frame) {
        match (self, other) {
            (
                Self::Compact { positions, rotations },
                Self::Compact { positions: other_positions, rotations: other_rotations },
            ) => {
                positions[to..to + from.len()].copy_from_slice(&other_positions[from.clone()]);
                rotations[to..to + from.len()].copy_from_slice(&other_rotations[from]);
            }
            (store, other) => {
                let poses = other.range(from.clone(), frame);
                (0..from.len()).for_each(|index| store.write(to + index, poses.read(index), frame));
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Full { places, rotations } => size_of_val(places.as_slice()) + size_of_val(rotations.as_slice()),
            Self::Compact { positions, rotations } => {
                size_of_val(positions.as_slice()) + size_of_val(rotations.as_slice())
            }
        }
    }
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
            let mut store = PoseStore::with_len(PoseStorage::Compact, 1);
            store.write(0, pose, frame);
            let back = store.range(0..1, frame).read(0);
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
