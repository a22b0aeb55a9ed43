//! How characters move.

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    math::ops,
    prelude::*,
};
use bevy_hindsight::DisplayParameters;
use serde::{Deserialize, Serialize};

use super::{
    arena::{Arena, Solid},
    figure::{self, Posture},
    weapon::Weapon,
};

/// How fast a character runs, in m/s.
pub const MAX_SPEED: f32 = 6.0;
/// How much room it takes, in metres from its middle.
pub const RADIUS: f32 = 0.35;
/// How tall it is when standing, in metres.
pub const HEIGHT: f32 = 1.82;

/// How much less it is when crouching, in metres.
const CROUCH_DEPTH: f32 = 0.6;
/// How fast it changes its velocity on the ground and in the air, in m/s².
const ACCELERATION: f32 = 40.0;
const AIR_ACCELERATION: f32 = 12.0;
/// The share of the full speed that is left when crouching.
const CROUCH_SPEED: f32 = 0.45;
/// How much of a crouch is done in a second.
const CROUCH_RATE: f32 = 6.0;
const GRAVITY: f32 = 16.0;
/// The speed of a jump, in m/s: 0.9 m high.
const JUMP_SPEED: f32 = 5.4;
/// The highest step that it walks up, in metres.
const STEP: f32 = 0.4;
/// How far it walks in a turn of both legs, in metres.
const STRIDE_LENGTH: f32 = 2.6;
/// As far as a head turns up and down, in radians.
pub const MAX_PITCH: f32 = 1.4;

/// What a player wants in one tick.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct PlayerInput {
    /// Where to run, seen by the character: to the right and forward, at most 1 long.
    pub walk: Vec2,
    /// The direction of view, in radians from -Z.
    pub yaw: f32,
    /// Up, in radians.
    pub pitch: f32,
    /// Whether to jump.
    pub jump: bool,
    /// Whether to crouch.
    pub crouch: bool,
    /// Whether to change the magazine.
    pub reload: bool,
    /// What to hold.
    pub weapon: Weapon,
}

impl PlayerInput {
    /// The same input with whatever is not a number, or too much, taken out: it may have come over the network.
    fn tamed(self) -> Self {
        let number = |value: f32| if value.is_finite() { value } else { 0.0 };
        Self {
            walk: if self.walk.is_finite() { self.walk.clamp_length_max(1.0) } else { Vec2::ZERO },
            yaw: number(self.yaw),
            pitch: number(self.pitch).clamp(-MAX_PITCH, MAX_PITCH),
            ..self
        }
    }

    /// How the eyes are turned.
    pub fn rotation(&self) -> Quat {
        let Self { yaw, pitch, .. } = self.tamed();
        Quat::from_rotation_y(yaw) * Quat::from_rotation_x(pitch)
    }

    /// The direction in which the character looks.
    pub fn direction(&self) -> Dir3 {
        Dir3::new(self.rotation() * Vec3::NEG_Z).unwrap_or(Dir3::NEG_Z)
    }
}

impl MapEntities for PlayerInput {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

/// How a character moves, besides its place. Its feet are its `Transform`.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Default)]
pub struct Body {
    /// In m/s.
    pub velocity: Vec3,
    /// Up, in radians.
    pub pitch: f32,
    /// 0 standing, 1 crouching.
    pub crouch: f32,
    /// Turns of both legs.
    pub stride: f32,
    /// 0 on the ground, 1 in the air.
    pub air: f32,
    /// Whether it stands on something.
    pub on_ground: bool,
}

impl Body {
    /// Moves by one tick of `dt` seconds, which ends at `now` seconds. The server and the predicting client must agree on
    /// this; they run on the same kind of machine, or correct the client by what little they differ.
    pub fn step(&mut self, feet: &mut Transform, arena: &Arena, now: f64, input: PlayerInput, dt: f32) {
        let input = input.tamed();
        feet.rotation = Quat::from_rotation_y(input.yaw);
        self.pitch = input.pitch;
        let solids = arena.solids(now);
        self.duck(feet.translation, solids.clone(), input.crouch, dt);
        self.accelerate(feet.rotation, input, dt);
        let from = feet.translation;
        let mut to = from + self.velocity.with_y(0.0) * dt;
        let height = self.height();
        for solid in solids.clone().filter(|solid| solid.is_between(from.y + STEP, from.y + height)) {
            if let Some(out) = solid.push_out(to.xz(), RADIUS) {
                to = Vec3::new(out.x, to.y, out.y);
            }
        }
        // What an obstacle has stopped is gone.
        let walked = (to - from) / dt;
        if (to - from - self.velocity.with_y(0.0) * dt).length_squared() > 1e-12 {
            self.velocity = walked.clamp_length_max(MAX_SPEED).with_y(self.velocity.y);
        }
        self.fall(&mut to, solids, dt);
        self.stride = (self.stride + walked.with_y(0.0).length() * dt / STRIDE_LENGTH).rem_euclid(1.0);
        self.air = approach(self.air, if self.on_ground { 0.0 } else { 1.0 }, 8.0 * dt);
        feet.translation = to;
    }

