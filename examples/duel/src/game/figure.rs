//! The figure of a character, in hitboxes.

use bevy::prelude::*;
use bevy_hindsight::{Hitbox, Zone};

/// A part of the figure, with its place relative to the feet of the character.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Part {
    /// What can be hit.
    pub hitbox: Hitbox,
    /// Where it is.
    pub place: Transform,
}

impl Part {
    /// A limb between two joints.
    fn limb(zone: Zone, radius: f32, from: Vec3, to: Vec3) -> Self {
        let (axis, length) = (to - from).normalize_and_length();
        Self {
            hitbox: Hitbox::capsule(0.5 * length, radius).in_zone(zone),
            place: Transform::from_translation(from.midpoint(to)).with_rotation(Quat::from_rotation_arc(Vec3::Y, axis)),
        }
    }

    fn ball(zone: Zone, radius: f32, at: Vec3) -> Self {
        Self { hitbox: Hitbox::ball(radius).in_zone(zone), place: Transform::from_translation(at) }
    }

    fn cuboid(zone: Zone, half_extents: Vec3, at: Vec3) -> Self {
        Self { hitbox: Hitbox::cuboid(half_extents).in_zone(zone), place: Transform::from_translation(at) }
    }

    /// The same part on the other side of the body.
    fn mirrored(self) -> Self {
        let Transform { translation: at, rotation: turn, .. } = self.place;
        let place =
            Transform::from_xyz(-at.x, at.y, at.z).with_rotation(Quat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w));
        Self { place, ..self }
    }
}

/// All parts of a figure of 1.8 m that looks along -Z and holds a rifle to its shoulder.
pub fn parts() -> Vec<Part> {
    let mut parts = vec![
        Part::ball(Zone::Head, 0.12, Vec3::new(0.0, 1.68, -0.02)),
        Part::limb(Zone::Neck, 0.06, Vec3::new(0.0, 1.46, 0.0), Vec3::new(0.0, 1.56, -0.01)),
        Part::cuboid(Zone::Torso, Vec3::new(0.19, 0.16, 0.12), Vec3::new(0.0, 1.31, 0.0)),
        Part::cuboid(Zone::Torso, Vec3::new(0.16, 0.12, 0.11), Vec3::new(0.0, 1.05, 0.0)),
        Part::limb(Zone::Pelvis, 0.13, Vec3::new(-0.07, 0.92, 0.0), Vec3::new(0.07, 0.92, 0.0)),
    ];
    let (shoulder, elbow, wrist) =
        (Vec3::new(0.23, 1.40, 0.0), Vec3::new(0.28, 1.15, -0.12), Vec3::new(0.12, 1.25, -0.34));
    let (hip, knee, ankle) = (Vec3::new(0.10, 0.88, 0.0), Vec3::new(0.13, 0.49, -0.04), Vec3::new(0.15, 0.10, 0.03));
    for part in [
        Part::limb(Zone::Arm, 0.06, shoulder, elbow),
        Part::limb(Zone::Arm, 0.05, elbow, wrist),
        Part::ball(Zone::Hand, 0.06, Vec3::new(0.08, 1.27, -0.40)),
        Part::limb(Zone::Leg, 0.085, hip, knee),
        Part::limb(Zone::Leg, 0.065, knee, ankle),
        Part::limb(Zone::Foot, 0.05, Vec3::new(0.15, 0.05, 0.06), Vec3::new(0.16, 0.05, -0.13)),
    ] {
        parts.extend([part, part.mirrored()]);
    }
    parts
}

/// The point of a figure that is worth aiming at: the middle of the chest.
pub fn chest(root: &Transform) -> Vec3 {
    root.transform_point(Vec3::new(0.0, 1.25, 0.0))
}

/// Where a ray meets a figure that stands at `root`: the distance in metres, if that is at most `range`.
pub fn cast_ray(parts: &[Part], root: &Transform, ray: Ray3d, range: f32) -> Option<f32> {
    let root = root.to_isometry();
    let distances = parts.iter().filter_map(|part| {
        let pose = root * part.place.to_isometry() * part.hitbox.offset;
        part.hitbox.shape.cast_ray(pose, ray, range)
    });
    distances.min_by(f32::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shoot(from: Vec3, direction: Dir3) -> Option<f32> {
        cast_ray(&parts(), &Transform::default(), Ray3d::new(from, direction), 100.0)
    }

    #[test]
    fn the_figure_stands_on_the_floor_and_is_as_tall_as_a_person() {
        // From below and above, at many places: the first hits are the soles and the crown.
        let places = (0..400).map(|n| Vec3::new((n % 20) as f32 * 0.04 - 0.4, 0.0, (n / 20) as f32 * 0.04 - 0.4));
        let reach = |from: f32, direction| {
            places.clone().filter_map(|place| shoot(place + Vec3::Y * from, direction)).fold(f32::MAX, f32::min)
        };
        let (low, high) = (reach(-5.0, Dir3::Y) - 5.0, 5.0 - reach(5.0, Dir3::NEG_Y));
        assert!(low.abs() < 0.01 && (high - 1.8).abs() < 0.01, "{low} {high}");
    }

    #[test]
    fn both_sides_are_alike() {
        for x in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3] {
            for y in [0.05, 0.3, 0.8, 1.2, 1.3, 1.5] {
                let (left, right) = (shoot(Vec3::new(-x, y, -5.0), Dir3::Z), shoot(Vec3::new(x, y, -5.0), Dir3::Z));
                assert_eq!(left.is_some(), right.is_some(), "{x} {y}");
                assert!((left.unwrap_or(0.0) - right.unwrap_or(0.0)).abs() < 1e-4, "{x} {y}");
            }
        }
    }

    #[test]
    fn every_part_but_what_others_cover_can_be_hit() {
        let parts = parts();
        assert_eq!(parts.len(), 17);
        for part in &parts {
            let middle = part.place.translation;
            let ray = Ray3d::new(middle - Vec3::Z * 5.0, Dir3::Z);
            assert!(cast_ray(&parts, &Transform::default(), ray, 6.0).is_some(), "{part:?}");
        }
    }

    #[test]
    fn figures_are_hit_where_they_stand_and_look() {
        let turned = Transform::from_xyz(3.0, 0.0, 1.0).with_rotation(Quat::from_rotation_y(1.0));
        let at = chest(&turned);
        let ray = Ray3d::new(at + Vec3::X * 9.0, Dir3::NEG_X);
        let distance = cast_ray(&parts(), &turned, ray, 100.0).unwrap();
        assert!((8.4..9.0).contains(&distance), "{distance}");
        assert_eq!(shoot(Vec3::new(0.0, 0.3, -5.0), Dir3::Z), None, "between the legs");
    }
}
