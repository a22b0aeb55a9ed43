//! What a screen showed, and what a bullet would have hit on it: the truth that verdicts are compared with.

use bevy::prelude::*;
use bevy_hindsight::{Bone, Hitbox, Shape, Tick, ViewTime, Zone, lightyear::Displayed};
use lightyear::prelude::ConfirmedHistory;

use crate::scene::{Barrier, Role};

/// How exactly single precision can place what is some 20 m away, after a few operations; in metres.
pub const ROUNDING: f32 = 1e-5;

/// What the frame that was drawn last has shown.
#[derive(Resource, Default)]
pub struct Screen {
    /// The instant of it, if the clocks have met.
    pub view: Option<ViewTime>,
    /// The targets, in the order of their roles.
    pub targets: Vec<ShownTarget>,
    /// Door and lift.
    pub barriers: Vec<(Barrier, Isometry3d)>,
}

/// A target on the screen.
#[derive(Clone)]
pub struct ShownTarget {
    /// Which one.
    pub role: Role,
    /// Its own pose.
    pub root: Isometry3d,
    /// Its hitboxes, in the world.
    pub parts: Vec<Part>,
    /// The snapshots that lightyear has blended into its pose, as the client knows them.
    pub snapshots: Vec<(Tick, Isometry3d)>,
}

/// A hitbox on the screen.
#[derive(Clone, Copy)]
pub struct Part {
    /// The bone it is on, if its target has bones.
    pub bone: Option<Bone>,
    /// Which part of the body it is.
    pub zone: Zone,
    /// Its shape.
    pub shape: Shape,
    /// Where it stood.
    pub pose: Isometry3d,
}

/// What a bullet meets first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sight {
    /// A target, in this zone.
    Struck(Role, Zone),
    /// A door or a lift.
    Blocked,
    /// Nothing.
    Missed,
}

impl Screen {
    /// What a bullet along `ray` would have met, at most `range` metres away.
    pub fn look(&self, ray: Ray3d, range: f32) -> Sight {
        let wall = self.barriers.iter().filter_map(|(barrier, pose)| barrier.shape().cast_ray(*pose, ray, range));
        let wall = wall.min_by(f32::total_cmp);
        let struck = self.targets.iter().flat_map(|target| {
            target.parts.iter().filter_map(|part| {
                let distance = part.shape.cast_ray(part.pose, ray, range)?;
                Some((distance, Sight::Struck(target.role, part.zone)))
            })
        });
        match (struck.min_by(|a, b| a.0.total_cmp(&b.0)), wall) {
            // In a tie the bullet stays in the wall.
            (Some((distance, struck)), wall) if wall.is_none_or(|wall| distance < wall) => struck,
            (_, Some(_)) => Sight::Blocked,
            (_, None) => Sight::Missed,
        }
    }

    /// Whether a bullet along `ray` would meet something else if it were [`ROUNDING`] beside it, 20 m ahead.
    pub fn is_close_call(&self, ray: Ray3d, range: f32) -> bool {
        let seen = self.look(ray, range);
        let (right, up) = ray.direction.any_orthonormal_pair();
        [right, up, -right, -up, right + up, right - up, up - right, -right - up].into_iter().any(|aside| {
            let direction = Dir3::new(ray.direction * 20.0 + aside.normalize() * ROUNDING);
            direction.is_ok_and(|direction| self.look(Ray3d::new(ray.origin, direction), range) != seen)
        })
    }
}

/// Remembers the frame that is about to be drawn.
pub fn draw(
    displayed: Res<Displayed>,
    targets: Query<(Entity, &Role, &Transform, Option<&ConfirmedHistory<Transform>>)>,
    barriers: Query<(&Barrier, &Transform)>,
    children: Query<&Children>,
    parts: Query<(&Hitbox, Option<&Bone>, &Transform)>,
    mut screen: ResMut<Screen>,
) {
    let view = displayed.view_time();
    screen.view = view;
    screen.targets.clear();
    screen.targets.extend(targets.iter().map(|(target, role, root, history)| {
        let own = parts.get(target).into_iter().map(|(hitbox, bone, _)| part(hitbox, bone, *root));
        let below = children.get(target).into_iter().flatten().filter_map(|child| {
            let (hitbox, bone, local) = parts.get(*child).ok()?;
            Some(part(hitbox, bone, *root * *local))
        });
        let snapshots = view.zip(history).map(|(view, history)| blended(history, view)).unwrap_or_default();
        ShownTarget { role: *role, root: root.to_isometry(), parts: own.chain(below).collect(), snapshots }
    }));
    screen.targets.sort_unstable_by_key(|target| target.role);
    screen.barriers.clear();
    screen.barriers.extend(barriers.iter().map(|(barrier, place)| (*barrier, place.to_isometry())));
    screen.barriers.sort_unstable_by_key(|(barrier, _)| *barrier);
}

/// The last snapshot at or before an instant, and the first one after it.
fn blended(history: &ConfirmedHistory<Transform>, view: ViewTime) -> Vec<(Tick, Isometry3d)> {
    let ticks = (0..history.len()).filter_map(|index| history.get_nth_tick(index));
    let (past, ahead): (Vec<_>, Vec<_>) = ticks.partition(|tick| tick.0 <= view.tick.0);
    let around = past.last().into_iter().chain(ahead.first());
    around.filter_map(|tick| Some((Tick(tick.0), history.get_present(*tick)?.to_isometry()))).collect()
}

fn part(hitbox: &Hitbox, bone: Option<&Bone>, place: Transform) -> Part {
    let pose = place.to_isometry() * hitbox.offset;
    Part { bone: bone.copied(), zone: hitbox.zone, shape: hitbox.shape, pose }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(role: Role, z: f32) -> ShownTarget {
        let pose = Isometry3d::from_xyz(0.0, 0.0, z);
        let part = Part { bone: None, zone: Zone::Torso, shape: Shape::Ball { radius: 0.5 }, pose };
        ShownTarget { role, root: pose, parts: vec![part], snapshots: Vec::new() }
    }

    #[test]
    fn the_nearest_thing_is_struck() {
        let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
        let mut screen = Screen::default();
        assert_eq!(screen.look(ray, 100.0), Sight::Missed);
        screen.targets = vec![target(Role::Jumps, 20.0), target(Role::Turns, 10.0)];
        assert_eq!(screen.look(ray, 100.0), Sight::Struck(Role::Turns, Zone::Torso));
        assert_eq!(screen.look(ray, 5.0), Sight::Missed);
        screen.barriers.push((Barrier::Door, Isometry3d::from_xyz(0.0, 0.0, 15.0)));
        assert_eq!(screen.look(ray, 100.0), Sight::Struck(Role::Turns, Zone::Torso));
        screen.barriers.push((Barrier::Door, Isometry3d::from_xyz(0.0, 0.0, 5.0)));
        assert_eq!(screen.look(ray, 100.0), Sight::Blocked);
    }

    #[test]
    fn shots_along_an_edge_are_close_calls() {
        let screen = Screen { targets: vec![target(Role::Jumps, 20.0)], ..Screen::default() };
        let close = |x| screen.is_close_call(Ray3d::new(Vec3::X * x, Dir3::Z), 100.0);
        assert!(close(0.499_999) && close(0.500_001));
        assert!(!close(0.0) && !close(0.499_9) && !close(0.500_1));
    }
}
