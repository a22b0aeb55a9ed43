//! How a client fires.

use core::cmp::Ordering;

use bevy::{ecs::system::SystemParam, prelude::*};
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    prelude::{
        Interpolated, LocalTimeline, LocalTimelineShift, MessageSender, Predicted, Rollback,
        client::{Client, Connected, LocalTimelineSync},
    },
};
use thiserror::Error;

use super::{Displayed, PresentationEpoch, ShotChannel, ShotData, ShotRequest, ViewState, displayed::ShownEntities};
use crate::{
    shot::{DisplayedRigs, ShotId},
    time::Tick,
};

/// Fires shots on a client.
///
/// Use it in `FixedUpdate`: the shot then belongs to the tick of the input that caused it, and to the frame that the player
/// has last seen. In `Update`, order the system before lightyear's `InterpolationSystems::Prepare` for the same, or after
/// [`ShotClientSystems::RememberDisplayed`](super::ShotClientSystems::RememberDisplayed) to shoot at the frame that is about
/// to be drawn.
///
/// The host of a listen server has the server's own entities on the screen. A system that compares its ray with them in
/// `FixedUpdate` (a bot, a predicted hit) must run before they move, to find them as they were drawn.
#[derive(SystemParam)]
pub struct FireShots<'w, 's, W: ShotData = ()> {
    outbox: ResMut<'w, Outbox<W>>,
    displayed: Res<'w, Displayed>,
    local: Res<'w, LocalTimeline>,
    sync: Res<'w, LocalTimelineSync>,
    network: Res<'w, NetworkingMetadata>,
    rollback: Option<Res<'w, Rollback>>,
    epoch: Res<'w, PresentationEpoch>,
    shown: Res<'w, ShownEntities>,
    limit: Res<'w, DisplayedLimit>,
    /// In the fixed steps still those of the frame that was drawn last.
    places: Query<
        'w,
        's,
        (&'static GlobalTransform, Option<&'static ViewState>, Option<&'static ShotReach>),
        Or<(With<Interpolated>, With<Predicted>)>,
    >,
}

/// On the client, how far an entity reaches from its origin, in metres, with all its hitboxes. Default: 2.
///
/// Each shot names what a few entities on the screen were made of, and this tells which ones it passes closest to. Put it on
/// what is larger than a figure: vehicles, doors; and [`ShotReach::NONE`] on what no shot can hit.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Default)]
pub struct ShotReach(pub f32);

impl ShotReach {
    /// Of what no shot can hit, such as a rocket: no shot names it, and none loses its view time because it passes near it.
    pub const NONE: Self = Self(f32::NEG_INFINITY);
}

impl Default for ShotReach {
    fn default() -> Self {
        Self(2.0)
    }
}

/// How many rigs a shot names at most.
#[derive(Resource)]
pub(super) struct DisplayedLimit(pub(super) usize);

/// Why a client could not fire. No shot has been sent, and no verdict will come.
#[derive(Error, Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FireError {
    /// There is no connection to a server.
    #[error("not connected to a server")]
    NotConnected,
    /// The connection is so young that the clocks have not met and nothing is on the screen.
    #[error("the clocks of client and server have not met yet")]
    NotSynced,
    /// The tick is being simulated once more; its shot was fired the first time.
    #[error("the tick is a repetition after a rollback")]
    InRollback,
}

impl<W: ShotData> FireShots<'_, '_, W> {
    /// Fires along `ray`, at most `range` metres far; the game's own data travels with it.
    ///
    /// The shot is stamped with what the screen shows, and sent at the end of the frame. Its verdict comes as a
    /// [`VerdictReceived`](super::VerdictReceived) with the id that this returns, unless the connection ends before.
    ///
    /// A shot that passes near something in [`ViewState::Waiting`] carries no view time, and is judged in the present.
    ///
    /// # Errors
    ///
    /// See [`FireError`].
    pub fn fire(&mut self, ray: Ray3d, range: f32, weapon: W) -> Result<ShotId, FireError> {
        self.fire_as(None, ray, range, weapon)
    }

    /// Like [`fire`](Self::fire), from one of several rigs that this client controls: a turret, a drone.
    ///
    /// # Errors
    ///
    /// See [`FireError`].
    pub fn fire_from(&mut self, shooter: Entity, ray: Ray3d, range: f32, weapon: W) -> Result<ShotId, FireError> {
        self.fire_as(Some(shooter), ray, range, weapon)
    }

    fn fire_as(&mut self, shooter: Option<Entity>, ray: Ray3d, range: f32, weapon: W) -> Result<ShotId, FireError> {
        let on_network = matches!(self.network.mode, NetworkTopology::Client(_) | NetworkTopology::HostClient { .. });
        if !on_network {
            return Err(FireError::NotConnected);
        }
        if self.rollback.is_some() {
            return Err(FireError::InRollback);
        }
        let view = self.displayed.view_time().filter(|_| self.sync.is_synced()).ok_or(FireError::NotSynced)?;
        let view_time = (!self.passes_waiting(ray, range)).then_some(view);
        let displayed = view_time.and_then(|_| self.displayed_near(ray, range));
        self.outbox.sequence = self.outbox.sequence.wrapping_add(1);
        let sequence = self.outbox.sequence;
        self.outbox.waiting.push(ShotRequest {
            sequence,
            shooter,
            command_tick: Tick(self.local.tick().0) + u32::from(self.sync.input_delay()),
            view_time,
            epoch: self.epoch.0,
            origin: ray.origin,
            direction: *ray.direction,
            range,
            displayed,
            weapon,
        });
        Ok(ShotId::local(sequence))
    }

