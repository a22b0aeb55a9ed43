//! Where a shot ends: the past of rigs and occluders, and the colliders of the live world, under one ray.
//!
//! Hitboxes are tested as plain data, straight from history: there is no collider to move back and forth, and nothing to
//! restore. This is the only place that knows rapier.

mod answer;
mod arena;
mod blast;
mod bullets;
mod cast;
mod colliders;
mod explain;
mod fan;
mod filter;
mod judge;
mod occluders;
mod packet;
mod projectiles;
mod query;
mod region;
mod rigs;
mod scale;
mod screen;
mod sustained;
mod swing;
mod tested;
mod wall;

use bevy::prelude::*;

use crate::{
    config::LagCompensationConfig,
    hitbox::Occluder,
    shot::{AdmittedShots, RejectReason, Verdicts},
    time::{CurrentTick, ViewTime},
};
use arena::Arena;
use colliders::ColliderIndex;
use occluders::{OccluderIndex, begin_segment, bury_occluder, remember_standing};
use scale::{disable_hitbox, drop_collider_scale, enable_hitbox};
use screen::{Screen, Window};

pub use answer::{Crossing, Met, RewoundCast, RewoundEvidence, RewoundPose};
pub(crate) use colliders::forget_worlds;
pub(crate) use explain::{Screens, explain_verdicts, is_tracing, keep_screens};
pub use filter::RewoundFilter;
pub(crate) use judge::trace_shots;
pub(crate) use occluders::{OccluderHistory, OccluderTombstones, record_occluders};
pub(crate) use projectiles::fly_projectiles;
pub use query::RewoundQuery;
pub(crate) use scale::adopt_collider_scale;
pub(crate) use sustained::{SustainedAttacks, continue_attacks, release_trigger};

/// Gives each occluder its history, and keeps it in step with what happens to the occluder.
pub(crate) fn init_occluders(app: &mut App) {
    app.register_required_components::<Occluder, OccluderHistory>();
    app.init_resource::<OccluderTombstones>()
        .init_resource::<OccluderIndex>()
        .init_resource::<ColliderIndex>()
        .add_observer(begin_segment)
        .add_observer(remember_standing)
        .add_observer(bury_occluder)
        .add_observer(drop_collider_scale)
        .add_observer(disable_hitbox)
        .add_observer(enable_hitbox);
}

/// Refuses admitted shots whose screen cannot have looked so, and those that begin behind a wall.
pub(crate) fn check_screens(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    config: Res<LagCompensationConfig>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    arena: Arena,
) {
    let timestep = time.timestep();
    let window = Window { now: tick.0, ticks: config.history_ticks(timestep), timestep };
    shots.0.retain_mut(|shot| {
        let mut screen = Screen::new(shot.evidence.view_time, shot.displayed, &arena.sent);
        let checked = arena.check(&mut screen, shot.ray, shot.evidence.range, window, &shot.rules);
        shot.displayed = screen.displayed;
        // The muzzle belongs to the command tick.
        let at = ViewTime::at(shot.evidence.command_tick);
        let is_behind = |muzzle| arena.stands_between(muzzle, shot.ray.origin, at, shot.shooter);
        let reason = match checked {
            Ok(()) if shot.muzzle.is_some_and(is_behind) => RejectReason::MuzzleBlocked,
            Ok(()) => return true,
            Err(reason) => reason,
        };
        debug!("shot {:?} of `{}` refused: {reason:?}", shot.id, shot.shooter);
        verdicts.refuse(shot.shooter, shot.id, reason, shot.evidence);
        false
    });
}
