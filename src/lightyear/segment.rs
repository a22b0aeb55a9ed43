//! Teleports on the screens of clients.

use bevy::{ecs::component::Mutable, prelude::*};
use lightyear::prelude::{ConfirmedHistory, Interpolated, InterpolationTimeline, NetworkTimeline, Tick as NetTick};
use serde::{Deserialize, Serialize};

use super::displayed::blended;
use crate::{history::HistoryBuffer, time::Tick, trace::OccluderHistory};

/// The number of the segment that a rig or occluder is in: it changes with each jump, and travels to the clients.
///
/// Where it differs between two snapshots, the client holds the first one, as the server does, instead of drawing a player
/// half-way to where they teleport.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentNumber(u32);

impl SegmentNumber {
    /// How lightyear is to interpolate it: not at all.
    pub(super) fn interpolate(start: Self, end: Self, t: f32) -> Self {
        if t < 1.0 { start } else { end }
    }
}

/// Server: tells clients of the segment of this tick.
pub(super) fn number_segments(
    mut rigs: Query<(&mut SegmentNumber, &HistoryBuffer)>,
    mut occluders: Query<(&mut SegmentNumber, &OccluderHistory), Without<HistoryBuffer>>,
) {
    for (mut number, history) in &mut rigs {
        number.set_if_neq(SegmentNumber(history.segment().unwrap_or_default()));
    }
    for (mut number, history) in &mut occluders {
        number.set_if_neq(SegmentNumber(history.segment().unwrap_or_default()));
    }
}

/// Client: undoes the interpolation of a component between two segments.
pub(super) fn hold_segments<C: Component<Mutability = Mutable> + Clone>(
    interpolation: Res<InterpolationTimeline>,
    mut interpolated: Query<(&mut C, &ConfirmedHistory<C>, &ConfirmedHistory<SegmentNumber>), With<Interpolated>>,
) {
    let now = Tick(interpolation.now().tick().0);
    for (mut component, states, segments) in &mut interpolated {
        let Some(pair) = blended(states, now) else { continue };
        let segment_at = |tick: Tick| segments.get_present(NetTick(tick.0));
        let ends = pair.end.is_some_and(|end| segment_at(pair.start) != segment_at(end));
        if let Some(state) = states.get_present(NetTick(pair.start.0)).filter(|_| ends) {
            *component = state.clone();
        }
    }
}
