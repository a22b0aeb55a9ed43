//! The order of work in each tick.

use bevy::prelude::*;

/// The steps of lag compensation in each tick, one after the other, in `FixedPostUpdate` (or the schedule that
/// [`LagCompensationPlugin::in_schedule`](crate::LagCompensationPlugin::in_schedule) names).
///
/// Movement, physics and animation must be done before the first of them. A game's own systems can run between any two;
/// its weapon rules, for example, between [`ReceiveShots`](Self::ReceiveShots) and [`AdmitShots`](Self::AdmitShots).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_hindsight::prelude::*;
/// fn limit_range(mut shots: MessageMutator<ShotEvent>) {
///     for shot in shots.read() {
///         shot.range = shot.range.min(50.0);
///     }
/// }
///
/// # let mut app = App::new();
/// app.add_systems(
///     FixedPostUpdate,
///     limit_range.after(LagCompensationSystems::ReceiveShots).before(LagCompensationSystems::AdmitShots),
/// );
/// ```
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LagCompensationSystems {
    /// Each [`Rig`](crate::Rig) is recorded in its [`HistoryBuffer`](crate::HistoryBuffer), and each
    /// [`Occluder`](crate::Occluder) likewise.
    RecordHistory,
    /// Shots that have come over the network, and whose command tick this is, become [`ShotEvent`](crate::ShotEvent)s.
    ReceiveShots,
    /// Each `ShotEvent` is checked, and its view time decided.
    AdmitShots,
    /// Admitted shots are traced through the past.
    TraceShots,
    /// [`HitConfirmed`](crate::HitConfirmed) and [`HitRejected`](crate::HitRejected) are written and triggered, and sent to
    /// the shooters.
    ReportVerdicts,
}
