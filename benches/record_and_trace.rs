//! What a tick costs with rigs of 19 hitboxes: recording them, and judging shots at them. 64 rigs if nothing else is said.
//!
//! `cargo bench --bench record_and_trace`

use core::{hint::black_box, time::Duration};

use std::time::Instant;

use bevy::{
    ecs::{schedule::SingleThreadedExecutor, system::SystemState},
    math::ops,
    prelude::*,
};
use bevy_hindsight::{
    Attack, Blast, Bullet, DisplayedRig, Muzzle, PelletPattern, Piercing, Projectile, RewoundFilter, RewoundQuery,
    SentTicks, SnapshotPair, Swing,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const RIGS: u32 = 64;
const HITBOXES: u32 = 19;

/// What is in an arena.
#[derive(Clone, Copy)]
struct Scene {
    rigs: u32,
    /// Half the edge of the square on which they run, in metres.
    half_width: f32,
    /// Static boxes.
    boxes: u32,
    /// Moving occluders.
    doors: u32,
}

impl Scene {
    /// 64 rigs close together, with boxes around them.
    const fn small(boxes: u32) -> Self {
        Self { rigs: RIGS, half_width: 50.0, boxes, doors: 0 }
    }

    /// A battlefield of 200 × 200 m.
    const fn large(rigs: u32) -> Self {
        Self { rigs, half_width: 100.0, boxes: 2_000, doors: 50 }
    }
}

/// The golden ratio spreads numbers evenly without chance.
fn spread(n: u32) -> f32 {
    (n as f32 * 0.618_034).fract()
}

/// The powers of the plastic number do the same in a plane.
fn place(n: u32, half_width: f32) -> Vec3 {
    let [x, z] = [0.754_877_7, 0.569_840_3].map(|part| (n as f32 * part).fract() - 0.5);
    Vec3::new(x, 0.0, z) * 2.0 * half_width
}

/// An arena with rigs that have run for a second.
fn arena(scene: Scene) -> (TestApp, Vec<Entity>) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .add_systems(FixedUpdate, (run, slide));
    app.finish();
    let Scene { rigs, half_width, boxes, doors } = scene;
    // Those of the small arena lie around it, too.
    let half_width_of_boxes = half_width.max(100.0);
    for n in 0..boxes {
        let collider = Collider::cuboid(0.5 + spread(n), 1.0, 0.5 + spread(n + 1));
        let place = Transform::from_translation(place(n + 1_000, half_width_of_boxes));
        app.world_mut().spawn((RigidBody::Fixed, collider, place));
    }
    for n in 0..doors {
        let place = Transform::from_translation(place(n + 10_000, half_width) + Vec3::Y);
        let door = (Occluder::default(), RigidBody::KinematicPositionBased, Collider::cuboid(0.6, 1.1, 0.05));
        app.world_mut().spawn((door, place));
    }
    let rigs = (0..rigs).map(|n| spawn_rig(app.world_mut(), place(n, half_width))).collect();
    for _ in 0..80 {
        app.tick();
    }
    (app, rigs)
}

