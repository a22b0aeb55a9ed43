//! The request for a verdict.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::{DisplayedRig, DisplayedRigs, RejectReason};
use crate::{
    policy::{AdmissionRules, ViewSource},
    time::{Tick, ViewTime},
    weapon::{Attack, Bullet},
};

/// Which shot this is: a number that its connection has given once and to no other shot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct ShotId {
    /// Who counts: a number of the client's connection, or 0 for shots of the server's own (bots, turrets).
    pub connection: u64,
    /// The number of the shot on this connection.
    pub sequence: u32,
}

impl ShotId {
    /// A shot of the server's own.
    pub const fn local(sequence: u32) -> Self {
        Self { connection: 0, sequence }
    }
}

/// A shot to be judged, in this tick.
///
/// The server reads these in [`LagCompensationSystems::AdmitShots`](crate::LagCompensationSystems::AdmitShots); one that is
/// written later waits for the next tick. Each ends in exactly one verdict: in a [`HitConfirmed`](crate::HitConfirmed) for each
/// victim, or else in one [`HitRejected`](crate::HitRejected). Of what has several parts, such as the pellets of a shotgun, each
/// part does.
///
/// All values may come from a client as they are: what is not finite, or lies outside what the server remembers, is
/// rejected with its reason.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::prelude::*;
///
/// // A turret of the server's own: it sees the present.
/// fn turret(tick: Res<CurrentTick>, turret: Single<(Entity, &Transform)>, mut shots: MessageWriter<ShotEvent>) {
///     let (shooter, transform) = *turret;
///     let ray = Ray3d::new(transform.translation, transform.forward());
///     shots.write(ShotEvent::new(shooter, tick.0, ray.origin, *ray.direction).with_range(50.0));
/// }
/// # bevy::ecs::system::assert_is_system(turret);
/// ```
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
pub struct ShotEvent {
    /// Who shoots. The rig on this entity is never hit, and none above it, such as the car that the shooter sits in.
    pub shooter: Entity,
    /// Comes back in the verdict.
    pub id: ShotId,
    /// Where the shot begins, in the world, at the command tick.
    pub origin: Vec3,
    /// Where it goes; of any length but 0.
    pub direction: Vec3,
    /// How far it goes, in metres; at least 0, and cut at
    /// [`LagCompensationConfig::max_range`](crate::LagCompensationConfig::max_range).
    pub range: f32,
    /// What the shooter's screen showed. `None` for those who see the present of the command tick, such as bots.
    pub view_time: Option<ViewTime>,
    /// The tick in which the server consumes the shot.
    pub command_tick: Tick,
    /// What it does on its way. Default: one bullet.
    pub attack: Attack,
    /// Which rigs it meets: those with at least one of these bits in their [`TargetGroups`](crate::TargetGroups). It passes
    /// through all others. Default: all.
    pub targets: u32,
    /// The snapshots that the screen was made of. `None` if that is not known: then poses come from the full history, and
    /// else, for rigs that are not among them, from the snapshots in [`SentTicks`](crate::SentTicks). Without a view time it
    /// does not count.
    pub displayed: Option<DisplayedRigs>,
    /// How this shot's view is to be found: the rule of its weapon. `None` for that of the server,
    /// [`LagCompensationConfig::view_source`](crate::LagCompensationConfig::view_source).
    pub view_source: Option<ViewSource>,
    /// The entity that stands for the connection it came over, with its [`ConnectionDelay`](crate::ConnectionDelay). `None`
    /// for shots of the server's own, whose view times are believed.
    pub link: Option<Entity>,
    /// The number of the presentation that the screen showed; another one after each jump of it. Views of two presentations
    /// are not compared.
    pub epoch: u16,
    /// What this shot may claim: the rules of its weapon. `None` for those of the server,
    /// [`LagCompensationConfig::admission`](crate::LagCompensationConfig::admission).
    pub rules: Option<AdmissionRules>,
    /// Why a rule of the game's own refuses this shot; see [`ShotEvent::refuse`].
    pub refused: Option<RejectReason>,
}

impl ShotEvent {
    /// A shot of unlimited range by someone who sees the present, with id 0.
    pub const fn new(shooter: Entity, command_tick: Tick, origin: Vec3, direction: Vec3) -> Self {
        let (id, range) = (ShotId::local(0), f32::INFINITY);
        Self {
            shooter,
            id,
            origin,
            direction,
            range,
            view_time: None,
            command_tick,
            attack: Attack::Bullet(Bullet { pellets: None, piercing: None }),
            targets: u32::MAX,
            displayed: None,
            view_source: None,
            link: None,
            epoch: 0,
            rules: None,
            refused: None,
        }
    }

    /// The same shot by someone whose screen showed these rigs made of these snapshots, and all others made of those that were
    /// sent. No more than eight are taken.
    pub fn made_of(self, displayed: &[DisplayedRig]) -> Self {
        let mut rigs = DisplayedRigs::default();
        for (slot, rig) in rigs.iter_mut().zip(displayed) {
            *slot = Some(*rig);
        }
        Self { displayed: Some(rigs), ..self }
    }

    /// The instant at which this shot asks to be judged.
    pub fn requested_view(&self) -> ViewTime {
        self.view_time.unwrap_or(ViewTime::at(self.command_tick))
    }

    /// The same shot, judged by this source, whatever that of the server is.
    pub const fn judged_by(self, source: ViewSource) -> Self {
        Self { view_source: Some(source), ..self }
    }

    /// Refuses this shot, unless it has been refused before: a rule of the game's own, in a system between
    /// [`LagCompensationSystems::ReceiveShots`](crate::LagCompensationSystems::ReceiveShots) and
    /// [`AdmitShots`](crate::LagCompensationSystems::AdmitShots). It is answered with the reason, for example a
    /// [`RejectReason::Game`].
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Stunned;
    ///
    /// const STUNNED: RejectReason = RejectReason::Game(1);
    ///
    /// fn the_stunned_cannot_shoot(mut shots: MessageMutator<ShotEvent>, stunned: Query<(), With<Stunned>>) {
    ///     for shot in shots.read() {
    ///         if stunned.contains(shot.shooter) {
    ///             shot.refuse(STUNNED);
    ///         }
    ///     }
    /// }
    /// # bevy::ecs::system::assert_is_system(the_stunned_cannot_shoot);
    /// ```
    pub fn refuse(&mut self, reason: RejectReason) {
        self.refused.get_or_insert(reason);
    }

    /// The same shot, come over this connection.
    pub const fn from_link(self, link: Entity) -> Self {
        Self { link: Some(link), ..self }
    }

    /// The same shot with another weapon.
    pub const fn with_attack(self, attack: Attack) -> Self {
        Self { attack, ..self }
    }

    /// The same shot, which meets only rigs with one of these bits in their [`TargetGroups`](crate::TargetGroups).
    pub const fn at_targets(self, targets: u32) -> Self {
        Self { targets, ..self }
    }

    /// The same shot with another id.
    pub const fn with_id(self, id: ShotId) -> Self {
        Self { id, ..self }
    }

    /// The same shot with another range, in metres.
    pub const fn with_range(self, range: f32) -> Self {
        Self { range, ..self }
    }

    /// The same shot by someone whose screen showed `view`.
    pub const fn seen_at(self, view: ViewTime) -> Self {
        Self { view_time: Some(view), ..self }
    }
}
