//! How the bot plays: it writes the controls that a person would.

use bevy::prelude::*;
use lightyear::prelude::{Controlled, client::input::InputSystems, is_in_rollback};

use super::{opponents::Opponents, session::in_firing_time};
use crate::{
    game::{
        arena::Arena,
        bot::{Bot, Situation},
        character::Body,
        controls::{Controls, Pilot},
    },
    net::protocol::{Health, Player},
};

/// The plugin of the bot.
pub fn plugin(app: &mut App) {
    app.add_systems(
        FixedPreUpdate,
        play.before(InputSystems::WriteClientInputs).run_if(not(is_in_rollback)).run_if(is_played_by_bot),
    );
}

fn is_played_by_bot(controls: Res<Controls>) -> bool {
    controls.pilot == Pilot::Bot
}

fn play(
    mut bot: ResMut<Bot>,
    mut controls: ResMut<Controls>,
    arena: Res<Arena>,
    opponents: Opponents,
    own: Query<(&Transform, &Body, &Health), (With<Player>, With<Controlled>)>,
    session: Res<super::session::Session>,
    time: Res<Time<Real>>,
) {
    let Ok((feet, body, health)) = own.single() else { return };
    let eye = body.eye(feet.translation);
    let opponent = opponents.nearest(feet.translation);
    let in_sight = opponent.filter(|(_, chest)| opponents.is_clear(eye, *chest));
    let situation = Situation {
        feet: feet.translation,
        eye,
        is_alive: health.is_alive(),
        opponent: opponent.map(|(feet, _)| feet),
        target: in_sight.map(|(_, chest)| chest),
        may_fire: in_firing_time(&session, &time),
    };
    let wishes = bot.decide(&situation, &arena);
    *controls = Controls { pilot: controls.pilot, ..wishes };
}