/// A figure of capsules, in two levels below its root.
fn spawn_rig(world: &mut World, place: Vec3) -> Entity {
    let rig = world.spawn((Rig, Transform::from_translation(place))).id();
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

fn slide(mut doors: Query<&mut Transform, With<Occluder>>, tick: Res<CurrentTick>) {
    for (n, mut transform) in (0_u8..).zip(&mut doors) {
        let step = 0.05 * ops::sin(tick.0.0 as f32 * 0.05 + f32::from(n));
        transform.translation.x += step;
    }
}

/// The rig that the shot of this number is aimed at.
fn target_of(rigs: &[Entity], n: u32) -> Entity {
    rigs[(n as usize * 13 + 5) % rigs.len()]
}

/// Shots from the chests of rigs at those of others, as they were up to 250 ms ago.
fn shots(app: &TestApp, rigs: &[Entity], count: u32) -> Vec<ShotEvent> {
    let now = app.now() + 1;
    let chest = |rig| app.world().get::<Transform>(rig).expect("it has a place").translation + Vec3::Y;
    (0..count)
        .map(|n| {
            let (shooter, target) = (rigs[n as usize % rigs.len()], target_of(rigs, n));
            let aside = Vec3::Y * ops::sin(n as f32);
            let ray = chest(target) - chest(shooter) + aside * 0.3;
            let view = ViewTime::before(now, f64::from(16.0 * spread(n)));
            ShotEvent::new(shooter, now, chest(shooter), ray).with_range(200.0).seen_at(view)
        })
        .collect()
}

/// The same shots, each wrong in one way.
fn refused(shots: Vec<ShotEvent>, rigs: &[Entity], kind: Refusal) -> impl Iterator<Item = ShotEvent> {
    (0..).zip(shots).map(move |(n, shot)| match kind {
        Refusal::Direction => ShotEvent { direction: Vec3::ZERO, ..shot },
        Refusal::Muzzle => ShotEvent { origin: shot.origin + Vec3::Y * 50.0, ..shot },
        Refusal::Snapshots => {
            let held = SnapshotPair::held(shot.command_tick - 50);
            shot.made_of(&[DisplayedRig::interpolated(target_of(rigs, n), held); 8])
        }
    })
}

/// What is wrong with a shot, from what is found first to what is found last.
#[derive(Clone, Copy)]
enum Refusal {
    Direction,
    Muzzle,
    /// Held for far too long, which takes a look at where the rig stood.
    Snapshots,
}

/// When a step of lag compensation began, and how long it has taken in all.
#[derive(Resource, Default)]
struct Stopwatch {
    began: Option<Instant>,
    total: Duration,
}

fn start(mut stopwatch: ResMut<Stopwatch>) {
    stopwatch.began = Some(Instant::now());
}

fn stop(mut stopwatch: ResMut<Stopwatch>) {
    let time = stopwatch.began.take().map(|began| began.elapsed());
    stopwatch.total += time.unwrap_or_default();
}

/// Measures what runs from the set `first` to the set `last`, on one thread.
fn watch(app: &mut TestApp, first: LagCompensationSystems, last: LagCompensationSystems) {
    let start = match first {
        LagCompensationSystems::RecordHistory => start.before(first),
        _ => start.after(LagCompensationSystems::RecordHistory).before(first),
    };
    app.init_resource::<Stopwatch>().add_systems(FixedPostUpdate, (start, stop.after(last)));
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// Runs ticks with `count` shots in each, and tells the time of what is watched.
fn measure(app: &mut TestApp, rigs: &[Entity], count: u32, ticks: u64) -> Duration {
    app.world_mut().resource_mut::<Stopwatch>().total = Duration::ZERO;
    for _ in 0..ticks {
        let shots = shots(app, rigs, count);
        black_box(app.judge_all(shots));
    }
    app.world().resource::<Stopwatch>().total
}

fn record(criterion: &mut Criterion) {
    for rigs in [RIGS, 256, 1_024] {
        let (mut app, rigs) = arena(Scene { rigs, ..Scene::small(0) });
        watch(&mut app, LagCompensationSystems::RecordHistory, LagCompensationSystems::RecordHistory);
        criterion.bench_function(&format!("record {} rigs of 19 hitboxes", rigs.len()), |bencher| {
            bencher.iter_custom(|ticks| measure(&mut app, &rigs, 0, ticks));
        });
    }
}

/// On a battlefield, with each shot at a view time of its own: questions of a game, shots through messages, and whole ticks of
/// the plugin.
fn battlefield(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("on 200 × 200 m with 2,000 walls and 50 doors");
    for rigs in [RIGS, 256, 1_024] {
        const RAYS: u32 = 128;
        let (mut app, rigs) = arena(Scene::large(rigs));
        let shots = shots(&app, &rigs, RAYS);
        let rays = shots.iter().filter_map(|shot| {
            let ray = Ray3d::new(shot.origin, Dir3::new(shot.direction).ok()?);
            Some((shot.shooter, shot.view_time?, ray))
        });
        let rays: Vec<_> = rays.collect();
        let mut state = SystemState::<RewoundQuery>::new(app.world_mut());
        let query = state.get(app.world()).expect("its resources are there");
        group.throughput(Throughput::Elements(u64::from(RAYS)));
        group.bench_function(BenchmarkId::from_parameter(format!("{RAYS} rays, {} rigs", rigs.len())), |bencher| {
            bencher.iter(|| {
                for (shooter, view, ray) in &rays {
                    let filter = RewoundFilter::new().fired_by(*shooter);
                    black_box(query.cast_ray(*view, *ray, 200.0, &filter));
                }
            });
        });
    }
    for (rigs, count) in [(RIGS, 128), (256, 128), (1_024, 128), (1_024, 1_024)] {
        let (mut app, rigs) = arena(Scene::large(rigs));
        watch(&mut app, LagCompensationSystems::AdmitShots, LagCompensationSystems::ReportVerdicts);
        group.throughput(Throughput::Elements(u64::from(count)));
        group.bench_function(BenchmarkId::from_parameter(format!("{count} shots, {} rigs", rigs.len())), |bencher| {
            bencher.iter_custom(|ticks| measure(&mut app, &rigs, count, ticks));
        });
    }
    for (rigs, count) in [(RIGS, 16), (256, 128), (1_024, 1_024)] {
        let (mut app, rigs) = arena(Scene::large(rigs));
        watch(&mut app, LagCompensationSystems::RecordHistory, LagCompensationSystems::ReportVerdicts);
        group.throughput(Throughput::Elements(1));
        let id = BenchmarkId::from_parameter(format!("a whole tick, {count} shots, {} rigs", rigs.len()));
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|ticks| measure(&mut app, &rigs, count, ticks));
        });
    }
    group.finish();
}

fn trace(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge shots at 64 rigs of 19 hitboxes");
    for boxes in [0, 2_000] {
        let (mut app, rigs) = arena(Scene::small(boxes));
        watch(&mut app, LagCompensationSystems::AdmitShots, LagCompensationSystems::ReportVerdicts);
        for count in [1, 128] {
            group.throughput(Throughput::Elements(u64::from(count)));
            let id = BenchmarkId::from_parameter(format!("{count} shots, {boxes} walls"));
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|ticks| measure(&mut app, &rigs, count, ticks));
            });
        }
    }
    group.finish();
}

