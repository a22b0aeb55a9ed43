//! Clients that aim at what their screens showed, and fire at random moments.

use core::{f32::consts::TAU, ops::Range, time::Duration};

use bevy::{math::ops, prelude::*};
use bevy_hindsight::lightyear::{FireShots, ShotClientSystems};
use lightyear::prelude::{Controlled, InterpolationSystems};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};
use serde::{Deserialize, Serialize};

use crate::{
    scene::{Barrier, Role},
    screen::{self, Part, Screen, ShownTarget, Sight},
};

const RANGE: f32 = 200.0;
/// The mean time between two shots of a client, in seconds.
const CADENCE: f32 = 0.12;
/// How far from an edge shots go that are aimed at it, in metres.
const NARROW: f32 = 0.02;
/// How far past the edge shots go at most that shall miss narrowly.
const WIDE: f32 = 0.15;

/// Where in a frame a shot is fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Moment {
    /// In a fixed tick, as most games do.
    Tick,
    /// Between ticks, at the frame that was drawn last.
    BeforeFrame,
    /// Between ticks, at the frame that is about to be drawn.
    AfterFrame,
}

/// What a shot is aimed at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Aim {
    /// The middle of a hitbox.
    Middle,
    /// Within 2 cm of its edge, inside or outside.
    Edge,
    /// A little past it.
    Past,
    /// Within 2 cm of the edge of the door.
    DoorEdge,
}

/// A shot, and the truth about it.
#[derive(Clone)]
pub struct Fired {
    /// The client's number for it.
    pub sequence: u32,
    /// Whom it was aimed at, as the screen showed it.
    pub target: ShownTarget,
    /// Where it was aimed.
    pub aim: Aim,
    /// When it was fired.
    pub moment: Moment,
    /// What it would have met on the screen.
    pub truth: Sight,
    /// Whether rounding may decide about that.
    pub is_close_call: bool,
}

/// All shots of a client.
#[derive(Resource, Default)]
pub struct ShotLog(pub Vec<Fired>);

/// When and where the next shot goes.
#[derive(Resource)]
struct Finger {
    random: SmallRng,
    next: Duration,
    moment: Moment,
    firing: Range<Duration>,
}

/// Fires all through `firing`.
pub fn plugin(seed: u64, firing: Range<Duration>) -> impl Fn(&mut App) {
    move |app: &mut App| {
        let random = SmallRng::seed_from_u64(seed);
        app.init_resource::<ShotLog>()
            .insert_resource(Finger { random, next: firing.start, moment: Moment::Tick, firing: firing.clone() })
            .add_systems(FixedUpdate, (|| Moment::Tick).pipe(fire))
            .add_systems(
                Update,
                (
                    (|| Moment::BeforeFrame).pipe(fire).before(InterpolationSystems::All),
                    (|| Moment::AfterFrame).pipe(fire).after(ShotClientSystems::RememberDisplayed).after(screen::draw),
                ),
            );
    }
}

fn fire(
    In(moment): In<Moment>,
    mut finger: ResMut<Finger>,
    mut shots: FireShots,
    screen: Res<Screen>,
    eye: Single<&Transform, With<Controlled>>,
    time: Res<Time<Real>>,
    mut log: ResMut<ShotLog>,
) {
    let now = time.elapsed();
    if moment != finger.moment || now < finger.next || !finger.firing.contains(&now) {
        return;
    }
    finger.decide(now);
    let eye = eye.translation;
    let Some((target, aim, point)) = finger.aim(&screen, eye) else { return };
    let Ok(direction) = Dir3::new(point - eye) else { return };
    let ray = Ray3d::new(eye, direction);
    if let Ok(shot) = shots.fire(ray, RANGE, ()) {
        let truth = screen.look(ray, RANGE);
        let is_close_call = screen.is_close_call(ray, RANGE);
        log.0.push(Fired { sequence: shot.sequence, target, aim, moment, truth, is_close_call });
    }
}

impl Finger {
    /// Chooses the moment of the next shot.
    fn decide(&mut self, now: Duration) {
        self.next = now + Duration::from_secs_f32(self.random.random_range(0.0..2.0 * CADENCE));
        let moments = [Moment::Tick, Moment::Tick, Moment::BeforeFrame, Moment::AfterFrame];
        self.moment = *moments.choose(&mut self.random).unwrap_or(&Moment::Tick);
    }

    /// Chooses a target, and a point to shoot at.
    fn aim(&mut self, screen: &Screen, eye: Vec3) -> Option<(ShownTarget, Aim, Vec3)> {
        let target = screen.targets.choose(&mut self.random)?;
        let door = screen.barriers.iter().find(|(barrier, _)| *barrier == Barrier::Door);
        let (aim, point) = match door {
            Some((_, door)) if target.role == Role::PassesDoor && self.random.random() => {
                (Aim::DoorEdge, self.point_on_door_edge(*door))
            }
            _ => {
                let part = target.parts.choose(&mut self.random)?;
                self.point_on(part, eye)?
            }
        };
        Some((target.clone(), aim, point))
    }

    fn point_on_door_edge(&mut self, door: Isometry3d) -> Vec3 {
        let half = Barrier::Door.half_extents();
        let side = if self.random.random() { half.x } else { -half.x };
        let aside = self.random.random_range(-NARROW..NARROW);
        let up = self.random.random_range(-0.8..0.8) * half.y;
        door * Vec3::new(side + aside, up, -half.z)
    }

    fn point_on(&mut self, part: &Part, eye: Vec3) -> Option<(Aim, Vec3)> {
        let center = Vec3::from(part.pose.translation);
        let aims = [Aim::Middle, Aim::Edge, Aim::Past];
        let aim = *aims.choose(&mut self.random)?;
        let (right, up) = Dir3::new(center - eye).ok()?.any_orthonormal_pair();
        let (sin, cos) = ops::sin_cos(self.random.random_range(0.0..TAU));
        let aside = right * cos + up * sin;
        let offset = match aim {
            Aim::Edge => edge(part, eye, center, aside) + self.random.random_range(-NARROW..NARROW),
            Aim::Past => edge(part, eye, center, aside) + self.random.random_range(NARROW..WIDE),
            _ => 0.0,
        };
        Some((aim, center + aside * offset))
    }
}

/// How far from the centre of a hitbox, in a direction across the line of sight, its edge is seen.
fn edge(part: &Part, eye: Vec3, center: Vec3, aside: Vec3) -> f32 {
    let (mut inside, mut outside) = (0.0, 2.0 * part.shape.bounding_radius());
    for _ in 0..24 {
        let middle = 0.5 * (inside + outside);
        let direction = Dir3::new(center + aside * middle - eye);
        let hits = direction
            .is_ok_and(|direction| part.shape.cast_ray(part.pose, Ray3d::new(eye, direction), RANGE).is_some());
        if hits { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
mod tests {
    use bevy_hindsight::{Shape, Zone};

    use super::*;

    #[test]
    fn edges_are_where_shots_begin_to_miss() {
        let pose = Isometry3d::from_xyz(1.0, 2.0, 10.0);
        let center = Vec3::from(pose.translation);
        let shape = Shape::Cuboid { half_extents: Vec3::new(0.3, 0.5, 0.001) };
        let part = Part { bone: None, zone: Zone::Torso, shape, pose };
        assert!((edge(&part, center - Vec3::Z * 50.0, center, Vec3::X) - 0.3).abs() < 1e-4);
        assert!((edge(&part, center - Vec3::Z * 50.0, center, Vec3::NEG_Y) - 0.5).abs() < 1e-4);
    }
}
