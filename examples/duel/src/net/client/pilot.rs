//! How the bot moves its character, and how the client predicts it.

use bevy::{ecs::system::SystemParam, prelude::*};
use lightyear::prelude::{
    Controlled, Interpolated, Predicted,
    client::input::InputSystems,
    input::native::{ActionState, InputMarker},
    is_in_rollback,
};

use crate::{
    game::{
        bot::Bot,
        character::{self, PlayerInput, Velocity},
    },
    net::protocol::{Player, TICK},
};

/// The plugin of movement.
pub fn plugin(app: &mut App) {
    app.add_observer(take_control)
        .add_systems(FixedPreUpdate, steer.in_set(InputSystems::WriteClientInputs).run_if(not(is_in_rollback)))
        .add_systems(FixedUpdate, move_own_character);
}

/// The opponents as this client's screen shows them.
#[derive(SystemParam)]
pub struct Opponents<'w, 's> {
    shown: Query<'w, 's, &'static Transform, (With<Player>, With<Interpolated>)>,
}

impl Opponents<'_, '_> {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Transform> {
        self.shown.iter()
    }

    /// The one nearest to a place.
    pub fn nearest(&self, to: Vec3) -> Option<&Transform> {
        let distance = |opponent: &Transform| opponent.translation.distance_squared(to);
        self.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

fn take_control(character: On<Add, Controlled>, mut commands: Commands) {
    commands.entity(character.entity).insert(InputMarker::<PlayerInput>::default());
}

fn steer(
    mut bot: ResMut<Bot>,
    opponents: Opponents,
    mut own: Query<(&Transform, &mut ActionState<PlayerInput>), (With<Predicted>, With<InputMarker<PlayerInput>>)>,
) {
    for (transform, mut input) in &mut own {
        let opponent = opponents.nearest(transform.translation);
        input.0 = bot.steer(transform, opponent.map(|opponent| opponent.translation));
    }
}

/// The same step as on the server, ahead of it; and again after each rollback.
pub fn move_own_character(mut own: Query<(&mut Transform, &mut Velocity, &ActionState<PlayerInput>), With<Predicted>>) {
    for (mut transform, mut velocity, input) in &mut own {
        character::step(&mut transform, &mut velocity, input.0, TICK.as_secs_f32());
    }
}
