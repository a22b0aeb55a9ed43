//! A figure that walks: a few numbers decide how it holds its bones.

use core::f32::consts::TAU;

use bevy::{math::ops, prelude::*};
use bevy_hindsight::{Bone, DisplayParameters, DisplayRule, Hitbox, Zone};

use super::{Role, movers::on_circle};

const HIPS: Bone = Bone(0);
const CHEST: Bone = Bone(1);
const HEAD: Bone = Bone(2);
const ARMS: [Bone; 2] = [Bone(3), Bone(4)];
const LEGS: [Bone; 2] = [Bone(5), Bone(6)];

/// How far the stride has gone, in turns.
const STRIDE: usize = 0;
/// How far arms and legs swing, in radians.
const SWING: usize = 1;

/// How far hitboxes reach from the hips, in metres.
const REACH: f32 = 1.2;

/// By which a figure is posed on each screen, and, unless it is [`Role::WalksWithoutRule`], judged on the server.
pub(super) const RULE: DisplayRule = DisplayRule::new(pose, REACH);

fn pose(parameters: &DisplayParameters, bone: Bone) -> Isometry3d {
    let swing = parameters.get(SWING);
    let stride = ops::sin(TAU * parameters.get(STRIDE));
    let bob = Vec3::Y * 0.06 * ops::cos(2.0 * TAU * parameters.get(STRIDE));
    // A limb of this length hangs from a joint and swings to the front and back.
    let limb = |joint: Vec3, length: f32, angle: f32| {
        let turn = Quat::from_rotation_x(angle);
        Isometry3d::new(joint + bob + turn * Vec3::NEG_Y * (0.5 * length), turn)
    };
    match bone {
        HIPS => Isometry3d::from_translation(bob),
        CHEST => Isometry3d::new(Vec3::Y * 0.35 + bob, Quat::from_rotation_y(0.3 * stride * swing)),
        HEAD => Isometry3d::from_translation(Vec3::Y * 0.78 + bob),
        _ => {
            let side = |pair: [Bone; 2]| pair.iter().position(|own| *own == bone).map(|side| 2.0 * side as f32 - 1.0);
            if let Some(side) = side(ARMS) {
                limb(Vec3::new(0.3 * side, 0.55, 0.0), 0.6, swing * stride * side)
            } else {
                let side = side(LEGS).unwrap_or_default();
                limb(Vec3::new(0.12 * side, -0.1, 0.0), 0.85, -swing * stride * side)
            }
        }
    }
}

/// The bones and their hitboxes; [`pose_walkers`] puts them in their places.
pub(super) fn embody(mut figure: EntityCommands, role: Role) {
    if role == Role::Walks {
        figure.insert(RULE);
    }
    let arm = Hitbox::capsule(0.22, 0.06).in_zone(Zone::Arm);
    let leg = Hitbox::capsule(0.33, 0.09).in_zone(Zone::Leg);
    let bones = [
        (HIPS, Hitbox::ball(0.18).in_zone(Zone::Pelvis)),
        (CHEST, Hitbox::cuboid(Vec3::new(0.2, 0.25, 0.13))),
        (HEAD, Hitbox::ball(0.12).in_zone(Zone::Head)),
        (ARMS[0], arm),
        (ARMS[1], arm),
        (LEGS[0], leg),
        (LEGS[1], leg),
    ];
    figure.with_children(|figure| {
        for bone in bones {
            figure.spawn(bone);
        }
    });
}

/// Puts bones where the rule says: on each screen after interpolation, and on the server as its animation.
pub(super) fn pose_walkers(
    figures: Query<(&Role, &DisplayParameters, &Children)>,
    mut bones: Query<(&Bone, &mut Transform)>,
) {
    for (_, parameters, children) in figures.iter().filter(|(role, ..)| role.has_bones()) {
        let mut bones = bones.iter_many_mut(children);
        while let Some((bone, mut transform)) = bones.fetch_next() {
            *transform = Transform::from_isometry(RULE.pose(parameters, *bone));
        }
    }
}

/// Where a figure is on its way in a circle, on the server.
#[derive(Component, Default)]
pub(super) struct Gait {
    speed: f32,
    wanted: f32,
    angle: f32,
    stride: f32,
}

impl Gait {
    /// Changes the speed, in m/s, little by little.
    pub(super) fn hurry(&mut self, speed: f32) {
        self.wanted = speed;
    }

    pub(super) fn walk(&mut self, home: Vec3, transform: &mut Transform, dt: f32) {
        const RADIUS: f32 = 1.5;
        const STRIDE_LENGTH: f32 = 1.4;
        self.speed += (self.wanted - self.speed).clamp(-6.0 * dt, 6.0 * dt);
        self.angle = (self.angle + self.speed * dt / RADIUS) % TAU;
        self.stride = (self.stride + self.speed * dt / STRIDE_LENGTH) % 1.0;
        *transform = on_circle(home, RADIUS, self.angle);
    }

    fn parameters(&self) -> DisplayParameters {
        DisplayParameters::default().with_cycle(STRIDE, self.stride).with(SWING, 0.2 * self.speed)
    }
}

/// Tells clients how the figures stride.
pub(super) fn stride(mut figures: Query<(&Gait, &mut DisplayParameters)>) {
    for (gait, mut parameters) in &mut figures {
        *parameters = gait.parameters();
    }
}
