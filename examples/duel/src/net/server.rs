//! The server.

mod admission;
mod lifetime;
mod uncompensated;

use core::net::SocketAddr;
use std::net::UdpSocket;

use bevy::prelude::*;
use bevy_hindsight::{LagCompensationPlugin, lightyear::ShotServerPlugin};
use bevy_rapier3d::prelude::{Collider, NoUserData, RapierPhysicsPlugin, RigidBody, TimestepMode};
use clap::Args;
use lightyear::prelude::{
    Link, LinkOf, LocalAddr, MessageSystems, ReplicationSender,
    input::native::{ActionState, NativeStateSequence},
    server::{
        NetcodeConfig, NetcodeServer, ServerPlugins, ServerUdpIo, Start,
        input::{InputValidationAppExt, authorize_controlled_targets},
    },
};

use super::{
    LinkConditions,
    headless::headless_app,
    protocol::{TICK, protocol},
};
use crate::{
    error::DuelError,
    game::{
        arena,
        character::{self, PlayerInput, Velocity},
    },
};

pub use lifetime::LISTENING;

/// Twice the tick rate: a tick then waits for its frame no longer than half a tick.
const FRAME_RATE: f64 = 128.0;

/// Run the server alone. It ends when the last player has left, or if none comes within a minute.
#[derive(Args, Clone, Debug)]
pub struct ServerArgs {
    /// The address to listen on; port 0 takes any that is free.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:5700")]
    address: SocketAddr,
    /// End after this time in any case.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u32>,
    #[command(flatten)]
    conditions: LinkConditions,
}

#[derive(Resource, Clone, Copy)]
struct Conditions(LinkConditions);

/// Runs until the duel is over.
pub fn run(args: &ServerArgs) -> Result<(), DuelError> {
    let address = args.address;
    // Lightyear would panic over this.
    UdpSocket::bind(address).map_err(|source| DuelError::CannotListen { address, source })?;

    let mut app = headless_app(FRAME_RATE);
    app.add_plugins((ServerPlugins { tick_duration: TICK }, protocol))
        .add_plugins((
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
            LagCompensationPlugin::default(),
            ShotServerPlugin::<()>::default(),
            uncompensated::plugin,
            lifetime::plugin(args.seconds),
        ))
        .insert_resource(TimestepMode::Fixed { dt: TICK.as_secs_f32(), substeps: 1 })
        .insert_resource(Conditions(args.conditions))
        .add_input_validator(authorize_controlled_targets::<NativeStateSequence<PlayerInput>>)
        .add_observer(welcome_link)
        .add_systems(Startup, (build_arena, start(address)))
        .add_systems(PreUpdate, admission::admit_players.after(MessageSystems::Receive))
        .add_systems(FixedUpdate, move_characters);
    app.run();
    Ok(())
}

fn start(address: SocketAddr) -> impl Fn(Commands) {
    move |mut commands| {
        let server =
            commands.spawn((NetcodeServer::new(NetcodeConfig::default()), LocalAddr(address), ServerUdpIo::default()));
        let entity = server.id();
        commands.trigger(Start { entity });
    }
}

fn build_arena(mut commands: Commands) {
    commands.spawn_batch(arena::blocks().map(|block| {
        let Vec3 { x, y, z } = block.half_extents;
        (RigidBody::Fixed, Collider::cuboid(x, y, z), Transform::from_translation(block.center))
    }));
}

fn welcome_link(
    link: On<Add, LinkOf>,
    conditions: Res<Conditions>,
    mut links: Query<&mut Link>,
    mut commands: Commands,
) {
    commands.entity(link.entity).insert(ReplicationSender);
    if let Ok(mut link) = links.get_mut(link.entity) {
        link.recv.conditioner = Some(conditions.0.conditioner());
    }
}

fn move_characters(mut characters: Query<(&mut Transform, &mut Velocity, &ActionState<PlayerInput>)>) {
    for (mut transform, mut velocity, input) in &mut characters {
        character::step(&mut transform, &mut velocity, input.0, TICK.as_secs_f32());
    }
}
