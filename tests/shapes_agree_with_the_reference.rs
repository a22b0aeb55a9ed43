//! Distances, sweeps, crossings and sectors of two shapes agree with a plain and slow reference in `f64`.

#[path = "fixture/oracle.rs"]
#[expect(dead_code, reason = "rays have a reference of their own")]
mod oracle;

use core::f32::consts::FRAC_PI_2;

use bevy::{
    math::{DVec3, ops},
    prelude::*,
};
use bevy_hindsight::{Sector, Shape};
use oracle::Solid;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

/// Metres within which a touch may count as a hit or as a miss.
const TIE: f64 = 1e-4;

fn cases<T>(number: u32, strategy: impl Strategy<Value = T>, mut check: impl FnMut(T)) {
    let mut runner = TestRunner::deterministic();
    let more = std::env::var("REFERENCE_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    for _ in 0..number * more {
        check(strategy.new_tree(&mut runner).expect("each strategy has values").current());
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let length = || prop_oneof![8 => 0.02_f32..0.8, 1 => Just(0.0)];
    prop_oneof![
        3 => (length(), 0.03_f32..0.4).prop_map(|(half_height, radius)| Shape::Capsule { half_height, radius }),
        1 => (0.03_f32..0.5).prop_map(|radius| Shape::Ball { radius }),
        3 => prop::array::uniform3(length()).prop_map(|half| Shape::Cuboid { half_extents: half.into() }),
    ]
}

fn unit() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-1.0_f32..1.0)
        .prop_map(Vec3::from)
        .prop_filter_map("too short", |v| (v.length() > 0.1).then(|| v.normalize()))
}

