//! The slow motion: the bullet flies, and then the victim goes from where they were to where they are.

use bevy::prelude::*;
use bevy_hindsight::LagCompensationGizmos;

use super::shots::{OwnShot, OwnShots};

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
pub struct Moment {
    /// How far the bullet has come, from 0 to 1.
    pub bullet: f32,
    /// How far the victim has come since.
    pub victim: f32,
}

impl SlowMotion {
    fn advance(&mut self, seconds: f32) {
        self.0 = (self.0 + seconds).rem_euclid(AIM + FLIGHT + LOOK + MOVE + END);
    }

    /// What is seen now.
    pub fn moment(self) -> Moment {
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

/// The plugin of its lines.
pub fn plugin(app: &mut App) {
    let line = GizmoLineConfig { width: 2.0, ..default() };
    app.insert_gizmo_config(WhyGizmos, GizmoConfig { line, depth_bias: -0.6, ..default() });
}

/// Time goes on.
pub fn run(mut slow: ResMut<SlowMotion>, time: Res<Time<Real>>) {
    slow.advance(time.delta_secs());
}

/// Draws the ray, the bullet, and what the screen showed: on top of what was tested, since they should be the same.
pub fn draw(slow: Res<SlowMotion>, shots: Res<OwnShots>, store: Res<GizmoConfigStore>, mut gizmos: Gizmos<WhyGizmos>) {
    let Some(OwnShot { traced, displayed }) = shots.chosen() else { return };
    let (_, style) = store.config::<LagCompensationGizmos>();
    // What was tested, and what is now, has a body here.
    let style = LagCompensationGizmos { live: None, rewound: None, ..style.clone() };
    style.draw_shot(traced, displayed.as_ref(), 1.0, &mut gizmos);
    let flown = slow.moment().bullet;
    let [tail, bullet] = [flown - 0.08, flown].map(|share| traced.origin.lerp(traced.end(), share.max(0.0)));
    gizmos.line_gradient(tail, bullet, Color::WHITE.with_alpha(0.0), Color::WHITE);
    gizmos.sphere(bullet, 0.05, Color::WHITE);
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
