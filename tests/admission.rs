//! A client proposes, the server disposes: what shots may claim, and who may fire them.

use core::time::Duration;

use bevy::{ecs::message::MessageMutator, prelude::*};
use bevy_hindsight::{
    Adjustment, AdmissionRules, CeaseFire, CheckPolicy, ConnectionDelay, DeadShooters, DisplayedRig, FireControl,
    Muzzle, RejectReason, Reload, SHOTS_ANSWERED, SHOTS_REFUSED, SentTicks, ShotCounters, SnapshotPair, Tick,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;

/// Runs along X at 8 m/s: at tick T it stands at x = T / 8, z = 10.
#[derive(Component)]
struct Runner;

fn run(mut runners: Query<&mut Transform, With<Runner>>, tick: Res<CurrentTick>) {
    for mut transform in &mut runners {
        transform.translation.x = 0.125 * tick.0.0 as f32;
    }
}

struct Range {
    app: TestApp,
    shooter: Entity,
    runner: Entity,
    link: Entity,
    sequence: u32,
}

/// An app at tick 99 with a runner of radius 0.05, and a shooter who plays over a line with a round trip of 40 ms and 100 ms
/// of interpolation: 8.96 ticks.
fn range() -> Range {
    range_in(TestApp::new(64.0))
}

fn range_in(mut app: TestApp) -> Range {
    app.add_systems(FixedUpdate, run);
    let shooter = app.world_mut().spawn(Rig).id();
    let runner = (Runner, Rig, Hitbox::ball(0.05), Transform::from_xyz(0.0, 0.0, 10.0));
    let runner = app.world_mut().spawn(runner).id();
    let milliseconds = Duration::from_millis;
    let delay = ConnectionDelay { round_trip: milliseconds(40), interpolation: milliseconds(100), ..default() };
    let link = app.world_mut().spawn(delay).id();
    app.run_to(Tick(99));
    Range { app, shooter, runner, link, sequence: 0 }
}

impl Range {
    /// A shot of the next tick from `x` along Z, that claims to show what was `delay` ticks before.
    fn shot(&mut self, x: f32, delay: f64) -> ShotEvent {
        self.sequence += 1;
        let now = self.app.now() + 1;
        ShotEvent::new(self.shooter, now, Vec3::X * x, Vec3::Z)
            .seen_at(ViewTime::before(now, delay))
            .from_link(self.link)
            .with_id(ShotId { connection: 1, sequence: self.sequence })
    }

    #[expect(clippy::result_large_err, reason = "both answers carry their evidence")]
    fn judge(&mut self, x: f32, delay: f64) -> Verdict {
        let shot = self.shot(x, delay);
        self.app.judge(shot)
    }

    /// Where the runner stands `delay` ticks before the next tick.
    fn x(&self, delay: f64) -> f32 {
        (0.125 * (f64::from(self.app.now().0) + 1.0 - delay)) as f32
    }

    fn rules(&mut self) -> Mut<'_, AdmissionRules> {
        let config = self.app.world_mut().resource_mut::<LagCompensationConfig>();
        config.map_unchanged(|config| &mut config.admission)
    }
}

fn reason(verdict: Verdict) -> Option<RejectReason> {
    verdict.err().map(|rejection| rejection.reason)
}

fn adjusted(policy: CheckPolicy, reason: RejectReason) -> Option<(CheckPolicy, RejectReason)> {
    Some((policy, reason))
}

/// How the claim of a shot that hit was adjusted.
fn adjustment(verdict: Verdict) -> Option<(CheckPolicy, RejectReason)> {
    let Adjustment { policy, reason, .. } = verdict.expect("it hits").evidence.adjusted?;
    Some((policy, reason))
}

/// B67, first half: a claim far from what was measured is judged by the estimate.
#[test]
fn b67_an_implausible_claim_is_judged_by_the_estimate() {
    let mut range = range();
    range.rules().max_rewind = Duration::from_millis(250);
    let verdict = range.judge(11.38, 60.0);
    let evidence = verdict.expect("it stands there").evidence;
    assert!((evidence.view_time.ticks_before(Tick(100)) - 8.96).abs() < 0.01, "{:?}", evidence.view_time);
    assert_eq!(evidence.view_source, ViewSource::Estimated);
    assert_eq!(adjustment(verdict), adjusted(CheckPolicy::UseEstimate, RejectReason::ViewTimeImplausible));
    // What it had claimed to see, 60 ticks ago.
    let x = range.x(60.0);
    assert_eq!(reason(range.judge(x, 60.0)), Some(RejectReason::Missed));
}

