//! What a query looks at.

use bevy::prelude::*;
use bevy_rapier3d::{geometry::CollisionGroups, rapier::geometry::InteractionGroups};

use crate::hitbox::{TargetGroups, Zone};

/// What a [`RewoundQuery`](crate::RewoundQuery) meets; by default everything but corpses.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{RewoundFilter, prelude::*};
///
/// #[derive(Component, PartialEq)]
/// struct Team(u8);
///
/// fn enemies_only(shooter: Single<(Entity, &Team), With<Rig>>, teams: Query<&Team>) {
///     let (shooter, own) = *shooter;
///     let is_enemy = |rig| teams.get(rig).is_ok_and(|team| team != own);
///     let filter = RewoundFilter::new().fired_by(shooter).rigs(&is_enemy);
/// #   let _ = filter;
/// }
/// # bevy::ecs::system::assert_is_system(enemies_only);
/// ```
#[derive(Clone, Copy)]
pub struct RewoundFilter<'a> {
    pub(super) shooter: Option<Entity>,
    excluded: &'a [Entity],
    rigs: Option<&'a dyn Fn(Entity) -> bool>,
    zones: Option<&'a dyn Fn(Zone) -> bool>,
    targets: u32,
    groups: Option<InteractionGroups>,
    pub(super) walls: bool,
    pub(super) hitboxes: bool,
    pub(super) corpses: Option<bool>,
}

impl Default for RewoundFilter<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> RewoundFilter<'a> {
    /// Everything: all hitboxes of the living, occluders, and the colliders of the live world.
    pub const fn new() -> Self {
        Self {
            shooter: None,
            excluded: &[],
            rigs: None,
            zones: None,
            targets: u32::MAX,
            groups: None,
            walls: true,
            hitboxes: true,
            corpses: None,
        }
    }

    /// Without what belongs to this shooter: the rigs on or above their entity, their colliders, and those of their occluders that do
    /// not block their owner ([`Occluder::blocks_owner`](crate::Occluder::blocks_owner)).
    pub const fn fired_by(self, shooter: Entity) -> Self {
        Self { shooter: Some(shooter), ..self }
    }

    /// Without these rigs, occluders and colliders, by their entities.
    pub const fn without(self, excluded: &'a [Entity]) -> Self {
        Self { excluded, ..self }
    }

    /// Only rigs of which this is true: team mates, those in the same match. Occluders that belong to others block all the same.
    pub const fn rigs(self, rigs: &'a dyn Fn(Entity) -> bool) -> Self {
        Self { rigs: Some(rigs), ..self }
    }

    /// Only hitboxes in zones of which this is true.
    pub const fn zones(self, zones: &'a dyn Fn(Zone) -> bool) -> Self {
        Self { zones: Some(zones), ..self }
    }

    /// Only rigs with at least one of these bits in their [`TargetGroups`].
    pub const fn targets(self, targets: u32) -> Self {
        Self { targets, ..self }
    }

    /// Only occluders and colliders whose rapier `CollisionGroups` interact with these. Hitboxes are no colliders and have none:
    /// see [`RewoundFilter::targets`] for those. Of occluders, the groups of the view time count.
    pub fn groups(self, groups: CollisionGroups) -> Self {
        Self { groups: Some(groups.into()), ..self }
    }

    /// Hitboxes only, through all walls.
    pub const fn through_walls(self) -> Self {
        Self { walls: false, ..self }
    }

    /// Occluders and colliders only.
    pub const fn walls_only(self) -> Self {
        Self { hitboxes: false, ..self }
    }

    /// Whether the dead are met. As [`LagCompensationConfig::hit_corpses`](crate::LagCompensationConfig::hit_corpses) says, if
    /// this is not called.
    pub const fn corpses(self, corpses: bool) -> Self {
        Self { corpses: Some(corpses), ..self }
    }

    /// The same for anyone, or for someone else.
    pub(super) const fn fired_by_any(self, shooter: Option<Entity>) -> Self {
        Self { shooter, ..self }
    }

    #[inline]
    pub(super) fn meets_rig(&self, rig: Entity, groups: Option<&TargetGroups>) -> bool {
        self.hitboxes
            && groups.copied().unwrap_or_default().0 & self.targets != 0
            && !self.excluded.contains(&rig)
            && self.rigs.is_none_or(|meets| meets(rig))
    }

    #[inline]
    pub(super) fn meets_zone(&self, zone: Zone) -> bool {
        self.zones.is_none_or(|meets| meets(zone))
    }

    #[inline]
    pub(super) fn meets_wall(&self, entity: Option<Entity>, groups: InteractionGroups) -> bool {
        self.groups.is_none_or(|own| own.test(groups)) && !entity.is_some_and(|entity| self.excluded.contains(&entity))
    }
}
