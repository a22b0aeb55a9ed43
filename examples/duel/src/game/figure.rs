//! The figure of a character: bones that follow from a few numbers, each of which is a hitbox and is drawn as that.

use core::f32::consts::TAU;

use bevy::{math::ops, prelude::*};
use bevy_hindsight::{Bone, DisplayParameters, DisplayRule, Hitbox, Shape, Zone};

/// How high the eyes are when standing, in metres.
pub const EYE_HEIGHT: f32 = 1.66;
/// How much lower they are when crouching.
pub const CROUCH_DEPTH: f32 = 0.55;
/// How far a figure reaches from its feet in any pose, in metres.
const REACH: f32 = 2.1;

const PELVIS_HEIGHT: f32 = 0.92;
const SHOULDER_HEIGHT: f32 = 1.40;
const THIGH: f32 = 0.42;
const SHIN: f32 = 0.41;
const ANKLE_HEIGHT: f32 = 0.09;
/// How far a foot swings to either side of the hip at full speed, in metres.
const STRIDE_REACH: f32 = 0.38;

/// What a figure does, in the words of the game.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Posture {
    /// Up, in radians.
    pub pitch: f32,
    /// 0 standing, 1 crouching.
    pub crouch: f32,
    /// Steps taken, in turns of both legs.
    pub stride: f32,
    /// To the right and forward, as a share of the full speed.
    pub gait: Vec2,
    /// 0 on the ground, 1 in the air.
    pub air: f32,
}

/// What the numbers of [`DisplayParameters`] mean here.
mod index {
    pub(super) const PITCH: usize = 0;
    pub(super) const CROUCH: usize = 1;
    pub(super) const STRIDE: usize = 2;
    pub(super) const SIDEWAYS: usize = 3;
    pub(super) const FORWARD: usize = 4;
    pub(super) const AIR: usize = 5;
}

impl From<Posture> for DisplayParameters {
    fn from(posture: Posture) -> Self {
        Self::default()
            .with(index::PITCH, posture.pitch)
            .with(index::CROUCH, posture.crouch)
            .with_cycle(index::STRIDE, posture.stride.rem_euclid(1.0))
            .with(index::SIDEWAYS, posture.gait.x)
            .with(index::FORWARD, posture.gait.y)
            .with(index::AIR, posture.air)
    }
}

impl From<&DisplayParameters> for Posture {
    fn from(parameters: &DisplayParameters) -> Self {
        Self {
            pitch: parameters.get(index::PITCH),
            crouch: parameters.get(index::CROUCH),
            stride: parameters.get(index::STRIDE),
            gait: Vec2::new(parameters.get(index::SIDEWAYS), parameters.get(index::FORWARD)),
            air: parameters.get(index::AIR),
        }
    }
}

/// The side of the body: its sign along X.
const LEFT: f32 = -1.0;
const RIGHT: f32 = 1.0;

/// What a bone is part of.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Part {
    Head,
    Neck,
    Chest,
    Belly,
    Pelvis,
    UpperArm(f32),
    Forearm(f32),
    Hand(f32),
    Thigh(f32),
    Shin(f32),
    Foot(f32),
}

/// All bones; the place in this list is the number of the [`Bone`].
const PARTS: [Part; 17] = [
    Part::Head,
    Part::Neck,
    Part::Chest,
    Part::Belly,
    Part::Pelvis,
    Part::UpperArm(LEFT),
    Part::UpperArm(RIGHT),
    Part::Forearm(LEFT),
    Part::Forearm(RIGHT),
    Part::Hand(LEFT),
    Part::Hand(RIGHT),
    Part::Thigh(LEFT),
    Part::Thigh(RIGHT),
    Part::Shin(LEFT),
    Part::Shin(RIGHT),
    Part::Foot(LEFT),
    Part::Foot(RIGHT),
];

