//! The server half.

use core::{marker::PhantomData, time::Duration};

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_replicon::server::{ServerSystems, server_tick::ServerTick};
use lightyear::prelude::{
    ControlledBy, InterpolationConfig, LocalTimeline, MessageReceiver, MessageSender, MessageSystems, server::ClientOf,
};

use super::{
    SegmentNumber, ShotChannel, ShotData, ShotOutcome, ShotProtocolPlugin, ShotRequest, ShotVerdict,
    connection::{LinkProbe, PredictedRigs, measure_connections},
    evidence::stream_evidence,
    inbox::{Inbox, InboxLimits, Released},
    segment::number_segments,
};
use crate::{
    config::LagCompensationConfig,
    history::record_history,
    hitbox::{Occluder, Rig, RigId},
    plugin::LagCompensationPlugin,
    schedule::LagCompensationSystems,
    shot::{
        ConnectionDelay, Evidence, HitConfirmed, HitRejected, RejectReason, SentTicks, ShotEvent, ShotId, Verdicts,
        report_verdicts,
    },
    time::{CurrentTick, Tick},
    trace::record_occluders,
};

/// The server half: receives shots, holds each until the server runs its command tick, and answers the shooter.
///
/// Add it after lightyear's `ServerPlugins`, [`ShotProtocolPlugin`] and
/// [`LagCompensationPlugin`].
///
/// The shooter of a connection is the [`Rig`] that it controls (lightyear's `ControlledBy`, on the rig itself or above it); if
/// it controls several, the one that the shot names, or the one with the smallest [`RigId`]. A connection that controls none is
/// answered with [`RejectReason::ShooterUnknown`], and one that names another one's with
/// [`RejectReason::ShooterNotControlled`].
///
/// The host of a listen server plays in the server's own world and is judged in the present: by the tick that its last frame
/// has drawn.
pub struct ShotServerPlugin<W: ShotData = ()>(PhantomData<fn() -> W>);

impl<W: ShotData> Default for ShotServerPlugin<W> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Limits for the shots of each connection; they may change at any time.
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Default)]
pub struct ShotServerConfig {
    /// How long after its command tick a shot is still judged. Default: 500 ms.
    ///
    /// A shot whose packet is lost comes again after one and a half round trips. Too low, and such shots are refused as
    /// [`RejectReason::TooLate`]; too high, and targets are hit long after the fact. No more than
    /// [`LagCompensationConfig::history`](crate::LagCompensationConfig::history) has an effect.
    pub max_late: Duration,
    /// The same in round trips of the connection, besides its jitter and 100 ms. Default: 3, which is enough for a shot whose packet
    /// is lost twice; at least 0.
    ///
    /// Too low, and shots are refused that had bad luck; too high, and a modified client can back-date its shots.
    pub max_late_round_trips: f32,
    /// How far ahead of the server a command tick may lie. Default: 1 s. Clients run ahead by half a round trip and their
    /// jitter; what is further ahead is refused as [`RejectReason::CommandTickAhead`].
    pub max_ahead: Duration,
    /// How many shots may wait for their ticks at a time. Default: 32; more are refused as
    /// [`RejectReason::TooManyWaiting`].
    pub max_waiting: usize,
    /// How many shots of one connection are judged in a tick. Default: 8; more are refused as [`RejectReason::TooManyShots`].
    ///
    /// Too low, and a fast weapon jams after a lost packet, when its shots come together; too high, and a modified client can
    /// make the server work.
    pub max_per_tick: usize,
    /// How the clients place their interpolation; they should have the same `InterpolationConfig`. Default: lightyear's. Used
    /// for estimates, see [`ConnectionDelay`].
    pub interpolation: InterpolationConfig,
    /// Whether connections are sent the evidence of verdicts that concern them, if they have no
    /// [`EvidenceViewer`](super::EvidenceViewer) of their own. Default: `false`.
    ///
    /// What is sent tells where others stand, also behind walls: for development, not for matches.
    pub stream_evidence: bool,
}

impl Default for ShotServerConfig {
    fn default() -> Self {
        Self {
            max_late: Duration::from_millis(500),
            max_late_round_trips: 3.0,
            max_ahead: Duration::from_secs(1),
            max_waiting: 32,
            max_per_tick: 8,
            interpolation: InterpolationConfig::default(),
            stream_evidence: false,
        }
    }
}

