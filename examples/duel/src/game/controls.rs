//! What whoever plays this client wants: a person or the bot.

use bevy::prelude::*;

use super::{character::PlayerInput, weapon::Weapon};

/// Who plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pilot {
    /// The bot, until a person takes over.
    Bot,
    /// A person, with keyboard and mouse.
    Person,
    /// Nobody: the character stands still.
    Nobody,
}

/// The wishes of whoever plays, read in each tick. A window writes them if its pilot is a person, or else the bot does.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Controls {
    /// Who plays.
    pub pilot: Pilot,
    /// To the right and forward, at most 1 long.
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
    /// Whether the trigger is held down.
    pub trigger: bool,
    /// What to hold.
    pub weapon: Weapon,
}

impl Controls {
    /// Nothing is wanted yet.
    pub fn new(pilot: Pilot) -> Self {
        Self {
            pilot,
            walk: Vec2::ZERO,
            yaw: 0.0,
            pitch: 0.0,
            jump: false,
            crouch: false,
            reload: false,
            trigger: false,
            weapon: Weapon::default(),
        }
    }

    /// What goes to the server.
    pub fn input(&self) -> PlayerInput {
        let Self { walk, yaw, pitch, jump, crouch, reload, weapon, .. } = *self;
        PlayerInput { walk, yaw, pitch, jump, crouch, reload, weapon }
    }
}
