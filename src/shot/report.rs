//! How verdicts reach the game.

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics},
    prelude::*,
};

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

/// The diagnostic of all shots that were answered in a tick.
pub const SHOTS_ANSWERED: DiagnosticPath = DiagnosticPath::const_new("hindsight/shots_answered");
/// The diagnostic of the shots of a tick that were refused, and not traced.
pub const SHOTS_REFUSED: DiagnosticPath = DiagnosticPath::const_new("hindsight/shots_refused");
/// The diagnostic of the shots of a tick that were traced at another instant than they claimed.
pub const SHOTS_ADJUSTED: DiagnosticPath = DiagnosticPath::const_new("hindsight/shots_adjusted");

/// What the plugin measures of shots.
pub(crate) fn diagnostics() -> [Diagnostic; 3] {
    [SHOTS_ANSWERED, SHOTS_REFUSED, SHOTS_ADJUSTED].map(Diagnostic::new)
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

/// Measures the verdicts of this tick.
pub(crate) fn count_verdicts(
    mut confirmed: MessageReader<HitConfirmed>,
    mut rejected: MessageReader<HitRejected>,
    mut diagnostics: Diagnostics,
) {
    let (mut answered, mut refused, mut adjusted) = (0_u32, 0_u32, 0_u32);
    let confirmed = confirmed.read().map(|hit| (true, &hit.evidence));
    let rejected = rejected.read().map(|rejection| (rejection.reason.was_traced(), &rejection.evidence));
    for (was_traced, evidence) in confirmed.chain(rejected) {
        answered += 1;
        refused += u32::from(!was_traced);
        adjusted += u32::from(was_traced && evidence.adjusted.is_some());
    }
    diagnostics.add_measurement(&SHOTS_ANSWERED, || f64::from(answered));
    diagnostics.add_measurement(&SHOTS_REFUSED, || f64::from(refused));
    diagnostics.add_measurement(&SHOTS_ADJUSTED, || f64::from(adjusted));
}