impl ShotServerConfig {
    /// The limits on a line with this delay: what is lost comes again after one and a half round trips, and no honest shot is
    /// much later than that.
    fn limits_on(&self, delay: &ConnectionDelay, timestep: Duration) -> InboxLimits {
        /// For the frames of both sides.
        const FRAMES: Duration = Duration::from_millis(100);
        let limits = self.limits(timestep);
        if delay.round_trip.is_zero() {
            return limits;
        }
        let round_trips = delay.round_trip.as_secs_f64() * f64::from(self.max_late_round_trips.max(0.0));
        let lost = round_trips + delay.jitter_margin.saturating_add(FRAMES).as_secs_f64();
        // `as` saturates.
        let late = (lost / timestep.as_secs_f64().max(f64::MIN_POSITIVE)).ceil() as u32;
        InboxLimits { late: limits.late.min(late), ..limits }
    }

    fn limits(&self, timestep: Duration) -> InboxLimits {
        let ticks = |time: Duration| time.as_nanos().div_ceil(timestep.as_nanos().max(1)).min(1 << 30) as u32;
        InboxLimits {
            late: ticks(self.max_late),
            ahead: ticks(self.max_ahead),
            waiting: self.max_waiting,
            per_tick: self.max_per_tick,
        }
    }
}

/// A client's shot has come to its tick; tells the game's own data of the [`ShotEvent`] with the same id.
///
/// Written together with it in [`LagCompensationSystems::ReceiveShots`].
#[derive(Message, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ShotReceived<W: ShotData> {
    /// Which shot.
    pub shot: ShotId,
    /// The connection it came over.
    pub link: Entity,
    /// The shooter's rig.
    pub shooter: Entity,
    /// What the client sent along with it.
    pub weapon: W,
}

impl<W: ShotData> Plugin for ShotServerPlugin<W> {
    fn build(&self, app: &mut App) {
        assert!(
            app.is_plugin_added::<ShotProtocolPlugin<W>>(),
            "`ShotServerPlugin` needs `{}` to be added before it",
            ShortName::of::<ShotProtocolPlugin<W>>(),
        );
        let judged_in = app.get_added_plugins::<LagCompensationPlugin>();
        let schedule = judged_in.first().map(|plugin| plugin.schedule);
        let schedule = schedule.expect("`ShotServerPlugin` needs `LagCompensationPlugin` to be added before it");
        app.init_resource::<ShotServerConfig>()
            .add_message::<ShotReceived<W>>()
            .add_systems(PreUpdate, receive_requests::<W>.after(MessageSystems::Receive))
            .add_systems(FixedPreUpdate, (follow_local_timeline, measure_connections::<W>))
            .add_systems(PostUpdate, note_sent_ticks.before(ServerSystems::Send))
            .add_systems(
                schedule,
                (
                    number_segments
                        .in_set(LagCompensationSystems::RecordHistory)
                        .after(record_history)
                        .after(record_occluders),
                    release_shots::<W>.in_set(LagCompensationSystems::ReceiveShots),
                    (send_verdicts, stream_evidence)
                        .in_set(LagCompensationSystems::ReportVerdicts)
                        .after(report_verdicts),
                ),
            );
        app.register_required_components::<ClientOf, Inbox<W>>();
        app.register_required_components::<ClientOf, LinkProbe>();
        app.register_required_components::<ClientOf, ConnectionDelay>();
        app.register_required_components::<Rig, SegmentNumber>();
        app.register_required_components::<Occluder, SegmentNumber>();
    }
}

pub(super) fn follow_local_timeline(local: Res<LocalTimeline>, mut tick: ResMut<CurrentTick>) {
    tick.set_if_neq(CurrentTick(Tick(local.tick().0)));
}

/// Lightyear forgets messages at the end of each frame, and a frame need not have a fixed step.
fn receive_requests<W: ShotData>(
    mut links: Query<(&mut MessageReceiver<ShotRequest<W>>, &mut Inbox<W>), With<ClientOf>>,
    local: Res<LocalTimeline>,
    config: Res<ShotServerConfig>,
    time: Res<Time<Fixed>>,
) {
    let limits = config.limits(time.timestep());
    for (mut link, mut inbox) in &mut links {
        for request in link.receive() {
            inbox.receive(request, Tick(local.tick().0), limits);
        }
    }
}

/// The number of a link as [`ShotId::connection`]: unlike a peer's id, no other link ever gets it.
fn connection_of(link: Entity) -> u64 {
    link.to_bits()
}

/// Which rig shoots for which connection.
#[derive(SystemParam)]
struct Shooters<'w, 's> {
    rigs: Query<'w, 's, (Entity, Option<&'static RigId>), With<Rig>>,
    controlled: Query<'w, 's, &'static ControlledBy>,
    parents: Query<'w, 's, &'static ChildOf>,
}

impl Shooters<'_, '_> {
    fn is_own(&self, link: Entity, rig: Entity) -> bool {
        let mut ancestry = core::iter::once(rig).chain(self.parents.iter_ancestors(rig));
        let owner = ancestry.find_map(|entity| self.controlled.get(entity).ok());
        owner.is_some_and(|by| by.owner == link)
    }

