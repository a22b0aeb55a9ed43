//! What goes over the wire.

use core::marker::PhantomData;

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
use lightyear::prelude::{
    AppChannelExt, AppMessageExt, ChannelMode, ChannelSettings, InterpolationFns, InterpolationRegistrationExt,
    NetworkDirection, ReliableSettings, *,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{EvidenceChannel, SegmentNumber};
use crate::{
    hitbox::Zone,
    shot::{DisplayedRigs, HitBy, RejectReason, ShotTraced},
    time::{Tick, ViewTime},
};

/// What a game sends along with a shot: the weapon, a charge, a random seed. Implemented for all types that fit.
pub trait ShotData: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> ShotData for T {}

/// The channel of shots and verdicts: each one arrives, none waits for another.
pub struct ShotChannel;

/// A client's shot on its way to the server. Whatever it says is a claim.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct ShotRequest<W> {
    /// The client's number for this shot.
    pub sequence: u32,
    /// Who shoots, as an entity of the receiver's world; `None` for the rig that the connection controls.
    pub shooter: Option<Entity>,
    /// The tick for which the client predicted the shot.
    pub command_tick: Tick,
    /// What the client's screen showed; `None` if that was no state of the server.
    pub view_time: Option<ViewTime>,
    /// The number of the presentation that this was; see [`PresentationEpoch`](super::PresentationEpoch).
    pub epoch: u16,
    /// Where the shot begins.
    pub origin: Vec3,
    /// Where it goes.
    pub direction: Vec3,
    /// How far it goes, in metres.
    pub range: f32,
    /// The snapshots that the screen was made of, for the few interpolated rigs that the shot passes closest to; `None` from
    /// the host of a listen server, whose screen shows the world itself.
    pub displayed: Option<DisplayedRigs>,
    /// The game's own data.
    pub weapon: W,
}

impl<W> ShotRequest<W> {
    /// The same shot with other data of the game's, and its own.
    pub(super) fn with_weapon<V>(self, weapon: V) -> (ShotRequest<V>, W) {
        let Self { sequence, shooter, command_tick, view_time, epoch, origin, direction, range, displayed, .. } = self;
        let shot = ShotRequest {
            sequence,
            shooter,
            command_tick,
            view_time,
            epoch,
            origin,
            direction,
            range,
            displayed,
            weapon,
        };
        (shot, self.weapon)
    }
}

impl<W> MapEntities for ShotRequest<W> {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        if let Some(shooter) = &mut self.shooter {
            *shooter = mapper.get_mapped(*shooter);
        }
        for displayed in self.displayed.iter_mut().flatten().flatten() {
            displayed.rig = mapper.get_mapped(displayed.rig);
        }
    }
}

/// The server's answer to one [`ShotRequest`].
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct ShotVerdict {
    /// The client's number for the shot.
    pub sequence: u32,
    /// Which part of it, counted from 0: see [`HitConfirmed::part`](crate::HitConfirmed::part).
    pub part: u32,
    /// The tick in which the server reached the verdict.
    pub judged_at: Tick,
    /// The instant at which rigs were tested.
    pub view_time: ViewTime,
    /// What became of the shot.
    pub outcome: ShotOutcome,
}

/// What became of a shot.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum ShotOutcome {
    /// It hit.
    #[non_exhaustive]
    Hit {
        /// The rig, as an entity of the receiver's world; `None` if that has no such entity (any more).
        target: Option<Entity>,
        /// How it was met.
        by: HitBy,
        /// Which part of the body.
        zone: Zone,
        /// Where, in the world.
        point: Vec3,
        /// The outward normal there.
        normal: Vec3,
        /// From the origin of the shot to the point, in metres.
        distance: f32,
    },
    /// It did not.
    Rejected(RejectReason),
}

impl ShotOutcome {
    /// Whether the shot hit.
    pub const fn is_hit(&self) -> bool {
        matches!(self, Self::Hit { .. })
    }
}

impl MapEntities for ShotVerdict {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        if let ShotOutcome::Hit { target, .. } = &mut self.outcome {
            // Lightyear maps what it does not know to the placeholder.
            *target = target.map(|entity| mapper.get_mapped(entity)).filter(|entity| *entity != Entity::PLACEHOLDER);
        }
    }
}

/// Registers [`ShotChannel`], [`ShotRequest`] and [`ShotVerdict`], and for debugging [`EvidenceChannel`] and [`ShotTraced`].
///
/// Lightyear numbers channels and messages in the order of their registration. So add this plugin where the game registers
/// its own protocol, in the same place on both sides, after lightyear's `ClientPlugins` or `ServerPlugins`. An app can have
/// only one type of [`ShotData`]; a game with several kinds of weapon makes it an enum.
pub struct ShotProtocolPlugin<W: ShotData = ()>(PhantomData<fn() -> W>);

impl<W: ShotData> Default for ShotProtocolPlugin<W> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<W: ShotData> Plugin for ShotProtocolPlugin<W> {
    fn build(&self, app: &mut App) {
        app.add_channel::<ShotChannel>(ChannelSettings {
            mode: ChannelMode::UnorderedReliable(ReliableSettings::default()),
            // Before replication: a verdict is worth more than a pose.
            priority: 10.0,
            ..default()
        })
        .add_direction(NetworkDirection::Bidirectional);
        app.add_channel::<EvidenceChannel>(ChannelSettings {
            mode: ChannelMode::UnorderedReliable(ReliableSettings::default()),
            // After all else.
            priority: 0.1,
            ..default()
        })
        .add_direction(NetworkDirection::ServerToClient);
        app.component::<SegmentNumber>()
            .replicate()
            .interpolate_with(InterpolationFns::interpolate(SegmentNumber::interpolate));
        app.register_message::<ShotRequest<W>>().add_map_entities().add_direction(NetworkDirection::ClientToServer);
        app.register_message::<ShotVerdict>().add_map_entities().add_direction(NetworkDirection::ServerToClient);
        app.register_message::<ShotTraced>().add_map_entities().add_direction(NetworkDirection::ServerToClient);
    }
}
