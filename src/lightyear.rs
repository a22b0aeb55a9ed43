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
//! ```
//! use core::time::Duration;
//!
//! use bevy::{prelude::*, state::app::StatesPlugin};
//! use bevy_hindsight::{lightyear::*, prelude::*};
//! use lightyear::prelude::{client::ClientPlugins, server::ServerPlugins, *};
//!
//! const TICK: Duration = Duration::from_nanos(15_625_000);
//!
//! /// The same on both sides, in the same order.
//! fn protocol(app: &mut App) {
//!     app.component::<Transform>()
//!         .replicate()
//!         .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
//!     app.add_plugins(ShotProtocolPlugin::<()>::default());
//! }
//!
//! fn server() -> App {
//!     let mut app = App::new();
//!     app.add_plugins((MinimalPlugins, StatesPlugin, TransformPlugin, ServerPlugins { tick_duration: TICK }));
//!     protocol(&mut app);
//!     app.add_plugins((LagCompensationPlugin::default(), ShotServerPlugin::<()>::default()));
//!     app
//! }
//!
//! /// A rig for each client that connects: what it controls is what it shoots from.
//! fn spawn_player(client: On<Add, Connected>, mut commands: Commands) {
//!     commands.spawn((
//!         Rig,
//!         Hitbox::capsule(0.5, 0.3).with_offset(Vec3::Y * 0.8),
//!         Replicate::to_clients(NetworkTarget::All),
//!         InterpolationTarget::to_clients(NetworkTarget::All),
//!         ControlledBy { owner: client.entity, lifetime: default() },
//!     ));
//! }
//!
//! fn client() -> App {
//!     let mut app = App::new();
//!     app.add_plugins((MinimalPlugins, StatesPlugin, TransformPlugin, ClientPlugins { tick_duration: TICK }));
//!     protocol(&mut app);
//!     app.add_plugins(ShotClientPlugin::<()>::default());
//!     app
//! }
//! # server().add_observer(spawn_player).finish();
//! # client().finish();
//! ```
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
//!
//! Blood that need not wait for the verdict comes from [`PredictShots`], which traces the shot through the client's own screen.
//! What is remembered of it is settled once, by one [`PredictionSettled`]:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_hindsight::{RewoundFilter, ShotId, lightyear::*, prelude::*};
//!
//! #[derive(Component)]
//! struct Blood(ShotId);
//!
//! fn fire_rifle(
//!     mut shots: FireShots,
//!     mut predictions: PredictShots,
//!     me: Single<(Entity, &Transform), With<Controlled>>,
//!     mut commands: Commands,
//! ) {
//!     let (me, eye) = *me;
//!     let ray = Ray3d::new(eye.translation, eye.forward());
//!     let Ok(shot) = shots.fire(ray, 200.0, ()) else { return };
//!     let met = predictions.predict(shot, ray, 200.0, &RewoundFilter::new().fired_by(me));
//!     if let Some(hit) = met.victim() {
//!         commands.spawn((Blood(shot), Transform::from_translation(hit.point)));
//!     }
//! }
//!
//! fn settle(mut settled: MessageReader<PredictionSettled>, blood: Query<(Entity, &Blood)>, mut commands: Commands) {
//!     for PredictionSettled { predicted, settlement, .. } in settled.read() {
//!         if *settlement == Settlement::Confirmed {
//!             continue;
//!         }
//!         // The server saw it otherwise, or is gone.
//!         for (drop, _) in blood.iter().filter(|(_, blood)| blood.0 == predicted.shot) {
//!             commands.entity(drop).despawn();
//!         }
//!         if let Settlement::Corrected { point, .. } = *settlement {
//!             commands.spawn((Blood(predicted.shot), Transform::from_translation(point)));
//!         }
//!     }
//! }
//! # use ::lightyear::prelude::Controlled;
//! # bevy::ecs::system::assert_is_system(fire_rifle);
//! # bevy::ecs::system::assert_is_system(settle);
//! ```
//!
//! To see how shots are judged, turn on [`ShotTracing`](crate::ShotTracing) on both sides, and permit connections to be sent
//! evidence, with [`ShotServerConfig::stream_evidence`] or an [`EvidenceViewer`]: clients then get a
//! [`ShotTraced`](crate::ShotTraced) for each verdict that concerns them, and keep what their screen showed in
//! [`DisplayedShots`](crate::DisplayedShots).
//!
//! What lightyear cannot decode never becomes a shot. Lightyear reports it with `error!`, so that a hostile client can write
//! into the log of a server: there, turn its targets off, for example with the filter
//! `info,lightyear_messages=off,lightyear_transport=off` of Bevy's `LogPlugin`.
//!
//! Some messages that only servers should send are taken by lightyear 0.30 from clients, too. One ends in an error that Bevy, by
//! default, panics at: give a server another handler, for example with `App::set_error_handler(bevy::ecs::error::debug)`.
//! Another one, `SenderMetadata` with a negative interval, makes lightyear itself panic, and nothing here can keep it from that.

mod client;
mod connection;
mod displayed;
mod evidence;
mod feed;
mod fire;
mod inbox;
mod predict;
mod prespawn;
mod protocol;
mod repeats;
mod screens;
mod segment;
mod server;
mod settle;
mod starved;

pub use client::{ShotClientPlugin, ShotClientSystems, VerdictReceived};
pub use displayed::{Displayed, PresentationEpoch, ShownAs, ViewState};
pub use evidence::{EvidenceChannel, EvidenceViewer};
pub use fire::{FireError, FireShots, ShotReach};
pub use predict::{PredictShots, PredictedShot};
pub use prespawn::prespawn_hash;
pub use protocol::{ShotChannel, ShotData, ShotOutcome, ShotProtocolPlugin, ShotRequest, ShotVerdict};
pub use segment::SegmentNumber;
pub use server::{ShotReceived, ShotServerConfig, ShotServerPlugin};
pub use settle::{PredictionSettled, Settlement};
pub use starved::STARVED_FRAMES;
