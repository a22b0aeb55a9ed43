//! Whatever happens to colliders, rays meet them in the next tick as they are.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_hindsight::{RewoundFilter, RewoundQuery, Tick, prelude::*, test_app::TestApp};
use bevy_rapier3d::{prelude::*, rapier::prelude as rapier};
use proptest::prelude::*;

/// What happens to the wall with a number.
#[derive(Clone, Copy, Debug)]
enum Change {
    Move([f32; 3]),
    Turn(f32),
    Reshape(u8),
    Despawn,
    /// Puts in or takes out one of its components.
    Toggle(u8),
    Group(bool),
}

fn changes() -> impl Strategy<Value = (usize, Change)> {
    let change = prop_oneof![
        3 => place().prop_map(Change::Move),
        1 => (0.0_f32..3.0).prop_map(Change::Turn),
        1 => (0_u8..5).prop_map(Change::Reshape),
        1 => Just(Change::Despawn),
        2 => (0_u8..3).prop_map(Change::Toggle),
        1 => any::<bool>().prop_map(Change::Group),
    ];
    (any::<usize>(), change)
}

fn place() -> impl Strategy<Value = [f32; 3]> {
    prop::array::uniform3(-20.0_f32..20.0)
}

fn shape(kind: u8) -> Collider {
    match kind {
        0 => Collider::cuboid(1.0, 2.0, 0.5),
        1 => Collider::ball(1.5),
        2 => {
            let corners = [
                Vec3::new(-2.0, -2.0, 0.0),
                Vec3::new(2.0, -2.0, 0.3),
                Vec3::new(2.0, 2.0, 0.0),
                Vec3::new(-2.0, 2.0, 0.5),
            ];
            Collider::trimesh(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).expect("it is a mesh")
        }
        3 => Collider::heightfield(vec![0.0, 0.5, 0.2, 0.1, 0.7, 0.0, 0.3, 0.1, 0.4], 3, 3, Vec3::new(4.0, 1.0, 4.0)),
        _ => {
            let half = Collider::cuboid(0.4, 0.4, 0.4);
            Collider::compound(vec![(Vec3::X, Quat::IDENTITY, half.clone()), (Vec3::NEG_X, Quat::IDENTITY, half)])
        }
    }
}

fn groups(is_solid: bool) -> CollisionGroups {
    CollisionGroups::new(if is_solid { Group::GROUP_1 } else { Group::GROUP_2 }, Group::ALL)
}

fn toggle<C: Component>(app: &mut TestApp, entity: Entity, component: C) {
    let mut entity = app.world_mut().entity_mut(entity);
    if entity.contains::<C>() {
        entity.remove::<C>()
    } else {
        entity.insert(component)
    };
}

fn apply(app: &mut TestApp, walls: &mut Vec<Entity>, number: usize, change: Change) {
    if walls.is_empty() {
        return;
    }
    let number = number % walls.len();
    let wall = walls[number];
    match change {
        Change::Move(place) => {
            app.world_mut().get_mut::<Transform>(wall).expect("it has one").translation = place.into();
        }
        Change::Turn(turn) => app.world_mut().get_mut::<Transform>(wall).expect("it has one").rotate_y(turn),
        Change::Reshape(kind) => *app.world_mut().get_mut::<Collider>(wall).expect("it has one") = shape(kind),
        Change::Despawn => {
            app.world_mut().despawn(wall);
            walls.swap_remove(number);
        }
        Change::Toggle(0) => toggle(app, wall, Sensor),
        Change::Toggle(1) => toggle(app, wall, ColliderDisabled),
        Change::Toggle(_) => toggle(app, wall, Unhittable),
        Change::Group(is_solid) => {
            app.world_mut().entity_mut(wall).insert(groups(is_solid));
        }
    }
}

/// The first collider on a ray that stops it, found by asking all of them.
fn reference(world: &mut World, ray: Ray3d, range: f32) -> Option<f32> {
    let context = world.query::<&RapierContextColliders>().single(world).expect("there is one");
    let solid = context.colliders.iter().filter(|(_, collider)| {
        let is_group = collider.collision_groups().memberships.contains(rapier::Group::GROUP_1);
        let entity = Entity::from_bits(collider.user_data as u64);
        is_group && collider.is_enabled() && !collider.is_sensor() && world.get::<Unhittable>(entity).is_none()
    });
    let ray = rapier::Ray::new(ray.origin, *ray.direction);
    let met = solid.filter_map(|(_, collider)| collider.shape().cast_ray(collider.position(), &ray, range, true));
    met.min_by(f32::total_cmp)
}

