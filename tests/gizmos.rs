//! Shots and hitboxes in lines, without a renderer.

use core::{any::TypeId, time::Duration};

use bevy::{
    asset::AssetPlugin,
    color::LinearRgba,
    gizmos::{GizmoHandles, GizmoPlugin, gizmos::GizmoBuffer},
    mesh::MeshPlugin,
    prelude::*,
};
use bevy_hindsight::{
    LagCompensationGizmos, LagCompensationGizmosPlugin, ShotTraced, ShotTracing, Tick, prelude::*, test_app::TestApp,
};

/// A shooter and a target that runs.
fn arena() -> (TestApp, Entity) {
    let mut app = TestApp::new(64.0);
    app.insert_resource(ShotTracing { enabled: true, ..default() })
        .add_systems(FixedUpdate, |mut runner: Single<&mut Transform, With<Hitbox>>| runner.translation.x += 0.1)
        .add_systems(Update, |mut traced: MessageReader<ShotTraced>, mut commands: Commands| {
            for shot in traced.read() {
                commands.insert_resource(Last(shot.clone()));
            }
        });
    let shooter = app.world_mut().spawn(Rig).id();
    app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(-2.0, 0.0, 10.0)));
    (app, shooter)
}

/// The shot that was traced last.
#[derive(Resource)]
struct Last(ShotTraced);

/// With gizmos, once everything is set up.
fn with_gizmos() -> (TestApp, Entity) {
    let (mut app, shooter) = arena();
    app.add_plugins((AssetPlugin::default(), MeshPlugin, GizmoPlugin, LagCompensationGizmosPlugin));
    app.finish();
    (app, shooter)
}

fn shoot(app: &mut TestApp, shooter: Entity) {
    let now = app.now() + 1;
    app.judge_all([ShotEvent::new(shooter, now, Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(now, 5.0))]);
}

fn style(app: &mut TestApp) -> (&mut GizmoConfig, &mut LagCompensationGizmos) {
    app.world_mut().resource_mut::<GizmoConfigStore>().into_inner().config_mut::<LagCompensationGizmos>()
}

/// The colours of all lines of this frame.
fn drawn(app: &TestApp) -> Vec<LinearRgba> {
    let handles = app.world().resource::<GizmoHandles>();
    let handle = handles.handles().get(&TypeId::of::<LagCompensationGizmos>()).and_then(Option::as_ref);
    let assets = app.world().resource::<Assets<GizmoAsset>>();
    let asset = handle.and_then(|handle| assets.get(handle));
    asset.map_or(Vec::new(), |asset| colors_of(&asset.list_colors, &asset.strip_colors))
}

/// Without what is between two strips, which is no color.
fn colors_of(lists: &[LinearRgba], strips: &[LinearRgba]) -> Vec<LinearRgba> {
    lists.iter().chain(strips).copied().filter(|color| !color.alpha.is_nan()).collect()
}

fn of(color: Option<Color>) -> impl Fn(&LinearRgba) -> bool {
    let color = color.map(LinearRgba::from);
    move |drawn| color.is_some_and(|color| color.with_alpha(1.0) == drawn.with_alpha(1.0))
}

#[test]
fn nothing_is_drawn_until_the_game_turns_it_on() {
    let (mut app, shooter) = with_gizmos();
    app.run_to(Tick(20));
    shoot(&mut app, shooter);
    assert_eq!(drawn(&app), []);
    style(&mut app).0.enabled = true;
    app.tick();
    assert_eq!(drawn(&app), [], "what was before is forgotten");
    shoot(&mut app, shooter);
    let (lines, style) = (drawn(&app), style(&mut app).1.clone());
    for color in [style.live, style.rewound, style.ray] {
        assert!(lines.iter().any(of(color)), "{color:?} is drawn");
    }
    assert!(!lines.iter().any(of(style.displayed)), "nobody knows a screen");
}

