//! What shots come to: how often verdict and truth agree, and how far apart screen and server were.

use alloc::collections::BTreeMap;
use core::fmt::{self, Display, Formatter};

use bevy::prelude::*;
use bevy_hindsight::{Bone, Tick, ViewTime};
use serde::{Deserialize, Serialize};

use crate::{
    grid::Condition,
    judge::{Answer, Past, Verdict},
    policy::Policy,
    scene::Role,
    shooter::Fired,
};

/// How far off, in metres, [`Policy::AsDisplayed`] may test a target without being called wrong.
pub const TOLERANCE: f32 = 0.001;

/// Distances, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distances {
    /// How many.
    pub number: u64,
    /// Their sum.
    pub sum: f64,
    /// The longest.
    pub max: f64,
}

impl Distances {
    fn add(&mut self, distance: f32) {
        self.merge(Self { number: 1, sum: distance.into(), max: distance.into() });
    }

    /// Takes in others.
    pub fn merge(&mut self, other: Self) {
        self.number += other.number;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Their mean; 0 if there are none.
    pub fn mean(self) -> f64 {
        if self.number == 0 { 0.0 } else { self.sum / self.number as f64 }
    }
}

/// The shots of one client, judged by one policy.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Shots fired.
    pub shots: u64,
    /// Those of them whose verdict is that of the screen.
    pub agree: u64,
    /// Between the root of the target on the screen and where the server tested it.
    pub pose_error: Distances,
}

impl Tally {
    /// Takes in others.
    pub fn merge(&mut self, other: Self) {
        self.shots += other.shots;
        self.agree += other.agree;
        self.pose_error.merge(other.pose_error);
    }
}

/// A client's shots, by all policies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The network.
    pub condition: Condition,
    /// Frames per second of the client.
    pub fps: u32,
    /// Frames drawn.
    pub frames: u32,
    /// Those of them in which a target stood still for want of a newer snapshot.
    pub starved: u32,
    /// One for each of [`Policy::ALL`].
    pub tallies: [Tally; Policy::ALL.len()],
    /// Bones of walkers with and without a display rule, between the screen and where the server tested them.
    pub bones: [Distances; 2],
    /// Where [`Policy::AsDisplayed`] was wrong, or tested a target more than [`TOLERANCE`] from where the screen showed it.
    pub disagreements: Vec<Disagreement>,
}

/// A verdict that is not that of the screen, or does not rest on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disagreement {
    /// What went wrong.
    pub cause: Cause,
    /// The shot in all detail.
    pub detail: String,
}

/// Whether the grid counts shots at this target. The figure without a display rule shows what the rule is good for.
const fn counts(role: Role) -> bool {
    !matches!(role, Role::WalksWithoutRule)
}

impl Cell {
    /// Compares shots with verdicts; `past` is what the server had sent, to tell where a disagreement comes from.
    pub fn new(condition: Condition, fps: u32, fired: &[Fired], verdicts: &[&Verdict], past: &Past) -> Self {
        let by_shot: BTreeMap<_, _> =
            verdicts.iter().map(|verdict| ((verdict.sequence, verdict.policy), *verdict)).collect();
        let mut cell = Self {
            condition,
            fps,
            frames: 0,
            starved: 0,
            tallies: default(),
            bones: default(),
            disagreements: Vec::new(),
        };
        for shot in fired {
            for policy in Policy::ALL {
                cell.compare(shot, policy, by_shot.get(&(shot.sequence, policy)).copied(), past);
            }
        }
        cell
    }

    fn compare(&mut self, shot: &Fired, policy: Policy, verdict: Option<&Verdict>, past: &Past) {
        if policy == Policy::AsDisplayed {
            self.compare_bone(shot, verdict);
        }
        if !counts(shot.target.role) {
            return;
        }
        let agrees = verdict.is_some_and(|verdict| verdict.answer == Answer::Traced(shot.truth));
        let error = verdict.and_then(|verdict| pose_error(shot, verdict));
        let tally = &mut self.tallies[policy as usize];
        tally.shots += 1;
        tally.agree += u64::from(agrees);
        if let Some(error) = error {
            tally.pose_error.add(error);
        }
        let is_exact = error.is_none_or(|error| error <= TOLERANCE);
        if policy == Policy::AsDisplayed && !(agrees && is_exact) {
            self.disagreements
                .push(Disagreement { cause: Cause::of(shot, verdict, past), detail: detail(shot, verdict) });
        }
    }