    /// The first rig of a link.
    fn first_of(&self, link: Entity) -> Option<Entity> {
        let own = self.rigs.iter().filter(|(rig, _)| self.is_own(link, *rig));
        own.map(|(rig, id)| (id.copied().unwrap_or_default(), rig)).min().map(|(_, rig)| rig)
    }
}

fn release_shots<W: ShotData>(
    mut links: Query<(Entity, &mut Inbox<W>, &ConnectionDelay)>,
    predicted: PredictedRigs,
    shooters: Shooters,
    tick: Res<CurrentTick>,
    config: Res<ShotServerConfig>,
    time: Res<Time<Fixed>>,
    mut shots: MessageWriter<ShotEvent>,
    mut received: MessageWriter<ShotReceived<W>>,
    mut verdicts: ResMut<Verdicts>,
) {
    let now = tick.0;
    for (link, mut inbox, delay) in &mut links {
        if inbox.is_empty() {
            continue;
        }
        let limits = config.limits_on(delay, time.timestep());
        let first = shooters.first_of(link);
        inbox.release(now, limits, |released| {
            let (request, weapon) = match released {
                Released::Due(request) => {
                    let (request, weapon) = request.with_weapon(());
                    (request, Ok(weapon))
                }
                Released::Refused(request, reason) => (request, Err(reason)),
            };
            let shooter = match request.shooter {
                // A part of it is no rig, and knows no rules.
                Some(named) if shooters.rigs.contains(named) && shooters.is_own(link, named) => Ok(named),
                Some(_) => Err(RejectReason::ShooterNotControlled),
                None => first.ok_or(RejectReason::ShooterUnknown),
            };
            // Nobody else is to hear of it.
            let answer_to = shooter.unwrap_or(link);
            let shot = ShotEvent {
                id: ShotId { connection: connection_of(link), sequence: request.sequence },
                range: request.range,
                view_time: request.view_time,
                displayed: request.displayed.map(|displayed| predicted.known(displayed)),
                link: Some(link),
                epoch: request.epoch,
                ..ShotEvent::new(answer_to, request.command_tick, request.origin, request.direction)
            };
            let checked = shooter.and(weapon).and_then(|weapon| {
                if predicted.refuses(&shot, link) { Err(RejectReason::RigNotPredicted) } else { Ok(weapon) }
            });
            match checked {
                Ok(weapon) => {
                    received.write(ShotReceived { shot: shot.id, link, shooter: shot.shooter, weapon });
                    shots.write(shot);
                }
                Err(reason) => {
                    debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
                    verdicts.refuse(shot.shooter, shot.id, reason, Evidence::of(&shot, now));
                }
            }
        });
    }
}

/// Notes the tick whose state is about to be sent: the last one of this frame, when it is time to send.
fn note_sent_ticks(
    replication: Res<ServerTick>,
    local: Res<LocalTimeline>,
    config: Res<LagCompensationConfig>,
    time: Res<Time<Fixed>>,
    mut last: Local<Option<ServerTick>>,
    mut sent: ResMut<SentTicks>,
) {
    if last.is_none_or(|last| *last != **replication) {
        *last = Some(*replication);
        sent.note(Tick(local.tick().0), config.history_ticks(time.timestep()));
    }
}

fn send_verdicts(
    mut confirmed: MessageReader<HitConfirmed>,
    mut rejected: MessageReader<HitRejected>,
    mut links: Query<&mut MessageSender<ShotVerdict>, With<ClientOf>>,
) {
    let mut send = |shot: ShotId, part: u32, evidence: &Evidence, outcome: ShotOutcome| {
        let Some(mut sender) = Entity::try_from_bits(shot.connection).and_then(|link| links.get_mut(link).ok()) else {
            // A shot of the server's own, or its client has left.
            return;
        };
        sender.send::<ShotChannel>(ShotVerdict {
            sequence: shot.sequence,
            part,
            judged_at: evidence.judged_at,
            view_time: evidence.view_time,
            outcome,
        });
    };
    for HitConfirmed { shot, part, by, hit, evidence, .. } in confirmed.read() {
        let outcome = ShotOutcome::Hit {
            target: Some(hit.rig),
            by: *by,
            zone: hit.zone,
            point: hit.point,
            normal: *hit.normal,
            distance: hit.distance,
        };
        send(*shot, *part, evidence, outcome);
    }
    for HitRejected { shot, part, reason, evidence, .. } in rejected.read() {
        send(*shot, *part, evidence, ShotOutcome::Rejected(*reason));
    }
}
