//! What a tick costs with 64 rigs of 19 hitboxes: recording them, and judging shots at them.
//!
//! `cargo bench --bench record_and_trace`

use core::{hint::black_box, time::Duration};

use std::time::Instant;

use bevy::{math::ops, prelude::*};
use bevy_hindsight::{prelude::*, test_app::TestApp};
use bevy_rapier3d::prelude::*;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const RIGS: u32 = 64;
const HITBOXES: u32 = 19;
const HALF_ARENA: f32 = 50.0;

/// The golden ratio spreads numbers evenly without chance.
fn spread(n: u32) -> f32 {
    (n as f32 * 0.618_034).fract()
}

fn place(n: u32) -> Vec3 {
    Vec3::new(spread(n) - 0.5, 0.0, spread(n * 7 + 3) - 0.5) * 2.0 * HALF_ARENA
}

/// An arena with rigs that have run for a second, and static boxes.
fn arena(boxes: u32) -> (TestApp, Vec<Entity>) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .add_systems(FixedUpdate, run);
    app.finish();
    for n in 0..boxes {
        let collider = Collider::cuboid(0.5 + spread(n), 1.0, 0.5 + spread(n + 1));
        app.world_mut().spawn((RigidBody::Fixed, collider, Transform::from_translation(2.0 * place(n + 1_000))));
    }
    let rigs = (0..RIGS).map(|n| spawn_rig(app.world_mut(), n)).collect();
    for _ in 0..80 {
        app.tick();
    }
    (app, rigs)
}

/// A figure of capsules, in two levels below its root.
fn spawn_rig(world: &mut World, n: u32) -> Entity {
    let rig = world.spawn((Rig, Transform::from_translation(place(n)))).id();
    let spine = world.spawn((Transform::from_xyz(0.0, 0.9, 0.0), ChildOf(rig))).id();
    for part in 0..HITBOXES {
        let height = 0.1 * part as f32 - 0.9;
        let local = Transform::from_xyz(0.2 * spread(part) - 0.1, height, 0.0);
        world.spawn((Hitbox::capsule(0.1, 0.08), local, ChildOf(spine)));
    }
    rig
}

fn run(mut rigs: Query<&mut Transform, With<Rig>>) {
    for mut transform in &mut rigs {
        transform.rotate_y(0.02);
        let step = transform.forward() * 0.08;
        transform.translation += step;
    }
}

/// Shots from the chests of rigs at those of others, as they were up to 250 ms ago.
fn shots(app: &TestApp, rigs: &[Entity], count: u32) -> Vec<ShotEvent> {
    let now = app.now();
    let chest = |rig| app.world().get::<Transform>(rig).expect("it has a place").translation + Vec3::Y;
    (0..count)
        .map(|n| {
            let (shooter, target) = (rigs[(n % RIGS) as usize], rigs[((n * 13 + 5) % RIGS) as usize]);
            let aside = Vec3::Y * ops::sin(n as f32);
            let ray = chest(target) - chest(shooter) + aside * 0.3;
            let view = ViewTime::before(now, f64::from(16.0 * spread(n)));
            ShotEvent::new(shooter, now, chest(shooter), ray).with_range(200.0).seen_at(view)
        })
        .collect()
}

/// Time of the steps of lag compensation in one tick.
fn measure(app: &mut TestApp, shots: &[ShotEvent], repetitions: u64) -> Duration {
    (0..repetitions)
        .map(|_| {
            app.world_mut().write_message_batch(shots.iter().copied());
            let start = Instant::now();
            app.world_mut().run_schedule(FixedPostUpdate);
            let time = start.elapsed();
            black_box(app.judge_all([]));
            time
        })
        .sum()
}

fn record(criterion: &mut Criterion) {
    let (mut app, _) = arena(0);
    criterion.bench_function("record 64 rigs of 19 hitboxes", |bencher| {
        bencher.iter_custom(|repetitions| measure(&mut app, &[], repetitions));
    });
}

fn trace(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("record and judge shots at 64 rigs of 19 hitboxes");
    for boxes in [0, 2_000] {
        let (mut app, rigs) = arena(boxes);
        for count in [1, 128] {
            group.throughput(Throughput::Elements(u64::from(count)));
            let id = BenchmarkId::from_parameter(format!("{count} shots, {boxes} walls"));
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|repetitions| {
                    let shots = shots(&app, &rigs, count);
                    (0..repetitions)
                        .map(|_| {
                            let now = app.now();
                            let shots: Vec<_> = shots
                                .iter()
                                .map(|shot| {
                                    let delay = shot.view_time.map_or(0.0, |view| view.ticks_before(shot.command_tick));
                                    ShotEvent {
                                        command_tick: now,
                                        view_time: Some(ViewTime::before(now, delay)),
                                        ..*shot
                                    }
                                })
                                .collect();
                            measure(&mut app, &shots, 1)
                        })
                        .sum()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, record, trace);
criterion_main!(benches);
