//! Where the player's eyes are in each frame: between two ticks.

use bevy::prelude::*;
use bevy_hindsight::lightyear::ShotClientSystems;
use lightyear::prelude::{Controlled, is_in_rollback};

use crate::{game::character::Body, net::protocol::Player};

/// The eyes of the own character.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct Eye {
    /// Where they are in this frame; what the crosshair is seen from.
    pub place: Vec3,
    /// The eyes after the last two ticks.
    ticks: [Vec3; 2],
}

/// A way in one tick that is no movement, in metres.
const JUMP: f32 = 1.0;

/// The plugin that follows them.
pub fn plugin(app: &mut App) {
    app.init_resource::<Eye>()
        .add_systems(FixedPostUpdate, note_eye.run_if(not(is_in_rollback)))
        .add_systems(Update, place_eye.after(ShotClientSystems::RememberDisplayed));
}

fn note_eye(mut eye: ResMut<Eye>, own: Query<(&Transform, &Body), (With<Player>, With<Controlled>)>) {
    if let Ok((feet, body)) = own.single() {
        eye.ticks = [eye.ticks[1], body.eye(feet.translation)];
    }
}

/// Sets [`Eye::place`].
pub fn place_eye(mut eye: ResMut<Eye>, time: Res<Time<Fixed>>) {
    let [before, now] = eye.ticks;
    let jumps = before.distance_squared(now) > JUMP * JUMP;
    eye.place = if jumps { now } else { before.lerp(now, time.overstep_fraction()) };
}
