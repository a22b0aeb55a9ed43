//! Rigs and occluders are rebuilt from the snapshots that the shooter's screen was made of, as far as those are believed.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, Attack, Bullet, CheckPolicy, DisplayedRig, Piercing, PoseBasis, RejectReason, SentTicks,
    SnapshotPair, Tick, prelude::*, test_app::TestApp,
};
use bevy_rapier3d::prelude::*;

/// Runs along X at 8 m/s: at tick T it stands at x = T / 8.
#[derive(Component)]
struct Runner;

fn run(mut runners: Query<&mut Transform, With<Runner>>, tick: Res<CurrentTick>) {
    for mut transform in &mut runners {
        transform.translation.x = 0.125 * tick.0.0 as f32;
    }
}

fn ball(radius: f32, z: f32) -> impl Bundle {
    (Runner, Rig, Hitbox::ball(radius), Transform::from_xyz(0.0, 0.0, z))
}

/// An app at tick 99 with a running ball at z = 10 and a shooter without hitboxes; the states of these ticks were sent.
fn range(radius: f32, sent: &[u32]) -> (TestApp, Entity, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, run);
    let shooter = app.world_mut().spawn(Rig).id();
    let runner = app.world_mut().spawn(ball(radius, 10.0)).id();
    app.run_to(Tick(99));
    send(&mut app, sent);
    (app, shooter, runner)
}

fn send(app: &mut TestApp, ticks: &[u32]) {
    for tick in ticks {
        app.world_mut().resource_mut::<SentTicks>().note(Tick(*tick), 64);
    }
}

/// A shot at tick 100 from `x` along Z.
fn shot(shooter: Entity, x: f32) -> ShotEvent {
    ShotEvent::new(shooter, Tick(100), Vec3::X * x, Vec3::Z)
}

fn view(delay: f64) -> ViewTime {
    ViewTime::before(Tick(100), delay)
}

fn pair(start: u32, end: u32) -> SnapshotPair {
    SnapshotPair::new(Tick(start), Tick(end))
}

fn held(start: u32) -> SnapshotPair {
    SnapshotPair::held(Tick(start))
}

fn rules(app: &mut TestApp) -> Mut<'_, AdmissionRules> {
    app.world_mut().resource_mut::<LagCompensationConfig>().map_unchanged(|config| &mut config.admission)
}

#[test]
fn snapshots_are_blended_as_the_client_did() {
    let (mut app, shooter, runner) = range(0.05, &[70, 80, 88, 96]);
    let rig = DisplayedRig::interpolated(runner, pair(88, 96));
    let hit = app.judge(shot(shooter, 11.5).seen_at(view(8.0)).made_of(&[rig])).unwrap();
    assert_eq!(hit.hit.basis, PoseBasis::Snapshots(pair(88, 96)));
    assert_eq!(hit.evidence.view_source, ViewSource::AsDisplayed);

    // Held where it stood four ticks before.
    let (mut app, shooter, runner) = range(0.05, &[88]);
    let rig = DisplayedRig::interpolated(runner, held(88));
    let hit = app.judge(shot(shooter, 11.0).seen_at(view(8.0)).made_of(&[rig])).unwrap();
    assert_eq!(hit.hit.pose.translation.x, 11.0);
}

/// A shot that names its target in every slot meets it once.
#[test]
fn who_is_named_twice_is_met_once() {
    let (mut app, shooter, runner) = range(0.05, &[70, 80, 88, 96]);
    let rig = DisplayedRig::interpolated(runner, pair(88, 96));
    let bullet = Bullet::default().with_piercing(Piercing::new(10.0));
    let shot = shot(shooter, 11.5).seen_at(view(8.0)).made_of(&[rig; 8]).with_attack(Attack::Bullet(bullet));
    let hit = app.judge(shot).expect("the bullet goes through the ball");
    assert_eq!(hit.evidence.rigs.iter().flatten().filter(|tested| tested.rig == runner).count(), 1);
}

