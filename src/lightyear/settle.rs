//! What the server's verdict leaves of a prediction.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::prelude::client::{Client, Connected};

use super::{
    ShotOutcome, VerdictReceived,
    predict::{OpenPredictions, PredictedShot},
};
use crate::{
    hitbox::Zone,
    shot::{HitBy, RejectReason, RewoundHit},
};

/// A prediction has come to its end: exactly one for each shot, or pellet, of [`PredictShots`](super::PredictShots).
///
/// Written in [`ShotClientSystems::SettlePredictions`](super::ShotClientSystems::SettlePredictions). Of a pellet that went
/// through several rigs, the nearest one whose verdict has come in this frame settles it. A refusal of the whole shot settles
/// all its pellets.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct PredictionSettled {
    /// What was shown.
    pub predicted: PredictedShot,
    /// What is left of it.
    pub settlement: Settlement,
}

/// What is left of a prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Settlement {
    /// All of it: the server says that the same rig was hit in the same zone; or, as predicted, none.
    Confirmed,
    /// Nothing was hit, or the shot was refused: undo the blood, and keep the tracer.
    Denied(RejectReason),
    /// Another rig was hit, or another zone; or one where none was predicted.
    #[non_exhaustive]
    Corrected {
        /// The rig that was hit; `None` if this world has no such entity (any more).
        target: Option<Entity>,
        /// How it was met.
        by: HitBy,
        /// Which part of the body.
        zone: Zone,
        /// Where, in the world.
        point: Vec3,
        /// The outward normal there.
        normal: Vec3,
    },
    /// No verdict has come in time, or the connection has ended. One that comes later is not told again.
    TimedOut,
}

impl Settlement {
    /// What this verdict leaves of a predicted hit or miss.
    fn of(predicted: Option<&RewoundHit>, outcome: &ShotOutcome) -> Self {
        match (predicted, *outcome) {
            (Some(hit), ShotOutcome::Hit { target, zone, .. }) if (target, zone) == (Some(hit.rig), hit.zone) => {
                Self::Confirmed
            }
            (_, ShotOutcome::Hit { target, by, zone, point, normal, .. }) => {
                Self::Corrected { target, by, zone, point, normal }
            }
            (None, ShotOutcome::Rejected(reason)) if reason.was_traced() => Self::Confirmed,
            (_, ShotOutcome::Rejected(reason)) => Self::Denied(reason),
        }
    }
}

impl VerdictReceived {
    /// Whether this is about the predicted part of the shot, or about the shot as a whole.
    fn answers(&self, predicted: &PredictedShot) -> bool {
        let is_refusal = matches!(self.outcome, ShotOutcome::Rejected(reason) if !reason.was_traced());
        self.shot == predicted.shot && (self.part == predicted.part || is_refusal)
    }

    /// Metres along the shot; 0 if there was no hit.
    fn distance(&self) -> f32 {
        match self.outcome {
            ShotOutcome::Hit { distance, .. } => distance,
            ShotOutcome::Rejected(_) => 0.0,
        }
    }
}

/// How long a prediction waits for its verdict.
#[derive(Resource)]
pub(super) struct Patience(pub(super) Duration);

pub(super) fn settle_predictions(
    mut open: ResMut<OpenPredictions>,
    mut verdicts: MessageReader<VerdictReceived>,
    mut arrived: Local<Vec<VerdictReceived>>,
    connected: Query<(), (With<Client>, With<Connected>)>,
    patience: Res<Patience>,
    time: Res<Time<Real>>,
    mut settled: MessageWriter<PredictionSettled>,
) {
    arrived.clear();
    arrived.extend(verdicts.read());
    if open.0.is_empty() {
        return;
    }
    let is_over = |predicted: &PredictedShot| {
        connected.is_empty() || time.elapsed().saturating_sub(predicted.predicted_at) >= patience.0
    };
    open.0.retain(|predicted| {
        let answers = arrived.iter().filter(|verdict| verdict.answers(predicted));
        let nearest = answers.min_by(|a, b| a.distance().total_cmp(&b.distance()));
        let settlement = match nearest {
            Some(verdict) => Settlement::of(predicted.hit.as_ref(), &verdict.outcome),
            None if is_over(predicted) => Settlement::TimedOut,
            None => return true,
        };
        settled.write(PredictionSettled { predicted: *predicted, settlement });
        false
    });
}
