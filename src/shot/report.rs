//! How verdicts reach the game.

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics},
    prelude::*,
};

use super::{
    Adjustment, Evidence, HitConfirmed, HitRejected, RejectReason, ShotCounters, ShotId, VolleyJudged, WallPierced,
};

/// The verdicts of this tick, in the order in which they were reached.
#[derive(Resource, Default)]
pub(crate) struct Verdicts {
    answers: Vec<Answer>,
    volleys: Vec<VolleyJudged>,
    pierced: Vec<WallPierced>,
    /// The outcome of each shot as a whole.
    outcomes: Vec<Outcome>,
}

enum Answer {
    Confirmed(HitConfirmed),
    Rejected(HitRejected),
}

struct Outcome {
    link: Option<Entity>,
    adjusted: Option<Adjustment>,
    /// `None` if anything was hit.
    reason: Option<RejectReason>,
}

impl Verdicts {
    /// Answers a shot that is not traced.
    pub(crate) fn refuse(&mut self, shooter: Entity, shot: ShotId, reason: RejectReason, evidence: Evidence) {
        self.reject(HitRejected { shooter, shot, part: 0, reason, evidence });
        self.count(&evidence, Some(reason));
    }

    pub(crate) fn confirm(&mut self, hit: HitConfirmed) {
        self.answers.push(Answer::Confirmed(hit));
    }

    pub(crate) fn reject(&mut self, rejection: HitRejected) {
        self.answers.push(Answer::Rejected(rejection));
    }

    pub(crate) fn judge_volley(&mut self, volley: VolleyJudged) {
        self.volleys.push(volley);
    }

    pub(crate) fn pierce(&mut self, wall: WallPierced) {
        self.pierced.push(wall);
    }

    /// All that has been answered in this tick so far.
    pub(crate) fn answers(&self) -> impl Iterator<Item = Result<&HitConfirmed, &HitRejected>> {
        self.answers.iter().map(|answer| match answer {
            Answer::Confirmed(hit) => Ok(hit),
            Answer::Rejected(rejection) => Err(rejection),
        })
    }

    /// Takes over all of another list, after its own.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.answers.append(&mut other.answers);
        self.volleys.append(&mut other.volleys);
        self.pierced.append(&mut other.pierced);
        self.outcomes.append(&mut other.outcomes);
    }

    /// Counts a shot that has got all its verdicts: why it hit nothing, or `None` if it did.
    pub(crate) fn count(&mut self, evidence: &Evidence, reason: Option<RejectReason>) {
        self.outcomes.push(Outcome { link: evidence.link, adjusted: evidence.adjusted, reason });
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
    mut volleys: MessageWriter<VolleyJudged>,
    mut pierced: MessageWriter<WallPierced>,
    mut commands: Commands,
) {
    confirmed.write_batch(verdicts.answers().filter_map(Result::ok).copied());
    rejected.write_batch(verdicts.answers().filter_map(Result::err).copied());
    // Verdicts are large: the whole list goes, instead of each of them.
    let answers = core::mem::take(&mut verdicts.answers);
    commands.queue(move |world: &mut World| trigger_all(answers, world));
    for volley in verdicts.volleys.drain(..) {
        volleys.write(volley);
        commands.trigger(volley);
    }
    pierced.write_batch(verdicts.pierced.drain(..));
}

/// Triggers each verdict on its entity, and gives the memory of the list back.
fn trigger_all(mut answers: Vec<Answer>, world: &mut World) {
    for answer in &mut answers {
        match answer {
            Answer::Confirmed(hit) => world.trigger_ref(hit),
            Answer::Rejected(rejection) => world.trigger_ref(rejection),
        }
        // What observers have queued comes before the next verdict.
        world.flush();
    }
    answers.clear();
    let mut verdicts = world.resource_mut::<Verdicts>();
    // Observers may have answered more.
    answers.append(&mut verdicts.answers);
    verdicts.answers = answers;
}

/// Measures what became of the shots of this tick.
pub(crate) fn count_shots(
    mut verdicts: ResMut<Verdicts>,
    mut counters: Query<&mut ShotCounters>,
    mut diagnostics: Diagnostics,
) {
    let (mut answered, mut refused, mut adjusted) = (0_u32, 0_u32, 0_u32);
    for Outcome { link, adjusted: adjustment, reason } in verdicts.outcomes.drain(..) {
        if let Some(mut counters) = link.and_then(|link| counters.get_mut(link).ok()) {
            counters.note_verdict(reason, adjustment);
        }
        let was_traced = reason.is_none_or(RejectReason::was_traced);
        answered += 1;
        refused += u32::from(!was_traced);
        adjusted += u32::from(was_traced && adjustment.is_some());
    }
    diagnostics.add_measurement(&SHOTS_ANSWERED, || f64::from(answered));
    diagnostics.add_measurement(&SHOTS_REFUSED, || f64::from(refused));
    diagnostics.add_measurement(&SHOTS_ADJUSTED, || f64::from(adjusted));
}
