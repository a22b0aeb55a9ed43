//! What became of all pellets of a shot.

use bevy::prelude::*;

use super::ShotId;
use crate::{
    hitbox::{LifeNumber, Zone},
    weapon::PelletPattern,
};

/// All pellets of a shot have got their verdicts; here they are together, by victim.
///
/// Written as a message and triggered on the shooter, after the verdicts, for each admitted shot with a [`PelletPattern`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{VolleyJudged, prelude::*};
///
/// fn announce(volley: On<VolleyJudged>) {
///     for victim in volley.victims() {
///         let heads = victim.pellets_in(Zone::Head);
///         info!("{} of {} pellets hit {}, {heads} in the head", victim.pellets(), volley.outcomes().len(), victim.rig);
///     }
/// }
/// # App::new().add_observer(announce);
/// ```
#[derive(Message, EntityEvent, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct VolleyJudged {
    /// Who shot.
    #[event_target]
    pub shooter: Entity,
    /// Which shot this answers.
    pub shot: ShotId,
    outcomes: [PelletOutcome; PelletPattern::MOST],
    count: usize,
}

/// What one pellet met first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PelletOutcome {
    /// Nothing.
    #[default]
    Missed,
    /// A wall or an occluder.
    Blocked,
    /// A hitbox.
    #[non_exhaustive]
    Hit {
        /// The rig.
        rig: Entity,
        /// The life of it.
        life: LifeNumber,
        /// Which part of the body.
        zone: Zone,
    },
}

/// What one rig has got of a shot's pellets.
#[derive(Clone, Copy, Debug)]
pub struct PelletVictim<'a> {
    /// The rig.
    pub rig: Entity,
    /// The life of it.
    pub life: LifeNumber,
    outcomes: &'a [PelletOutcome],
}

impl VolleyJudged {
    pub(crate) fn new(shooter: Entity, shot: ShotId) -> Self {
        Self { shooter, shot, outcomes: [PelletOutcome::Missed; _], count: 0 }
    }

    /// Notes the outcome of the next pellet.
    pub(crate) fn note(&mut self, outcome: PelletOutcome) {
        self.outcomes[self.count] = outcome;
        self.count += 1;
    }

    /// What each pellet met first, in the order of their numbers.
    pub fn outcomes(&self) -> &[PelletOutcome] {
        &self.outcomes[..self.count]
    }

    /// The rigs that were hit, in the order of the first pellet of each.
    pub fn victims(&self) -> impl Iterator<Item = PelletVictim<'_>> {
        let outcomes = self.outcomes();
        outcomes.iter().enumerate().filter_map(move |(pellet, outcome)| {
            let PelletOutcome::Hit { rig, life, .. } = *outcome else { return None };
            let victim = PelletVictim { rig, life, outcomes };
            let is_first = !outcomes[..pellet].iter().any(|earlier| victim.is_met_by(earlier));
            is_first.then_some(victim)
        })
    }

    /// How many pellets met nothing.
    pub fn missed(&self) -> usize {
        self.outcomes().iter().filter(|outcome| **outcome == PelletOutcome::Missed).count()
    }

    /// How many pellets met a wall or an occluder first.
    pub fn blocked(&self) -> usize {
        self.outcomes().iter().filter(|outcome| **outcome == PelletOutcome::Blocked).count()
    }
}

impl PelletVictim<'_> {
    fn is_met_by(&self, outcome: &PelletOutcome) -> bool {
        matches!(outcome, PelletOutcome::Hit { rig, life, .. } if (*rig, *life) == (self.rig, self.life))
    }

    /// How many pellets hit it.
    pub fn pellets(&self) -> usize {
        self.outcomes.iter().filter(|outcome| self.is_met_by(outcome)).count()
    }

    /// How many pellets hit this part of it.
    pub fn pellets_in(&self, part: Zone) -> usize {
        let in_zone = |outcome: &&PelletOutcome| matches!(outcome, PelletOutcome::Hit { zone, .. } if *zone == part);
        self.outcomes.iter().filter(|outcome| self.is_met_by(outcome)).filter(in_zone).count()
    }
}
