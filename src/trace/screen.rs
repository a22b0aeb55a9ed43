//! What the shooter's screen showed, and of what it was made.

use core::time::Duration;

use bevy::{
    math::bounding::{BoundingSphere, BoundingVolume},
    prelude::*,
};

use super::{region::may_meet, rigs::NEAR};
use crate::{
    policy::{AdmissionRules, CheckPolicy},
    shot::{DisplayedRig, DisplayedRigs, PoseBasis, RejectReason, SentTicks, Shown, SnapshotPair},
    time::{Tick, ViewTime},
};

/// The screen of one shot.
pub(super) struct Screen<'a> {
    pub(super) view: ViewTime,
    /// `None` if nothing is known of snapshots: then all poses come from the full history.
    pub(super) displayed: Option<DisplayedRigs>,
    sent: &'a SentTicks,
    /// The snapshots that were sent around the view time; `None`, too, if nothing is known of those that were displayed.
    around: Option<SnapshotPair>,
}

/// What the server remembers.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) now: Tick,
    /// How far back.
    pub(super) ticks: u32,
    pub(super) timestep: Duration,
}

/// From what a pose is to be rebuilt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Recipe {
    /// The history at this instant.
    History(ViewTime, PoseBasis),
    /// Two snapshots, those whose places are used for theirs, and those of its parameters, at this instant.
    Snapshots { pair: SnapshotPair, places: SnapshotPair, parameters: SnapshotPair, view: ViewTime },
    /// It has come since the last snapshot that was sent, and is not on the screen yet.
    NotYetShown,
}

/// What a history tells of a place.
#[derive(Clone, Copy)]
pub(super) struct Stood {
    /// What can be hit lies within.
    pub(super) bounds: BoundingSphere,
    /// Places of two segments have nothing to do with each other.
    pub(super) segment: u32,
    /// How far a turn can move anything; 0 where turns do not matter.
    pub(super) lever: f32,
    pub(super) rotation: Quat,
}

/// A history, of whatever it is.
pub(super) trait Past {
    /// The first tick that is remembered.
    fn oldest(&self) -> Option<Tick>;
    fn stood(&self, recipe: Recipe) -> Option<Stood>;
    /// Where it stands in its newest record.
    fn newest(&self) -> Option<Stood>;
}

impl<'a> Screen<'a> {
    pub(super) fn new(view: ViewTime, displayed: Option<DisplayedRigs>, sent: &'a SentTicks) -> Self {
        let around = displayed.is_some().then(|| sent.around(view)).flatten();
        Self { view, displayed, sent, around }
    }

    /// Looks at all that the shot says of its screen, in the light of where everything stood. What is doubtful is refused or
    /// struck out, as the settings say; what can be known no more is struck out in any case.
    pub(super) fn check<'p, P: Past + 'p>(
        &mut self,
        ray: Ray3d,
        range: f32,
        window: Window,
        rules: &AdmissionRules,
        past_of: impl Fn(Entity) -> Option<&'p P>,
    ) -> Result<(), RejectReason> {
        let view = self.view;
        // What the shot does not come near decides nothing.
        let matters = |places: [BoundingSphere; 2]| places.iter().any(|place| may_meet(ray, range, place.grow(NEAR)));
        for slot in self.displayed.iter_mut().flatten() {
            let Some((rig, past)) = slot.and_then(|rig| Some((rig, past_of(rig.rig)?))) else { continue };
            match believe(&rig, past, view, self.sent, window, rules) {
                Belief::Sound => {}
                Belief::Doubtful(reason, places)
                    if rules.doubtful_snapshots == CheckPolicy::Reject && matters(places) =>
                {
                    return Err(reason);
                }
                Belief::Doubtful(..) | Belief::Untellable => *slot = None,
            }
        }
        Ok(())
    }

    /// The ticks from which all poses are blended, but for those of what the shot names.
    pub(super) fn ticks(&self) -> (Tick, Tick) {
        match self.around {
            Some(SnapshotPair { start, end: Some(end) }) => (start, end),
            _ => (self.view.tick, self.view.tick + u32::from(self.view.fraction > 0)),
        }
    }

    /// Whether the newest snapshot is held, in which not all were there yet that are by now.
    pub(super) fn is_held(&self) -> bool {
        self.around.is_some_and(|pair| pair.end.is_none())
    }

    /// From what the poses of all others are rebuilt, and at which instant.
    pub(super) fn basis(&self) -> (PoseBasis, ViewTime) {
        match self.around.filter(|pair| pair.end.is_some()) {
            Some(pair) => (PoseBasis::Snapshots(pair), self.view),
            None => (PoseBasis::History, self.view),
        }
    }

    /// What the shot names, and says of what it was made on the screen; each once, whatever a client sends.
    pub(super) fn named(&self) -> impl Iterator<Item = Entity> {
        let slots = self.displayed.as_ref().map_or(&[][..], |displayed| displayed.as_slice());
        let names = |slot: &Option<DisplayedRig>, rig| slot.is_some_and(|named| named.rig == rig);
        slots.iter().enumerate().filter_map(move |(number, slot)| {
            let rig = slot.as_ref()?.rig;
            (!slots[..number].iter().any(|earlier| names(earlier, rig))).then_some(rig)
        })
    }

