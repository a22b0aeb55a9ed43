//! This crate through its messages.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_hindsight::{Attack, Blocker, Bullet, RewoundHit, Tick, VolleyJudged, prelude::*};

use super::{Recording, Server, met};
use crate::{
    answer::{Answer, Met},
    approach::Approach,
    clock::{Clock, Took},
    scene::{NOW, RANGE, Scene, Shot, Shots},
};

/// Shots are written as [`ShotEvent`]s and read as [`HitConfirmed`] and [`HitRejected`], with admission, evidence and reports.
///
/// The time is that of writing the shots and running `FixedPostUpdate` without recording. It leaves out that a game reads the
/// verdicts, and that shots come over a network.
pub struct ByMessages {
    pub(super) server: Server,
    events: Vec<ShotEvent>,
}

impl ByMessages {
    /// A server with the scene.
    pub fn new(scene: &Scene) -> Self {
        Self { server: Server::new(scene, true), events: Vec::new() }
    }

    /// Plays all ticks.
    pub fn play(&mut self, scene: &Scene) {
        (1..=NOW).for_each(|tick| {
            self.server.tick(scene, tick);
        });
    }

    /// One more tick, in which everyone stands where they stood in that one of the scene: the time of recording it, and judging
    /// these shots. What is to be done right before is done `first`.
    pub fn run_tick(&mut self, scene: &Scene, tick: usize, shots: &Shots, first: impl FnOnce()) -> Took {
        self.server.pose(scene, tick);
        let mut now = self.server.app.world_mut().resource_mut::<CurrentTick>();
        now.0 = now.0 + 1;
        first();
        let took = self.trace_events(shots, false);
        self.read(shots, &mut Vec::new());
        took
    }

    fn event(&self, number: usize, shot: &Shot) -> ShotEvent {
        let bullet = Bullet { pellets: shot.pellets, ..default() };
        ShotEvent::new(self.server.rigs[shot.shooter], Tick(NOW as u32), shot.origin, *shot.aim)
            .with_id(ShotId::local(number as u32))
            .with_range(RANGE)
            .seen_at(shot.view())
            .with_attack(Attack::Bullet(bullet))
    }

    pub(super) fn trace_events(&mut self, shots: &Shots, without_recording: bool) -> Took {
        let mut events = core::mem::take(&mut self.events);
        events.clear();
        events.extend(shots.shots.iter().enumerate().map(|(number, shot)| self.event(number, shot)));
        let world = self.server.app.world_mut();
        world.resource_mut::<Recording>().paused = without_recording;
        let start = Clock::start();
        world.write_message_batch(events.drain(..));
        world.run_schedule(FixedPostUpdate);
        let took = start.elapsed();
        self.events = events;
        took
    }

    /// Reads the verdicts, and forgets all messages, as the end of a tick does.
    pub(super) fn read(&mut self, shots: &Shots, answers: &mut Vec<Answer>) {
        answers.clear();
        answers.resize(shots.rays.len(), Answer::default());
        let Server { app, things, .. } = &mut self.server;
        let number = |shot: ShotId, part: u32| shots.shots[shot.sequence as usize].rays().start + part as usize;
        let world = app.world_mut();
        for verdict in world.resource_mut::<Messages<HitConfirmed>>().drain() {
            answers[number(verdict.shot, verdict.part)] = of_hit(things, &verdict.hit);
        }
        for verdict in world.resource_mut::<Messages<HitRejected>>().drain() {
            answers[number(verdict.shot, verdict.part)] = of_wall(things, verdict.evidence.blocker.as_ref());
        }
        world.resource_mut::<Messages<ShotEvent>>().update();
        world.resource_mut::<Messages<VolleyJudged>>().clear();
        world.run_schedule(FixedLast);
    }
}

impl Approach for ByMessages {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        Some(self.server.tick(scene, tick))
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let took = self.trace_events(shots, true);
        self.read(shots, answers);
        took
    }

    fn bytes_per_rig_second(&self, _: &Scene) -> f64 {
        self.server.bytes_per_rig_second()
    }
}

fn of_hit(things: &EntityHashMap<Met>, hit: &RewoundHit) -> Answer {
    Answer { met: met(things, Some(hit.hitbox)), distance: hit.distance, normal: *hit.normal }
}

fn of_wall(things: &EntityHashMap<Met>, wall: Option<&Blocker>) -> Answer {
    wall.map_or(Answer::default(), |wall| Answer {
        met: met(things, wall.entity),
        distance: wall.distance,
        normal: *wall.normal,
    })
}
