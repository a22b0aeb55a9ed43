//! The comparison: each shot of a client is judged once more, by the present.

use bevy::{ecs::message::MessageCursor, platform::collections::HashMap, prelude::*};
use bevy_hindsight::{CurrentTick, HitConfirmed, HitRejected, LagCompensationSystems, ShotEvent, ShotId};
use lightyear::prelude::{ControlledBy, MessageSender, server::ClientOf};

use crate::net::protocol::{GameChannel, UncompensatedVerdict};

/// Shots of the present that wait for their verdict, and the client's number of the shot that each stands for.
#[derive(Resource, Default)]
struct Twins {
    last: u32,
    waiting: HashMap<ShotId, u32>,
}

/// The plugin that does it.
pub fn plugin(app: &mut App) {
    app.init_resource::<Twins>().add_systems(
        FixedPostUpdate,
        (
            write_twins.after(LagCompensationSystems::ReceiveShots).before(LagCompensationSystems::AdmitShots),
            send_verdicts.after(LagCompensationSystems::ReportVerdicts),
        ),
    );
}

/// Writes a second shot after each one that came from a client: the same ray, at the moment in which the server got it.
fn write_twins(
    mut shots: ResMut<Messages<ShotEvent>>,
    mut read: Local<MessageCursor<ShotEvent>>,
    mut twins: ResMut<Twins>,
    tick: Res<CurrentTick>,
) {
    let received: Vec<ShotEvent> = read.read(&shots).filter(|shot| is_from_client(shot.id)).copied().collect();
    for shot in received {
        twins.last = twins.last.wrapping_add(1);
        let id = ShotId::local(twins.last);
        twins.waiting.insert(id, shot.id.sequence);
        shots.write(ShotEvent { id, view_time: None, command_tick: tick.0, ..shot });
    }
}

fn is_from_client(id: ShotId) -> bool {
    id.connection != ShotId::local(0).connection
}

fn send_verdicts(
    mut confirmed: MessageReader<HitConfirmed>,
    mut rejected: MessageReader<HitRejected>,
    mut twins: ResMut<Twins>,
    characters: Query<&ControlledBy>,
    mut links: Query<&mut MessageSender<UncompensatedVerdict>, With<ClientOf>>,
) {
    let confirmed = confirmed.read().map(|hit| (hit.shot, hit.shooter, true));
    let rejected = rejected.read().map(|rejection| (rejection.shot, rejection.shooter, false));
    for (shot, shooter, confirmed) in confirmed.chain(rejected) {
        let Some(sequence) = twins.waiting.remove(&shot) else { continue };
        let link = characters.get(shooter).map(|controlled| controlled.owner);
        // Without a link the shooter has left.
        if let Ok(mut link) = link.and_then(|link| links.get_mut(link)) {
            link.send::<GameChannel>(UncompensatedVerdict { sequence, confirmed });
        }
    }
}
