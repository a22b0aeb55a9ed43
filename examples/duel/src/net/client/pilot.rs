//! How the controls move the own character, and how the client predicts it.

use bevy::prelude::*;
use bevy_hindsight::{DisplayParameters, Life};
use lightyear::prelude::{
    Controlled, LocalTimeline, Predicted,
    client::input::InputSystems,
    input::native::{ActionState, InputMarker},
    is_in_rollback,
};

use super::magazines::Magazines;
use crate::{
    game::{
        arena::Arena,
        character::{Body, PlayerInput},
        controls::Controls,
    },
    net::protocol::{Health, Player, TICK, seconds_at},
};

/// The plugin of the controls.
pub fn plugin(app: &mut App) {
    app.add_observer(take_control)
        .add_systems(Update, face_the_middle)
        .add_systems(FixedPreUpdate, steer.in_set(InputSystems::WriteClientInputs).run_if(not(is_in_rollback)));
}

/// The plugin of prediction: not for the host of a listen server, whose character is the server's.
pub fn prediction_plugin(app: &mut App) {
    app.add_systems(FixedUpdate, move_own_character).add_systems(Update, follow_health);
}

fn take_control(character: On<Add, Controlled>, mut commands: Commands) {
    commands.entity(character.entity).insert(InputMarker::<PlayerInput>::default());
}

/// Whoever begins a life looks to where the others are.
fn face_the_middle(
    own: Query<(&Transform, &Health), (With<Player>, With<Controlled>)>,
    arena: Res<Arena>,
    mut controls: ResMut<Controls>,
    mut was_alive: Local<bool>,
) {
    let alive = own.single().ok().filter(|(_, health)| health.is_alive());
    if let Some((feet, _)) = alive.filter(|_| !*was_alive) {
        (controls.yaw, controls.pitch) = (arena.yaw_at(feet.translation), 0.0);
    }
    *was_alive = alive.is_some();
}

fn steer(
    controls: Res<Controls>,
    magazines: Res<Magazines>,
    mut own: Query<&mut ActionState<PlayerInput>, With<InputMarker<PlayerInput>>>,
) {
    for mut input in &mut own {
        let wanted = controls.input();
        input.0 = PlayerInput { reload: wanted.reload || magazines.wants_reload(), ..wanted };
    }
}

/// The same step as on the server, ahead of it; and again after each rollback.
pub fn move_own_character(
    arena: Res<Arena>,
    local: Res<LocalTimeline>,
    mut own: Query<
        (&mut Transform, &mut Body, Option<&mut DisplayParameters>, &Health, &ActionState<PlayerInput>),
        With<Predicted>,
    >,
) {
    let now = seconds_at(local.tick().0);
    for (mut transform, mut body, parameters, health, input) in &mut own {
        if health.is_alive() {
            body.step(&mut transform, &arena, now, input.0, TICK.as_secs_f32());
        }
        if let Some(mut parameters) = parameters {
            parameters.set_if_neq(body.parameters(&transform));
        }
    }
}

/// The dead cannot be hit, on this screen, either.
fn follow_health(mut figures: Query<(&Health, &mut Life), Changed<Health>>) {
    for (health, mut life) in &mut figures {
        match (health.is_alive(), life.is_alive()) {
            (false, true) => life.end(),
            (true, false) => life.begin(),
            _ => {}
        }
    }
}
