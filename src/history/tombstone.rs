//! Rigs that are gone, and can still be hit in the past.

use bevy::prelude::*;

use super::{HistoryBuffer, RigIndex};
use crate::{
    config::LagCompensationConfig,
    hitbox::{Life, Rig, RigId},
    time::CurrentTick,
};

/// The histories of rigs that were despawned within the window.
#[derive(Resource, Default)]
pub(crate) struct Tombstones(Vec<Tombstone>);

struct Tombstone {
    rig: Entity,
    id: RigId,
    history: HistoryBuffer,
}

impl Tombstones {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Entity, &HistoryBuffer, &RigId)> {
        self.0.iter().map(|tombstone| (tombstone.rig, &tombstone.history, &tombstone.id))
    }

    #[cfg(feature = "lightyear")]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Keeps the history of a rig that is despawned or no longer a rig, if the game wants that; a later rig on the same entity
/// begins with an empty one in any case.
pub(crate) fn bury_rig(
    removed: On<Remove, Rig>,
    mut histories: Query<(&mut HistoryBuffer, &mut Life, Option<&RigId>)>,
    config: Res<LagCompensationConfig>,
    tick: Res<CurrentTick>,
    mut tombstones: ResMut<Tombstones>,
    mut index: ResMut<RigIndex>,
) {
    let Ok((mut history, mut life, id)) = histories.get_mut(removed.entity) else { return };
    index.forget(&history);
    // If the entity becomes a rig again, that is another life.
    life.renumber();
    let mut history = core::mem::take(&mut *history);
    if config.tombstones && !history.is_empty() {
        history.end(tick.0);
        tombstones.0.push(Tombstone { rig: removed.entity, id: id.copied().unwrap_or_default(), history });
    }
}

/// Drops the histories that no view time can reach any more.
pub(crate) fn forget_tombstones(
    mut tombstones: ResMut<Tombstones>,
    config: Res<LagCompensationConfig>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
) {
    if !tombstones.0.is_empty() {
        let window = config.history_ticks(time.timestep()) as i32;
        let reachable =
            // A history may end with the next tick; what lies further ahead is of a clock that was set back.
            |tombstone: &Tombstone| tombstone.history.newest().is_some_and(|end| (-1..=window).contains(&tick.0.since(end)));
        tombstones.0.retain(reachable);
    }
}