    /// Whether the shot names something.
    pub(super) fn names(&self, entity: Entity) -> bool {
        self.displayed.iter().flatten().flatten().any(|named| named.rig == entity)
    }

    /// From what the pose of something is to be rebuilt: from what the shot says of it, or else from the snapshots that were
    /// sent, or else from the full history.
    pub(super) fn recipe(&self, entity: Entity, past: &impl Past) -> Recipe {
        let from_history = Recipe::History(self.view, PoseBasis::History);
        let Some(displayed) = &self.displayed else { return from_history };
        if let Some(named) = displayed.iter().flatten().find(|rig| rig.rig == entity) {
            return recipe_of(named, self.view);
        }
        match self.around {
            Some(pair) if past.oldest().is_some_and(|oldest| oldest.since(pair.start) > 0) => Recipe::NotYetShown,
            Some(pair @ SnapshotPair { end: Some(_), .. }) => {
                Recipe::Snapshots { pair, places: pair, parameters: pair, view: self.view }
            }
            _ => from_history,
        }
    }
}

/// What the shot itself says of a rig.
fn recipe_of(named: &DisplayedRig, view: ViewTime) -> Recipe {
    let view = named.instant(view);
    match named.shown {
        Shown::Interpolated { pair, places, parameters, .. } => {
            let (places, parameters) = (places.unwrap_or(pair), parameters.unwrap_or(pair));
            Recipe::Snapshots { pair, places, parameters, view }
        }
        Shown::Predicted(instant) => Recipe::History(instant, PoseBasis::Predicted),
    }
}

/// What is made of a shot's word on a rig.
enum Belief {
    /// It can be rebuilt as the shot says.
    Sound,
    /// It is too long ago to tell, or tells nothing.
    Untellable,
    /// It would be too far from the truth; and the places that this is about.
    Doubtful(RejectReason, [BoundingSphere; 2]),
}

/// Weighs a shot's word on a rig against where the rig stood.
fn believe(
    named: &DisplayedRig,
    past: &impl Past,
    view: ViewTime,
    sent: &SentTicks,
    Window { now, ticks, timestep }: Window,
    rules: &AdmissionRules,
) -> Belief {
    /// Metres, within which something has not moved.
    const STILL: f32 = 1e-3;
    let Shown::Interpolated { pair, places, parameters, .. } = named.shown else { return Belief::Sound };
    let view = named.instant(view);
    let pairs = || core::iter::once(pair).chain(parameters);
    // From the places that are used to the snapshots that they are taken for.
    let repeats = places.map(|places| {
        let end = pair.end.zip(places.end).map(|(end, place)| SnapshotPair::new(place, end));
        [Some(SnapshotPair::new(places.start, pair.start)), end]
    });
    let mut repeats = repeats.iter().flatten().flatten();
    if repeats.any(|repeat| sent.is_forgotten(repeat.start) || !repeat.is_short(rules.max_snapshot_gap, timestep)) {
        return Belief::Untellable;
    }
    if pairs().any(|pair| sent.is_forgotten(pair.start)) {
        return Belief::Untellable;
    }
    // It may have been spawned in the tick before its first record, after history was written.
    let is_unborn = |tick, oldest: Tick| oldest.since(tick) > 1 && now.since(tick) < ticks as i32;
    if past.oldest().is_some_and(|oldest| pairs().any(|pair| is_unborn(pair.start, oldest))) {
        let Some(newest) = past.newest() else { return Belief::Untellable };
        return Belief::Doubtful(RejectReason::SnapshotOfAnotherRig, [newest.bounds; 2]);
    }
    let shown = past.stood(recipe_of(named, view));
    let stood = past.stood(Recipe::History(view, PoseBasis::History));
    let (Some(shown), Some(stood)) = (shown, stood) else { return Belief::Untellable };
    // Who has jumped meanwhile is held on the screen where they were.
    let deviation = (shown.segment == stood.segment).then(|| shown.distance(&stood));
    let deviates_by = |metres| deviation.is_some_and(|deviation| deviation > metres);
    let reason = if !pairs().all(|pair| pair.is_short(rules.max_snapshot_gap, timestep)) {
        RejectReason::SnapshotsTooFarApart
    } else if !pairs().all(|pair| pair.is_fresh(view, rules.max_freeze, timestep)) {
        RejectReason::ViewFrozen
    } else if deviates_by(rules.max_snapshot_deviation) {
        RejectReason::SnapshotsDeviate
    } else {
        return Belief::Sound;
    };
    // The state of something that rests is not sent again; what was sent around the view time is as good.
    if deviation.is_some() && !deviates_by(STILL) {
        return Belief::Untellable;
    }
    Belief::Doubtful(reason, [shown.bounds, stood.bounds])
}

impl Stood {
    /// How far anything has moved at most.
    fn distance(&self, other: &Self) -> f32 {
        let turn = if self.lever > 0.0 { self.rotation.angle_between(other.rotation) } else { 0.0 };
        self.bounds.center.distance(other.bounds.center) + self.lever.max(other.lever) * turn
    }
}
