//! Questions to the past meet what their filter lets through, and say where nothing is remembered.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_hindsight::{Met, RewoundFilter, RewoundQuery, Shape, Tick, prelude::*, test_app::TestApp};
use bevy_rapier3d::prelude::*;

/// At tick 40, along Z: a rig with a head before its chest at 5, another one at 8, and a wall of group 1 at 12.
struct Lane {
    app: TestApp,
    near: Entity,
    far: Entity,
    wall: Entity,
}

impl Lane {
    fn new() -> Self {
        let mut app = TestApp::new(64.0);
        app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
        app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
        app.finish();
        let world = app.world_mut();
        let head = (Hitbox::ball(0.2).in_zone(Zone::Head), Transform::from_xyz(0.0, 0.0, -1.0));
        let near = (Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 5.0), children![head]);
        let near = world.spawn(near).id();
        let far = world.spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 8.0))).id();
        let groups = CollisionGroups::new(Group::GROUP_1, Group::ALL);
        let wall = (RigidBody::Fixed, Collider::cuboid(2.0, 2.0, 0.5), groups, Transform::from_xyz(0.0, 0.0, 12.0));
        let wall = world.spawn(wall).id();
        app.run_to(Tick(40));
        Self { app, near, far, wall }
    }

    /// The rig and the wall that a ray along Z meets first, at 30 ticks before the present.
    fn cast(
        &mut self,
        filter: impl Fn(RewoundFilter<'static>) -> RewoundFilter<'static> + Send + Sync + 'static,
    ) -> (Option<(Entity, Zone)>, Option<Entity>) {
        let cast = self.app.world_mut().run_system_once(move |query: RewoundQuery| {
            let (view, ray, filter) =
                (ViewTime::at(Tick(10)), Ray3d::new(Vec3::ZERO, Dir3::Z), filter(RewoundFilter::new()));
            let cast = query.cast_ray(view, ray, 50.0, &filter);
            let first = cast.victim().map(Met::Hitbox).or(cast.blocker.map(Met::Wall));
            assert_eq!(query.cast_ray_first(view, ray, 50.0, &filter), first);
            let (mut firsts, aside) = (Vec::new(), Dir3::from_xyz(1.0, 0.0, 2.0).expect("a way"));
            query.cast_rays_first(view, ray.origin, &[aside, Dir3::Z, aside], 50.0, &filter, &mut firsts);
            assert_eq!(firsts[1], first);
            cast
        });
        let cast = cast.expect("the question can be asked");
        (cast.hit.map(|hit| (hit.rig, hit.zone)), cast.blocker.and_then(|wall| wall.entity))
    }
}

#[test]
fn a_filter_lets_through_what_it_says_and_no_more() {
    let mut lane = Lane::new();
    let Lane { near, far, wall, .. } = lane;
    let torso = |rig| Some((rig, Zone::Torso));
    assert_eq!(lane.cast(|all| all), (Some((near, Zone::Head)), Some(wall)));
    assert_eq!(lane.cast(move |all| all.fired_by(near)), (torso(far), Some(wall)));
    assert_eq!(lane.cast(|all| all.zones(&|zone| zone != Zone::Head)), (torso(near), Some(wall)));
    assert_eq!(lane.cast(|all| all.targets(0)), (None, Some(wall)));
    assert_eq!(lane.cast(|all| all.rigs(&|_| false)), (None, Some(wall)));
    assert_eq!(lane.cast(RewoundFilter::walls_only), (None, Some(wall)));
    assert_eq!(lane.cast(RewoundFilter::through_walls), (Some((near, Zone::Head)), None));
    let group = |group| CollisionGroups::new(Group::ALL, group);
    assert_eq!(lane.cast(move |all| all.groups(group(Group::GROUP_1))).1, Some(wall));
    assert_eq!(lane.cast(move |all| all.groups(group(Group::GROUP_2))).1, None);
    let excluded: &'static [Entity] = Vec::leak(vec![near, wall]);
    assert_eq!(lane.cast(move |all| all.without(excluded)), (torso(far), None));
    lane.app.world_mut().get_mut::<Life>(near).expect("a rig has a life").end();
    lane.app.run_to(Tick(60));
    let mut corpses = |corpses| {
        let cast = lane.app.world_mut().run_system_once(move |query: RewoundQuery| {
            let filter = RewoundFilter::new().corpses(corpses);
            query.cast_ray(ViewTime::at(Tick(55)), Ray3d::new(Vec3::ZERO, Dir3::Z), 50.0, &filter)
        });
        cast.expect("the question can be asked").hit.map(|hit| hit.rig)
    };
    assert_eq!((corpses(false), corpses(true)), (Some(far), Some(near)));
}

