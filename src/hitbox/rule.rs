//! How the pose of a figure follows from the few numbers that a client interpolates.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// The numbers that decide how a [`Rig`](crate::Rig) with a [`DisplayRule`] holds its bones: a walk phase, a lean, an aim
/// pitch.
///
/// The server sets them in each tick; replicated and interpolated by [`DisplayParameters::interpolate`], they arrive at
/// clients, who pose their bones by the same rule. Up to [`DisplayParameters::MOST`] numbers; what they mean is the game's
/// affair.
///
/// ```
/// use bevy_hindsight::DisplayParameters;
///
/// const LEAN: usize = 0;
/// const STRIDE: usize = 1;
/// let before = DisplayParameters::default().with(LEAN, 0.25).with_cycle(STRIDE, 0.75);
/// let after = DisplayParameters::default().with(LEAN, 0.75).with_cycle(STRIDE, 0.25);
/// let between = DisplayParameters::interpolate(before, after, 0.5);
/// assert_eq!(between.get(LEAN), 0.5);
/// // A stride goes on, and not back to where it began.
/// assert_eq!(between.get(STRIDE), 0.0);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, Reflect)]
#[reflect(Component, Default)]
pub struct DisplayParameters {
    values: [f32; Self::MOST],
    /// One bit for each number that counts turns.
    cycles: u8,
}

impl DisplayParameters {
    /// How many numbers there are.
    pub const MOST: usize = 8;

    /// The same with a number that is blended in a straight line.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`DisplayParameters::MOST`].
    pub fn with(mut self, index: usize, value: f32) -> Self {
        self.values[index] = value;
        self.cycles &= !(1 << index);
        self
    }

    /// The same with a number that counts turns, so that 0 and 1 are alike; it is blended along the shorter way.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`DisplayParameters::MOST`].
    pub fn with_cycle(mut self, index: usize, turns: f32) -> Self {
        self.values[index] = turns;
        self.cycles |= 1 << index;
        self
    }

    /// One of the numbers; 0 if it was never set.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`DisplayParameters::MOST`].
    pub fn get(&self, index: usize) -> f32 {
        self.values[index]
    }

    /// The numbers `t` of the way from `start` to `end`, with `t` in `0.0..=1.0`: what lightyear's `interpolate_with` is to be
    /// given.
    pub fn interpolate(start: Self, end: Self, t: f32) -> Self {
        if t <= 0.0 {
            return start;
        }
        if t >= 1.0 {
            return end;
        }
        let mut blended = start;
        for (index, (from, to)) in blended.values.iter_mut().zip(end.values).enumerate() {
            let way = to - *from;
            if start.cycles & end.cycles & (1 << index) == 0 {
                *from += way * t;
            } else {
                *from = (*from + (way - way.round()) * t).rem_euclid(1.0);
            }
        }
        blended
    }
}

/// Which bone of a [`Rig`](crate::Rig) with a [`DisplayRule`] an entity is: a number of the game's own.
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct Bone(pub u16);

/// The function by which client and server pose the bones of a [`Rig`](crate::Rig).
///
/// Clients often interpolate no more than the place of a figure and a few numbers, and pose its bones themselves. Blending
/// the poses of bones, as the server does without this component, then differs by centimetres. With it, history keeps the
/// [`DisplayParameters`] instead of poses, and every [`Hitbox`](crate::Hitbox) whose entity is a [`Bone`] stands where the
/// rule puts it; all others keep their place on the rig. It takes less memory, too.
///
/// The rule must be pure: the same numbers give the same pose, on every machine. Use [`bevy::math::ops`] for sines and the
/// like. It is called once for each hitbox of each rig that a shot comes near.
///
/// ```
/// use bevy::{math::ops, prelude::*};
/// use bevy_hindsight::{Bone, DisplayParameters, DisplayRule, prelude::*};
///
/// const HEAD: Bone = Bone(0);
/// const LEAN: usize = 0;
///
/// fn pose(parameters: &DisplayParameters, bone: Bone) -> Isometry3d {
///     let lean = Quat::from_rotation_z(parameters.get(LEAN));
///     match bone {
///         HEAD => Isometry3d::new(lean * Vec3::Y * 1.7, lean),
///         _ => Isometry3d::IDENTITY,
///     }
/// }
///
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Rig,
///     DisplayRule::new(pose, 2.0),
///     DisplayParameters::default().with(LEAN, 0.2),
///     children![(Hitbox::ball(0.12).in_zone(Zone::Head), HEAD)],
/// ));
/// # }
/// # bevy::ecs::system::assert_is_system(spawn);
/// ```
#[derive(Component, Clone, Copy, Debug)]
#[require(DisplayParameters)]
pub struct DisplayRule {
    pose: fn(&DisplayParameters, Bone) -> Isometry3d,
    reach: f32,
}