fn met(world: &mut World, ray: Ray3d, range: f32) -> Option<f32> {
    let ask = move |query: RewoundQuery, tick: Res<CurrentTick>| {
        let filter = RewoundFilter::new().groups(CollisionGroups::new(Group::ALL, Group::GROUP_1));
        query.cast_ray(ViewTime::at(tick.0), ray, range, &filter).blocker.map(|wall| wall.distance)
    };
    world.run_system_once(ask).expect("it runs")
}

fn app() -> TestApp {
    let mut app = TestApp::new(64.0);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
    app.finish();
    app
}

fn spawn(app: &mut TestApp, kind: u8, place: [f32; 3]) -> Entity {
    let body = if kind.is_multiple_of(2) { RigidBody::Fixed } else { RigidBody::KinematicPositionBased };
    let at = Transform::from_translation(place.into());
    app.world_mut().spawn((body, shape(kind), groups(true), at)).id()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn colliders_that_come_go_move_and_change_are_met_as_they_are_in_the_next_tick(
        first in prop::collection::vec((0_u8..5, place()), 0..120),
        script in prop::collection::vec(
            (prop::collection::vec(changes(), 0..6), prop::collection::vec((0_u8..5, place()), 0..3), any::<bool>()),
            1..8,
        ),
        rays in prop::collection::vec((place(), prop::array::uniform3(-1.0_f32..1.0)), 24),
    ) {
        let mut app = app();
        let mut walls: Vec<_> = first.into_iter().map(|(kind, place)| spawn(&mut app, kind, place)).collect();
        for (changes, come, more) in script {
            changes.into_iter().for_each(|(number, change)| apply(&mut app, &mut walls, number, change));
            walls.extend(come.into_iter().map(|(kind, place)| spawn(&mut app, kind, place)));
            if more {
                // So many at once that they are taken for a new part of the level.
                let row = (0..50_u8).map(|n| (n % 5, [f32::from(n) - 25.0, 3.0, 30.0]));
                walls.extend(row.map(|(kind, place)| spawn(&mut app, kind, place)));
            }
            app.tick();
            for (origin, direction) in &rays {
                let Ok(direction) = Dir3::new((*direction).into()) else { continue };
                let ray = Ray3d::new((*origin).into(), direction);
                let (found, expected) = (met(app.world_mut(), ray, 60.0), reference(app.world_mut(), ray, 60.0));
                let is_close = match (found, expected) {
                    (Some(found), Some(expected)) => (found - expected).abs() < 1e-3,
                    (found, expected) => found == expected,
                };
                // What a ray only just touches is a matter of rounding.
                let grazes = found.is_some() != expected.is_some() && {
                    let aside = Ray3d::new(ray.origin + ray.direction.any_orthonormal_vector() * 1e-3, direction);
                    reference(app.world_mut(), aside, 60.0).is_some() != expected.is_some()
                };
                prop_assert!(is_close || grazes, "{found:?} instead of {expected:?} on {ray:?}");
            }
        }
    }
}

/// Rapier steps after the boxes have been compared: its own tree is asked until they are compared again.
#[test]
fn a_wall_that_rapier_has_moved_since_is_met_where_it_is() {
    let mut app = app();
    let wall = spawn(&mut app, 0, [0.0, 0.0, 10.0]);
    app.run_to(Tick(5));
    let ahead = Ray3d::new(Vec3::ZERO, Dir3::Z);
    assert_eq!(met(app.world_mut(), ahead, 60.0), Some(9.5));
    app.world_mut().get_mut::<Transform>(wall).expect("it has one").translation.z = 20.0;
    app.world_mut().run_schedule(FixedUpdate);
    assert_eq!(met(app.world_mut(), ahead, 60.0), Some(19.5));
    let new = spawn(&mut app, 0, [0.0, 0.0, 5.0]);
    app.world_mut().run_schedule(FixedUpdate);
    assert_eq!(met(app.world_mut(), ahead, 60.0), Some(4.5));
    app.world_mut().despawn(new);
    app.world_mut().run_schedule(FixedUpdate);
    assert_eq!(met(app.world_mut(), ahead, 60.0), Some(19.5));
}
