//! Bullets that pass through things, as far as their energy lasts.

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Bullet, Piercing, RejectReason, Resistance, WallPierced,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use bevy_rapier3d::prelude::*;

#[derive(Resource, Default)]
struct Pierced(Vec<WallPierced>);

/// An app with physics and a shooter in the origin, who shoots along Z.
struct Gallery {
    app: TestApp,
    shooter: Entity,
}

impl Gallery {
    fn new() -> Self {
        let mut app = TestApp::new(64.0);
        app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
        app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 });
        app.init_resource::<Pierced>();
        app.add_systems(Update, |mut messages: MessageReader<WallPierced>, mut pierced: ResMut<Pierced>| {
            pierced.0.extend(messages.read());
        });
        app.finish();
        let shooter = app.world_mut().spawn(Rig).id();
        Self { app, shooter }
    }

    /// A figure at z with an arm before its chest; they overlap.
    fn figure(&mut self, z: f32) -> Entity {
        let arm = (Hitbox::ball(0.2).in_zone(Zone::Arm), Transform::from_xyz(0.0, 0.0, -0.5));
        let body = (Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, z));
        self.app.world_mut().spawn((body, children![arm])).id()
    }

    fn wall(&mut self, z: f32, thickness: f32) -> Entity {
        let collider = Collider::cuboid(2.0, 2.0, 0.5 * thickness);
        self.app.world_mut().spawn((RigidBody::Fixed, collider, Transform::from_xyz(0.0, 0.0, z))).id()
    }

    fn fire(&mut self, piercing: Piercing) -> (Vec<Verdict>, Vec<WallPierced>) {
        for _ in 0..3 {
            self.app.tick();
        }
        let now = self.app.now() + 1;
        let attack = Attack::Bullet(Bullet::default().with_piercing(piercing));
        let shot = ShotEvent::new(self.shooter, now, Vec3::ZERO, Vec3::Z).with_attack(attack).with_range(100.0);
        let verdicts = self.app.judge_all([shot]);
        self.app.tick();
        (verdicts, core::mem::take(&mut self.app.world_mut().resource_mut::<Pierced>().0))
    }
}

fn near(found: f32, expected: f32) -> bool {
    (found - expected).abs() < 1e-4
}

#[test]
fn a_bullet_goes_through_figures_and_confirms_each_of_them_once_with_its_first_hitbox() {
    let mut gallery = Gallery::new();
    let figures = [5.0, 10.0, 15.0].map(|z| gallery.figure(z));
    let (verdicts, _) = gallery.fire(Piercing::new(1.0));
    let hits: Vec<_> = verdicts.iter().map(|verdict| verdict.as_ref().unwrap()).collect();
    assert_eq!(hits.iter().map(|hit| hit.target).collect::<Vec<_>>(), figures);
    for (number, (hit, z)) in hits.iter().zip([5.0, 10.0, 15.0]).enumerate() {
        assert_eq!((hit.hit.zone, hit.penetration.unwrap().order), (Zone::Arm, number as u8));
        assert!(near(hit.hit.distance, z - 0.7) && near(hit.penetration.unwrap().exit, z - 0.3));
    }
}

#[test]
fn each_metre_within_a_figure_costs_once_although_its_hitboxes_overlap() {
    let mut gallery = Gallery::new();
    let [first, second] = [5.0, 10.0].map(|z| gallery.figure(z));
    // From the arm at −0.7 to the back at 0.5 it is 1.2 m, and 1 for the skin: 13 of 20, which leaves 7.
    let flesh = Resistance::new(1.0, 10.0);
    let (verdicts, _) = gallery.fire(Piercing { flesh, ..Piercing::new(20.0) });
    let targets: Vec<_> = verdicts.iter().map(|verdict| verdict.as_ref().unwrap().target).collect();
    assert_eq!(targets, [first, second]);
    let last = verdicts[1].as_ref().unwrap().penetration.unwrap();
    // The arm costs 1 + 4.
    assert!(last.energy_left.is_some_and(|left| near(left, 2.0)), "{last:?}");
    let (verdicts, _) = gallery.fire(Piercing { flesh, ..Piercing::new(12.9) });
    assert_eq!(verdicts.len(), 1);
}

