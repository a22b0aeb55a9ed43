//! The same shots give the same verdicts to the last bit, whatever the order of spawning and the number of threads.

use core::ops::Range;

use bevy::{
    ecs::schedule::{MultiThreadedExecutor, SingleThreadedExecutor},
    math::ops,
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_hindsight::{
    Attack, Blast, Bullet, PelletPattern, RejectReason,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;

const RIGS: u32 = 24;
const TICKS: u32 = 100;

/// The number of a rig, the same in all scenes; entities differ.
#[derive(Component, Clone, Copy)]
struct Number(u32);

/// What a verdict says without naming entities.
#[derive(PartialEq, Debug)]
struct Said {
    sequence: u32,
    reason: Option<RejectReason>,
    rig: Option<u32>,
    /// Point, normal and pose of the hit, then point of the blocker.
    bits: Vec<u32>,
}

fn dance(mut rigs: Query<(&Number, &mut Transform)>, tick: Res<CurrentTick>) {
    for (Number(number), mut transform) in &mut rigs {
        let phase = (tick.0.0 * 3 + number * 7) as f32 * 0.05;
        transform.translation.x = 4.0 * ops::sin(phase);
        transform.rotation = Quat::from_rotation_y(phase);
    }
}

fn arena(order: impl IntoIterator<Item = u32>, threads: usize) -> TestApp {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .add_systems(FixedUpdate, dance);
    app.finish();
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        match threads {
            1 => schedule.set_executor(SingleThreadedExecutor::new()),
            _ => schedule.set_executor(MultiThreadedExecutor::new()),
        };
    }
    for number in order {
        spawn(app.world_mut(), number);
    }
    app
}

fn spawn(world: &mut World, number: u32) {
    let z = 5.0 + (number / 2) as f32;
    let rig = (Number(number), Rig, RigId(u64::from(number)), Transform::from_xyz(0.0, 0.0, z));
    let rig = world.spawn(rig).id();
    for part in 0..5 {
        let place = Transform::from_xyz(0.1, 0.3 * part as f32 - 0.6, 0.0);
        world.spawn((Hitbox::capsule(0.2, 0.15).in_zone(Zone::Custom(part)), place, ChildOf(rig)));
    }
    if number.is_multiple_of(6) {
        let wall = Transform::from_xyz(number as f32 * 0.3 - 3.0, 0.0, z + 0.5);
        world.spawn((RigidBody::Fixed, Collider::cuboid(0.4, 1.0, 0.1), wall));
        let door = Transform::from_xyz(0.0, 0.0, z + 0.7);
        world.spawn((Number(number + 1), Occluder::default(), Collider::capsule_y(0.5, 0.2), door));
    }
}

fn play(app: TestApp) -> Vec<Said> {
    play_shots(app, 16, 0..16).into_iter().flatten().collect()
}

/// What is said in each tick of some of so many shots.
fn play_shots(mut app: TestApp, of: u32, fired: Range<u32>) -> Vec<Vec<Said>> {
    let world = app.world_mut();
    let mut rigs: Vec<_> =
        world.query_filtered::<(Entity, &Number), With<Rig>>().iter(world).map(|(e, n)| (e, n.0)).collect();
    rigs.sort_by_key(|(_, number)| *number);
    let shooter = rigs[0].0;
    let number_of = |entity| rigs.iter().find(|(rig, _)| *rig == entity).map(|(_, number)| *number);
    let mut said = Vec::new();
    for tick in 1..TICKS {
        let now = app.now() + 1;
        let shots = fired.clone().map(|n| {
            let sequence = tick * of + n;
            let x = ops::sin(sequence as f32) * 3.0;
            let delay = f64::from((sequence * 37 % 640).min(tick * 10)) / 10.0;
            ShotEvent::new(shooter, now, Vec3::new(x, 0.1, -2.0), Vec3::new(-0.1 * x, 0.01, 1.0))
                .with_id(ShotId::local(sequence))
                .seen_at(ViewTime::before(now, delay))
                .with_attack(attack(n))
        });
        said.push(app.judge_all(shots).iter().map(|verdict| describe(verdict, number_of)).collect());
    }
    said
}

/// Bullets, and among those with the higher numbers pellets and blasts.
fn attack(n: u32) -> Attack {
    let bullet = Bullet::default();
    match n {
        70..90 if n.is_multiple_of(5) => Attack::Bullet(bullet.with_pellets(PelletPattern::cone(8, 0.1).seeded(n))),
        90..110 if n.is_multiple_of(5) => Attack::Blast(Blast::new(9.0).rewound()),
        _ => Attack::Bullet(bullet),
    }
}

fn describe(verdict: &Verdict, number_of: impl Fn(Entity) -> Option<u32>) -> Said {
    let (sequence, reason, evidence) = match verdict {
        Ok(hit) => (hit.shot.sequence, None, hit.evidence),
        Err(rejection) => (rejection.shot.sequence, Some(rejection.reason), rejection.evidence),
    };
    let mut bits = Vec::new();
    let mut note = |v: Vec3| bits.extend(v.to_array().map(f32::to_bits));
    if let Some(hit) = evidence.hit {
        note(hit.point);
        note(*hit.normal);
        note(hit.pose.translation.into());
        note(hit.pose.rotation.xyz());
    }
    if let Some(blocker) = evidence.blocker {
        note(blocker.point);
        note(blocker.pose.translation.into());
    }
    Said { sequence, reason, rig: evidence.hit.and_then(|hit| number_of(hit.rig)), bits }
}

fn init_pool() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(2).build());
}

#[test]
fn spawn_order_and_threads_change_nothing() {
    init_pool();
    let expected = play(arena(0..RIGS, 1));
    let count = |reason| expected.iter().filter(|said| said.reason == reason).count();
    let counts = [None, Some(RejectReason::Blocked), Some(RejectReason::Missed)].map(count);
    assert!(counts.iter().all(|count| *count > 50), "the scene should have all kinds of verdicts: {counts:?}");

    assert_eq!(play(arena((0..RIGS).rev(), 1)), expected, "spawned backwards");
    let shuffled = (0..RIGS).map(|n| n * 7 % RIGS);
    assert_eq!(play(arena(shuffled, 1)), expected, "spawned in another order");
    assert_eq!(play(arena(0..RIGS, 2)), expected, "on two threads");
}

/// So many shots in a tick are judged on all threads; a third of them is not.
#[test]
fn many_shots_are_judged_as_few_are_and_in_their_order() {
    init_pool();
    let thirds = [0..60, 60..120, 120..180].map(|part| play_shots(arena(0..RIGS, 1), 180, part));
    let all = play_shots(arena(0..RIGS, 2), 180, 0..180);
    for (tick, said) in all.into_iter().enumerate() {
        let expected = thirds.iter().flat_map(|third| &third[tick]);
        assert!(said.len() >= 180, "each has its verdict");
        assert!(said.iter().eq(expected), "in tick {tick}");
    }
}