impl DisplayRule {
    /// A rule that gives the pose of a bone relative to the rig's own entity, before its scale.
    ///
    /// `reach` is how far hitboxes reach from the rig's origin in any pose, in metres. Too low, and shots that should hit fly
    /// by; too high, and more rigs are looked at closely than need be.
    pub const fn new(pose: fn(&DisplayParameters, Bone) -> Isometry3d, reach: f32) -> Self {
        Self { pose, reach }
    }

    /// Where a bone stands, relative to the rig's own entity.
    pub fn pose(&self, parameters: &DisplayParameters, bone: Bone) -> Isometry3d {
        (self.pose)(parameters, bone)
    }

    /// How far hitboxes reach from the rig's origin, in metres.
    pub const fn reach(&self) -> f32 {
        self.reach
    }
}

impl PartialEq for DisplayRule {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::fn_addr_eq(self.pose, other.pose) && self.reach == other.reach
    }
}

/// A system that sets the `Transform` of each [`Bone`] that hangs on a [`Rig`](crate::Rig) with a [`DisplayRule`], directly or
/// on another bone of it: on a client after interpolation, on a server where it animates.
///
/// Bones then stand where the server tests them; nothing between rig and bone may be scaled.
pub fn pose_bones(
    rigs: Query<(Entity, &DisplayRule, &DisplayParameters)>,
    children: Query<&Children>,
    mut bones: Query<(&Bone, &mut Transform)>,
    mut open: Local<Vec<(Entity, Isometry3d)>>,
) {
    for (rig, rule, parameters) in &rigs {
        open.push((rig, Isometry3d::IDENTITY));
        while let Some((parent, placed)) = open.pop() {
            for child in children.get(parent).into_iter().flatten() {
                let Ok((bone, mut transform)) = bones.get_mut(*child) else { continue };
                let pose = rule.pose(parameters, *bone);
                let local = if parent == rig { pose } else { placed.inverse_mul(pose) };
                let posed = Transform::from_isometry(local).with_scale(transform.scale);
                transform.set_if_neq(posed);
                open.push((*child, pose));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;

    use super::*;

    #[test]
    fn cycles_are_blended_along_the_shorter_way_and_lines_straight() {
        let at = |line, cycle| DisplayParameters::default().with(0, line).with_cycle(1, cycle);
        let blend = |a, b, t| {
            let blended = DisplayParameters::interpolate(a, b, t);
            (blended.get(0), blended.get(1))
        };
        assert_eq!(blend(at(1.0, 0.75), at(3.0, 0.25), 0.25), (1.5, 0.875));
        assert_eq!(blend(at(1.0, 0.25), at(3.0, 0.75 - 0.25), 0.5), (2.0, 0.375));
        assert_eq!(blend(at(0.0, 0.125), at(0.0, 0.875), 0.75), (0.0, 0.9375));
        assert_eq!(blend(at(1.0, 0.9), at(3.0, 0.1), 0.0), (1.0, 0.9));
        assert_eq!(blend(at(1.0, 0.9), at(3.0, 0.1), 1.0), (3.0, 0.1));
    }

    #[test]
    fn a_number_that_no_longer_counts_turns_is_blended_straight() {
        let blended = DisplayParameters::interpolate(
            DisplayParameters::default().with_cycle(0, 0.75),
            DisplayParameters::default().with(0, 0.25),
            0.5,
        );
        assert_eq!(blended.get(0), 0.5);
    }

    #[test]
    fn bones_on_bones_stand_where_the_rule_puts_them() {
        fn pose(parameters: &DisplayParameters, bone: Bone) -> Isometry3d {
            let turn = Quat::from_rotation_y(parameters.get(0));
            Isometry3d::new(turn * Vec3::X * (1.0 + f32::from(bone.0)), turn)
        }
        let mut world = World::new();
        let parameters = DisplayParameters::default().with(0, 0.4);
        let rig = world.spawn((DisplayRule::new(pose, 3.0), parameters)).id();
        let upper = world.spawn((Bone(0), Transform::default(), ChildOf(rig))).id();
        let lower = world.spawn((Bone(1), Transform::from_scale(Vec3::splat(2.0)), ChildOf(upper))).id();
        world.run_system_once(pose_bones).expect("it runs");
        let local = |bone| *world.get::<Transform>(bone).expect("it has one");
        assert_eq!(local(upper).to_isometry(), pose(&parameters, Bone(0)));
        let (found, expected) = (local(upper).to_isometry() * local(lower).to_isometry(), pose(&parameters, Bone(1)));
        assert!(found.translation.distance(expected.translation) < 1e-6, "{found:?} instead of {expected:?}");
        assert_eq!(local(lower).scale, Vec3::splat(2.0));
    }
}
