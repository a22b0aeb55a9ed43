//! What the server knows of a connection.

use bevy::{
    ecs::{entity::Entities, system::SystemParam},
    prelude::*,
};
use bevy_replicon::prelude::VisibilityFilter;
use lightyear::prelude::{PingManager, PredictionTarget, RemoteId, client::Client};

use super::{ShotData, ShotServerConfig, inbox::Inbox};
use crate::shot::{ConnectionDelay, DisplayedRigs, RoundTripEstimate, SentTicks, ShotEvent, Shown};

/// How often a link's own pings have come back, and what they told.
#[derive(Component, Default)]
pub(super) struct LinkProbe {
    pongs: u32,
    round_trip: RoundTripEstimate,
}

/// Measures the delay of each connection. The host of a listen server sees the present.
pub(super) fn measure_connections<W: ShotData>(
    mut links: Query<(&PingManager, &Inbox<W>, &mut LinkProbe, &mut ConnectionDelay), Without<Client>>,
    sent: Res<SentTicks>,
    config: Res<ShotServerConfig>,
    time: Res<Time<Fixed>>,
) {
    let timestep = time.timestep();
    let interval = timestep.mul_f32(sent.mean_interval().unwrap_or(1.0));
    // As lightyear places it.
    let placed = &config.interpolation;
    let interpolation = interval.mul_f32(placed.send_interval_ratio).max(placed.min_delay);
    for (ping, inbox, mut probe, mut delay) in &mut links {
        if probe.pongs != ping.latency_samples_recv() {
            probe.pongs = ping.latency_samples_recv();
            probe.round_trip.observe(ping.rtt(), timestep);
        }
        delay.set_if_neq(ConnectionDelay {
            round_trip: probe.round_trip.get(),
            jitter: ping.jitter(),
            interpolation,
            jitter_margin: placed.sync.jitter_margin(ping.jitter(), timestep),
            wait: inbox.wait(timestep),
        });
    }
}

/// Which clients have been told to predict which rigs.
#[derive(SystemParam)]
pub(super) struct PredictedRigs<'w, 's> {
    entities: &'w Entities,
    links: Query<'w, 's, &'static RemoteId>,
    targets: Query<'w, 's, &'static PredictionTarget>,
    parents: Query<'w, 's, &'static ChildOf>,
}

impl PredictedRigs<'_, '_> {
    /// Without what the server does not know (any more): lightyear maps that to the placeholder. Of what is gone, nobody can tell
    /// whether it was predicted; a client's screen shows it until it hears of that.
    pub(super) fn known(&self, displayed: DisplayedRigs) -> DisplayedRigs {
        let is_gone = |rig| !self.entities.contains_spawned(rig);
        displayed.map(|named| {
            named.filter(|named| {
                let was_predicted = matches!(named.shown, Shown::Predicted(_)) && is_gone(named.rig);
                named.rig != Entity::PLACEHOLDER && !was_predicted
            })
        })
    }

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