#[test]
fn shots_fade_evenly_and_are_gone_after_their_life_time() {
    let (mut app, shooter) = with_gizmos();
    app.run_to(Tick(20));
    let (config, own) = style(&mut app);
    config.enabled = true;
    own.life_time = Duration::from_secs(1);
    shoot(&mut app, shooter);
    let alphas: Vec<f32> = (0..70)
        .map(|_| {
            let alpha = drawn(&app).first().map_or(0.0, |color| color.alpha);
            app.tick();
            alpha
        })
        .collect();
    for (tick, alpha) in (0..).zip(&alphas) {
        let expected = (1.0 - tick as f32 / 64.0).max(0.0);
        assert!((alpha - expected).abs() < 1e-3, "{alpha} instead of {expected} after {tick} ticks");
    }
}

#[test]
fn no_more_shots_are_drawn_than_the_game_wants() {
    let (mut app, shooter) = with_gizmos();
    app.run_to(Tick(20));
    style(&mut app).0.enabled = true;
    style(&mut app).1.max_shots = 2;
    shoot(&mut app, shooter);
    let one = drawn(&app).len();
    for _ in 0..4 {
        shoot(&mut app, shooter);
    }
    assert!(one > 0 && drawn(&app).len() == 2 * one, "{} lines for two shots, {one} for one", drawn(&app).len());
}

#[test]
fn all_rigs_are_drawn_where_they_stand() {
    let (mut app, _) = with_gizmos();
    app.run_to(Tick(20));
    let (config, own) = style(&mut app);
    config.enabled = true;
    own.all_rigs = Some(Color::WHITE);
    app.tick();
    let lines = drawn(&app);
    assert!(!lines.is_empty() && lines.iter().all(of(Some(Color::WHITE))));
}

#[test]
fn a_game_keeps_the_style_that_it_has_chosen() {
    let (mut app, _) = arena();
    app.add_plugins((AssetPlugin::default(), MeshPlugin, GizmoPlugin));
    let own = LagCompensationGizmos { max_shots: 3, ..default() };
    app.insert_gizmo_config(own.clone(), GizmoConfig::default());
    app.add_plugins(LagCompensationGizmosPlugin);
    app.finish();
    app.tick();
    assert!(style(&mut app).0.enabled);
    assert_eq!(*style(&mut app).1, own);
}

#[test]
fn without_bevys_plugin_it_does_nothing_and_after_it_all_the_same() {
    let (mut app, shooter) = arena();
    app.add_plugins(LagCompensationGizmosPlugin);
    app.finish();
    app.run_to(Tick(20));
    shoot(&mut app, shooter);

    let (mut app, shooter) = arena();
    app.add_plugins((LagCompensationGizmosPlugin, AssetPlugin::default(), MeshPlugin, GizmoPlugin));
    app.finish();
    app.run_to(Tick(20));
    style(&mut app).0.enabled = true;
    shoot(&mut app, shooter);
    assert!(!drawn(&app).is_empty());
}

#[test]
fn a_shot_can_be_drawn_by_hand_in_other_gizmos() {
    let (mut app, shooter) = arena();
    app.run_to(Tick(20));
    shoot(&mut app, shooter);
    let shot = app.world().resource::<Last>().0.clone();
    let style = LagCompensationGizmos::default();
    let lines = |style: &LagCompensationGizmos, shot: &ShotTraced, alpha| {
        let mut gizmos = GizmoBuffer::<DefaultGizmoConfigGroup, ()>::new();
        style.draw_shot(shot, None, alpha, &mut gizmos);
        colors_of(&gizmos.list_colors, &gizmos.strip_colors)
    };
    let all = lines(&style, &shot, 0.25);
    assert!(!all.is_empty() && all.iter().all(|color| color.alpha == 0.25));
    let no_live = LagCompensationGizmos { live: None, ..style.clone() };
    let left = lines(&no_live, &shot, 1.0);
    assert!(left.iter().any(of(style.rewound)) && !left.iter().any(of(style.live)));
    let mut broken = shot;
    broken.origin = Vec3::NAN;
    assert!(!lines(&style, &broken, 1.0).iter().any(of(style.ray)), "a ray from nowhere");
}