/// B67, second half: a plausible claim beyond the longest rewind is held to it.
#[test]
fn b67_a_plausible_claim_is_held_to_the_longest_rewind() {
    let mut range = range();
    range.rules().max_rewind = Duration::from_millis(250);
    let verdict = range.judge(10.5, 20.0);
    assert_eq!(verdict.expect("it stood there").evidence.view_time, ViewTime::at(Tick(84)));
    assert_eq!(adjustment(verdict), adjusted(CheckPolicy::Clamp, RejectReason::ViewTimeTooOld));
    range.rules().old_view = CheckPolicy::Reject;
    assert_eq!(reason(range.judge(10.5, 20.0)), Some(RejectReason::ViewTimeTooOld));
}

#[test]
fn each_check_obeys_its_policy_and_a_weapon_has_its_own() {
    let mut range = range();
    let strict = AdmissionRules { implausible_view: CheckPolicy::Reject, ..default() };
    let shot = ShotEvent { rules: Some(strict), ..range.shot(0.0, 60.0) };
    assert_eq!(reason(range.app.judge(shot)), Some(RejectReason::ViewTimeImplausible));
    // Moved to the edge of what is plausible, and no further.
    let long = Duration::from_secs(1);
    let edge = AdmissionRules { implausible_view: CheckPolicy::Clamp, max_rewind: long, ..default() };
    let x = range.x(8.96 + 12.8 + 12.8);
    let shot = ShotEvent { rules: Some(edge), ..range.shot(x, 60.0) };
    assert_eq!(adjustment(range.app.judge(shot)), adjusted(CheckPolicy::Clamp, RejectReason::ViewTimeImplausible));
    let x = range.x(20.0);
    assert_eq!(adjustment(range.judge(x, 20.0)), None, "other shots are judged by the rules of the server");
}

#[test]
fn a_trembling_line_is_given_less_and_not_more() {
    let mut range = range();
    let x = range.x(20.0);
    assert_eq!(adjustment(range.judge(x, 20.0)), None);
    let mut delay = *range.app.world().get::<ConnectionDelay>(range.link).expect("it has one");
    // Without the time for lost snapshots, which is added to the older side.
    (delay.round_trip, delay.interpolation) = (Duration::from_millis(140), Duration::ZERO);
    delay.jitter_margin = Duration::from_millis(80);
    range.app.world_mut().entity_mut(range.link).insert(delay);
    let verdict = range.judge(0.0, 23.0).expect_err("it is judged elsewhere");
    assert_eq!(verdict.evidence.adjusted.map(|adjusted| adjusted.reason), Some(RejectReason::ViewTimeImplausible));
    // However much it trembles, a quarter is left: 50 ms, around 28.96 ticks.
    delay.jitter_margin = Duration::from_nanos(20 * 15_625_000);
    range.app.world_mut().entity_mut(range.link).insert(delay);
    range.rules().max_rewind = Duration::from_secs(1);
    let x = range.x(31.0);
    let shot = ShotEvent { epoch: 1, ..range.shot(x, 31.0) };
    assert_eq!(adjustment(range.app.judge(shot)), None);
}

#[test]
fn views_that_run_backwards_or_too_fast_are_not_believed() {
    let mut range = range();
    let x = range.x(22.0);
    assert_eq!(adjustment(range.judge(x, 22.0)), None);
    assert_eq!(reason(range.judge(0.0, 24.0)), Some(RejectReason::ViewTimeBackwards));
    let x = range.x(8.96);
    let verdict = range.judge(x, 2.0);
    assert_eq!(adjustment(verdict), adjusted(CheckPolicy::UseEstimate, RejectReason::ViewTimeTooFast));
    // In another presentation, it may be so.
    let x = range.x(15.0);
    let shot = ShotEvent { epoch: 1, ..range.shot(x, 15.0) };
    assert_eq!(adjustment(range.app.judge(shot)), None);
}