    fn compare_bone(&mut self, shot: &Fired, verdict: Option<&Verdict>) {
        let Some((role, Some(bone), tested)) = verdict.and_then(|verdict| verdict.hit) else { return };
        let target = &shot.target;
        if target.role == role
            && let Some(shown) = shown_bone(shot, bone)
        {
            self.bones[usize::from(role == Role::WalksWithoutRule)].add(shown.distance(tested));
        }
    }
}

fn shown_bone(shot: &Fired, bone: Bone) -> Option<Vec3> {
    let part = shot.target.parts.iter().find(|part| part.bone == Some(bone))?;
    Some(part.pose.translation.into())
}

fn pose_error(shot: &Fired, verdict: &Verdict) -> Option<f32> {
    let (_, tested) = verdict.roots.iter().find(|(role, _)| *role == shot.target.role)?;
    Some(tested.distance(shot.target.root.translation.into()))
}

/// What went wrong, as far as the lab can tell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// The client has blended a snapshot that was never sent.
    FalseSnapshot,
    /// The server did not answer.
    NoVerdict,
    /// The server refused the shot, for this reason.
    Refused(String),
    /// The verdict is right, but rests on another pose than that on the screen.
    TestedElsewhere,
    /// The bullet passed so close by an edge that rounding decides.
    CloseCall,
    /// The server traced the shot to another end.
    Mistaken,
}

impl Cause {
    fn of(shot: &Fired, verdict: Option<&Verdict>, past: &Past) -> Self {
        let target = &shot.target;
        let is_false = |(tick, pose): &(Tick, Isometry3d)| !past.knows(*tick, target.role, *pose);
        match verdict.map(|verdict| verdict.answer) {
            _ if target.snapshots.iter().any(is_false) => Self::FalseSnapshot,
            None => Self::NoVerdict,
            Some(Answer::Refused(reason)) => Self::Refused(format!("{reason:?}")),
            Some(Answer::Traced(sight)) if sight == shot.truth => Self::TestedElsewhere,
            Some(Answer::Traced(_)) if shot.is_close_call => Self::CloseCall,
            Some(Answer::Traced(_)) => Self::Mistaken,
        }
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::FalseSnapshot => f.write_str(
                "the client blended a snapshot that was never sent (lightyear's history keeps a value that equals the one \
                 before it as \"the same\", and changes it when an older snapshot comes in between: out of order, or as one \
                 of two in a frame)",
            ),
            Self::NoVerdict => f.write_str("the server did not answer"),
            Self::Refused(reason) => write!(f, "the server refused the shot: {reason}"),
            Self::TestedElsewhere => f.write_str("the verdict is right, but the target was tested elsewhere"),
            Self::CloseCall => f.write_str("the bullet passed within a hundredth of a millimetre of an edge, and rounding decides"),
            Self::Mistaken => f.write_str("the server traced the shot to another end"),
        }
    }
}

fn detail(shot: &Fired, verdict: Option<&Verdict>) -> String {
    let target = &shot.target;
    let place = target.root.translation;
    let snapshots: Vec<_> = target.snapshots.iter().map(|(tick, _)| tick.0).collect();
    let mut detail = format!(
        "shot {} ({:?}) at {:?} ({:?}), shown at {place} from snapshots {snapshots:?}; screen: {:?}",
        shot.sequence, shot.moment, target.role, shot.aim, shot.truth,
    );
    if let Some(verdict) = verdict {
        let ViewTime { tick, .. } = verdict.view_time;
        let view = f64::from(tick.0) + f64::from(verdict.view_time.fraction_f32());
        detail += &format!(", server at {view:.3}: {:?}", verdict.answer);
        if let Some(error) = pose_error(shot, verdict) {
            detail += &format!(", {error} m off");
        }
    }
    detail
}
