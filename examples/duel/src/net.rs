//! The game over the network: what the two sides share, and each side on its own.

pub mod client;
mod conditions;
mod headless;
mod protocol;
pub mod server;

pub use conditions::LinkConditions;