impl Part {
    fn hitbox(self) -> Hitbox {
        // A limb is as long as from joint to joint, and its caps reach beyond.
        let limb = |length: f32, radius| Hitbox::capsule(length / 2.0, radius);
        match self {
            Self::Head => Hitbox::ball(0.125).in_zone(Zone::Head),
            Self::Neck => limb(0.10, 0.06).in_zone(Zone::Neck),
            Self::Chest => Hitbox::cuboid(Vec3::new(0.19, 0.16, 0.12)).in_zone(Zone::Torso),
            Self::Belly => Hitbox::cuboid(Vec3::new(0.16, 0.12, 0.11)).in_zone(Zone::Torso),
            Self::Pelvis => limb(0.14, 0.13).in_zone(Zone::Pelvis),
            Self::UpperArm(_) => limb(0.28, 0.06).in_zone(Zone::Arm),
            Self::Forearm(_) => limb(0.29, 0.05).in_zone(Zone::Arm),
            Self::Hand(_) => Hitbox::ball(0.06).in_zone(Zone::Hand),
            Self::Thigh(_) => limb(THIGH, 0.085).in_zone(Zone::Leg),
            Self::Shin(_) => limb(SHIN, 0.065).in_zone(Zone::Leg),
            Self::Foot(_) => limb(0.16, 0.05).in_zone(Zone::Foot),
        }
    }
}

/// The joints of a figure in one pose, relative to its feet. It looks along -Z.
struct Skeleton {
    posture: Posture,
    pelvis: Vec3,
    /// From the pelvis up: leans.
    spine: Isometry3d,
    /// The middle between the shoulders: turns up and down with the aim.
    aim: Isometry3d,
}

impl Skeleton {
    fn new(posture: Posture) -> Self {
        let swing = ops::sin(2.0 * TAU * posture.stride) * posture.gait.length().min(1.0);
        let pelvis = Vec3::Y * (PELVIS_HEIGHT - 0.42 * posture.crouch - 0.02 * swing * swing);
        // Forward when crouching and running, and a little with the aim.
        let lean = -0.25 * posture.crouch - 0.12 * posture.gait.y + 0.25 * posture.pitch;
        let sideways = -0.08 * posture.gait.x;
        let spine = Isometry3d::new(pelvis, Quat::from_rotation_z(sideways) * Quat::from_rotation_x(lean));
        let shoulders = spine * Vec3::new(0.0, SHOULDER_HEIGHT - PELVIS_HEIGHT - 0.13 * posture.crouch, 0.0);
        Self { posture, pelvis, spine, aim: Isometry3d::new(shoulders, Quat::from_rotation_x(posture.pitch)) }
    }

    fn pose(&self, part: Part) -> Isometry3d {
        match part {
            Part::Head => self.head(),
            Part::Neck => between(self.aim * Vec3::new(0.0, 0.05, 0.0), self.head() * Vec3::new(0.0, -0.10, 0.02)),
            Part::Chest => self.on_spine(0.39),
            Part::Belly => self.on_spine(0.15),
            Part::Pelvis => Isometry3d::new(self.pelvis, Quat::from_rotation_z(core::f32::consts::FRAC_PI_2)),
            Part::UpperArm(side) => {
                self.limb_of_arm(side, [Vec3::new(0.24, -0.02, 0.0), Vec3::new(0.29, -0.26, -0.12)])
            }
            Part::Forearm(side) => {
                self.limb_of_arm(side, [Vec3::new(0.29, -0.26, -0.12), Vec3::new(0.13, -0.14, -0.33)])
            }
            Part::Hand(side) => self.aim * Isometry3d::from_translation(Vec3::new(0.09 * side, -0.12, -0.39)),
            Part::Thigh(side) => between(self.hip(side), self.knee(side)),
            Part::Shin(side) => between(self.knee(side), self.ankle(side)),
            Part::Foot(side) => {
                let ankle = self.ankle(side);
                between(ankle + Vec3::new(0.0, -0.04, 0.05), ankle + Vec3::new(0.01 * side, -0.04, -0.13))
            }
        }
    }

    fn head(&self) -> Isometry3d {
        let turn = self.aim.rotation * Quat::from_rotation_x(-0.3 * self.posture.pitch);
        Isometry3d::new(Vec3::from(self.aim.translation) + turn * Vec3::new(0.0, 0.275, -0.02), turn)
    }

    /// A part of the trunk, `height` metres above the pelvis when standing.
    fn on_spine(&self, height: f32) -> Isometry3d {
        let share = height / (SHOULDER_HEIGHT - PELVIS_HEIGHT);
        let up = height - 0.13 * self.posture.crouch * share;
        self.spine * Isometry3d::from_translation(Vec3::Y * up)
    }

