//! The client half.

use core::{marker::PhantomData, time::Duration};

use bevy::{diagnostic::RegisterDiagnostic, prelude::*};
use lightyear::prelude::{
    Interpolated, InterpolationSystems, MessageReceiver, MessageSystems, SyncSystems, client::Client,
};

use super::{
    Displayed, PresentationEpoch, ShotData, ShotOutcome, ShotProtocolPlugin, ShotVerdict, ViewState,
    displayed::{ShownEntities, follow_shift, remember_displayed, remember_shown},
    evidence::receive_evidence,
    feed::{InterpolationFeed, feed_interpolation, learn_send_interval},
    fire::{DisplayedLimit, Outbox, relabel_shots, send_shots},
    predict::{DrawnRecord, OpenPredictions, forget_gone, note_drawn, shows_the_past},
    repeats::{Repeats, follow_repeats},
    screens::keep_screens,
    segment::hold_segments,
    server::follow_local_timeline,
    settle::{Patience, PredictionSettled, settle_predictions},
    starved::{count_starved_frames, starved_frames},
};
use crate::{
    config::LagCompensationConfig,
    history::record_history,
    hitbox::DisplayParameters,
    plugin::{LagCompensationPlugin, init_records},
    shot::{DisplayedShots, ShotId, ShotTraced},
    time::{Tick, ViewTime},
    trace::{adopt_collider_scale, is_tracing, record_occluders},
};

/// The client half: remembers what the screen shows, sends shots and receives verdicts.
///
/// Add it after lightyear's `ClientPlugins` and [`ShotProtocolPlugin`]. A listen server adds it next to
/// [`ShotServerPlugin`](super::ShotServerPlugin).
pub struct ShotClientPlugin<W: ShotData = ()> {
    feed_interpolation: bool,
    displayed_rigs: usize,
    patience: Duration,
    weapon: PhantomData<fn() -> W>,
}

impl<W: ShotData> Default for ShotClientPlugin<W> {
    fn default() -> Self {
        Self { feed_interpolation: true, displayed_rigs: 4, patience: Duration::from_secs(2), weapon: PhantomData }
    }
}

impl<W: ShotData> ShotClientPlugin<W> {
    /// Whether to keep lightyear's interpolation behind what arrives. Default: `true`.
    ///
    /// It is then later than lightyear places it by half a round trip, by a frame, and, where packets are lost, by as much as
    /// it takes until only seven frames in a thousand find no later snapshot; at most three snapshots. It changes slowly, and
    /// lightyear follows smoothly. [`STARVED_FRAMES`](super::STARVED_FRAMES) tells how well it works.
    ///
    /// Without it, on connections with more than a few milliseconds of latency, remote entities stand still and jump. Turn it
    /// off if the game sets `InterpolationConfig::min_delay` while it runs.
    pub fn with_fed_interpolation(self, feed_interpolation: bool) -> Self {
        Self { feed_interpolation, ..self }
    }

    /// For how many rigs, at most, each shot tells what they were made of on the screen: those that it passes closest to.
    /// Default: 4; no more than 8.
    ///
    /// Each costs about ten bytes of the shot's message. Too few, and in a crowd on a bad line the server has to assume that
    /// the client received everything that it was sent.
    pub fn with_displayed_rigs(self, displayed_rigs: usize) -> Self {
        Self { displayed_rigs, ..self }
    }

    /// How long, in real time, a [prediction](super::PredictShots) waits for its verdict before it is
    /// [`TimedOut`](super::Settlement::TimedOut). Default: 2 s.
    ///
    /// Too low, and on bad lines what was shown is given up although its verdict is on the way; too high, and what was wrong
    /// is undone late.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// The steps of the client in each frame.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShotClientSystems {
    /// Verdicts that have come become [`VerdictReceived`], and their evidence [`ShotTraced`]: in `PreUpdate`.
    ReceiveVerdicts,
    /// What was predicted of the shots is held against their verdicts, and becomes [`PredictionSettled`]: in `PreUpdate`.
    SettlePredictions,
    /// What jumps is held where it was until its jump is on the screen: in `Update`, between lightyear's
    /// `InterpolationSystems::Prepare` and `Interpolate`.
    HoldSegments,
    /// [`Displayed`] is set to the instant that interpolated entities now stand at: in `Update`, after all of lightyear's
    /// `InterpolationSystems`.
    RememberDisplayed,
    /// Rigs and occluders are recorded as this frame draws them, for [`PredictShots`](super::PredictShots): in `PostUpdate`,
    /// after Bevy's animation and its `TransformSystems::Propagate`. Not for the host of a listen server.
    RecordDisplayed,
    /// The shots of this frame are handed to lightyear: in `PostUpdate`.
    SendShots,
}

