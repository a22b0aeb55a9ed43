//! What both sides agree on.

use core::time::Duration;

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
use bevy_hindsight::{DisplayParameters, HitBy, ViewTime, Zone, lightyear::ShotProtocolPlugin};
use lightyear::prelude::{
    AppChannelExt, AppComponentExt, AppMessageExt, ChannelMode, ChannelSettings, InterpolationFns,
    InterpolationRegistrationExt, NetworkDirection, PredictionBuilderExt, ReliableSettings,
    TransformLinearInterpolation, input::native::InputPlugin,
};
use serde::{Deserialize, Serialize};

use super::{LinkConditions, Policy};
use crate::game::{
    character::{Body, PlayerInput},
    weapon::Weapon,
};

/// Ticks in a second.
pub const TICK_RATE: f32 = 64.0;
/// The length of a tick.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// The longest name of a player, in characters; the server cuts off what is more.
pub const LONGEST_NAME: usize = 16;
/// The health of a character that nobody has hit.
pub const FULL_HEALTH: f32 = 100.0;

/// How far a predicted character may be from the server's, in metres, before the client goes back and corrects it.
const PREDICTION_TOLERANCE: f32 = 0.001;

/// The seconds that have passed when a tick ends, on the clock by which doors and lifts move.
pub fn seconds_at(tick: u32) -> f64 {
    f64::from(tick) * TICK.as_secs_f64()
}

/// A character of the game.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Player {
    /// What its player calls themselves.
    pub name: String,
    /// Counted from 0 in the order of their coming; decides the colour.
    pub number: u32,
}

/// What is left of a character; 0 if it is dead. Whoever has it is a figure that can be shot at.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Health(pub f32);

impl Health {
    /// The health that belongs to what the screen shows between two snapshots: who dies in the second one is alive until then.
    fn interpolate(start: Self, end: Self, t: f32) -> Self {
        if t < 1.0 { start } else { end }
    }

    /// Whether there is anything left.
    pub fn is_alive(self) -> bool {
        self.0 > 0.0
    }
}

/// What a character holds.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default)]
pub struct Loadout {
    /// The weapon.
    pub weapon: Weapon,
    /// The shots left in its magazine; `None` if it needs none.
    pub ammunition: Option<u32>,
    /// Whether the magazine is being changed.
    pub reloading: bool,
}

/// How often a character has killed and died.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Score {
    /// How many it has killed.
    pub kills: u32,
    /// How often it was killed.
    pub deaths: u32,
}

/// One of [`Arena::movers`](crate::game::arena::Arena::movers).
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoverNumber(pub u32);

/// A rocket in the air: all that is needed to draw it at any instant.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct RocketFlight {
    /// Where it began.
    pub muzzle: Vec3,
    /// In m/s.
    pub velocity: Vec3,
    /// When it left the muzzle.
    pub left_at: ViewTime,
}

impl RocketFlight {
    /// Where it is when the screen shows this instant.
    pub fn place(&self, at: ViewTime) -> Vec3 {
        let flown = self.left_at.ticks_before(at.tick) + f64::from(at.fraction_f32());
        self.muzzle + self.velocity * (flown.max(0.0) * TICK.as_secs_f64()) as f32
    }
}

/// The channel of the game's own messages: each arrives, none waits for another.
pub struct GameChannel;

/// A client wants a character.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Join {
    /// What the player calls themselves.
    pub name: String,
}

/// A client wants to try another network or another policy; the server does it for this connection only.
///
/// No game that is played for its own sake would let clients choose.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Tune {
    /// What the server does to each packet that comes from this client.
    pub conditions: LinkConditions,
    /// How it looks back for the shots of this client.
    pub policy: Policy,
}

/// The server to those concerned: somebody has lost health.
#[derive(Message, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Damaged {
    /// Who.
    pub victim: Entity,
    /// By whom.
    pub attacker: Entity,
    /// How.
    pub by: HitBy,
    /// Where on the body.
    pub zone: Zone,
    /// Where in the world.
    pub point: Vec3,
    /// How much.
    pub amount: f32,
}

/// The server to all: somebody has died.
#[derive(Message, Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Killed {
    /// Who has done it.
    pub killer: String,
    /// Who is dead.
    pub victim: String,
    /// With what.
    pub weapon: Weapon,
    /// Whether it was a hit on the head.
    pub headshot: bool,
}

/// The server to all: something has exploded.
#[derive(Message, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Exploded {
    /// Where.
    pub place: Vec3,
}

/// What the server would have said of a part of a shot, had it judged it by the present.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct UncompensatedVerdict {
    /// The client's number for the shot.
    pub sequence: u32,
    /// The number of the pellet.
    pub part: u32,
    /// Whether it hit.
    pub confirmed: bool,
}

impl MapEntities for Damaged {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.victim = mapper.get_mapped(self.victim);
        self.attacker = mapper.get_mapped(self.attacker);
    }
}

/// Registers all of it. Comes after lightyear's `ClientPlugins` or `ServerPlugins`.
pub fn protocol(app: &mut App) {
    app.add_plugins(InputPlugin::<PlayerInput>::default());
    app.component::<Player>().replicate();
    app.component::<Health>().replicate().interpolate_with(InterpolationFns::interpolate(Health::interpolate));
    app.component::<Loadout>().replicate();
    app.component::<Score>().replicate();
    app.component::<MoverNumber>().replicate();
    app.component::<RocketFlight>().replicate();
    app.component::<Transform>()
        .replicate()
        .predict()
        .with_rollback_condition(|a: &Transform, b: &Transform| {
            a.translation.distance(b.translation) > PREDICTION_TOLERANCE
        })
        .into_component_registration()
        .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
    app.component::<DisplayParameters>()
        .replicate()
        .interpolate_with(InterpolationFns::interpolate(DisplayParameters::interpolate));
    app.component::<Body>().replicate().predict().with_rollback_condition(|a: &Body, b: &Body| {
        a.velocity.distance(b.velocity) * TICK.as_secs_f32() > PREDICTION_TOLERANCE
            || (a.crouch - b.crouch).abs() > PREDICTION_TOLERANCE
            || a.on_ground != b.on_ground
    });
    app.add_channel::<GameChannel>(ChannelSettings {
        mode: ChannelMode::UnorderedReliable(ReliableSettings::default()),
        ..default()
    })
    .add_direction(NetworkDirection::Bidirectional);
    app.register_message::<Join>().add_direction(NetworkDirection::ClientToServer);
    app.register_message::<Tune>().add_direction(NetworkDirection::ClientToServer);
    app.register_message::<Damaged>().add_map_entities().add_direction(NetworkDirection::ServerToClient);
    app.register_message::<Killed>().add_direction(NetworkDirection::ServerToClient);
    app.register_message::<Exploded>().add_direction(NetworkDirection::ServerToClient);
    app.register_message::<UncompensatedVerdict>().add_direction(NetworkDirection::ServerToClient);
    app.add_plugins(ShotProtocolPlugin::<Weapon>::default());
}
