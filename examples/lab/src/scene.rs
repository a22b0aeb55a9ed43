//! A shooting range: targets that move in ways that are hard to judge, and shooters before them.

mod barrier;
mod body;
mod movers;
mod role;
mod walker;

use core::{ops::Range, time::Duration};

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, DisplayParameters, LagCompensationConfig, LagCompensationPlugin, Rig, RigId,
    lightyear::{ShotClientPlugin, ShotClientSystems, ShotProtocolPlugin, ShotServerConfig, ShotServerPlugin},
};
use lightyear::{
    input::config::InputConfig,
    prelude::{
        client::{Connected, NetcodeClient},
        input::native::{InputMarker, InputPlugin},
        server::ClientOf,
        *,
    },
};
use netsim::{Scene, SimConfig};
use serde::{Deserialize, Serialize};

use crate::{
    frames::{self, FrameFiles},
    judge, screen, shooter,
};

pub use barrier::Barrier;
pub use body::Stance;
pub use role::Role;

/// So much of the past is remembered that the lab measures what the server can know, and not what it may.
const MEMORY: Duration = Duration::from_secs(3);

/// The shooting range of the lab.
pub struct ShootingRange {
    /// When clients fire, from their first frame on.
    pub firing: Range<Duration>,
    /// Where clients note what their frames showed, if they shall.
    pub frames: Option<FrameFiles>,
}

/// The rig that a client controls: a place to shoot from.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shooter;

/// An input that says nothing: with it, lightyear sends its own idea of the interpolation delay.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct NoInput;

impl bevy::ecs::entity::MapEntities for NoInput {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

impl Scene for ShootingRange {
    fn protocol(&self, app: &mut App) {
        app.add_plugins(InputPlugin::<NoInput> { config: InputConfig { lag_compensation: true, ..default() } });
        app.component::<Role>().replicate();
        app.component::<Barrier>().replicate();
        app.component::<Shooter>().replicate();
        app.component::<Transform>()
            .replicate()
            .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
        app.component::<Stance>().replicate().interpolate_with(InterpolationFns::interpolate(Stance::step));
        app.component::<DisplayParameters>()
            .replicate()
            .interpolate_with(InterpolationFns::interpolate(DisplayParameters::interpolate));
        app.add_plugins(ShotProtocolPlugin::<()>::default());
    }

    fn server(&self, app: &mut App, config: &SimConfig) {
        app.add_plugins((LagCompensationPlugin::default(), ShotServerPlugin::<()>::default(), judge::plugin))
            .insert_resource(LagCompensationConfig {
                history: MEMORY,
                // The grid measures truth, and not where a server draws the line.
                admission: AdmissionRules { max_rewind: MEMORY, ..default() },
                ..default()
            })
            .insert_resource(ShotServerConfig { max_late: MEMORY, max_late_round_trips: f32::INFINITY, ..default() })
            .add_observer(place_shooter)
            .add_systems(
                FixedUpdate,
                (
                    body::embody,
                    barrier::move_barriers,
                    movers::move_targets,
                    body::take_stance,
                    walker::stride,
                    walker::pose_walkers,
                )
                    .chain(),
            );
        let seed = config.seed;
        let mut commands = app.world_mut().commands();
        spawn_targets(&mut commands, seed);
        barrier::spawn_barriers(&mut commands);
        app.world_mut().flush();
    }

    fn client(&self, app: &mut App, config: &SimConfig, id: u64) {
        app.add_plugins((
            ShotClientPlugin::<()>::default(),
            frames::plugin(self.frames.as_ref().map(|files| files.of_client(id)), self.firing.clone()),
            shooter::plugin(config.seed ^ (id << 16), self.firing.clone()),
        ))
        .init_resource::<screen::Screen>()
        .add_observer(control)
        .add_systems(
            Update,
            (
                (body::embody, body::take_stance, walker::pose_walkers)
                    .chain()
                    .after(InterpolationSystems::All)
                    .before(ShotClientSystems::RememberDisplayed),
                screen::draw.after(ShotClientSystems::RememberDisplayed),
            ),
        );
    }
}

fn spawn_targets(commands: &mut Commands, seed: u64) {
    for role in Role::ALL {
        let mut target = commands.spawn((
            role,
            Rig,
            RigId(role as u64),
            Transform::from_translation(role.home()),
            movers::Mind::new(seed ^ ((role as u64 + 1) << 40)),
            Replicate::to_clients(NetworkTarget::All),
            // Each side has its own hitboxes.
            DisableReplicateHierarchy,
            InterpolationTarget::to_clients(NetworkTarget::All),
        ));
        if role == Role::Crouches {
            target.insert(Stance::Standing);
        }
        if role.has_bones() {
            target.insert((walker::Gait::default(), DisplayParameters::default()));
        }
    }
}

/// Gives each client a place of its own to shoot from.
fn place_shooter(connected: On<Add, Connected>, links: Query<&RemoteId, With<ClientOf>>, mut commands: Commands) {
    let Ok(id) = links.get(connected.entity) else { return };
    commands.spawn((
        Shooter,
        Rig,
        Transform::from_xyz(8.0 * (id.0.to_bits() as f32 - 2.0), 1.6, 0.0),
        Replicate::to_clients(NetworkTarget::All),
        InterpolationTarget::to_clients(NetworkTarget::All),
        ControlledBy { owner: connected.entity, lifetime: default() },
    ));
}

fn control(controlled: On<Add, Controlled>, clients: Query<(), With<NetcodeClient>>, mut commands: Commands) {
    if !clients.is_empty() {
        commands.entity(controlled.entity).insert(InputMarker::<NoInput>::default());
    }
}
