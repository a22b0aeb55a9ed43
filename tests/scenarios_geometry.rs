//! Section E of the public faults of hit registration: the geometry of queries. Walls and doors: `scenarios_occluders.rs`.
//!
//! Still missing: the drawing of B58, which is a later issue; on a miss, its poses are those of `RewoundQuery::pose_at`.

#[path = "fixture/runner.rs"]
mod fixture;

use bevy::{
    ecs::{component::ComponentId, resource::IsResource, system::RunSystemOnce},
    prelude::*,
};
use bevy_hindsight::{RejectReason::Missed, RewoundFilter, RewoundQuery, Tick, prelude::*};
use bevy_rapier3d::prelude::*;
use fixture::{Range, assert_near, x};

/// F of this radius in a world with physics, before the first tick.
fn range_with_physics(radius: f32) -> Range {
    let mut range = Range::new(Hitbox::ball(radius));
    range.app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    range.app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    range.app.finish();
    range
}

/// B49: nearest envelope instead of nearest target.
#[test]
fn b49_the_nearest_target_wins_however_large_the_way_of_another_one_is() {
    #[derive(Component)]
    struct Fleeing;
    let mut range = Range::new(Hitbox::ball(0.5));
    let world = range.app.world_mut();
    world.despawn(range.target);
    let near = world.spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 15.0))).id();
    let far = world.spawn((Fleeing, Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 5.0))).id();
    range.app.insert_resource(CurrentTick(Tick(79)));
    range.app.add_systems(FixedUpdate, |mut far: Single<&mut Transform, With<Fleeing>>, tick: Res<CurrentTick>| {
        far.translation.z = 5.0 + tick.0.since(Tick(80)) as f32;
    });
    range.app.run_to(Tick(99));
    // The third one starts behind the near target, and shows that the far one is there.
    let [whole_way, within_the_way, behind] =
        range.fire([(x(0.0), 1.0), (Vec3::Z * 10.0, 1.0), (Vec3::Z * 16.0, 1.0)]).map(Result::unwrap);
    assert_eq!((whole_way.rig, within_the_way.rig, behind.rig), (near, near, far));
    assert_near(whole_way.distance, 14.5);
    assert_near(within_the_way.distance, 4.5);
    assert_near(16.0 + behind.distance, 23.5);

    let all = range.app.world_mut().run_system_once(|query: RewoundQuery| {
        let mut found = Vec::new();
        let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
        query.cast_ray_all(ViewTime::at(Tick(99)), ray, 100.0, &RewoundFilter::new(), &mut found);
        found
    });
    let all: Vec<_> = all.unwrap().iter().map(|crossing| (crossing.met.entity(), crossing.entry)).collect();
    assert_eq!(all, [(Some(near), 14.5), (Some(far), 23.5)]);
}

/// B58, on a miss: what a question tells of a pose is what the shot was tested against.
#[test]
fn b58_the_pose_that_a_miss_was_tested_against_can_be_asked_for() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.run_to(Tick(99));
    let shot = range.shot(x(11.9), 5.5);
    let miss = range.app.judge(shot).unwrap_err();
    let tested = miss.evidence.rigs[0].unwrap();
    let target = range.target;
    let view = miss.evidence.view_time;
    let pose = range.app.world_mut().run_system_once(move |query: RewoundQuery| query.pose_at(view, target));
    let pose = pose.unwrap();
    assert_eq!((pose.pose, pose.evidence.rigs[0]), (Some(tested.root), Some(tested)));
    assert_near(tested.root.translation.x, 0.125 * 94.5);
}

/// B50: physics structures not refreshed after moving things.
#[test]
fn b50_views_and_the_live_world_are_right_one_after_the_other_without_a_step() {
    #[derive(Resource, Default)]
    struct Live([Option<f32>; 3]);
    let mut range = range_with_physics(0.05);
    let body = (RigidBody::KinematicPositionBased, Collider::ball(0.05));
    range.app.world_mut().entity_mut(range.target).insert(body);
    let cast = |rapier: ReadRapierContext, mut live: ResMut<Live>| {
        let world = rapier.single().expect("there is one world");
        let cast = |place| world.cast_ray(x(place), Vec3::Z, 100.0, true, QueryFilter::default());
        live.0 = [11.25, 11.875, 12.5].map(|place| cast(place).map(|(_, distance)| distance));
    };
    range.app.init_resource::<Live>().add_systems(FixedPostUpdate, cast.after(LagCompensationSystems::ReportVerdicts));
    range.app.run_to(Tick(99));
    let [view_90, view_95] = range.fire([(x(11.25), 10.0), (x(11.875), 5.0)]).map(Result::unwrap);
    assert_near(view_90.pose.translation.x, 11.25);
    assert_near(view_95.pose.translation.x, 11.875);
    let Live([at_90, at_95, now]) = *range.app.world().resource::<Live>();
    assert_eq!((at_90, at_95), (None, None));
    assert_near(now.expect("F stands there"), 9.95);
}

/// When each component of each entity was added and changed, where each entity stands, and how many colliders rapier has.
/// Left out: resources (which are components, too) of the library and of this test, and observers, since Bevy notes in each
/// of them that it has seen a verdict.
#[derive(Clone, PartialEq, Debug)]
struct Traces {
    ticks: Vec<(Entity, ComponentId, [u32; 2])>,
    places: Vec<(Entity, [u32; 10])>,
    colliders: usize,
}

