//! All that this crate answers, to the last bit.

use std::io::{self, Write};

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_hindsight::{RewoundFilter, RewoundQuery, VolleyJudged, prelude::*};

use super::ByMessages;
use crate::scene::{RANGE, Scene, Shots};

/// Plays a scene and writes a line for each ray and each verdict: numbers as the shortest text that means no other.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_all(scene: &Scene, ticks: &[Shots], out: &mut impl Write) -> io::Result<()> {
    let mut messages = ByMessages::new(scene);
    messages.play(scene);
    for shots in ticks {
        let mut query = SystemState::<RewoundQuery>::new(messages.server.app.world_mut());
        let world = messages.server.app.world();
        let query = query.get(world).expect("all that it needs is there");
        for shot in &shots.shots {
            let filter = RewoundFilter::new().fired_by(messages.server.rigs[shot.shooter]);
            for ray in &shots.rays[shot.rays()] {
                writeln!(out, "{:?}", query.cast_ray(shot.view(), *ray, RANGE, &filter))?;
            }
        }
        messages.trace_events(shots, true);
        let world = messages.server.app.world_mut();
        write_each::<HitConfirmed>(world, out)?;
        write_each::<HitRejected>(world, out)?;
        write_each::<VolleyJudged>(world, out)?;
        messages.read(shots, &mut Vec::new());
    }
    Ok(())
}

fn write_each<M: Message + Clone + core::fmt::Debug>(world: &mut World, out: &mut impl Write) -> io::Result<()> {
    let messages = world.resource::<Messages<M>>();
    messages.iter_current_update_messages().try_for_each(|message| writeln!(out, "{message:?}"))
}