/// Turned anyhow, or along the axes.
fn rotations() -> impl Strategy<Value = Quat> {
    prop_oneof![
        3 => (unit(), 0.0_f32..6.2).prop_map(|(axis, angle)| Quat::from_axis_angle(axis, angle)),
        1 => (0_u8..4).prop_map(|quarter| Quat::from_rotation_z(FRAC_PI_2 * f32::from(quarter))),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    shape: Shape,
    pose: Isometry3d,
    other: Shape,
    other_pose: Isometry3d,
    direction: Dir3,
}

/// Two shapes within `apart` metres, 60 m from the origin, and a direction: somewhat towards each other, away, or along an axis.
fn pairs(apart: f32) -> impl Strategy<Value = Pair> {
    (shapes(), rotations(), shapes(), rotations(), unit(), 0.0..apart, unit(), 0_u8..6).prop_map(
        |(shape, rotation, other, other_rotation, towards, distance, aside, way)| {
            let place = Vec3::new(40.0, 10.0, -43.0);
            let pose = Isometry3d::new(place, rotation);
            let other_pose =
                Isometry3d::new(place + towards * distance, if way == 5 { rotation } else { other_rotation });
            let direction = match way {
                0 => towards,
                1 | 5 => rotation * Vec3::Y,
                _ => -towards + aside * 0.5,
            };
            Pair { shape, pose, other, other_pose, direction: Dir3::new(direction).unwrap_or(Dir3::X) }
        },
    )
}

impl Pair {
    fn solids(&self) -> (Solid, Solid) {
        (Solid::new(self.shape, self.pose), Solid::new(self.other, self.other_pose))
    }
}

#[test]
fn distances_are_right_to_a_hundredth_of_a_millimetre() {
    let (mut apart, mut overlapping) = (0, 0);
    cases(3_000, pairs(3.0), |pair| {
        let (own, other) = pair.solids();
        let expected = own.distance(&other);
        let found = f64::from(pair.shape.distance_to(pair.pose, pair.other, pair.other_pose));
        assert!((found - expected).abs() < 1e-5, "{pair:?}: {found} instead of {expected}");
        let there_and_back = pair.other.distance_to(pair.other_pose, pair.shape, pair.pose);
        assert!((f64::from(there_and_back) - found).abs() < 1e-6);
        if expected > 1e-4 {
            apart += 1;
            let (first, second) = pair.shape.closest_points(pair.pose, pair.other, pair.other_pose).unwrap();
            assert!((f64::from(first.distance(second)) - expected).abs() < 2e-5);
            assert!(own.distance_to(first.as_dvec3()) < 1e-5 && other.distance_to(second.as_dvec3()) < 1e-5);
        } else {
            overlapping += 1;
        }
    });
    assert!(apart > 1_000 && overlapping > 300, "{apart} apart, {overlapping} overlapping");
}

#[test]
fn sweeps_meet_what_the_reference_meets_to_a_tenth_of_a_millimetre() {
    const RANGE: f32 = 6.0;
    let (mut hits, mut misses) = (0, 0);
    cases(3_000, pairs(5.0), |pair| {
        let (resting, moving) = pair.solids();
        let direction = pair.direction.as_dvec3().normalize();
        let meet = |grown: f64| resting.meet(&moving.grown(grown), direction, f64::from(RANGE) + grown.max(0.0));
        let found = pair.shape.cast_shape(pair.pose, pair.other, pair.other_pose, pair.direction, RANGE).map(f64::from);
        match (found, meet(0.0)) {
            (Some(found), Some(expected)) => {
                hits += 1;
                // Where they only brush past each other, the spot is not well defined.
                let brush = expected - meet(TIE).unwrap();
                assert!((found - expected).abs() < 1e-4 + brush, "{pair:?}: {found} instead of {expected}");
            }
            (None, None) => misses += 1,
            (Some(found), None) => assert!(meet(TIE).is_some(), "{pair:?}: {found} instead of a miss"),
            (None, Some(expected)) => {
                // One that is nothing but a point or a box cannot be shrunk.
                let is_tie = expected > f64::from(RANGE) - TIE || meet(-TIE).is_none();
                assert!(is_tie, "{pair:?}: a miss instead of {expected}");
            }
        }
    });
    assert!(hits > 800 && misses > 800, "{hits} hits, {misses} misses");
}

#[test]
fn a_sweep_of_just_the_distance_arrives_and_one_that_is_shorter_does_not() {
    let wall = Shape::Cuboid { half_extents: Vec3::new(2.0, 2.0, 0.5) };
    let capsule = Shape::Capsule { half_height: 0.5, radius: 0.25 };
    let pose = Isometry3d::from_xyz(0.0, 0.0, 10.0);
    let odd = Shape::Capsule { half_height: 0.6, radius: 0.3 };
    for moving in [Shape::Ball { radius: 0.5 }, capsule, Shape::Cuboid { half_extents: Vec3::splat(0.5) }, odd] {
        let cast = |range| wall.cast_shape(pose, moving, Isometry3d::IDENTITY, Dir3::Z, range);
        let way = cast(100.0).unwrap();
        assert_eq!((cast(way), cast(way - 1e-4)), (Some(way), None), "{moving:?}");
        let behind = wall.cast_shape(pose, moving, Isometry3d::IDENTITY, Dir3::NEG_Z, 100.0);
        assert_eq!(behind, None);
        let within = wall.cast_shape(pose, moving, Isometry3d::from_xyz(0.0, 0.0, 9.3), Dir3::X, 100.0);
        assert_eq!(within, Some(0.0));
    }
}

#[test]
fn what_is_not_a_number_is_never_met_and_ends() {
    let ball = Shape::Ball { radius: 0.5 };
    let cube = Shape::Cuboid { half_extents: Vec3::splat(0.5) };
    let blow = Sector { apex: Vec3::ZERO, axis: Dir3::Z, reach: 2.0, half_angle: 0.5 };
    for bad in [f32::NAN, f32::INFINITY] {
        let pose = Isometry3d::from_xyz(bad, 0.0, 3.0);
        for (a, b) in [(ball, cube), (cube, ball), (cube, cube), (ball, ball)] {
            assert!(!a.overlaps(pose, b, Isometry3d::IDENTITY));
            assert_eq!(a.cast_shape(pose, b, Isometry3d::IDENTITY, Dir3::Z, 10.0), None);
            assert_eq!(a.closest_points(pose, b, Isometry3d::IDENTITY), None);
            assert_eq!(blow.meets(a, pose), None);
            assert_eq!(a.cast_ray(pose, Ray3d::new(Vec3::ZERO, Dir3::Z), 10.0), None);
        }
        let odd = Shape::Capsule { half_height: bad, radius: 0.1 };
        let _ = (odd.normal_at(Isometry3d::IDENTITY, Vec3::Y), odd.closest_point(Isometry3d::IDENTITY, Vec3::Y));
        let huge = Shape::Ball { radius: bad };
        let _ = huge.cast_shape(Isometry3d::IDENTITY, cube, Isometry3d::IDENTITY, Dir3::Z, 10.0);
    }
}

#[test]
fn closest_points_are_the_nearest_of_the_solid() {
    cases(3_000, (pairs(3.0), unit(), 0.0_f32..3.0), |(pair, towards, distance)| {
        let point = Vec3::from(pair.pose.translation) + towards * distance;
        let solid = Solid::new(pair.shape, pair.pose);
        let found = pair.shape.closest_point(pair.pose, point);
        assert!(solid.distance_to(found.as_dvec3()) < 2e-5, "{pair:?}: {found} lies outside");
        let expected = solid.distance_to(point.as_dvec3());
        assert!((f64::from(found.distance(point)) - expected).abs() < 2e-5, "{pair:?} from {point}");
    });
}

#[test]
fn a_ray_leaves_a_solid_where_it_was_last_inside() {
    let mut crossed = 0;
    cases(3_000, (pairs(4.0), unit()), |(pair, aside)| {
        let origin = Vec3::from(pair.other_pose.translation);
        let aim = Vec3::from(pair.pose.translation) + aside * 0.5 * pair.shape.bounding_radius();
        let ray = Ray3d::new(origin, Dir3::new(aim - origin).unwrap_or(Dir3::X));
        let entry = pair.shape.cast_ray(pair.pose, ray, 10.0);
        let crossing = pair.shape.cross_ray(pair.pose, ray, 10.0);
        assert_eq!(entry.map(f32::to_bits), crossing.map(|(entry, _)| entry.to_bits()));
        let Some((entry, exit)) = crossing else { return };
        crossed += 1;
        let solid = Solid::new(pair.shape, pair.pose);
        let at = |way: f32| (ray.origin + ray.direction * way).as_dvec3();
        assert!(exit >= entry && solid.distance_to(at(exit)) < 2e-5, "{pair:?}: {exit}");
        assert!(solid.distance_to(at(0.5 * (entry + exit))) < 2e-5);
        assert!(solid.distance_to(at(exit + 0.01)) > 0.0, "{pair:?}: it goes on after {exit}");
    });
    assert!(crossed > 1_000);
}

/// The least angle to the axis that a point of the solid within reach has: found by looking at many of its points, and more
/// closely around the best of them.
fn least_angle(solid: &Solid, sector: &Sector) -> f64 {
    let (apex, axis) = (sector.apex.as_dvec3(), sector.axis.as_dvec3().normalize());
    let angle = |point: DVec3| {
        let towards = point - apex;
        let is_in = solid.distance_to(point) < 1e-9 && towards.length() <= f64::from(sector.reach);
        if is_in { towards.angle_between(axis) } else { f64::INFINITY }
    };
    let reach = solid.half.length() + solid.radius;
    let (mut best, mut center, mut step) = (f64::INFINITY, solid.center, reach / 6.0);
    for _ in 0..40 {
        let around = center;
        for x in -6..=6 {
            for y in -6..=6 {
                for z in -6..=6 {
                    let point = around + solid.rotation * (DVec3::new(x.into(), y.into(), z.into()) * step);
                    let found = angle(point);
                    if found < best {
                        (best, center) = (found, point);
                    }
                }
            }
        }
        step *= 0.6;
    }
    best
}

#[test]
fn sectors_meet_what_has_a_point_in_them() {
    let (mut met, mut spared) = (0, 0);
    cases(250, (pairs(2.5), 0.05_f32..1.57, 0.5_f32..2.5), |(pair, half_angle, reach)| {
        let solid = Solid::new(pair.shape, pair.pose);
        let sector = Sector { apex: pair.other_pose.translation.into(), axis: pair.direction, reach, half_angle };
        let found = sector.meets(pair.shape, pair.pose);
        if let Some(point) = found {
            met += 1;
            let towards = (point - sector.apex).as_dvec3();
            assert!(solid.distance_to(point.as_dvec3()) < 2e-5, "{pair:?}: {point}");
            assert!(towards.length() <= f64::from(reach) + 2e-5, "{pair:?} {sector:?}: {point}");
            let off = towards.angle_between(pair.direction.as_dvec3()) - f64::from(half_angle);
            let is_apex = towards.length() < 1e-6;
            assert!(
                is_apex || off * towards.length() < 2e-5,
                "{pair:?} {sector:?}: {off} rad outside, {towards} {}",
                towards.length()
            );
        } else {
            spared += 1;
            // Looking at points finds no more than the angle of the best of them.
            assert!(least_angle(&solid, &sector) > f64::from(half_angle) - 1e-4, "{pair:?} {sector:?}");
        }
    });
    assert!(met > 50 && spared > 50, "{met} met, {spared} spared");
}

#[test]
fn a_cone_of_a_right_angle_ends_at_half_of_it_and_more_than_half_a_turn_is_all_around() {
    let ball = Shape::Ball { radius: 0.1 };
    let at = |degrees: f32| {
        let angle = degrees.to_radians();
        Isometry3d::from_xyz(ops::sin(angle), 0.0, ops::cos(angle))
    };
    let sector = |half_angle| Sector { apex: Vec3::ZERO, axis: Dir3::Z, reach: 2.0, half_angle };
    // A ball of 0.1 m at 1 m is 5.74° wide.
    for (degrees, meets) in [(0.0, true), (45.0, true), (50.7, true), (50.8, false), (120.0, false), (180.0, false)] {
        assert_eq!(sector(FRAC_PI_2 / 2.0).meets(ball, at(degrees)).is_some(), meets, "{degrees}°");
        assert!(sector(3.0).meets(ball, at(degrees)).is_some());
    }
    assert!(sector(0.0).meets(ball, Isometry3d::IDENTITY).is_some(), "the apex lies inside");
}
