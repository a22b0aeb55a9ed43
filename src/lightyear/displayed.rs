//! What the client's screen shows.

use bevy::prelude::*;
use lightyear::{
    connection::network_topology::{NetworkTopology, NetworkingMetadata},
    core::tick::TickDuration,
    prelude::{
        ConfirmedHistory, Controlled, Interpolated, InterpolationTimeline, LocalTimeline, LocalTimelineShift,
        NetworkTimeline, Predicted,
    },
};

use super::repeats::Repeats;
use crate::{
    hitbox::DisplayParameters,
    shot::{DisplayedRig, Shown, SnapshotPair},
    time::{Tick, ViewTime},
};

/// The instant that the interpolated entities of this world stand at: what the last drawn frame showed.
///
/// Written in `Update`, right after lightyear and the game have interpolated. In the fixed steps of the next frame it still
/// tells what the player has seen, while lightyear's own timeline has already gone on by a frame.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub enum Displayed {
    /// Nothing yet: the clocks of client and server have not met.
    #[default]
    Nothing,
    /// The present, as this tick left it: the host of a listen server plays in the server's own world.
    Present(Tick),
    /// The past.
    Past(ViewTime),
}

impl Displayed {
    /// The instant, if there is one.
    pub fn view_time(self) -> Option<ViewTime> {
        match self {
            Self::Nothing => None,
            Self::Present(tick) => Some(ViewTime::at(tick)),
            Self::Past(view) => Some(view),
        }
    }
}

/// How often this client's presentation has begun anew: with each connection, whenever lightyear sets its interpolation to
/// another instant instead of letting it run there, and whenever it sets the local clock.
///
/// Each shot carries it, so that the server does not take a jump for a view that runs backwards or too fast.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PresentationEpoch(pub u16);

/// Whether what the screen shows of an interpolated entity follows the server. On each of them, and kept up to date after
/// every frame's interpolation.
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub enum ViewState {
    /// There is nothing to show yet; or, after the presentation was set to another instant, not any more. What still stands on
    /// the screen is no state of the server, and a shot that passes near it is sent without a view time.
    #[default]
    Waiting,
    /// It moves between two snapshots.
    Playing,
    /// There is no later snapshot, and the last one is held.
    Frozen,
}

/// On an entity that this game does not show as lightyear interpolates its `Transform`: how its pose was found in this frame.
///
/// For what has a delay, a prediction or a component of its own; the game writes it in `Update`, before
/// [`ShotClientSystems::RememberDisplayed`](super::ShotClientSystems::RememberDisplayed).
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownAs(pub Shown);

pub(super) fn remember_displayed(
    mut displayed: ResMut<Displayed>,
    mut epoch: ResMut<PresentationEpoch>,
    network: Res<NetworkingMetadata>,
    interpolation: Res<InterpolationTimeline>,
    local: Res<LocalTimeline>,
    time: Res<Time<Virtual>>,
    tick: Res<TickDuration>,
) {
    let now = match network.mode {
        // Here the interpolation timeline runs freely and means nothing.
        NetworkTopology::HostClient { .. } => Displayed::Present(Tick(local.tick().0)),
        _ if interpolation.is_synced() => {
            let now = interpolation.now();
            // These 16 bits are all that lightyear itself samples with.
            Displayed::Past(ViewTime::new(Tick(now.tick().0), now.overstep().value().to_bits()))
        }
        _ => Displayed::Nothing,
    };
    let frame = time.delta().as_nanos() as f64 / tick.0.as_nanos().max(1) as f64;
    if jumps(*displayed, now, frame) {
        epoch.0 = epoch.0.wrapping_add(1);
    }
    *displayed = now;
}

/// Whether the presentation has not just played on for the ticks of a frame.
fn jumps(before: Displayed, now: Displayed, frame: f64) -> bool {
    /// The most that lightyear bends the speed of its timelines is a tenth.
    const LARGEST_SLEW: f64 = 0.25;
    let (Displayed::Past(from), Displayed::Past(to)) = (before, now) else {
        return core::mem::discriminant(&before) != core::mem::discriminant(&now);
    };
    let played = to.ticks_after(from);
    played < 0.0 || (played - frame).abs() > 1.0 + LARGEST_SLEW * frame
}