#[test]
fn a_frozen_view_ages_and_ends() {
    let mut range = range();
    let frozen = ViewTime::at(Tick(91));
    let mut believed = Vec::new();
    for _ in 0..40 {
        let shot = range.shot(11.375, 0.0).seen_at(frozen);
        believed.push(range.app.judge(shot).is_ok());
    }
    // It began 9 ticks back, and the longest rewind is 25.6; from then on, the view moves on with the shooter.
    let until = believed.iter().position(|believed| !believed).expect("it ends");
    assert_eq!(until, 18, "{believed:?}");
    assert!(believed[until..].iter().all(|believed| !believed));
}

/// What is said of single rigs is held to the same limits as the view of the shot.
#[test]
fn single_rigs_have_no_instants_of_their_own_beyond_the_rules() {
    let mut range = range();
    for tick in 40..=99 {
        range.app.world_mut().resource_mut::<SentTicks>().note(Tick(tick), 64);
    }
    let runner = range.runner;
    let pair = SnapshotPair::new(Tick(60), Tick(61));
    let apart = |range: &mut Range, rig| {
        let now = range.app.now() + 1;
        let shot = range.shot(7.5, 0.0).seen_at(ViewTime::before(now, 9.0)).made_of(&[rig]);
        reason(range.app.judge(shot))
    };
    let behind = DisplayedRig::interpolated_at(runner, pair, ViewTime::at(Tick(60)));
    assert_eq!(apart(&mut range, behind), Some(RejectReason::ViewTimeImplausible));
    let predicted = DisplayedRig::predicted(runner, ViewTime::at(Tick(60)));
    assert_eq!(apart(&mut range, predicted), Some(RejectReason::ViewTimeImplausible));
    let ahead = DisplayedRig::predicted(runner, ViewTime::at(Tick(110)));
    assert_eq!(apart(&mut range, ahead), Some(RejectReason::ViewTimeAhead));
    // A game that shows some with a delay of their own says so; but the longest rewind holds for them, too.
    range.rules().max_own_delay = Duration::from_secs(1);
    assert_eq!(apart(&mut range, behind), Some(RejectReason::ViewTimeTooOld));
    range.rules().max_rewind = Duration::from_secs(1);
    assert_eq!(apart(&mut range, behind), None);
}

#[test]
fn nobody_shoots_before_they_were_there() {
    let mut range = range();
    range.shooter = range.app.world_mut().spawn(Rig).id();
    let before = range.app.now() - 1;
    range.app.tick();
    let early = ShotEvent { command_tick: before, ..range.shot(0.0, 6.0) };
    assert_eq!(reason(range.app.judge(early)), Some(RejectReason::ShooterUnknown));
    assert_eq!(reason(range.judge(0.0, 6.0)), Some(RejectReason::Missed));
}

#[test]
fn estimates_are_held_to_the_longest_rewind_as_well() {
    let mut range = range();
    let slow = ConnectionDelay { round_trip: Duration::from_millis(700), ..default() };
    range.app.world_mut().entity_mut(range.link).insert(slow);
    let x = range.x(25.6);
    let shot = range.shot(x, 0.0).judged_by(ViewSource::Estimated);
    assert_eq!(adjustment(range.app.judge(shot)), adjusted(CheckPolicy::Clamp, RejectReason::ViewTimeTooOld));
}

#[test]
fn shots_of_the_servers_own_may_look_as_far_back_as_it_remembers() {
    let mut range = range();
    let shot = ShotEvent { link: None, ..range.shot(0.125 * 40.0, 60.0) };
    assert_eq!(adjustment(range.app.judge(shot)), None);
}

/// B69: the muzzle is where the shooter stood at the command tick.
#[test]
fn b69_muzzles_are_held_to_the_shooter_at_the_command_tick() {
    let mut range = range();
    let muzzle = Muzzle::at(Vec3::new(11.75, 1.6, 0.0));
    range.app.world_mut().entity_mut(range.shooter).insert(muzzle);
    let from = |range: &mut Range, aside: f32| {
        let origin = Vec3::new(11.75 + aside, 1.6, 0.0);
        let shot = ShotEvent { origin, ..range.shot(0.0, 6.0) };
        range.app.judge(shot).expect_err("there is nothing up there")
    };
    assert_eq!(from(&mut range, 3.0).reason, RejectReason::MuzzleTooFar);
    let near = from(&mut range, 0.3);
    assert_eq!((near.reason, near.evidence.origin.x), (RejectReason::Missed, 11.75 + 0.3));
    range.app.world_mut().entity_mut(range.shooter).insert(muzzle.snapped());
    assert_eq!(from(&mut range, 0.3).evidence.origin.x, 11.75);
    // A shooter who has moved on meanwhile.
    range.app.tick();
    let shooter = range.shooter;
    range.app.world_mut().entity_mut(shooter).insert(Transform::from_xyz(0.0, 0.0, -30.0));
    let late = ShotEvent { command_tick: range.app.now(), origin: Vec3::new(11.75, 1.6, 0.0), ..range.shot(0.0, 6.0) };
    assert_eq!(reason(range.app.judge(late)), Some(RejectReason::Missed));
    assert_eq!(from(&mut range, 0.0).reason, RejectReason::MuzzleTooFar);
}