#[test]
fn a_wall_is_pierced_by_its_thickness_and_material_and_told_with_both_its_sides() {
    let mut gallery = Gallery::new();
    let wall = gallery.wall(5.0, 0.2);
    gallery.app.world_mut().entity_mut(wall).insert(Resistance::new(1.0, 100.0));
    let figure = gallery.figure(10.0);
    let (verdicts, pierced) = gallery.fire(Piercing::new(21.5));
    assert_eq!(verdicts[0].as_ref().unwrap().target, figure);
    let [through] = pierced[..] else { panic!("one wall: {pierced:?}") };
    assert_eq!((through.wall.entity, through.shooter), (Some(wall), gallery.shooter));
    assert!(near(through.wall.distance, 4.9) && near(through.penetration.exit, 5.1));
    assert!(near(through.penetration.thickness, 0.2) && near(through.penetration.energy_left.unwrap(), 0.5));

    let (verdicts, pierced) = gallery.fire(Piercing::new(20.5));
    let rejection = verdicts[0].as_ref().unwrap_err();
    assert_eq!((rejection.reason, verdicts.len(), pierced), (RejectReason::Blocked, 1, vec![]));
    assert_eq!(rejection.evidence.blocker.unwrap().entity, Some(wall));
    assert_eq!(rejection.evidence.hit.unwrap().rig, figure);
}

#[test]
fn walls_without_a_resistance_stop_everything_unless_the_bullet_says_otherwise() {
    let mut gallery = Gallery::new();
    gallery.wall(5.0, 0.01);
    gallery.figure(10.0);
    let (verdicts, _) = gallery.fire(Piercing::new(f32::INFINITY));
    assert_eq!(verdicts[0].as_ref().unwrap_err().reason, RejectReason::Blocked);
    let (verdicts, _) = gallery.fire(Piercing { wall: Resistance::new(0.0, 1.0), ..Piercing::new(1.0) });
    assert!(verdicts[0].is_ok());
}

#[test]
fn a_bullet_passes_through_no_more_than_it_may() {
    let mut gallery = Gallery::new();
    let figures = [5.0, 10.0, 15.0].map(|z| gallery.figure(z));
    let (verdicts, _) = gallery.fire(Piercing { most: 1, ..Piercing::new(1.0) });
    let targets: Vec<_> = verdicts.iter().map(|verdict| verdict.as_ref().unwrap().target).collect();
    assert_eq!(targets, figures[..2]);
    assert_eq!(verdicts[1].as_ref().unwrap().penetration.unwrap().energy_left, None, "it stays in the second");
}

#[test]
fn a_bullet_that_meets_nothing_or_only_thin_walls_has_missed() {
    let mut gallery = Gallery::new();
    let (verdicts, _) = gallery.fire(Piercing::new(1.0));
    assert_eq!(verdicts[0].as_ref().unwrap_err().reason, RejectReason::Missed);
    gallery.wall(5.0, 0.1);
    let (verdicts, pierced) = gallery.fire(Piercing { wall: Resistance::NONE, ..Piercing::new(1.0) });
    assert_eq!((verdicts[0].as_ref().unwrap_err().reason, pierced.len()), (RejectReason::Missed, 1));
}

#[test]
fn terrain_has_no_far_side_and_shapes_of_rapiers_own_have_theirs() {
    let cases = [
        (Collider::halfspace(Vec3::NEG_Z).unwrap(), None),
        (Collider::cylinder(2.0, 0.25), Some(0.5)),
        (
            Collider::compound(vec![
                (Vec3::NEG_Z * 0.1, Quat::IDENTITY, Collider::cuboid(1.0, 1.0, 0.15)),
                (Vec3::Z * 0.1, Quat::IDENTITY, Collider::cuboid(1.0, 1.0, 0.15)),
            ]),
            Some(0.5),
        ),
    ];
    for (collider, thickness) in cases {
        let mut gallery = Gallery::new();
        gallery.app.world_mut().spawn((RigidBody::Fixed, collider, Transform::from_xyz(0.0, 0.0, 5.0)));
        gallery.figure(10.0);
        let wall = Resistance::new(0.0, 1.0);
        let (verdicts, pierced) = gallery.fire(Piercing { wall, ..Piercing::new(1.0) });
        match thickness {
            Some(thickness) => {
                let found = pierced[0].penetration.thickness;
                assert!((found - thickness).abs() < 1e-3 && verdicts[0].is_ok(), "{found} m");
            }
            None => assert_eq!(verdicts[0].as_ref().unwrap_err().reason, RejectReason::Blocked),
        }
    }
}
