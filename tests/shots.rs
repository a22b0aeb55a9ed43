//! Each shot gets the one answer that a perfect observer of the shooter's screen would give.

use bevy::prelude::*;
use bevy_hindsight::{RejectReason, Tick, prelude::*, test_app::TestApp};

/// A ball of this radius that runs along X at 8 m/s: at tick T it stands at x = T / 8, z = 10.
#[derive(Component)]
struct Runner;

fn run(mut runners: Query<&mut Transform, With<Runner>>, tick: Res<CurrentTick>) {
    for mut transform in &mut runners {
        transform.translation.x = 0.125 * tick.0.0 as f32;
    }
}

/// An app at tick 99 with a runner, and a shooter without hitboxes.
fn range(radius: f32) -> (TestApp, Entity, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, run);
    let shooter = app.world_mut().spawn(Rig).id();
    let runner = app.world_mut().spawn((Runner, Rig, Hitbox::ball(radius), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    app.run_to(Tick(99));
    (app, shooter, runner)
}

/// A shot at tick 100 from `x` along Z.
fn shot(shooter: Entity, x: f32) -> ShotEvent {
    ShotEvent::new(shooter, Tick(100), Vec3::X * x, Vec3::Z)
}

fn view(delay: f64) -> ViewTime {
    ViewTime::before(Tick(100), delay)
}

#[test]
fn a_shot_hits_where_the_screen_showed_the_target_and_nowhere_else() {
    for (delay, x, hits) in [(6.0, 11.75, true), (6.0, 12.5, false), (0.0, 12.5, true), (5.5, 11.8125, true)] {
        let (mut app, shooter, runner) = range(0.05);
        let verdict = app.judge(shot(shooter, x).seen_at(view(delay)));
        assert_eq!(verdict.map(|hit| hit.target).ok(), hits.then_some(runner), "delay {delay}, x {x}");
    }
}

#[test]
fn the_evidence_tells_what_was_tested() {
    let (mut app, shooter, runner) = range(0.5);
    let id = ShotId { connection: 7, sequence: 3 };
    let asked = shot(shooter, 11.75).seen_at(view(6.0)).with_id(id).with_range(50.0);
    let hit = app.judge(asked).unwrap();
    assert_eq!((hit.shooter, hit.shot, hit.target), (shooter, id, runner));
    assert_eq!((hit.hit.rig, hit.hit.hitbox, hit.hit.zone), (runner, runner, Zone::Torso));
    assert_eq!(hit.hit.pose, Isometry3d::from_xyz(11.75, 0.0, 10.0));
    assert_eq!((hit.hit.point, hit.hit.distance), (Vec3::new(11.75, 0.0, 9.5), 9.5));
    assert_eq!(hit.hit.normal, Dir3::NEG_Z);
    let evidence = hit.evidence;
    assert_eq!((evidence.view_time, evidence.view_source), (view(6.0), ViewSource::Reported));
    assert_eq!((evidence.command_tick, evidence.judged_at), (Tick(100), Tick(100)));
    assert_eq!((evidence.range, evidence.blocker, evidence.hit), (50.0, None, Some(hit.hit)));
}

#[test]
fn a_shot_without_a_view_time_is_judged_in_the_present() {
    let (mut app, shooter, runner) = range(0.05);
    let hit = app.judge(shot(shooter, 12.5)).unwrap();
    assert_eq!((hit.target, hit.evidence.view_source), (runner, ViewSource::None));
    assert_eq!(hit.evidence.view_time, ViewTime::at(Tick(100)));
}

#[test]
fn bad_shots_are_refused_with_their_reason_and_good_ones_of_the_same_tick_are_judged() {
    let (mut app, shooter, runner) = range(0.5);
    let gone = app.world_mut().spawn_empty().id();
    app.world_mut().despawn(gone);
    let good = shot(shooter, 11.75).seen_at(view(6.0));
    let nan = f32::NAN;
    let cases = [
        (good, None),
        (ShotEvent { origin: Vec3::new(nan, 0.0, 0.0), ..good }, Some(RejectReason::OriginNotFinite)),
        (ShotEvent { origin: Vec3::new(0.0, f32::INFINITY, 0.0), ..good }, Some(RejectReason::OriginNotFinite)),
        (ShotEvent { direction: Vec3::new(0.0, nan, 0.0), ..good }, Some(RejectReason::DirectionNotFinite)),
        (ShotEvent { direction: Vec3::ZERO, ..good }, Some(RejectReason::DirectionZero)),
        (ShotEvent { range: -1.0, ..good }, Some(RejectReason::RangeInvalid)),
        (good.seen_at(view(1e9)), Some(RejectReason::ViewTimeTooOld)),
        (good.seen_at(view(-1.0)), Some(RejectReason::ViewTimeAhead)),
        (ShotEvent { command_tick: Tick(10_100), ..good }, Some(RejectReason::CommandTickAhead)),
        (ShotEvent { command_tick: Tick(2), ..good }, Some(RejectReason::CommandTickTooOld)),
        (ShotEvent { shooter: gone, ..good }, Some(RejectReason::ShooterUnknown)),
        (ShotEvent { shooter: Entity::PLACEHOLDER, ..good }, Some(RejectReason::ShooterUnknown)),
        (ShotEvent { origin: Vec3::splat(f32::MAX), ..good }, Some(RejectReason::Missed)),
        (good, None),
    ];
    let shots = (0..).zip(cases).map(|(sequence, (shot, _))| shot.with_id(ShotId::local(sequence)));
    let verdicts = app.judge_all(shots);
    assert_eq!(verdicts.len(), cases.len(), "each shot should have one verdict");
    for verdict in verdicts {
        let (id, reason) = match &verdict {
            Ok(hit) => (hit.shot, None),
            Err(rejection) => (rejection.shot, Some(rejection.reason)),
        };
        assert_eq!(reason, cases[id.sequence as usize].1, "{verdict:?}");
        assert!(verdict.is_err() || verdict.is_ok_and(|hit| hit.target == runner));
    }
}

#[test]
fn verdicts_come_as_messages_and_as_events_on_their_entity() {
    #[derive(Resource, Default)]
    struct Heard(Vec<&'static str>);
    let (mut app, shooter, runner) = range(0.5);
    app.init_resource::<Heard>();
    let world = app.world_mut();
    world.entity_mut(runner).observe(|_: On<HitConfirmed>, mut heard: ResMut<Heard>| heard.0.push("target"));
    world.entity_mut(shooter).observe(|_: On<HitRejected>, mut heard: ResMut<Heard>| heard.0.push("shooter"));
    app.judge_all([shot(shooter, 12.5), shot(shooter, 0.0)]);
    assert_eq!(app.world().resource::<Heard>().0, ["target", "shooter"]);
    let count = |app: &TestApp| {
        let world = app.world();
        (world.resource::<Messages<HitConfirmed>>().len(), world.resource::<Messages<HitRejected>>().len())
    };
    assert_eq!(count(&app), (1, 1));
}

#[test]
fn the_shooters_own_rig_is_never_hit() {
    let (mut app, shooter, runner) = range(0.5);
    let hat = (Hitbox::ball(0.3), Transform::from_xyz(0.0, 0.0, 1.0), ChildOf(shooter));
    app.world_mut().spawn(hat);
    app.world_mut()
        .entity_mut(shooter)
        .insert((Hitbox::ball(0.5).in_zone(Zone::Head), Transform::from_xyz(12.5, 0.0, 0.0)));
    // The weapon in the shooter's hand shoots for them.
    let weapon = app.world_mut().spawn(ChildOf(shooter)).id();
    for shooter in [shooter, weapon] {
        let now = app.now() + 1;
        let x = 0.125 * now.0 as f32;
        let hit = app.judge(ShotEvent::new(shooter, now, Vec3::X * x, Vec3::Z)).unwrap();
        assert_eq!(hit.target, runner);
    }
}

#[test]
fn a_rig_is_not_hit_before_it_was_there() {
    let (mut app, shooter, _) = range(0.05);
    app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(30.0, 0.0, 10.0)));
    app.tick();
    let now = app.now() + 1;
    let verdict = |app: &mut TestApp, delay| {
        let now = app.now() + 1;
        let shot = ShotEvent::new(shooter, now, Vec3::X * 30.0, Vec3::Z).seen_at(ViewTime::before(now, delay));
        app.judge(shot).map(|hit| hit.evidence.view_time).map_err(|rejection| rejection.reason)
    };
    assert_eq!(verdict(&mut app, 3.0), Err(RejectReason::Missed));
    assert_eq!(verdict(&mut app, 0.0), Ok(ViewTime::at(now + 1)));
}