/// B69's wall: leaning the camera through it.
#[test]
fn b69_no_wall_may_stand_between_the_shooter_and_the_muzzle() {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    let mut range = range_in(app);
    let eye = Vec3::new(0.0, 1.6, 0.0);
    range.app.world_mut().entity_mut(range.shooter).insert((Muzzle::at(eye), Collider::ball(0.4)));
    range.app.world_mut().spawn((Collider::cuboid(0.05, 2.0, 2.0), Transform::from_xyz(0.5, 1.0, 0.0)));
    range.app.tick();
    range.app.tick();
    let from = |range: &mut Range, origin: Vec3| {
        let shot = ShotEvent { origin, ..range.shot(0.0, 6.0) };
        reason(range.app.judge(shot))
    };
    assert_eq!(from(&mut range, eye + Vec3::X * 0.8), Some(RejectReason::MuzzleBlocked));
    assert_eq!(from(&mut range, eye + Vec3::X * 0.3), Some(RejectReason::Missed));
    assert_eq!(from(&mut range, eye), Some(RejectReason::Missed));
}

#[test]
fn weapons_fire_at_their_rate_and_only_what_is_in_their_magazine() {
    let mut range = range();
    let weapon = FireControl::default().with_rate(10.0).with_magazine(3, Duration::from_secs(1)).with_range(5.0);
    range.app.world_mut().entity_mut(range.shooter).insert(weapon);
    let fire = |range: &mut Range| reason(range.judge(0.0, 6.0));
    let mut reasons: Vec<_> = (0..15).map(|_| fire(&mut range)).collect();
    let traced = |reasons: &[Option<RejectReason>]| {
        let traced = |reason: &Option<RejectReason>| *reason == Some(RejectReason::Missed);
        reasons.iter().enumerate().filter(|(_, reason)| traced(reason)).map(|(tick, _)| tick).collect::<Vec<_>>()
    };
    assert_eq!(traced(&reasons), [0, 7, 13]);
    assert_eq!((reasons[1], reasons[14]), (Some(RejectReason::FiredTooFast), Some(RejectReason::OutOfAmmunition)));
    let shooter = range.shooter;
    range.app.world_mut().trigger(Reload { entity: shooter });
    reasons = (0..72).map(|_| fire(&mut range)).collect();
    assert_eq!(reasons[0], Some(RejectReason::Reloading));
    assert_eq!(traced(&reasons), [63, 70], "after a second");
}

#[test]
fn refused_shots_take_no_ammunition() {
    let mut range = range();
    let weapon = FireControl::default().with_magazine(30, Duration::from_secs(1));
    range.app.world_mut().entity_mut(range.shooter).insert((weapon, Muzzle::at(Vec3::ZERO)));
    let left = |range: &Range| {
        range
            .app
            .world()
            .get::<FireControl>(range.shooter)
            .and_then(FireControl::ammunition)
            .expect("it has a magazine")
    };
    let good = range.shot(0.0, 6.0);
    let far = ShotEvent { origin: Vec3::X * 5.0, ..range.shot(0.0, 6.0) };
    let backwards = range.shot(0.0, 7.0);
    let blind = ShotEvent { direction: Vec3::ZERO, ..range.shot(0.0, 6.0) };
    range.app.judge(good).expect_err("it misses");
    let again = range.app.now() + 1;
    let reasons: Vec<_> = range
        .app
        .judge_all([far, backwards, blind].map(|shot| ShotEvent { command_tick: again - 1, ..shot }))
        .into_iter()
        .map(reason)
        .collect();
    let expected = [RejectReason::MuzzleTooFar, RejectReason::ViewTimeBackwards, RejectReason::DirectionZero];
    for reason in expected {
        assert!(reasons.contains(&Some(reason)), "{reason:?} in {reasons:?}");
    }
    assert_eq!(left(&range), 29);
}

