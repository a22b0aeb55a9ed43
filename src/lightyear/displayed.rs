//! What the client's screen shows.

use bevy::prelude::*;
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    prelude::{InterpolationTimeline, LocalTimeline, NetworkTimeline},
};

use crate::time::{Tick, ViewTime};

/// The instant that the interpolated entities of this world stand at: what the last drawn frame showed.
///
/// Written in `Update`, right after lightyear and the game have interpolated. In the fixed steps of the next frame it still tells what the
/// player has seen, while lightyear's own timeline has already gone on by a frame.
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
