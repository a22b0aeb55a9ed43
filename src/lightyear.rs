//! The edge to the crate [lightyear](https://docs.rs/lightyear): shots and verdicts travel over its links.
//!
//! Three plugins, generic over the data that a game wants to send along with a shot (`()` for none):
//!
//! | plugin | where | what it does |
//! |---|---|---|
//! | [`ShotProtocolPlugin`] | both sides, with the game's own protocol | registers channel and messages |
//! | [`ShotClientPlugin`] | client, host | remembers what the screen showed, sends shots, receives verdicts |
//! | [`ShotServerPlugin`] | server, host | holds shots until their tick, answers them |
//!
//! The client fires with [`FireShots`]:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_hindsight::{ShotId, lightyear::{FireShots, ShotOutcome, VerdictReceived}};
//!
//! // In `FixedUpdate`, so that the shot belongs to the tick of the input that caused it.
//! fn fire_rifle(mut shots: FireShots, eye: Single<&Transform, With<Camera>>) {
//!     let ray = Ray3d::new(eye.translation, eye.forward());
//!     match shots.fire(ray, 200.0, ()) {
//!         Ok(id) => debug!("shot {id:?} is on its way"),
//!         Err(error) => debug!("no shot: {error}"),
//!     }
//! }
//!
//! fn show_hit_marker(mut verdicts: MessageReader<VerdictReceived>) {
//!     for verdict in verdicts.read() {
//!         if let ShotOutcome::Hit { zone, .. } = verdict.outcome {
//!             info!("shot {:?} hit a {zone:?}", verdict.shot);
//!         }
//!     }
//! }
//! # #[derive(Component)] struct Camera;
//! # bevy::ecs::system::assert_is_system(fire_rifle);
//! # bevy::ecs::system::assert_is_system(show_hit_marker);
//! ```

mod client;
mod displayed;
mod feed;
mod fire;
mod inbox;
mod protocol;
mod server;

pub use client::{ShotClientPlugin, ShotClientSystems, VerdictReceived};
pub use displayed::Displayed;
pub use fire::{FireError, FireShots};
pub use protocol::{ShotChannel, ShotData, ShotOutcome, ShotProtocolPlugin, ShotRequest, ShotVerdict};
pub use server::{ShotReceived, ShotServerConfig, ShotServerPlugin};