#[test]
fn the_dead_do_not_shoot_but_what_they_fired_before_is_judged() {
    for (rule, expected) in [
        (DeadShooters::ByCommandTick, [RejectReason::Missed, RejectReason::ShooterDead]),
        (DeadShooters::WhenJudged, [RejectReason::ShooterDead, RejectReason::ShooterDead]),
        (DeadShooters::MayShoot, [RejectReason::Missed, RejectReason::Missed]),
    ] {
        let mut range = range();
        range.app.world_mut().resource_mut::<LagCompensationConfig>().dead_shooters = rule;
        let alive = range.app.now();
        range.app.world_mut().get_mut::<Life>(range.shooter).expect("rigs live").end();
        range.app.tick();
        range.app.tick();
        let before = ShotEvent { command_tick: alive, ..range.shot(0.0, 6.0) };
        let after = range.shot(0.0, 6.0);
        let mut rejections: Vec<_> = range.app.judge_all([before, after]).into_iter().filter_map(Result::err).collect();
        rejections.sort_by_key(|rejection| rejection.shot);
        let reasons: Vec<_> = rejections.iter().map(|rejection| rejection.reason).collect();
        assert_eq!(reasons, expected, "{rule:?}");
    }
}

#[test]
fn spectators_and_pauses_hold_fire() {
    let mut range = range();
    range.app.world_mut().entity_mut(range.shooter).insert(CeaseFire);
    assert_eq!(reason(range.judge(0.0, 6.0)), Some(RejectReason::CeaseFire));
    range.app.world_mut().entity_mut(range.shooter).remove::<CeaseFire>();
    range.app.world_mut().resource_mut::<LagCompensationConfig>().cease_fire = true;
    assert_eq!(reason(range.judge(0.0, 6.0)), Some(RejectReason::CeaseFire));
    range.app.world_mut().resource_mut::<LagCompensationConfig>().cease_fire = false;
    assert_eq!(reason(range.judge(0.0, 6.0)), Some(RejectReason::Missed));
}

#[test]
fn a_game_can_refuse_shots_with_reasons_of_its_own() {
    let refuse = |mut shots: MessageMutator<ShotEvent>| {
        for shot in shots.read() {
            shot.refuse(RejectReason::Game(7));
            shot.refuse(RejectReason::Game(8));
        }
    };
    let mut range = range();
    let between = LagCompensationSystems::ReceiveShots;
    range.app.add_systems(FixedPostUpdate, refuse.after(between).before(LagCompensationSystems::AdmitShots));
    assert_eq!(reason(range.judge(0.0, 6.0)), Some(RejectReason::Game(7)));
}

#[test]
fn counters_diagnostics_and_budgets_tell_what_happened() {
    let mut range = range();
    let x = range.x(9.0);
    let hit = range.judge(x, 9.0).expect("it stood there");
    let budget = hit.evidence.budget.expect("the line is measured");
    assert!((budget.total() - 9.0 * 15.625).abs() < 0.01, "{budget:?}");
    assert_eq!((budget.way_down, budget.way_up, budget.interpolation), (20.0, 20.0, 100.0));
    range.judge(0.0, 9.0).expect_err("it misses");
    let shots = [range.shot(0.0, 9.0), range.shot(0.0, 60.0), range.shot(0.0, 12.0)];
    range.app.judge_all(shots);
    let counters = range.app.world().get::<ShotCounters>(range.link).expect("the link has them");
    assert_eq!((counters.answered(), counters.confirmed(), counters.admitted()), (5, 1, 4));
    assert_eq!((counters.rejected(RejectReason::ViewTimeBackwards), counters.estimated()), (1, 1));
    let suspicion = counters.suspicion();
    assert_eq!((suspicion.claims, suspicion.distribution[4]), (5, 3));
    assert_eq!(suspicion.at_edge, 0.2);
    let diagnostics = range.app.world().resource::<bevy::diagnostic::DiagnosticsStore>();
    let last = |path| diagnostics.get(path).and_then(|diagnostic| diagnostic.measurement()).map(|last| last.value);
    assert_eq!((last(&SHOTS_ANSWERED), last(&SHOTS_REFUSED)), (Some(3.0), Some(1.0)));
}
