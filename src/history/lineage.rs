//! What an entity hangs on.

use bevy::prelude::*;

/// A fingerprint of all that is above an entity, which changes when it, or something above it, is re-parented.
///
/// The 64-bit FNV-1a hash of the entities (Fowler, Noll, Vo): two lineages that differ are told apart but for one case in 10¹⁹.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lineage(u64);

impl Lineage {
    /// That of an entity with nothing above it.
    pub(crate) const NONE: Self = Self(0xcbf2_9ce4_8422_2325);

    /// The lineage of what has `number` as the next thing above it.
    pub(crate) fn below(self, number: u64) -> Self {
        let bytes = number.to_le_bytes();
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The lineage of an entity with these above it.
    pub(crate) fn of(above: impl Iterator<Item = Entity>) -> Self {
        above.fold(Self::NONE, |lineage, entity| lineage.below(entity.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lineages_tell_order_and_length() {
        let [a, b] = [1, 2].map(|n| Entity::from_raw_u32(n).unwrap());
        let lineages = [vec![], vec![a], vec![b], vec![a, b], vec![b, a]].map(|above| Lineage::of(above.into_iter()));
        for (i, one) in lineages.iter().enumerate() {
            assert!(lineages.iter().skip(i + 1).all(|other| one != other));
        }
    }
}
