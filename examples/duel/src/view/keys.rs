//! Keyboard and mouse.

use std::env;

use bevy::{
    input::{
        InputSystems,
        mouse::{AccumulatedMouseScroll, MouseMotion},
    },
    prelude::*,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow, WindowFocused},
};
use bevy_egui::input::EguiWantsInput;

use super::panels::{Panels, toggle};
use crate::game::{
    character::MAX_PITCH,
    controls::{Controls, Pilot},
    weapon::Weapon,
};

/// Radians for a pixel of the mouse's way: half a turn in 1,570 pixels.
const SENSITIVITY: f32 = 0.002;

/// All that reads keys and mouse, in `PreUpdate`.
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct KeySystems;

/// What the mouse is for.
#[derive(Resource, Debug)]
pub struct Mouse {
    /// Who plays if no person does.
    substitute: Pilot,
    /// Whether the mouse turns the head; if not, it is a pointer.
    pub captured: bool,
    /// Whether the button is still down from the click that has captured the mouse: that was no shot.
    click: bool,
    /// Whether this desktop tells each movement twice.
    doubles: bool,
}

/// The plugin of keyboard and mouse.
pub fn plugin(app: &mut App) {
    app.init_resource::<Panels>()
        .configure_sets(PreUpdate, KeySystems.after(InputSystems))
        .add_systems(Startup, begin)
        .add_systems(
            PreUpdate,
            (toggle, capture, look, (walk, choose_weapon).run_if(is_person)).chain().in_set(KeySystems),
        );
}

fn begin(controls: Res<Controls>, mut commands: Commands) {
    let substitute = if controls.pilot == Pilot::Person { Pilot::Nobody } else { controls.pilot };
    // winit's issue 2846: a grabbed pointer of X11 reports twice.
    let wayland = env::var_os("WAYLAND_DISPLAY").is_some_and(|display| !display.is_empty());
    let doubles = cfg!(target_os = "linux") && !wayland;
    commands.insert_resource(Mouse { substitute, captured: false, click: false, doubles });
}

fn is_person(controls: Res<Controls>) -> bool {
    controls.pilot == Pilot::Person
}

/// Decides who plays, and what the mouse is for.
fn capture(
    mut cursor: Query<&mut CursorOptions, With<PrimaryWindow>>,
    mut focus: MessageReader<WindowFocused>,
    mut needed: Local<bool>,
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    egui: Res<EguiWantsInput>,
    panels: Res<Panels>,
    mut mouse: ResMut<Mouse>,
    mut controls: ResMut<Controls>,
) {
    // A panel that opens takes the mouse, and gives it back.
    if core::mem::replace(&mut *needed, panels.need_mouse()) != panels.need_mouse() {
        mouse.captured = controls.pilot == Pilot::Person && !panels.need_mouse();
    }
    // Also if the mouse was taken back from another panel.
    mouse.captured &= !panels.why;
    let has_lost_focus = focus.read().any(|focus| !focus.focused);
    if keys.just_pressed(KeyCode::Escape) || has_lost_focus {
        mouse.captured = false;
        if controls.pilot == Pilot::Person {
            let Controls { yaw, pitch, weapon, .. } = *controls;
            *controls = Controls { yaw, pitch, weapon, ..Controls::new(mouse.substitute) };
        }
    }
    let is_click = buttons.just_pressed(MouseButton::Left);
    if is_click && !mouse.captured && !panels.why && !egui.wants_any_pointer_input() {
        (mouse.captured, mouse.click) = (true, true);
        controls.pilot = Pilot::Person;
    }
    mouse.click &= buttons.pressed(MouseButton::Left);
    let (grab_mode, visible) =
        if mouse.captured { (CursorGrabMode::Locked, false) } else { (CursorGrabMode::None, true) };
    for mut cursor in cursor.iter_mut().filter(|cursor| cursor.grab_mode != grab_mode) {
        (cursor.grab_mode, cursor.visible) = (grab_mode, visible);
    }
}

fn look(mut motion: MessageReader<MouseMotion>, mouse: Res<Mouse>, mut controls: ResMut<Controls>) {
    // Motion reaches windows in the background, too.
    if !mouse.captured {
        motion.clear();
        return;
    }
    let way = sum(motion.read().map(|motion| motion.delta), mouse.doubles) * SENSITIVITY;
    controls.yaw = (controls.yaw - way.x).rem_euclid(core::f32::consts::TAU);
    controls.pitch = (controls.pitch - way.y).clamp(-MAX_PITCH, MAX_PITCH);
}

/// All movements together. Those of a desktop that tells them twice count once: of each two that are the same, one.
fn sum(movements: impl Iterator<Item = Vec2>, doubles: bool) -> Vec2 {
    let mut last = None;
    let mut way = Vec2::ZERO;
    for movement in movements {
        if doubles && last == Some(movement) {
            last = None;
            continue;
        }
        last = Some(movement);
        way += movement;
    }
    way
}

fn walk(
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    egui: Res<EguiWantsInput>,
    panels: Res<Panels>,
    mouse: Res<Mouse>,
    mut controls: ResMut<Controls>,
) {
    // Sliders and the slow motion are moved with the same keys.
    let free = !panels.why && !egui.wants_any_keyboard_input();
    let held = |key| free && keys.pressed(key);
    let axis = |plus, minus| f32::from(held(plus)) - f32::from(held(minus));
    controls.walk =
        Vec2::new(axis(KeyCode::KeyD, KeyCode::KeyA), axis(KeyCode::KeyW, KeyCode::KeyS)).clamp_length_max(1.0);
    controls.jump = held(KeyCode::Space);
    controls.crouch = held(KeyCode::ControlLeft) || held(KeyCode::KeyC);
    controls.reload = held(KeyCode::KeyR);
    controls.trigger = mouse.captured && !panels.why && !mouse.click && buttons.pressed(MouseButton::Left);
}

fn choose_weapon(
    keys: Res<ButtonInput<KeyCode>>,
    scroll: Res<AccumulatedMouseScroll>,
    panels: Res<Panels>,
    mouse: Res<Mouse>,
    mut controls: ResMut<Controls>,
) {
    if panels.why {
        return;
    }
    let digits = [KeyCode::Digit1, KeyCode::Digit2, KeyCode::Digit3, KeyCode::Digit4];
    if let Some(index) = digits.into_iter().position(|digit| keys.just_pressed(digit)) {
        controls.weapon = Weapon::ALL[index];
    } else if mouse.captured && scroll.delta.y != 0.0 {
        controls.weapon = next_weapon(controls.weapon, scroll.delta.y < 0.0);
    }
}

fn next_weapon(weapon: Weapon, forward: bool) -> Weapon {
    let count = Weapon::ALL.len();
    let step = if forward { 1 } else { count - 1 };
    Weapon::ALL[(weapon.index() + step) % count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movements_that_are_told_twice_count_once() {
        let told = [Vec2::X, Vec2::X, Vec2::Y, Vec2::Y, Vec2::Y, Vec2::Y];
        assert_eq!(sum(told.into_iter(), true), Vec2::new(1.0, 2.0));
        assert_eq!(sum(told.into_iter(), false), Vec2::new(2.0, 4.0));
        assert_eq!(sum([Vec2::X, Vec2::Y].into_iter(), true), Vec2::ONE);
    }

    #[test]
    fn the_wheel_goes_round() {
        assert_eq!(next_weapon(Weapon::Blade, true), Weapon::Rifle);
        assert_eq!(next_weapon(Weapon::Rifle, false), Weapon::Blade);
        assert_eq!(next_weapon(Weapon::Rifle, true), Weapon::Shotgun);
    }
}