/// What was tested is told of each rig near the shot, on a miss as on a hit.
#[test]
fn b58_the_evidence_holds_what_was_tested_also_on_a_miss() {
    let (mut app, shooter, near) = range(0.05, &[80, 88, 96]);
    let far = app.world_mut().spawn(ball(0.05, 20.0)).id();
    app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(40.0, 0.0, 10.0)));
    app.tick();
    let tested = |x: f32, app: &mut TestApp| {
        let now = app.now() + 1;
        let shot = ShotEvent::new(shooter, now, Vec3::X * x, Vec3::Z).seen_at(ViewTime::before(now, 0.5));
        let rig = DisplayedRig::interpolated(near, pair(80, 96));
        let (hit, evidence) = match app.judge(shot.seen_at(ViewTime::at(Tick(88))).made_of(&[rig])) {
            Ok(hit) => (true, hit.evidence),
            Err(rejection) => (false, rejection.evidence),
        };
        let rigs: Vec<_> = evidence.rigs.iter().flatten().map(|rig| (rig.rig, rig.root.translation.x)).collect();
        (hit, rigs, evidence.rigs[0].map(|rig| rig.basis))
    };
    let basis = Some(PoseBasis::Snapshots(pair(80, 96)));
    // The other one came only after the view time.
    assert_eq!(tested(11.0, &mut app), (true, vec![(near, 11.0)], basis));
    assert_eq!(tested(11.1, &mut app), (false, vec![(near, 11.0)], basis));
    let now = app.now() + 1;
    let both = ShotEvent::new(shooter, now, Vec3::X * 13.0, Vec3::Z);
    let rejection = app.judge(both).unwrap_err();
    let rigs: Vec<_> = rejection.evidence.rigs.iter().flatten().map(|rig| rig.rig).collect();
    assert_eq!(rigs, [near, far]);
}

/// B09: what is shown with a longer delay is rewound further.
#[test]
fn b09_rigs_with_their_own_delays_come_right_in_one_shot() {
    let ticks: Vec<u32> = (40..=99).collect();
    for (x, expected) in [(11.70, 0), (10.90, 1)] {
        let (mut app, shooter, [player, npc]) = two_runners(&ticks);
        let screen = [
            DisplayedRig::interpolated(player, pair(93, 94)),
            DisplayedRig::interpolated_at(npc, pair(87, 88), view(12.8)),
        ];
        let hit = app.judge(shot(shooter, x).seen_at(view(6.4)).made_of(&screen)).unwrap();
        assert_eq!(hit.target, [player, npc][expected]);
        let instants: Vec<_> = hit.evidence.rigs.iter().flatten().map(|rig| rig.view_time).collect();
        assert_eq!(instants, [view(6.4), view(12.8)]);
    }
}

#[test]
fn predicted_and_interpolated_rigs_come_right_in_one_shot() {
    for (x, expected) in [(12.375, 0), (11.5, 1)] {
        let (mut app, shooter, [predicted, interpolated]) = two_runners(&[80, 88, 96]);
        // The last frame before the shot of tick 100 was drawn after tick 99.
        let screen = [
            DisplayedRig::predicted(predicted, ViewTime::at(Tick(99))),
            DisplayedRig::interpolated(interpolated, pair(88, 96)),
        ];
        let hit = app.judge(shot(shooter, x).seen_at(view(8.0)).made_of(&screen)).unwrap();
        assert_eq!(hit.target, [predicted, interpolated][expected]);
        assert_eq!(hit.hit.basis, [PoseBasis::Predicted, PoseBasis::Snapshots(pair(88, 96))][expected]);
    }
}

/// Two running balls, one behind the other.
fn two_runners(sent: &[u32]) -> (TestApp, Entity, [Entity; 2]) {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, run);
    let shooter = app.world_mut().spawn(Rig).id();
    let runners = [10.0, 20.0].map(|z| app.world_mut().spawn(ball(0.05, z)).id());
    app.run_to(Tick(99));
    send(&mut app, sent);
    (app, shooter, runners)
}

