//! How verdicts reach the game.

use bevy::prelude::*;

use super::{Evidence, HitConfirmed, HitRejected, RejectReason, RewoundHit, ShotCounters, ShotId};

/// One answer.
pub(crate) enum Verdict {
    Confirmed(HitConfirmed),
    Rejected(HitRejected),
}

/// The verdicts of this tick, in the order in which they were reached.
#[derive(Resource, Default)]
pub(crate) struct Verdicts(Vec<Verdict>);

impl Verdicts {
    pub(crate) fn confirm(&mut self, shooter: Entity, shot: ShotId, hit: RewoundHit, evidence: Evidence) {
        self.0.push(Verdict::Confirmed(HitConfirmed { target: hit.rig, shooter, shot, hit, evidence }));
    }

    pub(crate) fn reject(&mut self, shooter: Entity, shot: ShotId, reason: RejectReason, evidence: Evidence) {
        self.0.push(Verdict::Rejected(HitRejected { shooter, shot, reason, evidence }));
    }
}

/// Writes each verdict as a message and triggers it on its entity.
pub(crate) fn report_verdicts(
    mut verdicts: ResMut<Verdicts>,
    mut confirmed: MessageWriter<HitConfirmed>,
    mut rejected: MessageWriter<HitRejected>,
    mut counters: Query<&mut ShotCounters>,
    mut commands: Commands,
) {
    for verdict in verdicts.0.drain(..) {
        let (evidence, reason) = match &verdict {
            Verdict::Confirmed(hit) => (&hit.evidence, None),
            Verdict::Rejected(rejection) => (&rejection.evidence, Some(rejection.reason)),
        };
        if let Some(mut counters) = evidence.link.and_then(|link| counters.get_mut(link).ok()) {
            counters.note_verdict(reason, evidence.adjusted);
        }
        match verdict {
            Verdict::Confirmed(hit) => {
                confirmed.write(hit);
                commands.trigger(hit);
            }
            Verdict::Rejected(rejection) => {
                rejected.write(rejection);
                commands.trigger(rejection);
            }
        }
    }
}
