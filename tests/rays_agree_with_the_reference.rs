//! Rays against hitboxes agree with a plain and slow reference in `f64`.
//!
//! The reference finds the first point of a ray within a distance of a segment by walking: the distance to the nearest
//! point of a convex shape tells how far one may safely step. It shares no formula with what it checks.

use bevy::{math::DVec3, prelude::*};
use bevy_hindsight::Shape;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

const RAYS: u32 = 100_000;
const RANGE: f32 = 200.0;
/// Rays that pass this close to the surface, in metres, may count as a hit or as a miss.
const GRAZE: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
struct Case {
    shape: Shape,
    pose: Isometry3d,
    ray: Ray3d,
}

/// Distance from a point to the solid shape; 0 inside.
fn distance_to(case: &Case, point: DVec3) -> f64 {
    let rotation = case.pose.rotation.as_dquat().normalize();
    let local = rotation.inverse() * (point - Vec3::from(case.pose.translation).as_dvec3());
    match case.shape {
        Shape::Capsule { half_height, radius } => {
            let half_height = f64::from(half_height);
            let on_axis = DVec3::Y * local.y.clamp(-half_height, half_height);
            (local.distance(on_axis) - f64::from(radius)).max(0.0)
        }
        Shape::Ball { radius } => (local.length() - f64::from(radius)).max(0.0),
        Shape::Cuboid { half_extents } => (local.abs() - half_extents.as_dvec3()).max(DVec3::ZERO).length(),
        other => panic!("the reference does not know {other:?}"),
    }
}

/// The nearest that the ray comes to the shape, and where it first comes within `GRAZE` of it.
fn walk(case: &Case) -> (f64, Option<f64>) {
    let (origin, direction) = (case.ray.origin.as_dvec3(), case.ray.direction.as_dvec3().normalize());
    let distance_at = |t: f64| distance_to(case, origin + direction * t);
    // The distance along a line to a convex set has one valley: find its floor.
    let (mut left, mut right) = (0.0, f64::from(RANGE) + 10.0);
    for _ in 0..200 {
        let (a, b) = (left + (right - left) / 3.0, right - (right - left) / 3.0);
        if distance_at(a) <= distance_at(b) {
            right = b;
        } else {
            left = a;
        }
    }
    let closest = distance_at(0.0).min(distance_at(left));
    let mut t = 0.0;
    while t <= f64::from(RANGE) + 1.0 {
        let step = distance_at(t);
        if step < 1e-9 {
            return (closest, Some(t));
        }
        if t > left && step > GRAZE {
            break;
        }
        t += step;
    }
    (closest, None)
}

fn unit() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-1.0_f32..1.0)
        .prop_map(Vec3::from)
        .prop_filter_map("too short", |v| (v.length() > 0.1).then(|| v.normalize()))
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        4 => (0.0_f32..0.6, 0.03_f32..0.4).prop_map(|(half_height, radius)| Shape::Capsule { half_height, radius }),
        1 => (0.03_f32..0.5).prop_map(|radius| Shape::Ball { radius }),
        1 => prop::array::uniform3(0.05_f32..1.0).prop_map(|half| Shape::Cuboid { half_extents: half.into() }),
    ]
}

/// Rays from 0 to 200 m away that hit, graze and miss; some from inside, some that leave the shape behind, some along its
/// axis.
fn cases() -> impl Strategy<Value = Case> {
    let distance = prop_oneof![3 => 0.5_f32..30.0, 2 => 30.0_f32..199.0, 1 => 0.0_f32..0.5];
    let aside = prop_oneof![3 => 0.0_f32..1.0, 1 => 0.9_f32..1.1, 1 => 0.999_f32..1.001];
    let way = prop_oneof![6 => Just(0), 1 => Just(1), 2 => Just(2)];
    (shapes(), unit(), 0.0_f32..6.2, unit(), distance, aside, unit(), way, prop::array::uniform3(-100.0_f32..100.0))
        .prop_map(|(shape, axis, angle, from, distance, aside, off, way, place)| {
            let pose = Isometry3d::new(Vec3::from(place), Quat::from_axis_angle(axis, angle));
            let from = if way == 2 { pose.rotation * Vec3::Y } else { from };
            let across = from.cross(off).normalize_or(from.any_orthonormal_vector());
            let origin = Vec3::from(place) + from * distance;
            let aim = Vec3::from(place) + across * aside * shape.bounding_radius();
            let towards = if way == 2 { -from } else { (aim - origin).normalize_or(Vec3::X) };
            // Along the axis, exactly or nearly, beside it by as much as the others.
            let origin = if way == 2 { origin + across * aside * shape.bounding_radius() * 0.5 } else { origin };
            let direction = if way == 1 { -towards } else { towards };
            Case { shape, pose, ray: Ray3d::new(origin, Dir3::new(direction).unwrap_or(Dir3::X)) }
        })
}

#[test]
fn a_hundred_thousand_rays_hit_what_the_reference_hits_within_half_a_millimetre() {
    let (mut hits, mut inside, mut behind, mut farthest, mut worst) = (0_u32, 0_u32, 0_u32, 0.0_f64, 0.0_f64);
    let mut runner = TestRunner::deterministic();
    let cases = cases();
    for _ in 0..RAYS {
        let case = cases.new_tree(&mut runner).unwrap().current();
        let found = case.shape.cast_ray(case.pose, case.ray, RANGE);
        let (closest, expected) = walk(&case);
        let clear = closest > GRAZE || expected.is_some_and(|_| is_deep(&case));
        match (found, expected) {
            (Some(found), Some(expected)) => {
                hits += 1;
                inside += u32::from(expected == 0.0);
                farthest = farthest.max(expected);
                // Where a ray only brushes a shape, the spot along it is not well defined.
                let error = (f64::from(found) - expected).abs();
                if clear {
                    worst = worst.max(error);
                    // Half a millimetre is promised; the rounding of `f32` alone is far below.
                    assert!(error < 1e-4, "{case:?}: {found} instead of {expected}");
                }
            }
            (None, None) => {
                let past = Vec3::from(case.pose.translation) - case.ray.origin;
                behind += u32::from(past.dot(*case.ray.direction) < 0.0);
            }
            _ => assert!(!clear, "{case:?}: {found:?} instead of {expected:?}"),
        }
    }
    assert!(hits > RAYS / 3 && inside > 1_000 && behind > 1_000 && farthest > 150.0, "the rays are not varied enough");
    assert!(worst > 0.0, "the reference is not independent");
}

/// Whether the ray would still hit the shape if that were a hair thinner.
fn is_deep(case: &Case) -> bool {
    let thinner = match case.shape {
        Shape::Capsule { half_height, radius } => Shape::Capsule { half_height, radius: radius - 2e-6 },
        Shape::Ball { radius } => Shape::Ball { radius: radius - 2e-6 },
        Shape::Cuboid { half_extents } => Shape::Cuboid { half_extents: half_extents - Vec3::splat(2e-6) },
        other => panic!("the reference does not know {other:?}"),
    };
    walk(&Case { shape: thinner, ..*case }).1.is_some()
}
