//! How the bot shoots, and what its own screen says of each shot.

use bevy::prelude::*;
use bevy_hindsight::lightyear::{FireShots, ShotClientSystems, VerdictReceived};
use lightyear::prelude::{Controlled, MessageReceiver, Predicted, client::Client, is_in_rollback};

use super::{
    pilot::{Opponents, move_own_character},
    session::in_firing_time,
    shot_log::ShotLog,
};
use crate::{
    game::{
        arena,
        bot::Bot,
        character,
        figure::{self, Part},
    },
    net::protocol::UncompensatedVerdict,
};

/// How far bullets fly, in metres.
const RANGE: f32 = 100.0;

/// The figure that this client draws for each opponent.
#[derive(Resource)]
struct Figure(Vec<Part>);

/// The plugin of shooting.
pub fn plugin(app: &mut App) {
    app.insert_resource(Figure(figure::parts()))
        .add_systems(FixedUpdate, fire.after(move_own_character).run_if(not(is_in_rollback).and_then(in_firing_time)))
        .add_systems(PreUpdate, note_verdicts.after(ShotClientSystems::ReceiveVerdicts));
}

/// Shoots at the opponent where the screen shows it, and notes whether it was hit there.
///
/// In the fixed steps of a frame, interpolated entities still stand as the last frame has shown them.
fn fire(
    mut shots: FireShots,
    mut bot: ResMut<Bot>,
    mut log: ResMut<ShotLog>,
    figure: Res<Figure>,
    own: Single<&Transform, (With<Predicted>, With<Controlled>)>,
    opponents: Opponents,
) {
    let eye = character::eye(&own);
    let target = opponents.nearest(eye).map(figure::chest).filter(|target| arena::is_clear(eye, *target));
    if !bot.pull_trigger(target.is_some()) {
        return;
    }
    let Some(target) = target else { return };
    let ray = Ray3d::new(eye, bot.aim(eye, target));
    match shots.fire(ray, RANGE, ()) {
        Ok(shot) => {
            let hit = opponents
                .iter()
                .filter_map(|opponent| figure::cast_ray(&figure.0, opponent, ray, RANGE))
                .min_by(f32::total_cmp);
            // In a tie the bullet stays in the wall, as on the server.
            let on_target = hit.is_some_and(|distance| arena::cast_ray(ray, distance).is_none());
            log.fired(shot.sequence, on_target);
        }
        Err(error) => debug!("no shot: {error}"),
    }
}

fn note_verdicts(
    mut verdicts: MessageReader<VerdictReceived>,
    mut uncompensated: Query<&mut MessageReceiver<UncompensatedVerdict>, With<Client>>,
    mut log: ResMut<ShotLog>,
) {
    for verdict in verdicts.read() {
        let confirmed = verdict.outcome.is_hit();
        if log.judged(verdict.shot.sequence, confirmed) == Some(false) {
            debug!("screen and server disagree: {verdict:?}");
        }
    }
    for mut link in &mut uncompensated {
        for UncompensatedVerdict { sequence, confirmed } in link.receive() {
            log.judged_uncompensated(sequence, confirmed);
        }
    }
}