    /// A limb between two points of the right arm, in the space of the aim; or of the left one, mirrored.
    fn limb_of_arm(&self, side: f32, ends: [Vec3; 2]) -> Isometry3d {
        let [from, to] = ends.map(|end| self.aim * (end * Vec3::new(side, 1.0, 1.0)));
        between(from, to)
    }

    fn hip(&self, side: f32) -> Vec3 {
        self.pelvis + Vec3::new(0.10 * side, -0.04, 0.0)
    }

    fn ankle(&self, side: f32) -> Vec3 {
        let Posture { stride, gait, air, crouch, .. } = self.posture;
        // The legs are half a turn apart.
        let turn = TAU * (stride + if side > 0.0 { 0.5 } else { 0.0 });
        let (swing, lift) = (ops::sin(turn), ops::cos(turn).max(0.0));
        let way = Vec3::new(gait.x, 0.0, -gait.y) * swing * STRIDE_REACH;
        let on_ground = Vec3::new((0.13 + 0.03 * crouch) * side, ANKLE_HEIGHT, 0.02) + way;
        on_ground + Vec3::Y * (0.16 * lift * gait.length().min(1.0) + 0.22 * air)
    }

    /// Where thigh and shin meet, in front of the line from hip to ankle.
    fn knee(&self, side: f32) -> Vec3 {
        let hip = self.hip(side);
        let (down, distance) = (self.ankle(side) - hip).normalize_and_length();
        let distance = distance.min(THIGH + SHIN);
        let along = (THIGH * THIGH - SHIN * SHIN + distance * distance) / (2.0 * distance);
        let aside = (THIGH * THIGH - along * along).max(0.0).sqrt();
        let front = (Vec3::NEG_Z + Vec3::X * 0.15 * side).reject_from_normalized(down).normalize_or_zero();
        hip + down * along + front * aside
    }
}

/// The middle of a limb between two joints, with its own Y along it.
fn between(from: Vec3, to: Vec3) -> Isometry3d {
    let axis = (to - from).normalize_or(Vec3::Y);
    Isometry3d::new(from.midpoint(to), Quat::from_rotation_arc(Vec3::Y, axis))
}

/// Where a bone is, relative to the feet.
fn pose(parameters: &DisplayParameters, bone: Bone) -> Isometry3d {
    let part = PARTS.get(usize::from(bone.0));
    part.map_or(Isometry3d::IDENTITY, |part| Skeleton::new(parameters.into()).pose(*part))
}

/// The rule by which both sides pose the bones.
pub const RULE: DisplayRule = DisplayRule::new(pose, REACH);

/// All bones of a figure, each with its hitbox.
pub fn bones() -> impl Iterator<Item = (Bone, Hitbox)> {
    PARTS.iter().enumerate().map(|(number, part)| (Bone(number as u16), part.hitbox()))
}

/// Gives a character its figure: a child for each bone.
pub fn attach(character: &mut EntityCommands) {
    character.insert((RULE, Visibility::default())).with_children(|parts| {
        for (bone, hitbox) in bones() {
            parts.spawn((bone, hitbox, Visibility::default()));
        }
    });
}

/// Where the eyes are above the feet, in metres; and so where shots begin.
pub fn eye_height(crouch: f32) -> f32 {
    EYE_HEIGHT - CROUCH_DEPTH * crouch
}

/// The point of a figure that is worth aiming at: the middle of the chest.
pub fn chest(root: &Transform, parameters: &DisplayParameters) -> Vec3 {
    root.transform_point(Skeleton::new(parameters.into()).pose(Part::Chest).translation.into())
}