fn refuse(criterion: &mut Criterion) {
    const SHOTS: u32 = 128;
    let mut group = criterion.benchmark_group("refuse shots at 64 rigs of 19 hitboxes");
    let (mut app, rigs) = arena(Scene::small(0));
    for rig in &rigs {
        app.world_mut().entity_mut(*rig).insert(Muzzle::at(Vec3::Y));
    }
    app.add_systems(FixedLast, |tick: Res<CurrentTick>, mut sent: ResMut<SentTicks>| sent.note(tick.0, 64));
    for _ in 0..64 {
        app.tick();
    }
    watch(&mut app, LagCompensationSystems::AdmitShots, LagCompensationSystems::ReportVerdicts);
    group.throughput(Throughput::Elements(u64::from(SHOTS)));
    let kinds = [
        ("without a direction", Refusal::Direction),
        ("far from the muzzle", Refusal::Muzzle),
        ("with a frozen target", Refusal::Snapshots),
    ];
    for (name, kind) in kinds {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_custom(|ticks| {
                app.world_mut().resource_mut::<Stopwatch>().total = Duration::ZERO;
                for _ in 0..ticks {
                    let shots = refused(shots(&app, &rigs, SHOTS), &rigs, kind);
                    let verdicts = app.judge_all(shots);
                    let refused = |verdict: &Verdict| verdict.as_ref().is_err_and(|no| !no.reason.was_traced());
                    assert!(verdicts.iter().all(refused), "all of them are wrong");
                }
                app.world().resource::<Stopwatch>().total
            });
        });
    }
    group.finish();
}

/// What else is fired than single bullets; and what a game asks for itself.
fn weapons(criterion: &mut Criterion) {
    const SHOTS: u32 = 128;
    let mut group = criterion.benchmark_group("weapons at 64 rigs of 19 hitboxes");
    let (mut app, rigs) = arena(Scene::small(0));
    watch(&mut app, LagCompensationSystems::AdmitShots, LagCompensationSystems::ReportVerdicts);
    group.throughput(Throughput::Elements(u64::from(SHOTS)));
    let attacks = [
        ("bullet", Attack::default()),
        ("8 pellets", Attack::Bullet(Bullet::default().with_pellets(PelletPattern::cone(8, 0.03)))),
        ("piercing bullet", Attack::Bullet(Bullet::default().with_piercing(Piercing::new(1.0)))),
        ("blow", Attack::Swing(Swing::arc(2.5, 0.8))),
        ("blast", Attack::Blast(Blast::new(5.0).rewound())),
    ];
    for (name, attack) in attacks {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_custom(|ticks| {
                app.world_mut().resource_mut::<Stopwatch>().total = Duration::ZERO;
                for _ in 0..ticks {
                    let shots = shots(&app, &rigs, SHOTS).into_iter().map(|shot| shot.with_attack(attack));
                    black_box(app.judge_all(shots));
                }
                app.world().resource::<Stopwatch>().total
            });
        });
    }
    group.finish();
}

/// A thousand rockets at once.
fn projectiles(criterion: &mut Criterion) {
    const ROCKETS: u32 = 1_000;
    let mut group = criterion.benchmark_group("1,000 projectiles at 64 rigs of 19 hitboxes");
    let (mut app, rigs) = arena(Scene::small(0));
    watch(&mut app, LagCompensationSystems::TraceShots, LagCompensationSystems::TraceShots);
    group.throughput(Throughput::Elements(u64::from(ROCKETS)));
    let mut launch = |ticks: u64, catching_up: bool| {
        let mut total = Duration::ZERO;
        for _ in 0..ticks {
            // Upwards, so that they meet nothing and all of them fly on.
            let rocket = Attack::Projectile(Projectile::new(30.0).lasting(32));
            let now = app.now() + 1;
            let delay = if catching_up { 6.4 } else { 0.0 };
            let shots = shots(&app, &rigs, ROCKETS).into_iter().map(|shot| ShotEvent {
                direction: Vec3::Y,
                view_time: Some(ViewTime::before(now, delay)),
                ..shot.with_attack(rocket)
            });
            let shots: Vec<_> = shots.collect();
            app.world_mut().resource_mut::<Stopwatch>().total = Duration::ZERO;
            app.judge_all(shots);
            if !catching_up {
                // Not the tick in which they are spawned.
                app.world_mut().resource_mut::<Stopwatch>().total = Duration::ZERO;
                app.tick();
            }
            total += app.world().resource::<Stopwatch>().total;
            for _ in 0..33 {
                app.tick();
            }
        }
        total
    };
    group.sample_size(10);
    group.bench_function("a tick of live flight", |bencher| bencher.iter_custom(|ticks| launch(ticks, false)));
    group.bench_function("launched, 6.4 ticks of catching up", |bencher| {
        bencher.iter_custom(|ticks| launch(ticks, true));
    });
    group.finish();
}

criterion_group!(benches, record, battlefield, trace, refuse, weapons, projectiles);
criterion_main!(benches);