    /// What the figure of this body looks like, whose feet are turned as `feet`.
    pub fn parameters(&self, feet: &Transform) -> DisplayParameters {
        let gait = feet.rotation.inverse() * self.velocity / MAX_SPEED;
        let gait = Vec2::new(gait.x, -gait.z);
        Posture { pitch: self.pitch, crouch: self.crouch, stride: self.stride, gait, air: self.air }.into()
    }

    /// Where the eyes are, and so where shots begin.
    pub fn eye(&self, feet: Vec3) -> Vec3 {
        feet + Vec3::Y * figure::eye_height(self.crouch)
    }

    fn height(&self) -> f32 {
        HEIGHT - CROUCH_DEPTH * self.crouch
    }

    fn duck(&mut self, feet: Vec3, mut solids: impl Iterator<Item = Solid>, wanted: bool, dt: f32) {
        let is_low = |solid: Solid| {
            solid.is_between(feet.y + STEP, feet.y + HEIGHT) && solid.push_out(feet.xz(), RADIUS).is_some()
        };
        // Who is under something low stays down.
        let goal = if wanted || (self.crouch > 0.0 && solids.any(is_low)) { 1.0 } else { 0.0 };
        self.crouch = approach(self.crouch, goal, CROUCH_RATE * dt);
    }

    fn accelerate(&mut self, facing: Quat, input: PlayerInput, dt: f32) {
        let speed = MAX_SPEED * (1.0 - (1.0 - CROUCH_SPEED) * self.crouch);
        let wanted = facing * Vec3::new(input.walk.x, 0.0, -input.walk.y) * speed;
        let acceleration = if self.on_ground { ACCELERATION } else { AIR_ACCELERATION };
        let along = self.velocity.with_y(0.0).move_towards(wanted, acceleration * dt);
        let jumps = input.jump && self.on_ground;
        let upwards = if jumps { JUMP_SPEED } else { self.velocity.y - GRAVITY * dt };
        self.velocity = along.with_y(upwards);
        self.on_ground &= !jumps;
    }

