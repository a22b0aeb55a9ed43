//! The camera that goes round a shot.

use bevy::{
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    math::ops,
    prelude::*,
};
use bevy_egui::input::EguiWantsInput;

use super::shots::OwnShots;
use crate::{game::arena::Arena, view::camera::ViewCamera};

/// How fast it goes by itself, in radians per second.
const AUTO: f32 = 0.16;
/// How fast it goes with a key held.
const KEY: f32 = 1.4;
/// Radians for a pixel of the mouse's way.
const DRAG: f32 = 0.006;
/// How near and how far it may be, in metres.
const DISTANCE: core::ops::RangeInclusive<f32> = 1.2..=25.0;
/// How far along a shot that met nobody it looks, in metres.
const AHEAD: f32 = 6.0;
/// How far it keeps from walls.
const GAP: f32 = 0.25;

/// Where the camera is, seen from the shot.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Orbit {
    yaw: f32,
    pitch: f32,
    distance: f32,
    /// Whether nobody has moved it yet.
    auto: bool,
}

impl Default for Orbit {
    fn default() -> Self {
        Self { yaw: 0.0, pitch: 0.32, distance: 4.2, auto: true }
    }
}

impl Orbit {
    /// The place of the camera around `focus`, where the shot went along `direction`: at 0, aside of it.
    fn place(&self, focus: Vec3, direction: Vec3) -> Vec3 {
        let aside = ops::atan2(direction.x, direction.z) + 1.9;
        focus + Quat::from_rotation_y(self.yaw + aside) * Quat::from_rotation_x(-self.pitch) * Vec3::Z * self.distance
    }
}

/// Moves it with the mouse, the keys and the wheel.
pub fn turn(
    mut orbit: ResMut<Orbit>,
    shots: Res<OwnShots>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    egui: Res<EguiWantsInput>,
    time: Res<Time<Real>>,
) {
    if shots.is_changed() {
        let distance = orbit.distance;
        *orbit = Orbit { distance, ..default() };
    }
    let axis = f32::from(keys.pressed(KeyCode::KeyD)) - f32::from(keys.pressed(KeyCode::KeyA));
    let is_dragged = buttons.pressed(MouseButton::Left) && !egui.wants_any_pointer_input();
    if is_dragged {
        orbit.yaw -= motion.delta.x * DRAG;
        orbit.pitch = (orbit.pitch + motion.delta.y * DRAG).clamp(-0.2, 1.4);
    }
    orbit.auto &= axis == 0.0 && !is_dragged;
    let speed = if orbit.auto { AUTO } else { KEY * axis };
    orbit.yaw += speed * time.delta_secs();
    if scroll.delta.y != 0.0 && !egui.wants_any_pointer_input() {
        let nearer = ops::powf(0.85, scroll.delta.y.clamp(-4.0, 4.0));
        orbit.distance = (orbit.distance * nearer).clamp(*DISTANCE.start(), *DISTANCE.end());
    }
}

/// Puts the camera there, before walls.
pub fn follow(
    mut camera: Single<&mut Transform, With<ViewCamera>>,
    orbit: Res<Orbit>,
    shots: Res<OwnShots>,
    arena: Res<Arena>,
) {
    let Some(shot) = shots.chosen() else { return };
    let focus = focus(shot);
    let Ok((direction, distance)) = Dir3::new_and_length(orbit.place(focus, shot.traced.direction) - focus) else {
        return;
    };
    let free = arena.cast_ray(Ray3d::new(focus, direction), distance + GAP).map_or(distance, |wall| wall - GAP);
    **camera = Transform::from_translation(focus + direction * free.max(0.3)).looking_at(focus, Vec3::Y);
}

/// What the camera looks at: the middle between where the victim was and where they are; or else a little along the shot.
fn focus(shot: &super::shots::OwnShot) -> Vec3 {
    let traced = &shot.traced;
    let victim = traced.hit().map(|hit| hit.rig).or_else(|| traced.hitboxes.first().map(|hitbox| hitbox.rig));
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for hitbox in traced.hitboxes.iter().filter(|hitbox| Some(hitbox.rig) == victim) {
        for pose in [Some(hitbox.pose), hitbox.live].into_iter().flatten() {
            sum += Vec3::from(pose.translation);
            count += 1.0;
        }
    }
    if count > 0.0 { sum / count } else { traced.origin + traced.direction * traced.length.min(AHEAD) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_goes_round_at_its_distance_and_above() {
        for yaw in [0.0, 1.0, 3.0, -2.0] {
            let place = Orbit { yaw, ..default() }.place(Vec3::ONE, Vec3::Z);
            assert!((place.distance(Vec3::ONE) - 4.2).abs() < 1e-4 && place.y > 1.5, "{place}");
        }
    }
}
