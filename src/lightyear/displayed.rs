//! What the client's screen shows.

use bevy::prelude::*;
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    prelude::{ConfirmedHistory, Interpolated, InterpolationTimeline, LocalTimeline, NetworkTimeline},
};

use crate::{
    shot::DisplayedRig,
    time::{Tick, ViewTime},
};

/// The instant that the interpolated entities of this world stand at: what the last drawn frame showed.
///
/// Written in `Update`, right after lightyear and the game have interpolated. In the fixed steps of the next frame it still
/// tells what the player has seen, while lightyear's own timeline has already gone on by a frame.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub enum Displayed {
    /// Nothing yet: the clocks of client and server have not met.
    #[default]
    Nothing,
    /// The present, as this tick left it: the host of a listen server plays in the server's own world.
    Present(Tick),
    /// The past.
    Past(ViewTime),
}

impl Displayed {
    /// The instant, if there is one.
    pub fn view_time(self) -> Option<ViewTime> {
        match self {
            Self::Nothing => None,
            Self::Present(tick) => Some(ViewTime::at(tick)),
            Self::Past(view) => Some(view),
        }
    }
}

pub(super) fn remember_displayed(
    mut displayed: ResMut<Displayed>,
    network: Res<NetworkingMetadata>,
    interpolation: Res<InterpolationTimeline>,
    local: Res<LocalTimeline>,
) {
    *displayed = match network.mode {
        // Here the interpolation timeline runs freely and means nothing.
        NetworkTopology::HostClient { .. } => Displayed::Present(Tick(local.tick().0)),
        _ if interpolation.is_synced() => {
            let now = interpolation.now();
            // These 16 bits are all that lightyear itself samples with.
            Displayed::Past(ViewTime::new(Tick(now.tick().0), now.overstep().value().to_bits()))
        }
        _ => Displayed::Nothing,
    };
}

/// The snapshots that the interpolated entities on the screen are made of.
///
/// Kept from the moment in which lightyear blends them: until the player fires, others may have arrived.
#[derive(Resource, Default)]
pub(super) struct DisplayedSnapshots(pub(super) Vec<DisplayedRig>);

pub(super) fn remember_snapshots(
    displayed: Res<Displayed>,
    interpolated: Query<(Entity, &ConfirmedHistory<Transform>), With<Interpolated>>,
    mut snapshots: ResMut<DisplayedSnapshots>,
) {
    snapshots.0.clear();
    if let Displayed::Past(view) = *displayed {
        let blended = interpolated.iter().filter_map(|(rig, history)| {
            let (start, end) = blended(history, view.tick)?;
            Some(DisplayedRig { rig, start, end })
        });
        snapshots.0.extend(blended);
    }
}

/// The snapshots between which lightyear has interpolated at `tick`: the last one that is not later, and the next one.
fn blended<C: Component>(history: &ConfirmedHistory<C>, tick: Tick) -> Option<(Tick, Option<Tick>)> {
    let tick_of = |index| history.get_nth_tick(index).map(|tick| Tick(tick.0));
    let is_later = |index: &usize| tick_of(*index).is_none_or(|snapshot| snapshot.since(tick) > 0);
    let next = (0..history.len()).find(is_later).unwrap_or(history.len());
    Some((tick_of(next.checked_sub(1)?)?, tick_of(next)))
}