/// The server's verdict on one of this client's shots has arrived.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct VerdictReceived {
    /// The id that [`FireShots::fire`](super::FireShots::fire) returned.
    pub shot: ShotId,
    /// Which part of it this is about: see [`HitConfirmed::part`](crate::HitConfirmed::part).
    pub part: u32,
    /// What became of the shot.
    pub outcome: ShotOutcome,
    /// The instant at which the server tested rigs.
    pub view_time: ViewTime,
    /// The tick in which the server reached the verdict.
    pub judged_at: Tick,
}

impl<W: ShotData> Plugin for ShotClientPlugin<W> {
    fn build(&self, app: &mut App) {
        assert!(
            app.is_plugin_added::<ShotProtocolPlugin<W>>(),
            "`ShotClientPlugin` needs `{}` to be added before it",
            ShortName::of::<ShotProtocolPlugin<W>>(),
        );
        init_records(app);
        app.init_resource::<Displayed>()
            .init_resource::<PresentationEpoch>()
            .init_resource::<ShownEntities>()
            .insert_resource(DisplayedLimit(self.displayed_rigs))
            .register_diagnostic(starved_frames())
            .init_resource::<Outbox<W>>()
            .init_resource::<OpenPredictions>()
            .init_resource::<DrawnRecord>()
            .insert_resource(Patience(self.patience))
            .add_message::<VerdictReceived>()
            .add_message::<PredictionSettled>()
            .add_message::<ShotTraced>()
            .init_resource::<DisplayedShots>()
            .add_observer(relabel_shots::<W>)
            .add_observer(follow_shift)
            .configure_sets(
                PreUpdate,
                (ShotClientSystems::ReceiveVerdicts, ShotClientSystems::SettlePredictions)
                    .chain()
                    .after(MessageSystems::Receive),
            )
            .configure_sets(
                Update,
                ShotClientSystems::HoldSegments
                    .after(InterpolationSystems::Prepare)
                    .before(InterpolationSystems::Interpolate),
            )
            .configure_sets(Update, ShotClientSystems::RememberDisplayed.after(InterpolationSystems::All))
            .configure_sets(PostUpdate, ShotClientSystems::RecordDisplayed.after(TransformSystems::Propagate))
            .configure_sets(
                PostUpdate,
                ShotClientSystems::SendShots.after(SyncSystems::Sync).before(MessageSystems::Send),
            )
            .add_systems(
                PreUpdate,
                (
                    (receive_verdicts, receive_evidence).in_set(ShotClientSystems::ReceiveVerdicts),
                    settle_predictions.in_set(ShotClientSystems::SettlePredictions),
                ),
            )
            .add_systems(
                Update,
                (
                    follow_repeats.before(InterpolationSystems::Prepare),
                    (hold_segments::<Transform>, hold_segments::<DisplayParameters>)
                        .in_set(ShotClientSystems::HoldSegments),
                    // Of shots at the frame that was drawn last.
                    keep_screens::<W>
                        .run_if(is_tracing)
                        .in_set(ShotClientSystems::RememberDisplayed)
                        .before(remember_displayed),
                    (remember_displayed, remember_shown, count_starved_frames)
                        .chain()
                        .in_set(ShotClientSystems::RememberDisplayed),
                ),
            )
            .add_systems(
                PostUpdate,
                (
                    (adopt_collider_scale, record_history, record_occluders, forget_gone, note_drawn)
                        .chain()
                        .in_set(ShotClientSystems::RecordDisplayed),
                    // Of shots at the frame that is about to be drawn.
                    keep_screens::<W>
                        .run_if(is_tracing)
                        .after(ShotClientSystems::RecordDisplayed)
                        .before(send_shots::<W>),
                    send_shots::<W>.in_set(ShotClientSystems::SendShots),
                ),
            );
        app.register_required_components::<Interpolated, ViewState>();
        app.register_required_components::<Interpolated, Repeats>();
        if self.feed_interpolation {
            app.init_resource::<InterpolationFeed>()
                .add_observer(learn_send_interval)
                .add_systems(PostUpdate, feed_interpolation.before(SyncSystems::Sync));
        }
    }

    /// Here, since the plugin of the server may be added later than this one.
    fn finish(&self, app: &mut App) {
        if app.is_plugin_added::<LagCompensationPlugin>() {
            // It records each tick by itself, and a host sees those records.
            app.configure_sets(PostUpdate, ShotClientSystems::RecordDisplayed.run_if(shows_the_past));
            return;
        }
        app.add_systems(FixedPreUpdate, follow_local_timeline);
        if !app.world().contains_resource::<LagCompensationConfig>() {
            let newest_only = LagCompensationConfig { history: Duration::ZERO, ..default() };
            app.insert_resource(newest_only);
        }
    }
}

fn receive_verdicts(
    mut links: Query<&mut MessageReceiver<ShotVerdict>, With<Client>>,
    mut verdicts: MessageWriter<VerdictReceived>,
) {
    for mut link in &mut links {
        verdicts.write_batch(link.receive().map(|verdict| VerdictReceived {
            shot: ShotId::local(verdict.sequence),
            part: verdict.part,
            outcome: verdict.outcome,
            view_time: verdict.view_time,
            judged_at: verdict.judged_at,
        }));
    }
}
