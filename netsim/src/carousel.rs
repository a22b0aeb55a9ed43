//! A target that circles around the first shooter: where it stands at any instant is known without asking anybody.

use core::f64::consts::TAU;

use bevy::prelude::*;
use bevy_hindsight::{
    CurrentTick, Hitbox, LagCompensationPlugin, Rig, Tick, ViewTime,
    lightyear::{ShotClientPlugin, ShotClientSystems, ShotServerPlugin},
};
use bevy_rapier3d::prelude::*;
use lightyear::prelude::{InterpolationTarget, NetworkTarget, Replicate};

use crate::{
    ClientLog, Scene, ServerLog, SimConfig, Strafing, TICK, Target,
    strafing::{
        TARGET_RADIUS,
        log::{log_hit, log_rejection, log_verdicts},
        spawn_shooter,
    },
};

/// The scene of those who do not play fair. Its clients do nothing by themselves, and its server knows walls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carousel;

impl Carousel {
    /// Metres from the first shooter, in the origin.
    pub const RADIUS: f32 = 10.0;
    /// Metres per second: the target runs by its own radius in 50 ms.
    pub const SPEED: f32 = 6.0;

    /// Where the target stands at an instant.
    pub fn place(instant: ViewTime) -> Vec3 {
        let seconds = -instant.ticks_before(Tick(0)) * TICK.as_secs_f64();
        let angle = seconds * f64::from(Self::SPEED / Self::RADIUS) % TAU;
        Quat::from_rotation_y(angle as f32) * Vec3::Z * Self::RADIUS
    }
}

impl Scene for Carousel {
    fn protocol(&self, app: &mut App) {
        Strafing::default().protocol(app);
    }

    fn server(&self, app: &mut App, _config: &SimConfig) {
        app.add_plugins((
            LagCompensationPlugin::default(),
            ShotServerPlugin::<()>::default(),
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        ))
        .insert_resource(TimestepMode::Fixed { dt: TICK.as_secs_f32(), substeps: 1 })
        .init_resource::<ServerLog>()
        .add_observer(log_hit)
        .add_observer(log_rejection)
        .add_observer(spawn_shooter)
        .add_systems(FixedUpdate, circle);
        app.world_mut().spawn((
            Target,
            Rig,
            Hitbox::ball(TARGET_RADIUS),
            Transform::from_translation(Vec3::Z * Self::RADIUS),
            Replicate::to_clients(NetworkTarget::All),
            InterpolationTarget::to_clients(NetworkTarget::All),
        ));
    }

    fn client(&self, app: &mut App, _config: &SimConfig, _id: u64) {
        app.add_plugins(ShotClientPlugin::<()>::default())
            .init_resource::<ClientLog>()
            .add_systems(PreUpdate, log_verdicts.after(ShotClientSystems::ReceiveVerdicts));
    }
}

fn circle(mut target: Single<&mut Transform, With<Target>>, tick: Res<CurrentTick>) {
    target.translation = Carousel::place(ViewTime::at(tick.0));
}
