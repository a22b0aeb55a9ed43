//! The slow motion: the bullet flies, and then the victim goes from where they were to where they are.

use bevy::prelude::*;
use bevy_hindsight::{LagCompensationGizmos, Shape};

use super::shots::OwnShots;

/// How long each part takes, in seconds.
const AIM: f32 = 0.6;
const FLIGHT: f32 = 1.4;
const LOOK: f32 = 0.7;
const MOVE: f32 = 1.6;
const END: f32 = 0.9;

/// The clock of the slow motion; it begins anew at its end.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct SlowMotion(f32);

/// What is seen at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Moment {
    /// How far the bullet has come, from 0 to 1.
    bullet: f32,
    /// How far the victim has come since.
    victim: f32,
}

impl SlowMotion {
    fn advance(&mut self, seconds: f32) {
        self.0 = (self.0 + seconds).rem_euclid(AIM + FLIGHT + LOOK + MOVE + END);
    }

    fn moment(self) -> Moment {
        let share = |begin: f32, length: f32| ((self.0 - begin) / length).clamp(0.0, 1.0);
        Moment { bullet: share(AIM, FLIGHT), victim: gently(share(AIM + FLIGHT + LOOK, MOVE)) }
    }
}

/// Sets off and arrives gently.
fn gently(share: f32) -> f32 {
    share * share * (3.0 - 2.0 * share)
}

/// The lines of the slow motion, which are seen through everything.
#[derive(GizmoConfigGroup, Reflect, Default)]
pub struct WhyGizmos;

/// What moves in it.
#[derive(GizmoConfigGroup, Reflect, Default)]
pub struct ReplayGizmos;

/// The plugin of its lines.
pub fn plugin(app: &mut App) {
    let lines =
        |width, depth_bias| GizmoConfig { line: GizmoLineConfig { width, ..default() }, depth_bias, ..default() };
    app.insert_gizmo_config(WhyGizmos, lines(1.6, -0.6)).insert_gizmo_config(ReplayGizmos, lines(3.0, -0.8));
}

/// Time goes on.
pub fn run(mut slow: ResMut<SlowMotion>, time: Res<Time<Real>>) {
    slow.advance(time.delta_secs());
}

/// Draws the ghosts, the bullet, and the victim on the way from red to green.
pub fn draw(
    slow: Res<SlowMotion>,
    shots: Res<OwnShots>,
    store: Res<GizmoConfigStore>,
    mut ghosts: Gizmos<WhyGizmos>,
    mut moving: Gizmos<ReplayGizmos>,
) {
    let Some(shot) = shots.chosen() else { return };
    let (_, style) = store.config::<LagCompensationGizmos>();
    style.draw_shot(&shot.traced, shot.displayed.as_ref(), 0.8, &mut ghosts);
    let moment = slow.moment();
    let traced = &shot.traced;
    let bullet = traced.origin.lerp(traced.end(), moment.bullet);
    let tail = traced.origin.lerp(traced.end(), (moment.bullet - 0.08).max(0.0));
    moving.line_gradient(tail, bullet, Color::WHITE.with_alpha(0.0), Color::WHITE);
    moving.sphere(bullet, 0.05, Color::WHITE);
    if moment.bullet < 1.0 {
        return;
    }
    let (Some(red), Some(green)) = (style.rewound, style.live) else { return };
    let color = red.mix(&green, moment.victim);
    for hitbox in &traced.hitboxes {
        let Some(live) = hitbox.live else { continue };
        let translation = hitbox.pose.translation.lerp(live.translation, moment.victim);
        let pose = Isometry3d::new(translation, hitbox.pose.rotation.slerp(live.rotation, moment.victim));
        outline(&mut moving, hitbox.shape, pose, color);
    }
}

fn outline<C: GizmoConfigGroup>(gizmos: &mut Gizmos<C>, shape: Shape, pose: Isometry3d, color: Color) {
    match shape {
        Shape::Capsule { half_height, radius } => {
            gizmos.primitive_3d(&Capsule3d { radius, half_length: half_height }, pose, color).resolution(8);
        }
        Shape::Ball { radius } => {
            gizmos.primitive_3d(&Sphere { radius }, pose, color).resolution(12);
        }
        Shape::Cuboid { half_extents } => {
            gizmos.primitive_3d(&Cuboid { half_size: half_extents }, pose, color);
        }
        // The library has no other shapes yet.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f32) -> Moment {
        let mut slow = SlowMotion::default();
        slow.advance(seconds);
        slow.moment()
    }

    #[test]
    fn the_bullet_flies_first_and_then_the_victim_moves() {
        assert_eq!(at(0.0), Moment { bullet: 0.0, victim: 0.0 });
        let in_flight = at(AIM + FLIGHT / 2.0);
        assert!((in_flight.bullet - 0.5).abs() < 1e-5 && in_flight.victim == 0.0);
        assert_eq!(at(AIM + FLIGHT + LOOK / 2.0), Moment { bullet: 1.0, victim: 0.0 });
        let half_way = at(AIM + FLIGHT + LOOK + MOVE / 2.0);
        assert!((half_way.victim - 0.5).abs() < 1e-5);
        assert_eq!(at(AIM + FLIGHT + LOOK + MOVE + END / 2.0), Moment { bullet: 1.0, victim: 1.0 });
    }

    #[test]
    fn it_begins_anew() {
        assert_eq!(at(AIM + FLIGHT + LOOK + MOVE + END + 0.1), at(0.1));
    }
}