    fn fall(&mut self, to: &mut Vec3, solids: impl Iterator<Item = Solid> + Clone, dt: f32) {
        let from = to.y;
        let reach = if self.on_ground { STEP } else { 0.0 };
        // A little less than the body is wide, so that nobody hangs on an edge.
        let below = |solid: Solid| solid.ground_below(to.with_y(from + STEP), 0.8 * RADIUS);
        let ground = solids.clone().filter_map(below).fold(f32::NEG_INFINITY, f32::max);
        let fallen = from + self.velocity.y * dt;
        // Who stands stays down on steps and lifts, who falls lands.
        self.on_ground = self.velocity.y <= 0.0 && fallen - reach <= ground;
        if self.on_ground {
            (to.y, self.velocity.y) = (ground, 0.0);
            return;
        }
        to.y = fallen;
        let above = |solid: &Solid| {
            solid.bottom() >= from + self.height() - STEP && solid.push_out(to.xz(), 0.8 * RADIUS).is_some()
        };
        let ceiling = solids.filter(above).map(|solid| solid.bottom()).fold(f32::INFINITY, f32::min);
        if to.y + self.height() > ceiling {
            to.y = ceiling - self.height();
            self.velocity.y = self.velocity.y.min(0.0);
        }
    }
}

/// `from`, or nearer to `to` by at most `step`.
fn approach(from: f32, to: f32, step: f32) -> f32 {
    from + (to - from).clamp(-step, step)
}

/// The yaw and pitch of a direction, as in [`PlayerInput`].
pub fn yaw_and_pitch(direction: Dir3) -> (f32, f32) {
    (ops::atan2(-direction.x, -direction.z), ops::asin(direction.y.clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f32 = 1.0 / 64.0;

    fn arena(boxes: &str, movers: &str) -> Arena {
        let text = format!(
            "(half_size: 20.0, wall_height: 3.0, boxes: [{boxes}], movers: [{movers}], spawn_points: [(0.0, 0.0, 0.0)])"
        );
        Arena::parse(&text).unwrap()
    }

    fn run(arena: &Arena, ticks: u32, mut input: impl FnMut(u32) -> PlayerInput) -> Vec<(Vec3, Body)> {
        let mut state = (Transform::default(), Body::default());
        let step = |tick| {
            state.1.step(&mut state.0, arena, f64::from(tick) * f64::from(DT), input(tick), DT);
            (state.0.translation, state.1)
        };
        (0..ticks).map(step).collect()
    }

    const FORWARD: PlayerInput = PlayerInput {
        walk: Vec2::Y,
        yaw: 0.0,
        pitch: 0.0,
        jump: false,
        crouch: false,
        reload: false,
        weapon: Weapon::Rifle,
    };

    #[test]
    fn full_speed_is_reached_and_never_passed() {
        for walk in [Vec2::Y, Vec2::Y * 100.0] {
            let states = run(&arena("", ""), 64, |_| PlayerInput { walk, ..FORWARD });
            assert!(states.iter().all(|(_, body)| body.velocity.length() <= MAX_SPEED + 1e-5));
            assert_eq!(states[63].1.velocity, Vec3::NEG_Z * MAX_SPEED);
        }
    }

    #[test]
    fn right_is_right_of_the_view() {
        let input = PlayerInput { walk: Vec2::X, yaw: core::f32::consts::PI, ..FORWARD };
        assert!(run(&arena("", ""), 32, |_| input)[31].0.x < -1.0);
    }

    #[test]
    fn walls_stop_characters() {
        let (place, body) = run(&arena("", ""), 64 * 10, |_| FORWARD)[639];
        assert!((place.z + 20.0 - RADIUS).abs() < 1e-3, "{place}");
        assert!(body.velocity.length() < 0.1, "{body:?}");
    }

    #[test]
    fn a_jump_is_as_high_as_its_speed_and_ends_on_the_ground() {
        let states = run(&arena("", ""), 80, |tick| PlayerInput { jump: tick == 10, walk: Vec2::ZERO, ..FORWARD });
        let highest = states.iter().map(|(place, _)| place.y).fold(0.0, f32::max);
        assert!((highest - JUMP_SPEED * JUMP_SPEED / (2.0 * GRAVITY)).abs() < 0.06, "{highest}");
        assert!(states[79].1.on_ground && states[79].0.y == 0.0);
    }

    #[test]
    fn steps_are_walked_up_and_walls_are_not() {
        let step = "(center: (0.0, 0.0, -3.0), size: (4.0, 0.35, 2.0), look: Concrete)";
        assert_eq!(run(&arena(step, ""), 32, |_| FORWARD)[31].0.y, 0.35);
        let wall = "(center: (0.0, 0.0, -3.0), size: (4.0, 0.6, 2.0), look: Concrete)";
        let (place, _) = run(&arena(wall, ""), 64, |_| FORWARD)[63];
        assert!(place.y == 0.0 && place.z > -2.0, "{place}");
    }

    #[test]
    fn who_crouches_fits_under_what_is_low_and_stays_down_there() {
        let beam = "(center: (0.0, 1.4, -3.0), size: (4.0, 1.0, 1.0), look: Concrete)";
        let blocked = run(&arena(beam, ""), 128, |_| FORWARD)[127].0;
        assert!(blocked.z > -2.5, "{blocked}");
        // Stands up when it can.
        let states = run(&arena(beam, ""), 192, |tick| PlayerInput { crouch: tick < 70, ..FORWARD });
        assert!(states[191].0.z < -4.0 && states[191].1.crouch == 0.0, "{:?}", states[191]);
        assert!(states.iter().filter(|(place, _)| place.z < -2.6 && place.z > -3.4).all(|(_, body)| body.crouch > 0.9));
    }

    #[test]
    fn lifts_take_characters_up_and_down() {
        let lift =
            "(kind: Lift, size: (2.0, 0.3, 2.0), from: (0.0, 0.0, 0.0), to: (0.0, 2.0, 0.0), wait: 0.5, travel: 1.5)";
        let states = run(&arena("", lift), 64 * 4, |_| PlayerInput { walk: Vec2::ZERO, ..FORWARD });
        assert!(states.iter().skip(2).all(|(_, body)| body.on_ground));
        let heights = states.iter().map(|(place, _)| place.y);
        assert!((heights.fold(0.0, f32::max) - 2.15).abs() < 1e-3);
        assert!(states[255].0.y < 0.3, "{:?}", states[255]);
    }

    #[test]
    fn doors_push_characters_aside() {
        let door =
            "(kind: Door, size: (0.2, 2.0, 2.0), from: (3.0, 1.0, 0.0), to: (0.0, 1.0, 0.0), wait: 0.1, travel: 1.0)";
        let (place, _) = run(&arena("", door), 76, |_| PlayerInput { walk: Vec2::ZERO, ..FORWARD })[75];
        assert!(place.x < -RADIUS, "{place}");
    }

    #[test]
    fn hostile_input_does_no_harm() {
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            let input = PlayerInput { walk: Vec2::new(bad, 1.0), yaw: bad, pitch: bad, ..FORWARD };
            let states = run(&arena("", ""), 3, |_| input);
            assert!(
                states.iter().all(|(place, body)| place.is_finite() && body.velocity.length() <= MAX_SPEED),
                "{bad}"
            );
        }
    }

    #[test]
    fn directions_come_back_from_yaw_and_pitch() {
        for (yaw, pitch) in [(0.0, 0.0), (1.2, 0.5), (-2.5, -1.0)] {
            let (found_yaw, found_pitch) = yaw_and_pitch(PlayerInput { yaw, pitch, ..FORWARD }.direction());
            assert!((found_yaw - yaw).abs() < 1e-5 && (found_pitch - pitch).abs() < 1e-5);
        }
    }
}
