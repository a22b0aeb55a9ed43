//! What happened, for a test to compare.

use bevy::prelude::*;
use bevy_hindsight::{
    Adjustment, Evidence, HistoryBuffer, HitConfirmed, HitRejected, PoseBasis, RejectReason, ShotId, ViewSource,
    ViewTime, lightyear::VerdictReceived,
};

use super::Target;

/// A shot as the client fired it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fired {
    /// Its id on the client.
    pub shot: ShotId,
    /// Where the screen showed the target.
    pub shown: Vec3,
    /// Whether it was aimed to hit what the screen showed.
    pub on_target: bool,
}

/// A shot as the server judged it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judged {
    /// Its id on the server.
    pub shot: ShotId,
    /// Where the target's proxy stood, if it had a past at the view time.
    pub proxy: Option<Vec3>,
    /// Where the target stands in the present of the verdict.
    pub present: Vec3,
    /// How the poses were found.
    pub source: ViewSource,
    /// What the pose of the hitbox that was met was rebuilt from.
    pub snapshots: Option<PoseBasis>,
    /// The instant that was tested.
    pub view_time: ViewTime,
    /// Why that is not the instant that the shot claimed, if so.
    pub adjusted: Option<Adjustment>,
    /// `None` for a confirmed hit.
    pub rejected: Option<RejectReason>,
    /// Ticks from the instant that was tested to the command tick.
    pub rewind: f64,
    /// Ticks between the command tick and the verdict.
    pub late: i32,
}

/// What the server did.
#[derive(Resource, Default)]
pub struct ServerLog {
    /// All verdicts in their order.
    pub judged: Vec<Judged>,
}

/// What a client did.
#[derive(Resource, Default)]
pub struct ClientLog {
    /// All shots in their order.
    pub fired: Vec<Fired>,
    /// All verdicts in the order in which they arrived.
    pub verdicts: Vec<VerdictReceived>,
    /// Frames in which the target was on the screen, and those among them without a snapshot to move on to.
    pub frames: u32,
    /// See `frames`.
    pub starved: u32,
}

pub(crate) fn log_hit(
    hit: On<HitConfirmed>,
    mut log: ResMut<ServerLog>,
    target: Single<(&HistoryBuffer, &Transform), With<Target>>,
) {
    log.judged.push(judged(hit.shot, &hit.evidence, None, *target));
}

pub(crate) fn log_rejection(
    rejection: On<HitRejected>,
    mut log: ResMut<ServerLog>,
    target: Single<(&HistoryBuffer, &Transform), With<Target>>,
) {
    log.judged.push(judged(rejection.shot, &rejection.evidence, Some(rejection.reason), *target));
}

fn judged(
    shot: ShotId,
    evidence: &Evidence,
    rejected: Option<RejectReason>,
    (history, present): (&HistoryBuffer, &Transform),
) -> Judged {
    Judged {
        shot,
        // The target's only hitbox stands in its root.
        proxy: evidence
            .hit
            .map(|hit| hit.pose)
            .or_else(|| Some(history.sample(evidence.view_time)?.root()))
            .map(|pose| pose.translation.into()),
        source: evidence.view_source,
        snapshots: evidence.hit.map(|hit| hit.basis),
        present: present.translation,
        view_time: evidence.view_time,
        adjusted: evidence.adjusted,
        rejected,
        rewind: evidence.view_time.ticks_before(evidence.command_tick),
        late: evidence.judged_at.since(evidence.command_tick),
    }
}

pub(crate) fn log_verdicts(mut verdicts: MessageReader<VerdictReceived>, mut log: ResMut<ClientLog>) {
    log.verdicts.extend(verdicts.read().copied());
}
