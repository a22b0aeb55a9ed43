//! What a client's own shots hit on its screen, before the server says so.

use core::time::Duration;

use bevy::{ecs::system::SystemParam, prelude::*};

use super::Displayed;
use crate::{
    config::LagCompensationConfig,
    history::Tombstones,
    shot::{RewoundHit, ShotId},
    time::{CurrentTick, Tick, ViewTime},
    trace::{OccluderTombstones, RewoundCast, RewoundFilter, RewoundQuery},
    weapon::PelletPattern,
};

/// Traces a client's own shots through the world on its screen, by the code with which the server judges them: for blood,
/// sparks and hit markers that need not wait for the verdict.
///
/// What is predicted is remembered until the verdict comes; then one [`PredictionSettled`](super::PredictionSettled) tells
/// what is left of it.
///
/// The client's own entities need the [`Rig`](crate::Rig)s, [`Hitbox`](crate::Hitbox)es and
/// [`Occluder`](crate::Occluder)s that those of the server have; the game inserts them when `Transform` has come. Rigs that are
/// dead on the screen, or of the player's own side, need their [`Life`](crate::Life) and
/// [`TargetGroups`](crate::TargetGroups), too. Walls are colliders, if rapier simulates on the client.
///
/// Predict in the system that [fires](super::FireShots), in `FixedUpdate`: the trace goes through the frame that was drawn
/// last. A game that fires in `Update` at the frame that is about to be drawn predicts in `PostUpdate`, after
/// [`ShotClientSystems::RecordDisplayed`](super::ShotClientSystems::RecordDisplayed). The host of a listen server has the
/// server's own entities on the screen, and is predicted and judged by the same records.
///
/// # Cost
///
/// A client without rigs and occluders has nothing to record. Else each frame costs as much as a tick of the server does for its
/// records. A client keeps two of each, unless the game inserts a [`LagCompensationConfig`] of its own.
#[derive(SystemParam)]
pub struct PredictShots<'w, 's> {
    query: RewoundQuery<'w, 's>,
    config: Res<'w, LagCompensationConfig>,
    displayed: Res<'w, Displayed>,
    drawn: Res<'w, DrawnRecord>,
    time: Res<'w, Time<Real>>,
    open: ResMut<'w, OpenPredictions>,
}

/// What a client has shown of one of its shots, or of one pellet of it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct PredictedShot {
    /// The id that [`FireShots::fire`](super::FireShots::fire) returned.
    pub shot: ShotId,
    /// The number of the pellet; 0 for a single bullet.
    pub part: u32,
    /// What it hit on the screen; `None` if that was a wall or nothing.
    pub hit: Option<RewoundHit>,
    /// When it was predicted, on the clock `Time<Real>`.
    pub predicted_at: Duration,
}

impl PredictShots<'_, '_> {
    /// What a bullet meets on the screen: the same first hitbox and first wall that the server finds on a screen like this one.
    ///
    /// `shot` is what [`FireShots::fire`](super::FireShots::fire) returned for the same ray and range. The filter must be that
    /// of the server: without the player's own rig
    /// ([`RewoundFilter::fired_by`]), and with the [targets](RewoundFilter::targets) of the weapon.
    ///
    /// A second prediction for the same shot replaces the first.
    pub fn predict(&mut self, shot: ShotId, ray: Ray3d, range: f32, filter: &RewoundFilter) -> RewoundCast {
        self.open.0.retain(|open| open.shot != shot);
        self.predict_part(shot, 0, ray, range, filter)
    }

    /// The same for each pellet of a shot, in the order of their numbers.
    ///
    /// The pattern is that of the server's [`FireControl::with_pellets`](crate::FireControl::with_pellets); as there, it is seeded
    /// with the number of the shot.
    pub fn predict_pellets(
        &mut self,
        shot: ShotId,
        ray: Ray3d,
        range: f32,
        pattern: PelletPattern,
        filter: &RewoundFilter,
    ) -> Vec<RewoundCast> {
        self.open.0.retain(|open| open.shot != shot);
        let directions = pattern.seeded(shot.sequence).directions(ray.direction);
        let pellets = (0..).zip(directions.map(|direction| Ray3d::new(ray.origin, direction)));
        pellets.map(|(part, pellet)| self.predict_part(shot, part, pellet, range, filter)).collect()
    }

    fn predict_part(&mut self, shot: ShotId, part: u32, ray: Ray3d, range: f32, filter: &RewoundFilter) -> RewoundCast {
        let tick = self.drawn.tick(*self.displayed);
        let cast = self.query.cast_ray(ViewTime::at(tick), ray, range.min(self.config.max_range), filter);
        let predicted_at = self.time.elapsed();
        self.open.0.push(PredictedShot { shot, part, hit: cast.victim(), predicted_at });
        cast
    }
}