/// Where a ray meets a figure that stands at `root`: the distance in metres, if that is at most `range`.
pub fn cast_ray(root: &Transform, parameters: &DisplayParameters, ray: Ray3d, range: f32) -> Option<f32> {
    let (root, skeleton) = (root.to_isometry(), Skeleton::new(parameters.into()));
    let reach = Shape::Ball { radius: REACH };
    reach.cast_ray(root, ray, range)?;
    let distances = PARTS.iter().filter_map(|part| {
        let hitbox = part.hitbox();
        hitbox.shape.cast_ray(root * skeleton.pose(*part) * hitbox.offset, ray, range)
    });
    distances.min_by(f32::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that a game does, and between.
    fn postures() -> impl Iterator<Item = Posture> {
        let gaits = [Vec2::ZERO, Vec2::Y, Vec2::X, Vec2::new(-0.6, -0.8)];
        let pitches = [-1.4, 0.0, 1.4];
        (0..8).flat_map(move |step| {
            gaits.into_iter().flat_map(move |gait| {
                pitches.into_iter().flat_map(move |pitch| {
                    [0.0, 0.5, 1.0].map(|crouch| {
                        let stride = step as f32 / 8.0;
                        Posture { pitch, crouch, stride, gait, air: 0.0 }
                    })
                })
            })
        })
    }

    fn lowest_and_highest(posture: Posture) -> (f32, f32) {
        let (parameters, root) = (posture.into(), Transform::default());
        // From below and above, at many places.
        let places = (0..900).map(|n| Vec3::new((n % 30) as f32 * 0.05 - 0.75, 0.0, (n / 30) as f32 * 0.05 - 0.75));
        let reach = |from: f32, direction| {
            let rays = places.clone().map(|place| Ray3d::new(place + Vec3::Y * from, direction));
            rays.filter_map(|ray| cast_ray(&root, &parameters, ray, 10.0)).fold(f32::MAX, f32::min)
        };
        (reach(-5.0, Dir3::Y) - 5.0, 5.0 - reach(5.0, Dir3::NEG_Y))
    }

    #[test]
    fn a_standing_figure_is_as_tall_as_a_person_and_a_crouching_one_much_lower() {
        let (low, high) = lowest_and_highest(Posture::default());
        assert!(low.abs() < 0.02 && (high - 1.8).abs() < 0.02, "{low} {high}");
        let (low, high) = lowest_and_highest(Posture { crouch: 1.0, ..default() });
        assert!(low.abs() < 0.02 && (1.1..1.35).contains(&high), "{low} {high}");
    }

    #[test]
    fn feet_do_not_sink_into_the_ground_and_limbs_keep_their_length() {
        for posture in postures() {
            let skeleton = Skeleton::new(posture);
            for side in [LEFT, RIGHT] {
                let (hip, knee, ankle) = (skeleton.hip(side), skeleton.knee(side), skeleton.ankle(side));
                assert!(ankle.y >= ANKLE_HEIGHT - 1e-6, "{posture:?}");
                assert!((hip.distance(knee) - THIGH).abs() < 1e-3, "{posture:?}");
                assert!(knee.distance(ankle) < SHIN + 0.08, "{posture:?}: {}", knee.distance(ankle));
            }
        }
    }

    #[test]
    fn hitboxes_stay_within_the_reach_of_the_rule() {
        for posture in postures() {
            let parameters = posture.into();
            for (bone, hitbox) in bones() {
                let far = RULE.pose(&parameters, bone).translation.length() + hitbox.shape.bounding_radius();
                assert!(far < REACH, "{posture:?} {bone:?}: {far}");
            }
        }
    }

    #[test]
    fn eyes_are_in_the_head() {
        for crouch in [0.0, 0.5, 1.0] {
            let head = Skeleton::new(Posture { crouch, ..default() }).head();
            let eye = Vec3::Y * eye_height(crouch);
            assert!(head.translation.distance(eye.into()) < 0.16, "{crouch}: {head:?}");
        }
    }

    #[test]
    fn postures_survive_the_way_through_parameters() {
        for posture in postures() {
            assert_eq!(Posture::from(&DisplayParameters::from(posture)), posture);
        }
    }

    #[test]
    fn figures_are_hit_where_they_stand_and_look() {
        let turned = Transform::from_xyz(3.0, 0.0, 1.0).with_rotation(Quat::from_rotation_y(1.0));
        let parameters = DisplayParameters::default();
        let at = chest(&turned, &parameters);
        let ray = Ray3d::new(at + Vec3::X * 9.0, Dir3::NEG_X);
        let distance = cast_ray(&turned, &parameters, ray, 100.0).unwrap();
        assert!((8.4..9.0).contains(&distance), "{distance}");
        let between_the_legs = Ray3d::new(Vec3::new(0.0, 0.3, -5.0), Dir3::Z);
        assert_eq!(cast_ray(&Transform::default(), &parameters, between_the_legs, 100.0), None);
    }
}