impl Traces {
    fn of(world: &mut World) -> Self {
        let mut traces = Self { ticks: Vec::new(), places: Vec::new(), colliders: 0 };
        for entity in world.iter_entities().filter(|entity| !entity.contains::<Observer>()) {
            let is_resource = entity.contains::<IsResource>();
            for component in entity.archetype().components() {
                let name = world.components().get_name(*component).expect("it is registered").to_string();
                if !is_resource || !["bevy_hindsight", "scenarios_geometry"].iter().any(|own| name.contains(own)) {
                    let ticks = entity.get_change_ticks_by_id(*component).expect("the entity has it");
                    traces.ticks.push((entity.id(), *component, [ticks.added.get(), ticks.changed.get()]));
                }
            }
            if let Some(Transform { translation, rotation, scale }) = entity.get::<Transform>() {
                let [x, y, z] = translation.to_array();
                let [i, j, k, w] = rotation.to_array();
                let [a, b, c] = scale.to_array();
                traces.places.push((entity.id(), [x, y, z, i, j, k, w, a, b, c].map(f32::to_bits)));
            }
            traces.colliders += entity.get::<RapierContextColliders>().map_or(0, |context| context.colliders.len());
        }
        traces
    }
}

/// B51: rewinding leaves traces in the world.
#[test]
fn b51_a_thousand_queries_change_nothing_in_the_world() {
    #[derive(Resource)]
    struct Before(Option<Traces>, u32);
    let mut range = range_with_physics(0.5);
    let world = range.app.world_mut();
    world.spawn((Hitbox::ball(0.2).in_zone(Zone::Head), Transform::from_xyz(0.0, 0.6, 0.0), ChildOf(range.target)));
    world.spawn((RigidBody::Dynamic, Collider::ball(0.3), Transform::from_xyz(2.0, 0.0, 5.0)));
    let door = (Occluder::default(), RigidBody::KinematicPositionBased, Collider::cuboid(1.0, 1.0, 0.1));
    world.spawn((door, Transform::from_xyz(9.0, 0.0, 5.0)));
    range
        .app
        .insert_resource(Before(None, 0))
        .add_systems(
            FixedPostUpdate,
            (|world: &mut World| {
                let traces = Traces::of(world);
                world.resource_mut::<Before>().0 = Some(traces);
            })
            .after(LagCompensationSystems::RecordHistory)
            .before(LagCompensationSystems::AdmitShots),
        )
        .add_systems(
            FixedPostUpdate,
            (|world: &mut World| {
                let after = Traces::of(world);
                let mut before = world.resource_mut::<Before>();
                assert_eq!(before.0.as_ref(), Some(&after));
                before.1 += 1;
            })
            .after(LagCompensationSystems::ReportVerdicts),
        );
    range.app.run_to(Tick(99));
    // All over the second that is remembered; one of three at F, the others a metre to its left or right.
    let shots = core::array::from_fn::<_, 1_000, _>(|n| {
        let ticks = n as f32 * 0.064;
        (x(12.5 - 0.125 * ticks + (n % 3) as f32 - 1.0), f64::from(ticks))
    });
    let answers = range.fire(shots);
    let hits = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((50..950).contains(&hits), "some of the shots should hit, not all: {hits}");
    let Before(traces, times) = range.app.world().resource::<Before>();
    assert_eq!(*times, 100);
    let traces = traces.as_ref().unwrap();
    assert_eq!(traces.colliders, 2);
    assert_eq!(traces.places.len(), 5);
    assert!(traces.ticks.len() >= 50, "there should be something to compare: {}", traces.ticks.len());
}

/// B53: origin inside a hitbox.
#[test]
fn b53_a_shot_from_inside_a_hitbox_hits_it_at_once() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.run_to(Tick(99));
    let from = |z| (Vec3::new(11.75, 0.0, z), 6.0);
    let [centre, before, behind] = range.fire([from(10.0), from(9.4), from(10.6)]);
    let centre = centre.unwrap();
    assert_eq!((centre.distance, centre.normal), (0.0, Dir3::NEG_Z));
    assert_near(before.unwrap().distance, 0.1);
    assert_eq!(behind, Err(Missed));
}

/// B58: hitboxes and debug drawing disagree. The pose in the evidence is the one that was tested, and the one in history.
#[test]
fn b58_the_evidence_of_a_hit_holds_the_pose_that_was_tested() {
    let mut range = Range::new(Hitbox::capsule(0.5, 0.3));
    range.app.run_to(Tick(99));
    for delay in [0.0, 5.3, 6.0, 40.7] {
        let shot = range.shot(x(12.5 - 0.125 * delay as f32 + 0.1), delay);
        let confirmed = range.app.judge(shot).unwrap();
        let (hit, evidence) = (confirmed.hit, confirmed.evidence);
        assert_eq!(evidence.hit, Some(hit));
        let ray = Ray3d::new(evidence.origin, Dir3::new(evidence.direction).unwrap());
        assert_eq!(hit.shape.cast_ray(hit.pose, ray, evidence.range), Some(hit.distance));
        let history = range.app.world().get::<HistoryBuffer>(hit.rig).unwrap();
        let drawn = history.sample(evidence.view_time).unwrap().hitboxes().next().unwrap();
        assert_eq!((drawn.entity, drawn.pose, drawn.shape), (hit.hitbox, hit.pose, hit.shape));
    }
}