/// The predictions that have got no verdict yet.
#[derive(Resource, Default)]
pub(super) struct OpenPredictions(pub(super) Vec<PredictedShot>);

/// The tick whose records tell of the frame that was drawn last. In the fixed steps of the next frame, the current tick is a
/// later one already.
#[derive(Resource, Default)]
pub(super) struct DrawnRecord(Tick);

impl DrawnRecord {
    /// The tick whose records tell of what is displayed.
    pub(super) fn tick(&self, displayed: Displayed) -> Tick {
        match displayed {
            Displayed::Present(tick) => tick,
            Displayed::Past(_) | Displayed::Nothing => self.0,
        }
    }
}

/// Whether the screen shows another world than the one that is simulated here.
pub(super) fn shows_the_past(displayed: Res<Displayed>) -> bool {
    matches!(*displayed, Displayed::Past(_))
}

/// What is gone is not on the screen any more, and of older frames nobody asks.
pub(super) fn forget_gone(mut rigs: ResMut<Tombstones>, mut occluders: ResMut<OccluderTombstones>) {
    rigs.clear();
    occluders.clear();
}

pub(super) fn note_drawn(tick: Res<CurrentTick>, mut drawn: ResMut<DrawnRecord>) {
    drawn.0 = tick.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::record_history,
        hitbox::{Hitbox, Life, Rig, Zone},
        plugin::init_records,
        trace::record_occluders,
    };

    /// A client whose clock stands still, as between two fixed steps, with a rig 10 metres ahead.
    fn client() -> (App, Entity) {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin));
        init_records(&mut app);
        app.insert_resource(LagCompensationConfig { history: Duration::ZERO, ..default() })
            .insert_resource(Displayed::Past(ViewTime::at(Tick(90))))
            .init_resource::<DrawnRecord>()
            .init_resource::<OpenPredictions>()
            .add_systems(PostUpdate, (record_history, record_occluders, forget_gone, note_drawn).chain());
        let rig = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0))).id();
        app.update();
        (app, rig)
    }

    fn predict(app: &mut App, sequence: u32, filter: &RewoundFilter) -> Option<Vec3> {
        let mut state = bevy::ecs::system::SystemState::<PredictShots>::new(app.world_mut());
        let mut predictions = state.get_mut(app.world_mut()).expect("its resources are there");
        let ray = Ray3d::new(Vec3::ZERO, Dir3::Z);
        predictions.predict(ShotId::local(sequence), ray, 100.0, filter).victim().map(|hit| hit.point)
    }

    #[test]
    fn a_shot_meets_what_the_last_frame_has_drawn() {
        let (mut app, rig) = client();
        let all = RewoundFilter::new();
        assert_eq!(predict(&mut app, 1, &all), Some(Vec3::Z * 9.5));
        app.world_mut().get_mut::<Transform>(rig).unwrap().translation.z = 20.0;
        assert_eq!(predict(&mut app, 2, &all), Some(Vec3::Z * 9.5), "that is not drawn yet");
        app.update();
        assert_eq!(predict(&mut app, 3, &all), Some(Vec3::Z * 19.5));
        // A fixed step begins.
        app.world_mut().resource_mut::<CurrentTick>().0 = Tick(1);
        assert_eq!(predict(&mut app, 4, &all), Some(Vec3::Z * 19.5));
        app.world_mut().despawn(rig);
        app.update();
        assert_eq!(predict(&mut app, 5, &all), None);
    }

    #[test]
    fn the_own_rig_and_the_dead_are_not_met() {
        let (mut app, rig) = client();
        assert_eq!(predict(&mut app, 1, &RewoundFilter::new().fired_by(rig)), None);
        app.world_mut().get_mut::<Life>(rig).unwrap().end();
        app.update();
        assert_eq!(predict(&mut app, 2, &RewoundFilter::new()), None);
    }

    #[test]
    fn a_second_prediction_for_a_shot_replaces_the_first() {
        let (mut app, _) = client();
        let all = RewoundFilter::new();
        predict(&mut app, 1, &all.walls_only());
        predict(&mut app, 2, &all);
        predict(&mut app, 1, &all);
        let open = &app.world().resource::<OpenPredictions>().0;
        let zones = open.iter().map(|open| (open.shot.sequence, open.hit.map(|hit| hit.zone)));
        assert!(zones.eq([(2, Some(Zone::Torso)), (1, Some(Zone::Torso))]));
    }

    #[test]
    fn a_client_keeps_no_more_than_two_records() {
        let (mut app, rig) = client();
        for tick in 1..10 {
            app.world_mut().resource_mut::<CurrentTick>().0 = Tick(tick);
            app.update();
        }
        let history = app.world().get::<crate::HistoryBuffer>(rig).unwrap();
        assert!(history.len() <= 2, "{history:?}");
    }
}
