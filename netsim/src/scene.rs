//! What is played.

use bevy::prelude::*;

use crate::SimConfig;

/// A game to be played by the server and the clients of a [`Sim`](crate::Sim).
pub trait Scene {
    /// Registers what is sent, in the same order on both sides.
    fn protocol(&self, app: &mut App);

    /// Adds the plugins and systems of the server, and spawns its world.
    fn server(&self, app: &mut App, config: &SimConfig);

    /// Adds the plugins and systems of a client. A listen server gets them, too, for its host, whose `id` is 0.
    fn client(&self, app: &mut App, config: &SimConfig, id: u64);
}
