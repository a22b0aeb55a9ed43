//! Pauses, slow motion and frame rates change when ticks happen, and not what happens in them.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_hindsight::{prelude::*, test_app::TestApp};

#[derive(Resource, Default)]
struct Said(Vec<(u32, Option<u32>)>);

fn run(mut runners: Query<&mut Transform, With<Hitbox>>, time: Res<Time>) {
    for mut transform in &mut runners {
        transform.translation.x += 8.0 * time.delta_secs();
    }
}

/// In each tick, a shot at where the runner was a few ticks ago, and one at where it is now.
fn fire(
    tick: Res<CurrentTick>,
    shooter: Single<Entity, (With<Rig>, Without<Hitbox>)>,
    mut shots: MessageWriter<ShotEvent>,
) {
    let delay = f64::from(tick.0.0 % 12) + 0.25;
    for (n, aim) in [(0, delay), (1, 0.0)] {
        let x = 0.125 * (f64::from(tick.0.0) - aim) as f32;
        let shot = ShotEvent::new(*shooter, tick.0, Vec3::X * x, Vec3::Z).with_id(ShotId::local(tick.0.0 * 2 + n));
        shots.write(shot.seen_at(ViewTime::before(tick.0, delay)));
    }
}

fn play(change: impl Fn(&mut TestApp, u32)) -> Vec<(u32, Option<u32>)> {
    let mut app = TestApp::new(64.0);
    app.init_resource::<Said>()
        .add_systems(FixedUpdate, (run, fire).chain())
        .add_observer(|hit: On<HitConfirmed>, mut said: ResMut<Said>| {
            said.0.push((hit.shot.sequence, Some(hit.hit.point.x.to_bits())));
        })
        .add_observer(|rejection: On<HitRejected>, mut said: ResMut<Said>| {
            said.0.push((rejection.shot.sequence, None));
        });
    app.world_mut().spawn(Rig);
    app.world_mut().spawn((Rig, Hitbox::ball(0.05), Transform::from_xyz(0.0, 0.0, 10.0)));
    let mut frame = 0;
    while app.now().0 < 200 {
        change(&mut app, frame);
        app.update();
        frame += 1;
        assert!(frame < 100_000, "time stands still");
    }
    let mut said = core::mem::take(&mut app.world_mut().resource_mut::<Said>().0);
    said.retain(|(sequence, _)| *sequence < 400);
    said
}

fn every(frame: f64) -> TimeUpdateStrategy {
    TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(frame))
}

#[test]
fn pauses_speeds_and_frame_rates_leave_every_verdict_as_it_was() {
    let expected = play(|_, _| {});
    let hits = expected.iter().filter(|(_, point)| point.is_some()).count();
    assert!((180..=250).contains(&hits), "most of the rewound shots hit, most of the others do not: {hits}");

    let compare = |name, said| assert_eq!(said, expected, "{name}");
    let frames = |strategy: fn() -> TimeUpdateStrategy| {
        play(|app, _| {
            app.insert_resource(strategy());
        })
    };
    compare("three ticks a frame", frames(|| TimeUpdateStrategy::FixedTimesteps(3)));
    compare("144 frames a second", frames(|| every(1.0 / 144.0)));
    compare("20 frames a second", frames(|| every(1.0 / 20.0)));
    compare(
        "slow motion",
        play(|app, frame| {
            let speed = if frame % 100 < 50 { 0.3 } else { 2.5 };
            app.world_mut().resource_mut::<Time<Virtual>>().set_relative_speed(speed);
        }),
    );
    compare(
        "pauses",
        play(|app, frame| {
            let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
            if frame % 30 < 10 { time.pause() } else { time.unpause() }
        }),
    );
}