#[test]
fn snapshots_that_cannot_be_true_are_refused_each_with_its_reason() {
    let sent: Vec<u32> = (30..=99).step_by(3).collect();
    let (mut app, shooter, runner) = range(0.05, &sent);
    let reason = |app: &mut TestApp, delay, pair| {
        let rig = DisplayedRig::interpolated(runner, pair);
        let command_tick = app.now() + 1;
        let asked = ShotEvent { command_tick, ..shot(shooter, 11.2) };
        app.judge(asked.seen_at(view(delay)).made_of(&[rig])).unwrap_err().reason
    };
    assert_eq!(reason(&mut app, 8.0, pair(90, 93)), RejectReason::Missed);
    assert_eq!(reason(&mut app, 8.0, pair(91, 93)), RejectReason::SnapshotNotSent);
    assert_eq!(reason(&mut app, 8.0, pair(93, 90)), RejectReason::SnapshotsDisordered);
    assert_eq!(reason(&mut app, 8.0, held(84)), RejectReason::Missed);
    rules(&mut app).max_snapshot_deviation = 0.5;
    assert_eq!(reason(&mut app, 8.0, held(84)), RejectReason::SnapshotsDeviate);
    rules(&mut app).max_freeze = Duration::from_millis(100);
    assert_eq!(reason(&mut app, 8.0, held(84)), RejectReason::ViewFrozen);
    rules(&mut app).max_snapshot_gap = Duration::from_millis(100);
    // It runs evenly, so that the wide pair is as good as any.
    assert_eq!(reason(&mut app, 8.0, pair(84, 96)), RejectReason::Missed);
    rules(&mut app).doubtful_snapshots = CheckPolicy::UseEstimate;
    assert_eq!(reason(&mut app, 8.0, held(84)), RejectReason::Missed);
}

