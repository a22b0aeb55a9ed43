//! The rules of the game: where it is played, how characters move and look, and what bots do.
//!
//! Nothing here knows of the network, of time of day or of a screen. Both sides run the same functions.

pub mod arena;
pub mod bot;
pub mod chance;
pub mod character;
pub mod controls;
pub mod figure;
pub mod weapon;
