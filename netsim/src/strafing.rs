//! A target that strafes at random, and clients that shoot at what they see of it.

pub(crate) mod log;

use core::any::TypeId;

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, Hitbox, LagCompensationConfig, LagCompensationPlugin, Rig, Tick, ViewTime,
    lightyear::{
        Displayed, FireShots, ShotChannel, ShotClientPlugin, ShotClientSystems, ShotProtocolPlugin, ShotRequest,
        ShotServerPlugin,
    },
};
use lightyear::prelude::{client::Connected, server::ClientOf, *};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use serde::{Deserialize, Serialize};

use crate::{Peer, Scene, Sim, SimConfig};
use log::{log_hit, log_rejection, log_verdicts};

pub use log::{ClientLog, Fired, Judged, ServerLog};

/// Where the rigs of the clients stand, next to each other.
const SHOOTER_SPACING: f32 = 3.0;
/// Radius of the target, a ball, in metres.
pub const TARGET_RADIUS: f32 = 0.3;
const TICKS_PER_SHOT: u32 = 4;

/// Clients with this resource do not shoot any more.
#[derive(Resource)]
pub struct CeaseFire;

/// The strafing target.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Target;

/// The rig of a client, named by the client's id.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Shooter(pub u64);

/// A request with a sound ray, and ticks of 0.
pub fn request(sequence: u32) -> ShotRequest<()> {
    ShotRequest {
        sequence,
        shooter: None,
        command_tick: Tick(0),
        view_time: Some(ViewTime::at(Tick(0))),
        epoch: 0,
        origin: Vec3::ZERO,
        direction: Vec3::Z,
        range: 100.0,
        displayed: None,
        weapon: (),
    }
}

/// The scene of this crate's own tests.
#[derive(Clone, Copy, Debug)]
pub struct Strafing {
    /// Whether the library keeps the clients' interpolation supplied.
    pub feed_interpolation: bool,
    /// Whether clients get rigs of their own.
    pub spawn_shooters: bool,
    /// What shots may claim.
    pub admission: AdmissionRules,
    /// Whether clients shoot, until they are told to [`CeaseFire`].
    pub shoot: bool,
}

impl Default for Strafing {
    fn default() -> Self {
        Self { feed_interpolation: true, spawn_shooters: true, admission: AdmissionRules::default(), shoot: true }
    }
}

impl Scene for Strafing {
    fn protocol(&self, app: &mut App) {
        app.component::<Target>().replicate();
        app.component::<Shooter>().replicate();
        app.component::<Transform>()
            .replicate()
            .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
        app.add_plugins(ShotProtocolPlugin::<()>::default());
    }

    fn server(&self, app: &mut App, config: &SimConfig) {
        app.add_plugins((LagCompensationPlugin::default(), ShotServerPlugin::<()>::default()))
            .insert_resource(LagCompensationConfig { admission: self.admission, ..default() })
            .init_resource::<ServerLog>()
            .add_observer(log_hit)
            .add_observer(log_rejection)
            .add_systems(FixedUpdate, strafe);
        if self.spawn_shooters {
            app.add_observer(spawn_shooter);
        }
        spawn_target(app.world_mut(), config.seed);
    }

    fn client(&self, app: &mut App, _config: &SimConfig, _id: u64) {
        app.add_plugins(ShotClientPlugin::<()>::default().with_fed_interpolation(self.feed_interpolation))
            .init_resource::<ClientLog>()
            .add_systems(PreUpdate, log_verdicts.after(ShotClientSystems::ReceiveVerdicts))
            .add_systems(Update, count_starved_frames.after(InterpolationSystems::Prepare));
        if self.shoot {
            // On a listen server: at what was drawn, before it moves on.
            app.add_systems(FixedUpdate, shoot.before(strafe).run_if(not(resource_exists::<CeaseFire>)));
        }
    }
}

/// Gives each client a rig of its own.
pub(crate) fn spawn_shooter(
    connected: On<Add, Connected>,
    links: Query<&RemoteId, With<ClientOf>>,
    shooters: Query<(), With<Shooter>>,
    mut commands: Commands,
) {
    let Ok(id) = links.get(connected.entity) else { return };
    let place = Vec3::X * SHOOTER_SPACING * shooters.iter().count() as f32;
    commands.spawn((
        Shooter(id.0.to_bits()),
        Rig,
        Transform::from_translation(place),
        Replicate::to_clients(NetworkTarget::All),
        InterpolationTarget::to_clients(NetworkTarget::All),
        ControlledBy { owner: connected.entity, lifetime: default() },
    ));
}

/// The target's own idea of where to go next.
#[derive(Component)]
struct Strafe {
    velocity: f32,
    wanted: f32,
    ticks_left: u32,
    random: SmallRng,
}