#[test]
fn the_nearest_hitbox_wins_and_ties_do_not_depend_on_spawn_order() {
    // Two balls around the muzzle, at distance 0 both; and behind them two that touch the ray at the same distance.
    let rigs = |ids: [u64; 4]| {
        let mut app = TestApp::new(64.0);
        let shooter = app.world_mut().spawn(Rig).id();
        let names: Vec<_> = ids
            .iter()
            .map(|id| {
                let (place, radius) = match id {
                    0 | 1 => (Vec3::ZERO, 1.0),
                    2 => (Vec3::new(0.25, 0.0, 10.0), 0.5),
                    _ => (Vec3::new(-0.25, 0.0, 10.0), 0.5),
                };
                let rig = (
                    Rig,
                    RigId(if *id < 2 { *id } else { 9 }),
                    Hitbox::ball(radius),
                    Transform::from_translation(place),
                );
                (app.world_mut().spawn(rig).id(), *id)
            })
            .collect();
        let mut name_of_hit = |origin| {
            let now = app.now() + 1;
            let target = app.judge(ShotEvent::new(shooter, now, origin, Vec3::Z)).unwrap().target;
            names.iter().find(|(entity, _)| *entity == target).unwrap().1
        };
        (name_of_hit(Vec3::ZERO), name_of_hit(Vec3::Z * 5.0))
    };
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        assert_eq!(rigs(order), (0, 3), "spawned in the order {order:?}");
    }
}

