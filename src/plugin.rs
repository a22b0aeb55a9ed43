//! The plugin of the server side.

use bevy::{
    diagnostic::RegisterDiagnostic,
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

use crate::{
    config::LagCompensationConfig,
    history::{
        RigIndex, Tombstones, begin_segment, bury_rig, forget_inserted, forget_removed, forget_tombstones,
        record_history,
    },
    schedule::LagCompensationSystems,
    shot::{
        AdmittedShots, HitConfirmed, HitRejected, ProjectileEnded, ProjectileLaunched, SentTicks, ShotEvent,
        ShotTraced, ShotTracing, Verdicts, VolleyJudged, WallPierced, admit_shots, answer_for_despawned, begin_reload,
        count_shots, diagnostics, finish_reloads, fire_weapons, report_verdicts,
    },
    time::CurrentTick,
    trace::{
        Screens, SustainedAttacks, adopt_collider_scale, check_screens, continue_attacks, explain_verdicts,
        fly_projectiles, forget_worlds, init_occluders, is_tracing, keep_screens, record_occluders, release_trigger,
        trace_shots,
    },
};

/// Lag compensation on the server: records [`Rig`](crate::Rig)s, and judges [`ShotEvent`]s by the past.
///
/// Needs Bevy's `TimePlugin` (part of `MinimalPlugins` and `DefaultPlugins`). Clients do not need this
/// plugin, not even to predict what they hit.
///
/// # Walls
///
/// If `bevy_rapier` simulates in this app, its colliders stop shots; run it in the fixed loop
/// (`RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule()`), so that a tick is one physics step. Without it,
/// nothing stops a shot but hitboxes.
///
/// A shot passes through sensors, disabled colliders, colliders with [`Unhittable`](crate::Unhittable) (an invisible barrier),
/// all colliders on or below a [`Rig`](crate::Rig) (its hitboxes stand for it), and those of the shooter. All others stop it,
/// whatever their collision groups: an [`Occluder`](crate::Occluder) where it stood at the view time, the rest where they
/// stand. Rays meet capsules, balls and boxes by closed forms, and all other shapes by parry's own methods, which for
/// cylinders, cones and convex hulls are iterative and may be some millimetres wrong.
pub struct LagCompensationPlugin {
    pub(crate) schedule: InternedScheduleLabel,
}

impl LagCompensationPlugin {
    /// The plugin with its systems in another schedule than `FixedPostUpdate`, one that runs once in each tick, after
    /// movement, physics and animation.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self { schedule: schedule.intern() }
    }
}

impl Default for LagCompensationPlugin {
    fn default() -> Self {
        Self::in_schedule(FixedPostUpdate)
    }
}

impl Plugin for LagCompensationPlugin {
    fn build(&self, app: &mut App) {
        init_records(app);
        app.init_resource::<LagCompensationConfig>()
            .init_resource::<AdmittedShots>()
            .init_resource::<Verdicts>()
            .init_resource::<Screens>()
            .add_observer(begin_reload)
            .add_observer(release_trigger)
            .init_resource::<SustainedAttacks>()
            .add_observer(answer_for_despawned)
            .add_message::<ShotEvent>()
            .add_message::<HitConfirmed>()
            .add_message::<HitRejected>()
            .add_message::<VolleyJudged>()
            .add_message::<WallPierced>()
            .add_message::<ShotTraced>()
            .add_message::<ProjectileLaunched>()
            .add_message::<ProjectileEnded>()
            .configure_sets(
                self.schedule,
                (
                    LagCompensationSystems::RecordHistory,
                    LagCompensationSystems::ReceiveShots,
                    LagCompensationSystems::AdmitShots,
                    LagCompensationSystems::TraceShots,
                    LagCompensationSystems::ReportVerdicts,
                )
                    .chain(),
            )
            .add_systems(FixedFirst, advance_tick)
            .add_systems(FixedLast, count_shots)
            .add_systems(
                self.schedule,
                (
                    (
                        adopt_collider_scale.before(record_history),
                        record_history,
                        record_occluders,
                        forget_worlds,
                        forget_tombstones,
                    )
                        .in_set(LagCompensationSystems::RecordHistory),
                    (finish_reloads, admit_shots, check_screens, fire_weapons)
                        .chain()
                        .in_set(LagCompensationSystems::AdmitShots),
                    (trace_shots, continue_attacks, fly_projectiles).chain().in_set(LagCompensationSystems::TraceShots),
                    keep_screens.run_if(is_tracing).in_set(LagCompensationSystems::TraceShots).before(trace_shots),
                    (explain_verdicts.run_if(is_tracing), report_verdicts)
                        .chain()
                        .in_set(LagCompensationSystems::ReportVerdicts),
                ),
            );
        for diagnostic in diagnostics() {
            app.register_diagnostic(diagnostic);
        }
    }
}

/// Prepares an app to record rigs and occluders, once: whoever asks first.
pub(crate) fn init_records(app: &mut App) {
    if app.world().contains_resource::<Tombstones>() {
        return;
    }
    app.init_resource::<CurrentTick>()
        .init_resource::<ShotTracing>()
        .init_resource::<SentTicks>()
        .init_resource::<RigIndex>()
        .init_resource::<Tombstones>()
        .add_observer(begin_segment)
        .add_observer(bury_rig)
        .add_observer(forget_inserted)
        .add_observer(forget_removed);
    init_occluders(app);
}

fn advance_tick(mut tick: ResMut<CurrentTick>) {
    tick.0 = tick.0 + 1;
}