fn spawn_target(world: &mut World, seed: u64) {
    world.spawn((
        Target,
        Rig,
        Hitbox::ball(TARGET_RADIUS),
        Transform::from_xyz(0.0, 0.0, 10.0),
        Strafe { velocity: 0.0, wanted: 6.0, ticks_left: 20, random: SmallRng::seed_from_u64(seed) },
        Replicate::to_clients(NetworkTarget::All),
        InterpolationTarget::to_clients(NetworkTarget::All),
    ));
}

/// Runs at up to 6 m/s and turns with 41 m/s², after a quarter to a whole second, as players do.
fn strafe(mut targets: Query<(&mut Transform, &mut Strafe)>, time: Res<Time<Fixed>>) {
    let dt = time.timestep().as_secs_f32();
    for (mut transform, mut strafe) in &mut targets {
        if strafe.ticks_left == 0 {
            let speed = strafe.random.random_range(3.5..6.0);
            let stop = strafe.random.random_bool(0.15);
            // Back into the reach of the shooters, after minutes.
            let x = transform.translation.x;
            let turned_from = if x.abs() > 40.0 { x.signum() } else { strafe.wanted.signum() };
            strafe.wanted = if stop { 0.0 } else { -speed * turned_from };
            strafe.ticks_left = strafe.random.random_range(16..64);
        }
        strafe.ticks_left -= 1;
        let change = strafe.wanted - strafe.velocity;
        strafe.velocity += change.clamp(-41.0 * dt, 41.0 * dt);
        transform.translation.x += strafe.velocity * dt;
        transform.rotate_y(strafe.velocity * dt);
    }
}

/// Shoots at the target as it stands in the world of the client, now and then beside it.
fn shoot(
    mut shots: FireShots,
    target: Single<&Transform, With<Target>>,
    me: Single<&Transform, (With<Controlled>, Without<Target>)>,
    displayed: Res<Displayed>,
    local: Res<LocalTimeline>,
    mut log: ResMut<ClientLog>,
) {
    if !local.tick().0.is_multiple_of(TICKS_PER_SHOT) || displayed.view_time().is_none() {
        return;
    }
    let number = log.fired.len();
    // From the middle of the target to its rim, and each fifth shot a third of a radius past it.
    let on_target = number % 5 != 4;
    let aside = if on_target { 0.95 * TARGET_RADIUS * (number % 5) as f32 / 3.0 } else { 1.33 * TARGET_RADIUS };
    let origin = me.translation;
    let to_target = target.translation - origin;
    let aim = to_target + to_target.cross(Vec3::Y).normalize() * aside;
    let Ok(direction) = Dir3::new(aim) else { return };
    if let Ok(shot) = shots.fire(Ray3d::new(origin, direction), 100.0, ()) {
        log.fired.push(Fired { shot, shown: target.translation, on_target });
    }
}

/// Counts the frames in which lightyear had nothing newer to show than what it showed.
fn count_starved_frames(
    target: Single<&ConfirmedHistory<Transform>, With<Target>>,
    timeline: Res<InterpolationTimeline>,
    mut log: ResMut<ClientLog>,
) {
    if !timeline.is_synced() {
        return;
    }
    log.frames += 1;
    let newest = target.len().checked_sub(1).and_then(|last| target.get_nth_tick(last));
    if newest.is_none_or(|newest| newest <= timeline.now().tick()) {
        log.starved += 1;
    }
}

impl Sim {
    /// Sends a request as it is, whatever it says.
    pub fn fire_raw(&mut self, client: usize, request: ShotRequest<()>) {
        let Peer { app, link, .. } = &mut self.clients[client];
        let sender = app.world_mut().get_mut::<MessageSender<ShotRequest<()>>>(*link);
        sender.expect("the link should be able to send shots").send::<ShotChannel>(request);
    }

    /// Sends bytes on the channel of shots.
    pub fn send_bytes(&mut self, client: usize, bytes: Vec<u8>) {
        let Peer { app, link, .. } = &mut self.clients[client];
        let transport = app.world_mut().get_mut::<Transport>(*link);
        let sent = transport.expect("the link should have a transport").send::<ShotChannel>(bytes.into());
        sent.expect("the queue should have room");
    }

    /// The byte with which a message on that channel begins if it is a request to shoot.
    pub fn kind_of_requests(&self) -> u8 {
        let registry = self.server.app.world().resource::<MessageRegistry>();
        let number = registry.kind_map.net_id(&TypeId::of::<ShotRequest<()>>().into());
        u8::try_from(*number.expect("requests should be registered")).expect("there are not that many messages")
    }

    /// What the server did so far.
    pub fn server_log(&self) -> &ServerLog {
        self.server.app.world().resource::<ServerLog>()
    }

    /// What a client did so far.
    pub fn client_log(&self, client: usize) -> &ClientLog {
        self.clients[client].app.world().resource::<ClientLog>()
    }
}
