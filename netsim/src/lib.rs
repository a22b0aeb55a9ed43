//! A server and its clients in one process, on a simulated clock and a seeded network.
//!
//! What is played is a [`Scene`]; [`Strafing`] and [`Carousel`] are those of this crate's own tests. Runs are deterministic to the last bit,
//! and many times faster than real time. This is a crate of its own because the simulated clock is a feature of
//! `lightyear_core`, which cargo turns on for all that is built together: a game that is built in one command with this crate
//! stands still.

extern crate alloc;

mod carousel;
mod conditioner;
mod scene;
mod sim;
mod strafing;

pub use carousel::Carousel;
pub use conditioner::Network;
pub use scene::Scene;
pub use sim::{Pace, Peer, Sim, SimConfig, TICK, Transport};
pub use strafing::{CeaseFire, ClientLog, Fired, Judged, ServerLog, Shooter, Strafing, TARGET_RADIUS, Target, request};
