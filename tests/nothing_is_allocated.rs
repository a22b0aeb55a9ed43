//! After warm-up, neither recording nor judging asks for memory.
//!
//! The only test of this file: the allocator counts for the whole process.

use std::alloc::System;

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*};
use bevy_hindsight::{
    Attack, Beam, Blast, Bullet, PelletPattern, Piercing, PoseStorage, Swing, prelude::*, test_app::TestApp,
};
use bevy_rapier3d::prelude::*;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Resource)]
struct Counter {
    region: Region<'static, System>,
    allocations: usize,
}

fn start_counting(mut counter: ResMut<Counter>) {
    counter.region.reset();
}

fn stop_counting(mut counter: ResMut<Counter>) {
    let change = counter.region.change();
    counter.allocations += change.allocations + change.reallocations;
}

fn swing(mut rigs: Query<&mut Transform, With<Rig>>, tick: Res<CurrentTick>) {
    for mut transform in &mut rigs {
        transform.translation.x = (tick.0.0 % 40) as f32 * 0.1;
    }
}

/// The sway of a door, and of a player who crouches twice a second.
fn sway(mut doors: Query<&mut Transform, With<Occluder>>, mut hitboxes: Query<&mut Hitbox>, tick: Res<CurrentTick>) {
    for mut transform in &mut doors {
        transform.translation.x = (tick.0.0 % 30) as f32 * 0.1;
    }
    let crouching = tick.0.0 % 32 < 16;
    for mut hitbox in &mut hitboxes {
        hitbox.shape = Shape::Capsule { half_height: if crouching { 0.05 } else { 0.1 }, radius: 0.08 };
    }
}

fn arena(storage: PoseStorage) -> (TestApp, Entity) {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })
        .insert_resource(Counter { region: Region::new(ALLOCATOR), allocations: 0 })
        .add_systems(FixedUpdate, (swing, sway))
        .add_systems(
            FixedPostUpdate,
            (
                start_counting.before(LagCompensationSystems::RecordHistory),
                stop_counting.after(LagCompensationSystems::ReportVerdicts),
            ),
        );
    app.finish();
    // On several threads the executor itself allocates, between our systems.
    app.world_mut().resource_mut::<Schedules>().iter_mut().for_each(|(_, schedule)| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    let world = app.world_mut();
    world.resource_mut::<LagCompensationConfig>().storage = storage;
    let shooter = world.spawn(Rig).id();
    for n in 0..16 {
        let rig = world.spawn((Rig, Transform::from_xyz(0.0, 0.0, 10.0 + n as f32))).id();
        for height in 0..19 {
            let place = Transform::from_xyz(0.0, 0.1 * height as f32 - 1.0, 0.0);
            world.spawn((Hitbox::capsule(0.1, 0.08), place, ChildOf(rig)));
        }
    }
    let door = Transform::from_xyz(0.0, 0.0, 20.5);
    world.spawn((Occluder::default(), Collider::cuboid(0.3, 2.0, 0.1), door));
    world.spawn((RigidBody::Fixed, Collider::cuboid(9.0, 9.0, 0.5), Transform::from_xyz(0.0, 0.0, 40.0)));
    (app, shooter)
}

/// Every kind of weapon but projectiles, which are entities and so are spawned.
fn attack(n: u32) -> Attack {
    let pellets = PelletPattern::cone(8, 0.1).seeded(n);
    match n % 6 {
        0 => Attack::Bullet(Bullet::default().with_pellets(pellets)),
        1 => Attack::Bullet(Bullet::default().with_piercing(Piercing::new(1.0))),
        2 => Attack::Bullet(Bullet::default().with_pellets(pellets).with_piercing(Piercing::new(1.0))),
        3 => Attack::Swing(Swing::arc(12.0, 0.5).lasting(4)),
        4 => Attack::Beam(Beam { ticks: 4 }),
        _ => Attack::Blast(Blast::new(15.0).rewound()),
    }
}

#[test]
fn recording_and_judging_allocate_nothing_after_warm_up() {
    for storage in [PoseStorage::Full, PoseStorage::Compact] {
        let (mut app, shooter) = arena(storage);
        let (mut hits, mut blocked_by_door) = (0, 0);
        for round in 0..300 {
            if round == 150 {
                app.world_mut().resource_mut::<Counter>().allocations = 0;
            }
            let now = app.now() + 1;
            let shots = (0..32).map(|n| {
                let view = ViewTime::before(now, f64::from(n) * 0.45);
                let shot = ShotEvent::new(shooter, now, Vec3::X * n as f32 * 0.1, Vec3::Z).seen_at(view);
                if n < 20 { shot } else { shot.with_attack(attack(n)) }
            });
            for verdict in app.judge_all(shots) {
                hits += u32::from(verdict.is_ok());
                let blocker = verdict.err().and_then(|rejection| rejection.evidence.blocker);
                blocked_by_door += u32::from(blocker.is_some_and(|blocker| blocker.rewound));
            }
        }
        assert!(hits > 200 && blocked_by_door > 200, "{hits} hits, {blocked_by_door} met the door");
        assert_eq!(app.world().resource::<Counter>().allocations, 0, "{storage:?}");
    }
}
