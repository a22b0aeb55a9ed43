//! A server without network, window or wall clock, for tests.

use core::ops::{Deref, DerefMut};

use bevy::{prelude::*, time::TimeUpdateStrategy};

use crate::{CurrentTick, HitConfirmed, HitRejected, LagCompensationPlugin, ShotEvent, Tick};

/// An [`App`] with [`LagCompensationPlugin`] that runs tick by tick.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::{Tick, prelude::*, test_app::TestApp};
///
/// let mut app = TestApp::new(64.0);
/// let shooter = app.world_mut().spawn(Rig).id();
/// let target = app.world_mut().spawn((Rig, Hitbox::ball(0.5), Transform::from_xyz(0.0, 0.0, 10.0))).id();
/// app.run_to(Tick(99));
///
/// let shot = ShotEvent::new(shooter, Tick(100), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(100), 5.5));
/// let hit = app.judge(shot).expect("the ball is in the way");
/// assert_eq!((hit.target, hit.hit.distance), (target, 9.5));
/// ```
pub struct TestApp(App);

/// The verdict on a shot.
pub type Verdict = Result<HitConfirmed, HitRejected>;

/// All verdicts that were reported since they were last looked at.
#[derive(Resource, Default)]
struct Reported(Vec<Verdict>);

impl TestApp {
    /// An app of `hz` ticks per second, before its first tick, which is tick 1.
    ///
    /// # Panics
    ///
    /// If `hz` is not positive and finite.
    pub fn new(hz: f64) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, LagCompensationPlugin::default()))
            .insert_resource(Time::<Fixed>::from_hz(hz))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .init_resource::<Reported>()
            .add_observer(|hit: On<HitConfirmed>, mut reported: ResMut<Reported>| reported.0.push(Ok(*hit)))
            .add_observer(|rejection: On<HitRejected>, mut reported: ResMut<Reported>| {
                reported.0.push(Err(*rejection));
            });
        Self(app)
    }

    /// The tick that was last run.
    pub fn now(&self) -> Tick {
        self.world().resource::<CurrentTick>().0
    }

    /// Runs one tick, or more if the app has been told to run several in each update.
    ///
    /// # Panics
    ///
    /// If none comes, because time is paused.
    pub fn tick(&mut self) {
        let before = self.now();
        // The first update of an app has no time in it, and so no tick.
        for _ in 0..100 {
            self.0.update();
            if self.now() != before {
                return;
            }
        }
        panic!("no tick after {before:?} in 100 updates: is time paused?");
    }

    /// Runs all ticks up to and with `tick`.
    ///
    /// # Panics
    ///
    /// If `tick` has been run already.
    pub fn run_to(&mut self, tick: Tick) {
        assert!(tick.since(self.now()) >= 0, "{tick:?} is over: it is {:?}", self.now());
        while self.now() != tick {
            self.tick();
        }
    }

    /// Writes `shots`, runs one tick, and returns all verdicts that were reported in it, in their order.
    pub fn judge_all(&mut self, shots: impl IntoIterator<Item = ShotEvent>) -> Vec<Verdict> {
        self.world_mut().write_message_batch(shots);
        self.world_mut().resource_mut::<Reported>().0.clear();
        self.tick();
        self.world_mut().resource_mut::<Reported>().0.drain(..).collect()
    }

    /// Writes a shot, runs one tick, and returns the verdict.
    ///
    /// # Errors
    ///
    /// The rejection, if the shot has not hit.
    ///
    /// # Panics
    ///
    /// If there is not exactly one verdict, because other shots were fired in this tick.
    #[expect(clippy::result_large_err, reason = "both answers carry their evidence")]
    pub fn judge(&mut self, shot: ShotEvent) -> Verdict {
        let mut verdicts = self.judge_all([shot]);
        assert_eq!(verdicts.len(), 1, "one shot should have one verdict: {verdicts:?}");
        verdicts.remove(0)
    }
}

impl Deref for TestApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}

impl DerefMut for TestApp {
    fn deref_mut(&mut self) -> &mut App {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::schedule::SingleThreadedExecutor;

    use super::*;
    use crate::{Attack, Bullet, Hitbox, PelletPattern, Piercing, Rig, ViewTime, history::SAMPLES};

    /// Sixteen rigs in a row before a shooter, and as many far off; how often they are looked up for one shot.
    fn samples(attack: Attack) -> u32 {
        let mut app = TestApp::new(64.0);
        let shooter = app.world_mut().spawn(Rig).id();
        for n in 0..16 {
            for x in [0.0, 500.0] {
                app.world_mut().spawn((Rig, Hitbox::ball(0.75), Transform::from_xyz(x, 0.5 * n as f32, 20.0)));
            }
        }
        app.run_to(Tick(19));
        // Everything on this thread, which counts.
        app.world_mut().resource_mut::<Schedules>().iter_mut().for_each(|(_, schedule)| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
        let shot = ShotEvent::new(shooter, Tick(20), Vec3::ZERO, Vec3::Z).seen_at(ViewTime::before(Tick(20), 6.4));
        SAMPLES.set(0);
        app.judge_all([shot.with_attack(attack)]);
        SAMPLES.get()
    }

    #[test]
    fn all_pellets_of_a_shot_share_one_look_at_each_rig() {
        let one = samples(Attack::Bullet(Bullet::default()));
        let pellets = Bullet::default().with_pellets(PelletPattern::cone(64, 0.25));
        let many = samples(Attack::Bullet(pellets));
        assert!(one < many, "one bullet flies past most of them: {one} of {many}");
        assert!((4..=16).contains(&many), "each that a pellet comes to, once: {many}");
        let piercing = samples(Attack::Bullet(pellets.with_piercing(Piercing::new(1.0))));
        assert!((many..=16).contains(&piercing), "nor more than once if pellets fly on: {piercing}");
    }
}