#[test]
fn outside_of_what_is_remembered_nobody_is_there_and_the_evidence_says_so() {
    let mut lane = Lane::new();
    lane.app.run_to(Tick(200));
    for (tick, remembered) in [(200, true), (136, true), (135, false), (201, false)] {
        let cast = lane.app.world_mut().run_system_once(move |query: RewoundQuery| {
            let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
            query.cast_ray(ViewTime::at(Tick(tick)), ray, 50.0, &RewoundFilter::new())
        });
        let cast = cast.expect("the question can be asked");
        assert_eq!((cast.evidence.remembered, cast.hit.is_some()), (remembered, remembered), "tick {tick}");
        // Rigs that were tested are told of on a miss, too; what never moves stands where it stands.
        assert_eq!((cast.evidence.rigs[0].is_some(), cast.blocker.is_some()), (remembered, true), "tick {tick}");
    }
}

#[test]
fn the_nearest_things_are_found_however_far_off() {
    let mut lane = Lane::new();
    let (near, wall) = (lane.near, lane.wall);
    let cast = lane.app.world_mut().run_system_once(|query: RewoundQuery| {
        query.closest_point(ViewTime::at(Tick(10)), Vec3::ZERO, f32::INFINITY, &RewoundFilter::new())
    });
    let cast = cast.expect("the question can be asked");
    assert_eq!(cast.hit.map(|hit| (hit.rig, hit.zone)), Some((near, Zone::Head)));
    assert_eq!(cast.blocker.and_then(|wall| wall.entity), Some(wall));
}

/// `Transform::forward` and its like have such directions; and a range need not end.
#[test]
fn rays_along_negative_zeros_and_without_end_meet_what_others_do() {
    let mut lane = Lane::new();
    for (direction, range) in [(Dir3::Z, 100.0), (-Dir3::NEG_Z, 100.0), (-Dir3::NEG_Z, f32::INFINITY)] {
        let ask = move |query: RewoundQuery| {
            // The first rays ask rapier's own tree, later ones another.
            let view = ViewTime::before(Tick(40), 30.0);
            let ray = Ray3d::new(Vec3::ZERO, direction);
            [(); 40].map(|()| query.cast_ray(view, ray, range, &RewoundFilter::new()))
        };
        let casts = lane.app.world_mut().run_system_once(ask).expect("it runs");
        for cast in casts {
            assert_eq!(cast.hit.map(|hit| hit.rig), Some(lane.near), "{direction:?}");
            assert_eq!(cast.blocker.and_then(|wall| wall.entity), Some(lane.wall), "{direction:?}");
        }
    }
}

/// The wall stands behind everyone, before everyone, and around the first head; rays begin before all, in the head, and in the chest.
#[test]
fn what_is_met_first_is_the_victim_or_else_the_blocker_and_in_a_tie_the_wall() {
    let mut lane = Lane::new();
    let (near, far, wall) = (lane.near, lane.far, lane.wall);
    for (tick, z, expected) in
        [(60, 12.0, [near, near, near, far]), (70, 2.0, [wall, near, near, far]), (80, 4.0, [wall, wall, near, far])]
    {
        lane.app.world_mut().get_mut::<Transform>(wall).expect("it has one").translation.z = z;
        lane.app.run_to(Tick(tick));
        let ask = move |query: RewoundQuery| {
            let (view, filter) = (ViewTime::before(Tick(tick), 0.5), RewoundFilter::new());
            [0.0, 3.9, 5.0, 6.0].map(|from| {
                let ray = Ray3d::new(Vec3::Z * from, Dir3::Z);
                let cast = query.cast_ray(view, ray, 50.0, &filter);
                let first = query.cast_ray_first(view, ray, 50.0, &filter);
                assert_eq!(first, cast.victim().map(Met::Hitbox).or(cast.blocker.map(Met::Wall)));
                first.and_then(|met| met.hitbox().map(|hit| hit.rig).or(met.entity()))
            })
        };
        let first = lane.app.world_mut().run_system_once(ask).expect("it runs");
        assert_eq!(first, expected.map(Some), "the wall at {z}");
    }
}

