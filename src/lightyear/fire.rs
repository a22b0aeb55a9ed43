//! How a client fires.

use bevy::{ecs::system::SystemParam, prelude::*};
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    prelude::{
        Interpolated, LocalTimeline, LocalTimelineShift, MessageSender, Rollback,
        client::{Client, Connected, LocalTimelineSync},
    },
};
use thiserror::Error;

use super::{Displayed, ShotChannel, ShotData, ShotRequest, displayed::DisplayedSnapshots};
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
    snapshots: Res<'w, DisplayedSnapshots>,
    /// In the fixed steps still those of the frame that was drawn last.
    places: Query<'w, 's, &'static GlobalTransform, With<Interpolated>>,
}

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
    /// # Errors
    ///
    /// See [`FireError`].
    pub fn fire(&mut self, ray: Ray3d, range: f32, weapon: W) -> Result<ShotId, FireError> {
        let on_network = matches!(self.network.mode, NetworkTopology::Client(_) | NetworkTopology::HostClient { .. });
        if !on_network {
            return Err(FireError::NotConnected);
        }
        if self.rollback.is_some() {
            return Err(FireError::InRollback);
        }
        let view_time = self.displayed.view_time().filter(|_| self.sync.is_synced()).ok_or(FireError::NotSynced)?;
        let displayed = self.displayed_near(ray, range);
        self.outbox.sequence = self.outbox.sequence.wrapping_add(1);
        let sequence = self.outbox.sequence;
        self.outbox.waiting.push(ShotRequest {
            sequence,
            command_tick: Tick(self.local.tick().0) + u32::from(self.sync.input_delay()),
            view_time,
            origin: ray.origin,
            direction: *ray.direction,
            range,
            displayed,
            weapon,
        });
        Ok(ShotId::local(sequence))
    }

    /// The snapshots behind the interpolated entities that the ray passes closest to.
    fn displayed_near(&self, ray: Ray3d, range: f32) -> Option<DisplayedRigs> {
        const REACH: f32 = 3.0;
        if !matches!(*self.displayed, Displayed::Past(_)) {
            return None;
        }
        let mut nearest = DisplayedRigs::default();
        let mut distances = nearest.map(|_| f32::INFINITY);
        for displayed in &self.snapshots.0 {
            let Ok(place) = self.places.get(displayed.rig) else { continue };
            let to_rig = place.translation() - ray.origin;
            let along = to_rig.dot(*ray.direction);
            // Hitboxes reach out from the root.
            if along < -REACH || along > range + REACH {
                continue;
            }
            let distance = to_rig.distance_squared(ray.direction * along);
            let rank = distances.partition_point(|nearer| *nearer <= distance);
            if rank < distances.len() {
                distances[rank..].rotate_right(1);
                nearest[rank..].rotate_right(1);
                distances[rank] = distance;
                nearest[rank] = Some(*displayed);
            }
        }
        Some(nearest)
    }
}

/// The shots that have been fired in this frame and not yet sent.
#[derive(Resource)]
pub(super) struct Outbox<W> {
    sequence: u32,
    waiting: Vec<ShotRequest<W>>,
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
        let view_time = ViewTime::new(Tick(90), 7);
        let request = |tick| ShotRequest {
            sequence: tick,
            command_tick: Tick(tick),
            view_time,
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
