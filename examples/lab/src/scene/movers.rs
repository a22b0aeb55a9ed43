//! How targets move, on the server.

use bevy::{math::ops, prelude::*};
use bevy_hindsight::BeginSegment;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{Barrier, Role, Stance, walker::Gait};

/// A target's own idea of where to go next.
#[derive(Component)]
pub(super) struct Mind {
    velocity: Vec3,
    wanted: f32,
    /// Until the next decision.
    ticks_left: u32,
    random: SmallRng,
}

impl Mind {
    pub(super) fn new(seed: u64) -> Self {
        Self { velocity: Vec3::ZERO, wanted: 1.0, ticks_left: 20, random: SmallRng::seed_from_u64(seed) }
    }

    /// Whether it is time to decide, after which there is time until the next decision again.
    fn decides(&mut self, ticks: core::ops::Range<u32>) -> bool {
        if self.ticks_left == 0 {
            self.ticks_left = self.random.random_range(ticks);
            return true;
        }
        self.ticks_left -= 1;
        false
    }

    /// Back towards home if it is `reach` away, else to either side.
    fn side(&mut self, from_home: f32, reach: f32) -> f32 {
        if from_home.abs() > reach {
            -from_home.signum()
        } else if self.random.random() {
            1.0
        } else {
            -1.0
        }
    }
}

pub(super) fn move_targets(
    mut targets: Query<(Entity, &Role, &mut Transform, &mut Mind, Option<&mut Stance>, Option<&mut Gait>)>,
    lifts: Query<(&Barrier, &Transform), Without<Role>>,
    time: Res<Time<Fixed>>,
    mut commands: Commands,
) {
    let dt = time.timestep().as_secs_f32();
    for (entity, role, mut transform, mut mind, stance, gait) in &mut targets {
        let place = &mut transform.translation;
        let from_home = *place - role.home();
        match role {
            Role::Strafes => strafe(&mut mind, from_home.x, dt),
            Role::Jumps => jump(&mut mind, from_home, dt),
            Role::StopsAndGoes => stop_and_go(&mut mind, from_home.x),
            Role::Turns => {
                turn(&mut mind);
                transform.rotate_y(mind.wanted * dt);
            }
            Role::Crouches => {
                let Some(mut stance) = stance else { continue };
                crouch(&mut mind, &mut stance, from_home, dt);
            }
            Role::Teleports => {
                pace(&mut mind, from_home.x, 2.0, 3.0);
                if mind.decides(128..256) {
                    place.x = role.home().x + mind.random.random_range(-2.0..2.0);
                    place.z = role.home().z + mind.random.random_range(-2.0..6.0);
                    commands.trigger(BeginSegment { entity });
                }
            }
            Role::RidesLift => {
                pace(&mut mind, from_home.x, 0.5, 0.7);
                if let Some((_, lift)) = lifts.iter().find(|(barrier, _)| **barrier == Barrier::Lift) {
                    place.y = lift.translation.y + Barrier::Lift.half_extents().y + role.home().y;
                }
            }
            Role::PassesDoor => pace(&mut mind, from_home.x, 2.0, 3.0),
            Role::Walks | Role::WalksWithoutRule => {
                let Some(mut gait) = gait else { continue };
                if mind.decides(32..96) {
                    gait.hurry(mind.random.random_range(0.8..3.5));
                }
                gait.walk(role.home(), &mut transform, dt);
            }
        }
        transform.translation += mind.velocity * dt;
    }
}

/// Runs at up to 6 m/s and turns with 41 m/s², after a quarter to a whole second, as players do.
fn strafe(mind: &mut Mind, from_home: f32, dt: f32) {
    if mind.decides(16..64) {
        let stop = mind.random.random_bool(0.15);
        mind.wanted = if stop { 0.0 } else { mind.side(from_home, 0.8) * mind.random.random_range(3.5..6.0) };
    }
    if from_home.abs() > 2.0 {
        mind.wanted = -from_home.signum() * mind.wanted.abs().max(3.5);
    }
    mind.velocity.x += (mind.wanted - mind.velocity.x).clamp(-41.0 * dt, 41.0 * dt);
}

fn jump(mind: &mut Mind, from_home: Vec3, dt: f32) {
    if from_home.y > 0.0 || mind.velocity.y > 0.0 {
        mind.velocity.y -= 9.81 * dt;
    } else {
        mind.velocity.y = 0.0;
        if mind.decides(4..24) {
            mind.velocity = Vec3::new(mind.side(from_home.x, 1.0), 4.5, 0.0);
        }
    }
}

fn stop_and_go(mind: &mut Mind, from_home: f32) {
    if mind.decides(12..40) {
        mind.velocity.x = if mind.velocity.x == 0.0 { 5.0 * mind.side(from_home, 0.5) } else { 0.0 };
    }
}

fn turn(mind: &mut Mind) {
    if mind.decides(16..64) {
        mind.wanted = mind.random.random_range(-7.0..7.0);
    }
}

fn crouch(mind: &mut Mind, stance: &mut Stance, from_home: Vec3, dt: f32) {
    pace(mind, from_home.x, 1.0, 1.5);
    if mind.decides(20..60) {
        *stance = match *stance {
            Stance::Standing => Stance::Crouched,
            Stance::Crouched => Stance::Standing,
        };
    }
    let height = if *stance == Stance::Standing { 0.0 } else { -0.4 };
    mind.velocity.y = ((height - from_home.y) / dt).clamp(-2.5, 2.5);
}

/// To and fro, within `reach` metres of home, at a steady speed.
fn pace(mind: &mut Mind, from_home: f32, reach: f32, speed: f32) {
    if from_home.abs() > reach || mind.velocity.x == 0.0 {
        mind.velocity.x = if from_home > 0.0 { -speed } else { speed };
    }
}

/// A point on the circle that walkers follow.
pub(super) fn on_circle(home: Vec3, radius: f32, angle: f32) -> Transform {
    let (sin, cos) = ops::sin_cos(angle);
    Transform::from_translation(home + radius * Vec3::new(cos, 0.0, sin)).with_rotation(Quat::from_rotation_y(-angle))
}