#[test]
fn range_ends_where_it_says() {
    let (mut app, shooter, _) = range(0.5);
    let mut at_range = |range| {
        let now = app.now() + 1;
        let x = 0.125 * now.0 as f32;
        app.judge(ShotEvent::new(shooter, now, Vec3::X * x, Vec3::Z * 3.0).with_range(range)).is_ok()
    };
    assert!(at_range(9.5));
    assert!(!at_range(9.49));
    assert!(at_range(f32::INFINITY));
}

#[test]
fn corpses_are_hit_only_on_request_and_the_verdict_says_what_they_are() {
    for hit_corpses in [false, true] {
        let (mut app, shooter, runner) = range(0.5);
        app.world_mut().resource_mut::<LagCompensationConfig>().hit_corpses = hit_corpses;
        app.world_mut().get_mut::<Life>(runner).unwrap().end();
        app.tick();
        let now = app.now() + 1;
        let verdict = app.judge(ShotEvent::new(shooter, now, Vec3::X * 0.125 * now.0 as f32, Vec3::Z));
        let hit = verdict.ok();
        assert_eq!(hit.map(|hit| (hit.target, hit.living_target())), hit_corpses.then_some((runner, None)));
    }
}

#[test]
fn the_driver_of_a_car_does_not_hit_the_car() {
    let (mut app, _, runner) = range(0.5);
    let car = app.world_mut().spawn((Rig, Hitbox::cuboid(Vec3::splat(3.0)))).id();
    let driver = app.world_mut().spawn((Rig, Hitbox::ball(0.3), Transform::from_xyz(0.5, 0.0, 0.0), ChildOf(car))).id();
    let passenger = app.world_mut().spawn((Rig, ChildOf(car))).id();
    let now = app.now() + 1;
    let at_runner = ShotEvent::new(driver, now, Vec3::ZERO, Vec3::new(0.125 * now.0 as f32, 0.0, 10.0));
    assert_eq!(app.judge(at_runner).map(|hit| hit.target).ok(), Some(runner));
    let now = app.now() + 1;
    let at_driver = ShotEvent::new(passenger, now, Vec3::ZERO, Vec3::X);
    assert_eq!(app.judge(at_driver).map(|hit| hit.target).ok(), Some(driver));
}

#[test]
fn hitboxes_of_impossible_sizes_are_never_hit_and_harm_nobody() {
    let (mut app, shooter, runner) = range(0.5);
    for shape in [Shape::Ball { radius: -1.0 }, Shape::Ball { radius: f32::NAN }, Shape::Ball { radius: f32::INFINITY }]
    {
        app.world_mut().spawn((Rig, Hitbox::new(shape), Transform::from_xyz(12.5, 0.0, 5.0)));
    }
    app.world_mut().spawn((Rig, Hitbox::ball(1.0), Transform::from_xyz(f32::NAN, 0.0, 5.0)));
    assert_eq!(app.judge(shot(shooter, 12.5)).map(|hit| hit.target).ok(), Some(runner));
}
