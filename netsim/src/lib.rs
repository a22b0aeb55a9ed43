//! A server and its clients in one process, on a simulated clock and a seeded network.
//!
//! Runs are deterministic to the last bit, and many times faster than real time. This is a crate of its own because the
//! simulated clock is a feature of `lightyear_core`, which cargo turns on for all that is built together: a game that is built
//! in one command with this crate stands still.

extern crate alloc;

mod conditioner;
mod log;
mod scene;
mod sim;

pub use conditioner::Network;
pub use log::{ClientLog, Fired, Judged, ServerLog};
pub use scene::{CeaseFire, Shooter, Target, request};
pub use sim::{Peer, Sim, SimConfig, Transport};