/// When the local clock is set, what the screen shows of predicted entities is now called otherwise, and command ticks do not go
/// on from where they were.
pub(super) fn follow_shift(
    shift: On<LocalTimelineShift>,
    mut shown: ResMut<ShownEntities>,
    mut epoch: ResMut<PresentationEpoch>,
) {
    epoch.0 = epoch.0.wrapping_add(1);
    for entity in &mut shown.0 {
        entity.relabel(shift.delta);
    }
}

/// What the interpolated and predicted entities on the screen are made of.
///
/// Kept from the moment in which lightyear blends them: until the player fires, other snapshots may have arrived.
#[derive(Resource, Default)]
pub(super) struct ShownEntities(pub(super) Vec<DisplayedRig>);

pub(super) fn remember_shown(
    displayed: Res<Displayed>,
    local: Res<LocalTimeline>,
    mut interpolated: Query<
        (
            Entity,
            &mut ViewState,
            Has<Transform>,
            Option<&ConfirmedHistory<Transform>>,
            &Repeats,
            Option<&ConfirmedHistory<DisplayParameters>>,
            Option<&ShownAs>,
        ),
        With<Interpolated>,
    >,
    predicted: Query<(Entity, Option<&ShownAs>), (With<Predicted>, Without<Interpolated>, Without<Controlled>)>,
    mut shown: ResMut<ShownEntities>,
) {
    shown.0.clear();
    for (rig, mut state, is_shown, poses, repeats, parameters, own) in &mut interpolated {
        let found = match *displayed {
            Displayed::Nothing => None,
            Displayed::Present(tick) => Some(Shown::Predicted(ViewTime::at(tick))),
            Displayed::Past(view) => own.map(|own| own.0).or_else(|| {
                let pair = blended(poses?, view.tick)?;
                let parameters = parameters.and_then(|history| blended(history, view.tick));
                let parameters = parameters.filter(|other| *other != pair);
                Some(Shown::Interpolated { pair, places: repeats.places_of(pair), parameters, view_time: None })
            }),
        };
        state.set_if_neq(match found {
            // It is shown by other means than lightyear's history of its `Transform`, of which nothing is known here.
            None if is_shown && poses.is_none() && displayed.view_time().is_some() => ViewState::Playing,
            None => ViewState::Waiting,
            Some(Shown::Interpolated { pair: SnapshotPair { end: None, .. }, .. }) => ViewState::Frozen,
            Some(_) => ViewState::Playing,
        });
        shown.0.extend(found.map(|shown| DisplayedRig { rig, shown }));
    }
    for (rig, own) in &predicted {
        let at_present = Shown::Predicted(ViewTime::at(Tick(local.tick().0)));
        shown.0.push(DisplayedRig { rig, shown: own.map_or(at_present, |own| own.0) });
    }
}

/// The snapshots between which lightyear has interpolated at `tick`: the last one that is not later, and the next one.
pub(super) fn blended<C: Component>(history: &ConfirmedHistory<C>, tick: Tick) -> Option<SnapshotPair> {
    let tick_of = |index| history.get_nth_tick(index).map(|tick| Tick(tick.0));
    let is_later = |index: &usize| tick_of(*index).is_none_or(|snapshot| snapshot.since(tick) > 0);
    let next = (0..history.len()).find(is_later).unwrap_or(history.len());
    Some(SnapshotPair { start: tick_of(next.checked_sub(1)?)?, end: tick_of(next) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_presentation_that_plays_on_does_not_jump() {
        let past = |ticks: u32, fraction| Displayed::Past(ViewTime::new(Tick(ticks), fraction));
        // At 144 frames per second, and in a frame that took a quarter of a second.
        for (frame, to) in
            [(0.444, past(90, 0x71a0)), (0.444, past(90, 0x8000)), (16.0, past(105, 0)), (0.0, past(90, 0))]
        {
            assert!(!jumps(past(90, 0), to, frame), "{to:?} after {frame} ticks");
        }
        for (frame, to) in
            [(0.444, past(101, 0)), (0.444, past(89, 0xffff)), (0.444, past(70, 0)), (16.0, past(130, 0))]
        {
            assert!(jumps(past(90, 0), to, frame), "{to:?} after {frame} ticks");
        }
        assert!(jumps(Displayed::Nothing, past(90, 0), 0.4));
        assert!(jumps(past(u32::MAX, 0), past(11, 0), 0.4) && !jumps(past(u32::MAX, 0x8000), past(0, 0), 0.4));
        assert!(!jumps(Displayed::Present(Tick(5)), Displayed::Present(Tick(7)), 0.4));
    }
}
