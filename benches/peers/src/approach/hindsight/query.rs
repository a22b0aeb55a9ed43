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
    lists: Lists,
}

/// What is asked for a shot, and answered, kept for its memory.
#[derive(Default)]
struct Lists {
    pellets: Vec<Dir3>,
    met: Vec<Option<Met>>,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// What is met first, as all others are asked: [`RewoundQuery::cast_rays_first`] for all pellets of a shot,
    /// [`RewoundQuery::cast_ray_first`] for a single bullet.
    First,
    /// The same, pellet by pellet.
    FirstAlone,
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
        Self { server, question, query, found: Vec::new(), lists: Lists::default() }
    }
}

impl Question {
    fn ask(
        self,
        query: &RewoundQuery,
        shooter: Entity,
        shot: &Shot,
        rays: &[Ray3d],
        lists: &mut Lists,
        found: &mut dyn FnMut(Found),
    ) {
        let filter = RewoundFilter::new().fired_by(shooter);
        match (self, rays) {
            (Self::First, [_, _, ..]) => {
                let Lists { pellets, met } = lists;
                pellets.clear();
                pellets.extend(rays.iter().map(|ray| ray.direction));
                query.cast_rays_first(shot.view(), shot.origin, pellets, RANGE, &filter, met);
                met.iter().for_each(|met| found(Found::of(*met)));
            }
            (Self::First | Self::FirstAlone, rays) => {
                for ray in rays {
                    found(Found::of(query.cast_ray_first(shot.view(), *ray, RANGE, &filter)));
                }
            }
            (Self::WithEvidence, rays) => rays.iter().for_each(|ray| {
                let cast = query.cast_ray(shot.view(), *ray, RANGE, &filter);
                found(Found::of(cast.victim().map(Met::Hitbox).or(cast.blocker.map(Met::Wall))));
            }),
        }
    }
}

impl Found {
    fn of(met: Option<Met>) -> Self {
        match met {
            Some(Met::Hitbox(hit)) => {
                Self { entity: Some(hit.hitbox), distance: hit.distance, normal: Some(hit.normal) }
            }
            Some(Met::Wall(wall)) => Self { entity: wall.entity, distance: wall.distance, normal: Some(wall.normal) },
            _ => Self::default(),
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
        let ask_all = |shots_of: &[Shot], lists: &mut Lists, found: &mut dyn FnMut(Found)| {
            for shot in shots_of {
                question.ask(&query, rigs[shot.shooter], shot, &shots.rays[shot.rays()], lists, found);
            }
        };
        // A part for each thread would let one wait for the other; fewer shots are not worth the telling.
        let part = shots.shots.len().div_ceil(8 * pool.thread_num());
        if pool.thread_num() == 1 || part < 2 {
            ask_all(&shots.shots, &mut self.lists, &mut |found| self.found.push(found));
        } else {
            let parts = pool.scope(|scope| {
                for part in shots.shots.chunks(part) {
                    let ask_all = &ask_all;
                    scope.spawn(async move {
                        let mut all = Vec::with_capacity(part.iter().map(|shot| shot.rays().len()).sum());
                        ask_all(part, &mut Lists::default(), &mut |found| all.push(found));
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