/// A game's own question may begin nowhere: nothing is met there, and nothing panics, whoever has been despawned.
#[test]
fn rays_that_begin_nowhere_meet_nothing() {
    let mut lane = Lane::new();
    for _ in 0..2 {
        let ask = |query: RewoundQuery| {
            let view = ViewTime::before(Tick(40), 5.0);
            [Vec3::NAN, Vec3::INFINITY]
                .map(|from| query.cast_ray(view, Ray3d::new(from, Dir3::Z), f32::INFINITY, &RewoundFilter::new()))
        };
        let casts = lane.app.world_mut().run_system_once(ask).expect("it runs");
        assert!(casts.iter().all(|cast| cast.hit.is_none()), "{casts:?}");
        lane.app.world_mut().despawn(lane.near);
        lane.app.world_mut().despawn(lane.far);
        (0..30).for_each(|_| lane.app.tick());
        lane.near = lane.app.world_mut().spawn_empty().id();
        lane.far = lane.app.world_mut().spawn_empty().id();
    }
}

#[test]
fn shapes_on_a_way_without_end_meet_what_others_do() {
    let mut lane = Lane::new();
    let (near, wall) = (lane.near, lane.wall);
    for (direction, from, expected) in [(Dir3::Z, -3.0, near), (-Dir3::Z, 30.0, lane.far)] {
        let ask = move |query: RewoundQuery| {
            let (view, filter) = (ViewTime::before(Tick(40), 30.0), RewoundFilter::new());
            let (ball, from) = (Shape::Ball { radius: 0.1 }, Isometry3d::from_xyz(0.0, 0.0, from));
            [100.0, f32::INFINITY].map(|range| query.cast_shape(view, ball, from, direction, range, &filter))
        };
        let [near, endless] = lane.app.world_mut().run_system_once(ask).expect("it runs");
        assert_eq!(near, endless);
        assert_eq!(endless.hit.map(|hit| hit.rig), Some(expected));
        assert_eq!(endless.blocker.and_then(|wall| wall.entity), Some(wall));
    }
}

/// A new round, for some; until they are recorded again, they have no past.
#[test]
fn who_has_got_another_history_is_not_found_by_the_old_one() {
    let mut lane = Lane::new();
    let (near, far) = (lane.near, lane.far);
    *lane.app.world_mut().get_mut::<HistoryBuffer>(near).expect("a rig has one") = HistoryBuffer::default();
    assert_eq!(lane.cast(|all| all).0, Some((far, Zone::Torso)));
    lane.app.run_to(Tick(41));
    assert_eq!(lane.cast(|all| all).0, Some((far, Zone::Torso)), "30 ticks ago, it had none");
}

/// A game may have computed a range wrongly. One who has gone is held against the ray by other means than those who are there.
#[test]
fn ranges_that_are_less_than_nothing_or_no_numbers_meet_nothing_and_panic_nowhere() {
    let mut lane = Lane::new();
    lane.app.world_mut().resource_mut::<LagCompensationConfig>().tombstones = true;
    let near = lane.near;
    lane.app.world_mut().despawn(near);
    lane.app.run_to(Tick(42));
    for range in [-1.0, f32::NAN, f32::NEG_INFINITY] {
        let ask = move |query: RewoundQuery| {
            let (filter, view) = (RewoundFilter::new(), ViewTime::at(Tick(30)));
            // From within a hitbox, too.
            for from in [0.0, 5.0, 8.0] {
                let from = Vec3::Z * from;
                let ray = Ray3d::new(from, Dir3::Z);
                let cast = query.cast_ray(view, ray, range, &filter);
                assert!(cast.hit.is_none() && cast.blocker.is_none(), "{cast:?}");
                assert_eq!(query.cast_ray_first(view, ray, range, &filter), None);
                let mut firsts = Vec::new();
                for others in [Dir3::Z, Dir3::NEG_Z] {
                    query.cast_rays_first(view, from, &[Dir3::Z, others], range, &filter, &mut firsts);
                    assert_eq!(firsts, [None, None]);
                }
                query.cast_rays_first(view, from, &[], 10.0, &filter, &mut firsts);
                assert!(firsts.is_empty());
                let mut crossings = Vec::new();
                query.cast_ray_all(view, ray, range, &filter, &mut crossings);
                assert!(crossings.is_empty(), "{crossings:?}");
                let ball = Shape::Ball { radius: 0.1 };
                let cast = query.cast_shape(view, ball, Isometry3d::from_translation(from), Dir3::Z, range, &filter);
                assert!(cast.hit.is_none() && cast.blocker.is_none(), "{cast:?}");
                let near = query.closest_point(view, from, range, &filter);
                assert!(near.hit.is_none() && near.blocker.is_none(), "{near:?}");
            }
        };
        lane.app.world_mut().run_system_once(ask).expect("it runs");
    }
}
