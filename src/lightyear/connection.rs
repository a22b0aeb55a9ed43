//! What the server knows of a connection.

use core::time::Duration;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_replicon::prelude::VisibilityFilter;
use lightyear::prelude::{PingManager, PredictionTarget, RemoteId, client::Client};

use super::ShotServerConfig;
use crate::shot::{ConnectionDelay, SentTicks, ShotEvent, Shown};

/// The delays of all connections.
#[derive(SystemParam)]
pub(super) struct Connections<'w, 's> {
    links: Query<'w, 's, (&'static PingManager, Has<Client>)>,
    sent: Res<'w, SentTicks>,
    config: Res<'w, ShotServerConfig>,
    time: Res<'w, Time<Fixed>>,
}

impl Connections<'_, '_> {
    /// The delay of a link whose shots wait for so long. The host of a listen server sees the present.
    pub(super) fn delay_of(&self, link: Entity, wait: Duration) -> Option<ConnectionDelay> {
        let (ping, is_host) = self.links.get(link).ok()?;
        if is_host {
            return Some(ConnectionDelay::default());
        }
        let timestep = self.time.timestep();
        let interval = timestep.mul_f32(self.sent.mean_interval().unwrap_or(1.0));
        let placed = &self.config.interpolation;
        // As lightyear places it.
        let interpolation = interval.mul_f32(placed.send_interval_ratio).max(placed.min_delay)
            + placed.sync.jitter_margin(ping.jitter(), timestep);
        Some(ConnectionDelay { round_trip: ping.rtt(), interpolation, wait })
    }
}

/// Which clients have been told to predict which rigs.
#[derive(SystemParam)]
pub(super) struct PredictedRigs<'w, 's> {
    links: Query<'w, 's, &'static RemoteId>,
    targets: Query<'w, 's, &'static PredictionTarget>,
    parents: Query<'w, 's, &'static ChildOf>,
}

impl PredictedRigs<'_, '_> {
    /// Whether a shot calls something predicted that this client has to interpolate.
    pub(super) fn refuses(&self, shot: &ShotEvent, link: Entity) -> bool {
        let mut named = shot.displayed.iter().flatten().flatten();
        named.any(|named| matches!(named.shown, Shown::Predicted(_)) && !self.is_predicted(named.rig, link))
    }

    /// What is below a predicted entity is predicted, too.
    fn is_predicted(&self, rig: Entity, link: Entity) -> bool {
        let id = self.links.get(link).ok();
        let mut ancestry = core::iter::once(rig).chain(self.parents.iter_ancestors(rig));
        ancestry.any(|entity| self.targets.get(entity).is_ok_and(|target| target.is_visible(link, id)))
    }
}