/// It stops at tick 90, and goes back to where it was at tick 80.
#[test]
fn snapshots_too_far_apart_are_refused_only_where_that_matters() {
    let mut app = TestApp::new(64.0);
    let shooter = app.world_mut().spawn(Rig).id();
    let turner = app.world_mut().spawn((Rig, Hitbox::ball(0.05), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    let rester = app.world_mut().spawn((Rig, Hitbox::ball(0.05), Transform::from_xyz(5.0, 0.0, 10.0))).id();
    let turn = move |mut places: Query<&mut Transform>, tick: Res<CurrentTick>| {
        if let Ok(mut place) = places.get_mut(turner) {
            place.translation.x = 1.0 - 0.1 * (tick.0.0 as f32 - 90.0).abs();
        }
    };
    app.add_systems(FixedUpdate, turn);
    app.run_to(Tick(99));
    send(&mut app, &[60, 80, 99]);
    rules(&mut app).max_snapshot_gap = Duration::from_millis(200);
    rules(&mut app).max_freeze = Duration::from_millis(200);
    for (rig, pair, expected) in [
        (turner, pair(80, 99), RejectReason::SnapshotsTooFarApart),
        (rester, pair(80, 99), RejectReason::Missed),
        (rester, held(60), RejectReason::Missed),
        (turner, held(60), RejectReason::ViewFrozen),
    ] {
        let command_tick = app.now() + 1;
        let asked = ShotEvent { command_tick, ..shot(shooter, 0.5) };
        let asked = asked.seen_at(view(10.0)).made_of(&[DisplayedRig::interpolated(rig, pair)]);
        assert_eq!(app.judge(asked).unwrap_err().reason, expected, "{pair:?}");
    }
}

/// A jump between two snapshots: the screen still shows the rig where it was, however far it is by now.
#[test]
fn who_has_jumped_is_hit_where_the_screen_still_shows_them() {
    let jump =
        |mut runners: Query<(Entity, &mut Transform), With<Runner>>, tick: Res<CurrentTick>, mut commands: Commands| {
            for (runner, mut place) in &mut runners {
                if tick.0 == Tick(94) {
                    commands.trigger(BeginSegment { entity: runner });
                }
                if tick.0.since(Tick(94)) >= 0 {
                    place.translation.x += 40.0;
                }
            }
        };
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, (run, jump).chain());
    let shooter = app.world_mut().spawn(Rig).id();
    let jumper = app.world_mut().spawn(ball(0.05, 10.0)).id();
    app.run_to(Tick(99));
    send(&mut app, &[88, 96]);
    for snapshots in [pair(88, 96), held(88)] {
        let screen = [DisplayedRig::interpolated(jumper, snapshots)];
        let asked = ShotEvent { command_tick: app.now() + 1, ..shot(shooter, 11.0) };
        let hit = app.judge(asked.seen_at(ViewTime::at(Tick(95))).made_of(&screen)).expect("it is shown there");
        assert_eq!(hit.hit.pose.translation.x, 11.0);
    }
}

/// A rig that the shot does not come near decides nothing.
#[test]
fn doubts_about_others_do_not_refuse_a_shot() {
    let (mut app, shooter, [near, far]) = two_runners(&[50, 88, 96]);
    let away = app.world_mut().spawn((Runner, Rig, Hitbox::ball(0.05), Transform::from_xyz(0.0, 30.0, 10.0))).id();
    rules(&mut app).max_freeze = Duration::from_millis(50);
    let screen =
        |frozen| [DisplayedRig::interpolated(near, pair(88, 96)), DisplayedRig::interpolated(frozen, held(50))];
    let judge = |app: &mut TestApp, frozen| {
        let asked = ShotEvent { command_tick: app.now() + 1, ..shot(shooter, 11.5) };
        let verdict = app.judge(asked.seen_at(view(8.0)).made_of(&screen(frozen)));
        verdict.map(|hit| hit.target).map_err(|rejection| rejection.reason)
    };
    assert_eq!(judge(&mut app, away), Ok(near));
    assert_eq!(judge(&mut app, far), Err(RejectReason::ViewFrozen));
}

#[test]
fn a_snapshot_from_before_a_rig_was_there_is_that_of_another_one() {
    let (mut app, shooter, _) = range(0.05, &[88]);
    let newcomer = app.world_mut().spawn(ball(0.05, 5.0)).id();
    app.tick();
    app.tick();
    let asked = ShotEvent { command_tick: app.now() + 1, ..shot(shooter, 12.3) };
    let screen = |start| [DisplayedRig::interpolated(newcomer, held(start))];
    let rejection = app.judge(asked.seen_at(view(8.0)).made_of(&screen(88))).unwrap_err();
    assert_eq!(rejection.reason, RejectReason::SnapshotOfAnotherRig);
    // Spawned in tick 99 after history was written, and sent in the same tick.
    send(&mut app, &[99]);
    let asked = ShotEvent { command_tick: app.now() + 1, ..shot(shooter, 30.0) };
    let rejection = app.judge(asked.seen_at(ViewTime::at(Tick(101))).made_of(&screen(99))).unwrap_err();
    assert_eq!(rejection.reason, RejectReason::Missed);
}

#[test]
fn instants_of_single_rigs_lie_within_the_window_as_well() {
    let (mut app, shooter, runner) = range(0.05, &[88]);
    for (instant, reason) in [
        (Tick(300), RejectReason::ViewTimeAhead),
        (Tick(1), RejectReason::ViewTimeTooOld),
        (Tick(u32::MAX), RejectReason::ViewTimeTooOld),
    ] {
        for rig in [
            DisplayedRig::predicted(runner, ViewTime::at(instant)),
            DisplayedRig::interpolated_at(runner, held(88), ViewTime::at(instant)),
        ] {
            let asked = ShotEvent { command_tick: app.now() + 1, ..shot(shooter, 11.0) };
            assert_eq!(app.judge(asked.seen_at(view(8.0)).made_of(&[rig])).unwrap_err().reason, reason);
        }
    }
}

/// A door that slides along X in front of a target that stands still.
#[test]
fn doors_are_rebuilt_from_the_snapshots_of_the_screen() {
    let arena = || {
        let mut app = TestApp::new(64.0);
        app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
            .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
            .add_systems(FixedUpdate, run);
        app.finish();
        let shooter = app.world_mut().spawn(Rig).id();
        app.world_mut().spawn((Rig, Hitbox::cuboid(Vec3::new(30.0, 1.0, 0.1)), Transform::from_xyz(0.0, 0.0, 10.0)));
        let body = (RigidBody::KinematicPositionBased, Collider::cuboid(0.05, 1.0, 0.1));
        let door = app.world_mut().spawn((Runner, Occluder::default(), body, Transform::from_xyz(0.0, 0.0, 5.0))).id();
        app.run_to(Tick(99));
        send(&mut app, &[80, 88]);
        (app, shooter, door)
    };
    // Held at tick 88; the server's door stood at 11.5 at the view time.
    for (x, blocked) in [(11.0, true), (11.5, false)] {
        let (mut app, shooter, door) = arena();
        let screen = [DisplayedRig::interpolated(door, held(88))];
        let verdict = app.judge(shot(shooter, x).seen_at(view(8.0)).made_of(&screen));
        assert_eq!(verdict.is_err_and(|rejection| rejection.reason == RejectReason::Blocked), blocked, "{x}");
    }
    // A door is not believed to have stood where no snapshot put it, either.
    let (mut app, shooter, door) = arena();
    rules(&mut app).max_snapshot_deviation = 0.2;
    let screen = [DisplayedRig::interpolated(door, held(88))];
    let rejection = app.judge(shot(shooter, 11.0).seen_at(view(8.0)).made_of(&screen)).unwrap_err();
    assert_eq!(rejection.reason, RejectReason::SnapshotsDeviate);
    // Without a word on it, it is blended from what was sent.
    let (mut app, shooter, _) = arena();
    send(&mut app, &[96]);
    let verdict = app.judge(shot(shooter, 11.5).seen_at(view(8.0)).made_of(&[]));
    assert!(verdict.is_err_and(|rejection| rejection.reason == RejectReason::Blocked));
}

#[test]
fn rigs_without_named_snapshots_are_blended_from_those_that_were_sent() {
    // It walks evenly, so only the evidence can tell.
    let (mut app, shooter, _) = range(0.05, &[80, 88, 96]);
    let basis = |app: &mut TestApp, delay| {
        let now = app.now() + 1;
        let x = 0.125 * (f64::from(now.0) - delay) as f32;
        let shot = ShotEvent::new(shooter, now, Vec3::X * x, Vec3::Z).seen_at(ViewTime::before(now, delay));
        app.judge(shot.made_of(&[])).unwrap().hit.basis
    };
    assert_eq!(basis(&mut app, 10.0), PoseBasis::Snapshots(SnapshotPair::new(Tick(88), Tick(96))));
    assert_eq!(basis(&mut app, 2.0), PoseBasis::History, "nothing was sent since");

    // What has come after the last snapshot before the view time is not on the screen yet.
    let fresh = (Rig, Hitbox::ball(0.5), Transform::from_xyz(-9.0, 0.0, 10.0));
    app.world_mut().spawn(fresh);
    app.tick();
    let now = app.now();
    app.world_mut().resource_mut::<SentTicks>().note(now + 2, 64);
    app.tick();
    app.tick();
    let now = app.now() + 1;
    let seen = |delay| ShotEvent::new(shooter, now, Vec3::X * -9.0, Vec3::Z).seen_at(ViewTime::before(now, delay));
    let shots = [seen(2.0).made_of(&[]), seen(2.0), seen(0.5).made_of(&[])];
    let hits: Vec<_> = app.judge_all(shots).iter().map(Result::is_ok).collect();
    assert_eq!(hits, [false, true, true]);
}

#[test]
fn snapshots_do_not_count_without_a_view_time() {
    let (mut app, shooter, runner) = range(0.05, &[88]);
    let pair = DisplayedRig::interpolated(runner, SnapshotPair::held(Tick(88)));
    let hit = app.judge(shot(shooter, 12.5).made_of(&[pair])).unwrap();
    assert_eq!((hit.evidence.view_source, hit.hit.basis), (ViewSource::None, PoseBasis::History));
}
