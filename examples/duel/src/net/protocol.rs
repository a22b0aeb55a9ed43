//! What both sides agree on.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::lightyear::ShotProtocolPlugin;
use lightyear::prelude::{
    AppChannelExt, AppComponentExt, AppMessageExt, ChannelMode, ChannelSettings, InterpolationFns,
    InterpolationRegistrationExt, NetworkDirection, PredictionBuilderExt, ReliableSettings,
    TransformLinearInterpolation, input::native::InputPlugin,
};
use serde::{Deserialize, Serialize};

use crate::game::character::{PlayerInput, Velocity};

/// Ticks in a second.
pub const TICK_RATE: f32 = 64.0;
/// The length of a tick.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// The longest name of a player, in characters; the server cuts off what is more.
pub const LONGEST_NAME: usize = 16;

/// How far a predicted character may be from the server's, in metres, before the client goes back and corrects it.
const PREDICTION_TOLERANCE: f32 = 0.001;

/// A character of the game.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Player {
    /// What its player calls themselves.
    pub name: String,
}

/// The channel of the game's own messages: each arrives, none waits for another.
pub struct GameChannel;

/// A client wants a character.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Join {
    /// What the player calls themselves.
    pub name: String,
}

/// What the server would have said of a shot, had it judged it by the present.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct UncompensatedVerdict {
    /// The client's number for the shot.
    pub sequence: u32,
    /// Whether it hit.
    pub confirmed: bool,
}

/// Registers all of it. Comes after lightyear's `ClientPlugins` or `ServerPlugins`.
pub fn protocol(app: &mut App) {
    app.add_plugins(InputPlugin::<PlayerInput>::default());
    app.component::<Player>().replicate();
    app.component::<Transform>()
        .replicate()
        .predict()
        .with_rollback_condition(|a: &Transform, b: &Transform| {
            a.translation.distance(b.translation) > PREDICTION_TOLERANCE
        })
        .into_component_registration()
        .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
    app.component::<Velocity>().replicate().predict().with_rollback_condition(|a: &Velocity, b: &Velocity| {
        a.0.distance(b.0) * TICK.as_secs_f32() > PREDICTION_TOLERANCE
    });
    app.add_channel::<GameChannel>(ChannelSettings {
        mode: ChannelMode::UnorderedReliable(ReliableSettings::default()),
        ..default()
    })
    .add_direction(NetworkDirection::Bidirectional);
    app.register_message::<Join>().add_direction(NetworkDirection::ClientToServer);
    app.register_message::<UncompensatedVerdict>().add_direction(NetworkDirection::ServerToClient);
    app.add_plugins(ShotProtocolPlugin::<()>::default());
}
