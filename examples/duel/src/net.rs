//! The game over the network: what the two sides share, and each side on its own.

pub mod client;
mod conditions;
mod frame_time;
mod headless;
pub mod host;
mod policy;
pub mod protocol;
pub mod server;

pub use conditions::LinkConditions;
pub use headless::log_plugin;
pub use policy::Policy;
