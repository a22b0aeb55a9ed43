//! This crate through questions of the game's own.

use bevy::{ecs::system::SystemState, prelude::*, tasks::ComputeTaskPool};
use bevy_hindsight::{Met, RewoundFilter, RewoundQuery};

use super::{Server, met};
use crate::{
    answer::Answer,
    approach::Approach,
    clock::{Clock, Took},
    scene::{RANGE, Scene, Shot, Shots},
};

/// Each ray is a question to [`RewoundQuery`], from a system of the game's own; on all threads of the compute pool, if it has
/// more than one.
pub struct ByQuery {
    server: Server,
    question: Question,
    query: SystemState<RewoundQuery<'static, 'static>>,
    found: Vec<Found>,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// [`RewoundQuery::cast_ray_first`]: what is met first, as all others are asked.
    First,
    /// [`RewoundQuery::cast_ray`]: also the hitbox behind the wall, and the evidence that verdicts have.
    WithEvidence,
}

/// What a game makes use of.
#[derive(Clone, Copy, Default)]
struct Found {
    entity: Option<Entity>,
    distance: f32,
    normal: Option<Dir3>,
}

impl ByQuery {
    /// A server with the scene.
    pub fn new(scene: &Scene, question: Question) -> Self {
        let mut server = Server::new(scene, true);
        let query = SystemState::new(server.app.world_mut());
        Self { server, question, query, found: Vec::new() }
    }
}

impl Question {
    fn ask(self, query: &RewoundQuery, shooter: Entity, shot: &Shot, ray: Ray3d) -> Found {
        let filter = RewoundFilter::new().fired_by(shooter);
        let met = match self {
            Self::First => query.cast_ray_first(shot.view(), ray, RANGE, &filter),
            Self::WithEvidence => {
                let cast = query.cast_ray(shot.view(), ray, RANGE, &filter);
                cast.victim().map(Met::Hitbox).or(cast.blocker.map(Met::Wall))
            }
        };
        match met {
            Some(Met::Hitbox(hit)) => {
                Found { entity: Some(hit.hitbox), distance: hit.distance, normal: Some(hit.normal) }
            }
            Some(Met::Wall(wall)) => Found { entity: wall.entity, distance: wall.distance, normal: Some(wall.normal) },
            _ => Found::default(),
        }
    }
}

impl Approach for ByQuery {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        Some(self.server.tick(scene, tick))
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        let Server { app, rigs, things, .. } = &self.server;
        let question = self.question;
        self.found.clear();
        let start = Clock::start();
        let query = self.query.get(app.world()).expect("all that it needs is there");
        let pool = ComputeTaskPool::get();
        let ask_all = |shots_of: &[Shot], found: &mut dyn FnMut(Found)| {
            for shot in shots_of {
                shots.rays[shot.rays()]
                    .iter()
                    .for_each(|ray| found(question.ask(&query, rigs[shot.shooter], shot, *ray)));
            }
        };
        // A part for each thread would let one wait for the other; fewer shots are not worth the telling.
        let part = shots.shots.len().div_ceil(8 * pool.thread_num());
        if pool.thread_num() == 1 || part < 2 {
            ask_all(&shots.shots, &mut |found| self.found.push(found));
        } else {
            let parts = pool.scope(|scope| {
                for part in shots.shots.chunks(part) {
                    let ask_all = &ask_all;
                    scope.spawn(async move {
                        let mut all = Vec::with_capacity(part.iter().map(|shot| shot.rays().len()).sum());
                        ask_all(part, &mut |found| all.push(found));
                        all
                    });
                }
            });
            self.found.extend(parts.into_iter().flatten());
        }
        let took = start.elapsed();
        answers.clear();
        answers.extend(self.found.iter().map(|found| Answer {
            met: met(things, found.entity),
            distance: found.distance,
            normal: found.normal.map_or(Vec3::ZERO, Vec3::from),
        }));
        took
    }

    fn bytes_per_rig_second(&self, _: &Scene) -> f64 {
        self.server.bytes_per_rig_second()
    }
}
