//! What a rig looks like.

use core::f32::consts::{FRAC_PI_2, PI};

use bevy::{
    math::{Isometry3d, ops},
    prelude::*,
};
use bevy_hindsight::Shape;

/// Of what a rig consists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figure {
    /// A runner of 19 hitboxes, who swings arms and legs.
    Body,
    /// One upright capsule, for those who can afford no more.
    Capsule,
}

const fn capsule(half_height: f32, radius: f32) -> Shape {
    Shape::Capsule { half_height, radius }
}

const fn ball(radius: f32) -> Shape {
    Shape::Ball { radius }
}

/// Pelvis, belly, ribs, chest, shoulders, neck, head; thigh, calf and foot, left and right; arm, forearm and hand.
static BODY: [Shape; 19] = [
    capsule(0.10, 0.125),
    capsule(0.085, 0.12),
    capsule(0.09, 0.125),
    capsule(0.10, 0.13),
    capsule(0.11, 0.12),
    capsule(0.03, 0.06),
    ball(0.12),
    capsule(0.16, 0.08),
    capsule(0.17, 0.058),
    capsule(0.07, 0.045),
    capsule(0.16, 0.08),
    capsule(0.17, 0.058),
    capsule(0.07, 0.045),
    capsule(0.11, 0.052),
    capsule(0.11, 0.042),
    ball(0.06),
    capsule(0.11, 0.052),
    capsule(0.11, 0.042),
    ball(0.06),
];
static CAPSULE: [Shape; 1] = [capsule(0.55, 0.35)];

impl Figure {
    /// Its hitboxes.
    pub fn shapes(self) -> &'static [Shape] {
        match self {
            Self::Body => &BODY,
            Self::Capsule => &CAPSULE,
        }
    }

    /// Where they stand relative to the feet, at this phase of a step, in radians, and width of steps, 0 to 1.
    pub fn pose(self, phase: f32, gait: f32) -> Vec<Isometry3d> {
        match self {
            Self::Body => body(phase, gait),
            Self::Capsule => vec![Isometry3d::from_xyz(0.0, 0.9, 0.0)],
        }
    }
}

fn body(phase: f32, gait: f32) -> Vec<Isometry3d> {
    let swing = gait * ops::sin(phase);
    let lean = ops::sin(0.25 * gait);
    let spine = |height: f32| Vec3::new(0.0, height, (height - 0.95) * lean);
    // The trunk is of capsules that lie across it, and turns against the legs.
    let twist = Quat::from_rotation_y(0.15 * swing);
    let across = Quat::from_rotation_z(FRAC_PI_2);
    let mut poses = vec![Isometry3d::new(spine(0.96), across)];
    poses.extend([1.06, 1.16, 1.27, 1.38].map(|height| Isometry3d::new(spine(height), twist * across)));
    poses.push(Isometry3d::new(spine(1.52), Quat::from_rotation_x(0.25 * gait)));
    poses.push(Isometry3d::new(spine(1.66) + Vec3::Z * 0.03, Quat::from_rotation_y(0.5 * ops::sin(0.3 * phase))));
    for side in [1.0, -1.0] {
        let knee = 0.5 * gait * (1.0 + ops::cos(phase + side));
        let hip = Vec3::new(0.1 * side, 0.94, 0.0);
        limb(&mut poses, hip, [(0.44, -0.7 * swing * side), (0.44, knee), (0.14, -FRAC_PI_2)]);
    }
    for side in [1.0, -1.0] {
        let shoulder = spine(1.42) + Vec3::X * 0.21 * side;
        limb(&mut poses, shoulder, [(0.30, 0.6 * swing * side), (0.26, -0.9 + 0.3 * swing * side), (0.08, 0.0)]);
    }
    poses
}

/// Three parts that hang on each other, each with its length and how far it is bent to the one above.
fn limb(poses: &mut Vec<Isometry3d>, mut joint: Vec3, parts: [(f32, f32); 3]) {
    let mut bend = 0.0;
    for (length, further) in parts {
        bend += further;
        let rotation = Quat::from_rotation_x(bend % (2.0 * PI));
        let down = rotation * Vec3::NEG_Y * length;
        poses.push(Isometry3d::new(joint + 0.5 * down, rotation));
        joint += down;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_as_tall_as_a_person_and_hangs_together() {
        for step in 0..64 {
            let poses = Figure::Body.pose(0.1 * step as f32, 1.0);
            assert_eq!(poses.len(), 19);
            for (pose, shape) in poses.iter().zip(Figure::Body.shapes()) {
                let reach = shape.bounding_radius();
                assert!((-0.2..1.9).contains(&(pose.translation.y - reach)), "{pose:?}");
                let is_beside =
                    |other: &Isometry3d| other != pose && other.translation.distance(pose.translation) < 0.5;
                assert!(poses.iter().any(is_beside), "{pose:?}");
            }
        }
    }
}
