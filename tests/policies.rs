//! How a view time is found is the server's choice, and a weapon's.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{ConnectionDelay, DisplayedRig, SentTicks, SnapshotPair, Tick, prelude::*, test_app::TestApp};

/// Speeds up along X: at tick T it stands at x = T² / 1,000.
fn speed_up(mut runners: Query<&mut Transform, With<Hitbox>>, tick: Res<CurrentTick>) {
    for mut transform in &mut runners {
        transform.translation.x = place(f64::from(tick.0.0));
    }
}

fn place(tick: f64) -> f32 {
    (tick * tick / 1_000.0) as f32
}

const SOURCES: [ViewSource; 5] =
    [ViewSource::AsDisplayed, ViewSource::Reported, ViewSource::Estimated, ViewSource::Textbook, ViewSource::None];

/// Where each source puts the target, for a shot of tick 100 that is judged in that tick: between snapshots 88 and 96, in
/// the middle of which the view time lies; two ticks of round trip, three of interpolation, one of waiting.
fn expected(source: ViewSource) -> f32 {
    match source {
        ViewSource::AsDisplayed => place(88.0).midpoint(place(96.0)),
        ViewSource::Reported => place(92.0),
        ViewSource::Estimated => place(94.0),
        ViewSource::Textbook => place(96.0),
        _ => place(100.0),
    }
}

fn arena() -> (TestApp, ShotEvent) {
    let tick = Duration::from_nanos(15_625_000);
    let mut app = TestApp::new(64.0);
    app.add_systems(FixedUpdate, speed_up);
    let shooter = app.world_mut().spawn(Rig).id();
    let target = app.world_mut().spawn((Rig, Hitbox::ball(0.005), Transform::from_xyz(0.0, 0.0, 10.0))).id();
    app.run_to(Tick(99));
    for sent in [80, 88, 96] {
        app.world_mut().resource_mut::<SentTicks>().note(Tick(sent), 64);
    }
    let delay = ConnectionDelay { round_trip: 2 * tick, interpolation: 3 * tick, wait: tick, ..default() };
    let link = app.world_mut().spawn(delay).id();
    let shot = ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).from_link(link);
    let rig = DisplayedRig::interpolated(target, SnapshotPair::new(Tick(88), Tick(96)));
    (app, shot.seen_at(ViewTime::at(Tick(92))).made_of(&[rig]))
}

#[test]
fn each_source_tests_the_target_where_it_says_and_the_evidence_names_it() {
    for source in SOURCES {
        for by_weapon in [false, true] {
            let (mut app, mut shot) = arena();
            let other = if source == ViewSource::None { ViewSource::Estimated } else { ViewSource::None };
            app.world_mut().resource_mut::<LagCompensationConfig>().view_source =
                if by_weapon { other } else { source };
            shot.view_source = by_weapon.then_some(source);
            shot.origin.x = expected(source);
            let hit = app.judge(shot).expect("it stands there");
            assert_eq!(hit.evidence.view_source, source);
        }
    }
}

#[test]
fn a_tick_of_shots_may_use_all_sources_side_by_side() {
    let (mut app, shot) = arena();
    let shots = SOURCES.map(|source| {
        let origin = Vec3::X * expected(source);
        ShotEvent { origin, ..shot.judged_by(source) }
    });
    let verdicts = app.judge_all(shots);
    let hits: Vec<_> = verdicts.iter().flatten().map(|hit| hit.evidence.view_source).collect();
    assert_eq!(hits, SOURCES);
}
