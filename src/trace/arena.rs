//! All that a shot can meet.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::prelude::{RapierContext, ReadRapierContext};

use super::{
    colliders,
    occluders::{self, OccluderHistory, OccluderTombstones},
    rigs::RewoundRigs,
    screen::{Screen, Window},
};
use crate::{
    hitbox::{Occluder, Unhittable},
    policy::AdmissionRules,
    shot::{Blocker, RejectReason, SentTicks},
    time::ViewTime,
};

/// The past of rigs and occluders, and the live world.
#[derive(SystemParam)]
pub(crate) struct Arena<'w, 's> {
    pub(super) sent: Res<'w, SentTicks>,
    pub(super) rigs: RewoundRigs<'w, 's>,
    occluders: Query<'w, 's, (Entity, &'static OccluderHistory), With<Occluder>>,
    gone_occluders: Res<'w, OccluderTombstones>,
    unhittable: Query<'w, 's, (), With<Unhittable>>,
    // Each of them, if the game simulates several.
    rapier: ReadRapierContext<'w, 's, ()>,
}

impl Arena<'_, '_> {
    /// What stops the ray first, as the screen showed it, or as it stands if it is not recorded.
    pub(super) fn nearest_blocker(&self, screen: &Screen, ray: Ray3d, range: f32, shooter: Entity) -> Option<Blocker> {
        let histories = self.occluders.iter().chain(self.gone_occluders.iter());
        let own = |rig| self.rigs.are_one_with(rig, shooter);
        let rewound = occluders::nearest(histories, screen, ray, range, own);
        let passes = |entity| {
            let tracked = self.occluders.contains(entity) || self.gone_occluders.tells_of(entity, screen.view);
            tracked || self.unhittable.contains(entity) || self.rigs.is_part_of_rig_or(entity, shooter)
        };
        self.rapier.rapier_context.iter().fold(rewound, |nearest, (simulation, colliders, joints, rigidbody_set)| {
            let live = RapierContext { simulation, colliders, joints, rigidbody_set };
            let reach = nearest.map_or(range, |blocker| blocker.distance);
            colliders::nearest(&live, ray, reach, passes).or(nearest)
        })
    }

    /// Checks what a shot says of its screen, and strikes out what is not believed.
    pub(super) fn check(
        &self,
        screen: &mut Screen,
        ray: Ray3d,
        range: f32,
        window: Window,
        rules: &AdmissionRules,
    ) -> Result<(), RejectReason> {
        screen.check(ray, range, window, rules, |rig| self.rigs.history(rig))?;
        screen.check(ray, range, window, rules, |entity| {
            let gone = || self.gone_occluders.iter().find(|(gone, _)| *gone == entity).map(|(_, history)| history);
            self.occluders.get(entity).ok().map(|(_, history)| history).or_else(gone)
        })
    }

    /// Whether something stands between two points that belong to the shooter, at this instant.
    pub(super) fn stands_between(&self, from: Vec3, to: Vec3, at: ViewTime, shooter: Entity) -> bool {
        let Ok((direction, distance)) = Dir3::new_and_length(to - from) else { return false };
        let screen = Screen::new(at, None, &self.sent);
        self.nearest_blocker(&screen, Ray3d::new(from, direction), distance, shooter).is_some()
    }
}
