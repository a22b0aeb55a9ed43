//! What shots come to: how often verdict and truth agree, and how far apart screen and server were.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_hindsight::Bone;
use serde::{Deserialize, Serialize};

use crate::{
    grid::Condition,
    judge::{Answer, Verdict},
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
    /// What kind of disagreement it is: what the screen said, and what the server.
    pub kind: String,
    /// The shot in all detail.
    pub detail: String,
}

/// Whether the grid counts shots at this target. The figure without a display rule shows what the rule is good for.
const fn counts(role: Role) -> bool {
    !matches!(role, Role::WalksWithoutRule)
}

impl Cell {
    /// Compares shots with verdicts.
    pub fn new(condition: Condition, fps: u32, fired: &[Fired], verdicts: &[&Verdict]) -> Self {
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
                cell.compare(shot, policy, by_shot.get(&(shot.sequence, policy)).copied());
            }
        }
        cell
    }

    fn compare(&mut self, shot: &Fired, policy: Policy, verdict: Option<&Verdict>) {
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
            self.disagreements.push(Disagreement::new(shot, verdict, agrees));
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

impl Disagreement {
    fn new(shot: &Fired, verdict: Option<&Verdict>, agrees: bool) -> Self {
        let said = verdict.map_or("no answer".into(), |verdict| format!("{:?}", verdict.answer));
        let error = verdict.and_then(|verdict| pose_error(shot, verdict));
        Self {
            kind: if agrees {
                "the verdict agrees, but the target was tested elsewhere".into()
            } else {
                format!("the screen says {:?}, the server {said}", shot.truth)
            },
            detail: format!(
                "shot {}, aimed at {:?} ({:?}, {:?}), shown at {}; the server was {} m off, at {:?}",
                shot.sequence,
                shot.target.role,
                shot.aim,
                shot.moment,
                shot.target.root.translation,
                error.map_or("?".into(), |error| error.to_string()),
                verdict.map(|verdict| verdict.view_time),
            ),
        }
    }
}