    /// Whether the ray passes near something that shows no state of the server.
    fn passes_waiting(&self, ray: Ray3d, range: f32) -> bool {
        let mut waiting = self.places.iter().filter(|(_, state, _)| *state == Some(&ViewState::Waiting));
        let is_host = matches!(*self.displayed, Displayed::Present(_));
        !is_host
            && waiting.any(|(place, _, reach)| nearness(ray, range, place, reach).is_some_and(|near| near.gap <= 0.0))
    }

    /// The snapshots behind the entities that the ray passes closest to.
    fn displayed_near(&self, ray: Ray3d, range: f32) -> Option<DisplayedRigs> {
        if !matches!(*self.displayed, Displayed::Past(_)) {
            return None;
        }
        let mut nearest = DisplayedRigs::default();
        let mut keys = [Nearness::FAR; DISPLAYED_MOST];
        let limit = self.limit.0.min(DISPLAYED_MOST);
        for shown in &self.shown.0 {
            let Ok((place, _, reach)) = self.places.get(shown.rig) else { continue };
            let Some(near) = nearness(ray, range, place, reach) else { continue };
            let rank = keys[..limit].partition_point(|nearer| nearer.cmp(&near).is_le());
            if rank < limit {
                keys[rank..limit].rotate_right(1);
                nearest[rank..limit].rotate_right(1);
                keys[rank] = near;
                nearest[rank] = Some(*shown);
            }
        }
        Some(nearest)
    }
}

/// How many rigs a shot can name.
const DISPLAYED_MOST: usize = 8;

/// How near a ray passes by something.
#[derive(Clone, Copy)]
struct Nearness {
    /// Metres between the ray and what it can reach; 0 if it passes through.
    gap: f32,
    /// Metres from the origin of the ray.
    along: f32,
}

impl Nearness {
    const FAR: Self = Self { gap: f32::INFINITY, along: f32::INFINITY };

    fn cmp(&self, other: &Self) -> Ordering {
        self.gap.total_cmp(&other.gap).then(self.along.total_cmp(&other.along))
    }
}

/// How near a ray passes by an entity; `None` if that lies behind its origin or beyond its range.
fn nearness(ray: Ray3d, range: f32, place: &GlobalTransform, reach: Option<&ShotReach>) -> Option<Nearness> {
    let ShotReach(reach) = reach.copied().unwrap_or_default();
    let to_rig = place.translation() - ray.origin;
    let along = to_rig.dot(*ray.direction);
    let distance = to_rig.distance(ray.direction * along);
    (-reach..=range + reach).contains(&along).then(|| Nearness { gap: (distance - reach).max(0.0), along })
}

/// The shots that have been fired in this frame and not yet sent.
#[derive(Resource)]
pub(super) struct Outbox<W> {
    sequence: u32,
    pub(super) waiting: Vec<ShotRequest<W>>,
}

impl<W> Default for Outbox<W> {
    fn default() -> Self {
        Self { sequence: 0, waiting: Vec::new() }
    }
}

/// When the local clock jumps between firing and sending, the shot stays with the tick it was fired in, which is now called
/// otherwise. View times are in ticks of the server and do not move.
pub(super) fn relabel_shots<W: ShotData>(shift: On<LocalTimelineShift>, mut outbox: ResMut<Outbox<W>>) {
    for shot in &mut outbox.waiting {
        shot.command_tick = Tick(shot.command_tick.0.wrapping_add_signed(shift.delta));
        for displayed in shot.displayed.iter_mut().flatten().flatten() {
            displayed.relabel(shift.delta);
        }
    }
}

/// Hands all shots to the link; without one they are dropped.
pub(super) fn send_shots<W: ShotData>(
    mut outbox: ResMut<Outbox<W>>,
    mut links: Query<&mut MessageSender<ShotRequest<W>>, (With<Client>, With<Connected>)>,
) {
    let mut link = links.single_mut();
    for shot in outbox.waiting.drain(..) {
        if let Ok(link) = &mut link {
            link.send::<ShotChannel>(shot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ViewTime;

    #[test]
    fn waiting_shots_follow_a_shift_of_the_local_clock() {
        let mut world = World::new();
        world.add_observer(relabel_shots::<()>);
        let view_time = Some(ViewTime::new(Tick(90), 7));
        let request = |tick| ShotRequest {
            sequence: tick,
            shooter: None,
            command_tick: Tick(tick),
            view_time,
            epoch: 0,
            origin: Vec3::ZERO,
            direction: Vec3::Z,
            range: 1.0,
            displayed: None,
            weapon: (),
        };
        world.insert_resource(Outbox { sequence: 2, waiting: vec![request(100), request(101)] });
        world.trigger(LocalTimelineShift { delta: -13 });
        let shots = &world.resource::<Outbox<()>>().waiting;
        let ticks: Vec<_> = shots.iter().map(|shot| (shot.command_tick, shot.view_time)).collect();
        assert_eq!(ticks, [(Tick(87), view_time), (Tick(88), view_time)]);
    }
}
