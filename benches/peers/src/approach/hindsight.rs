//! This crate.

use core::time::Duration;
use std::time::Instant;

use bevy::{
    app::TaskPoolPlugin,
    ecs::{entity::EntityHashMap, schedule::SingleThreadedExecutor, system::SystemState},
    prelude::*,
    tasks::ComputeTaskPool,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{
    Attack, Blocker, Bullet, RewoundFilter, RewoundHit, RewoundQuery, Tick, VolleyJudged, prelude::*,
};
use bevy_rapier3d::prelude::*;

use super::Approach;
use crate::{
    answer::{Answer, Met},
    scene::{HZ, NOW, RANGE, Scene, Shot, Shots},
};

/// An app with this plugin and bevy_rapier, as a server has it: rigs are entities with hitboxes on their children, whose local
/// `Transform`s change in each tick; occluders and walls are colliders. History is a second long.
pub struct Server {
    app: App,
    rigs: Vec<Entity>,
    hitboxes: Vec<Entity>,
    occluders: Vec<Entity>,
    things: EntityHashMap<Met>,
}

/// How long recording has taken in the last tick, and whether it is to be left out.
#[derive(Resource, Default)]
struct Recording {
    began: Option<Instant>,
    took: Duration,
    paused: bool,
}

impl Server {
    /// With the scene; its rigs with or without hitboxes.
    pub fn new(scene: &Scene, hitboxes: bool) -> Self {
        let mut app = App::new();
        // The pool of the whole program is made before.
        app.add_plugins((
            MinimalPlugins.build().disable::<TaskPoolPlugin>(),
            TransformPlugin,
            LagCompensationPlugin::default(),
            RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        ))
        .insert_resource(Time::<Fixed>::from_hz(HZ))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(TimestepMode::Fixed { dt: (1.0 / HZ) as f32, substeps: 1 })
        .init_resource::<Recording>()
        .configure_sets(
            FixedPostUpdate,
            LagCompensationSystems::RecordHistory.run_if(|recording: Res<Recording>| !recording.paused),
        )
        .add_systems(
            FixedPostUpdate,
            (
                (|mut recording: ResMut<Recording>| recording.began = Some(Instant::now()))
                    .before(LagCompensationSystems::RecordHistory),
                (|mut recording: ResMut<Recording>| {
                    recording.took = recording.began.take().map(|began| began.elapsed()).unwrap_or_default();
                })
                .after(LagCompensationSystems::RecordHistory)
                .before(LagCompensationSystems::ReceiveShots),
            ),
        );
        app.finish();
        app.cleanup();
        let mut server = Self { app, rigs: vec![], hitboxes: vec![], occluders: vec![], things: default() };
        server.spawn(scene, hitboxes);
        for (_, schedule) in server.app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        server
    }

    fn spawn(&mut self, scene: &Scene, hitboxes: bool) {
        let world = self.app.world_mut();
        let collider = |half: Vec3| Collider::cuboid(half.x, half.y, half.z);
        for (number, wall) in (0..).zip(&scene.walls) {
            let at = Transform::from_isometry(wall.pose);
            let wall = world.spawn((RigidBody::Fixed, collider(wall.half), at)).id();
            self.things.insert(wall, Met::Wall(number));
        }
        for (number, occluder) in (0..).zip(&scene.occluders) {
            let at = Transform::from_isometry(occluder.pose);
            let body = (Occluder::default(), RigidBody::KinematicPositionBased, collider(occluder.half), at);
            self.occluders.push(world.spawn(body).id());
            self.things.insert(self.occluders[number as usize], Met::Occluder(number));
        }
        for (rig, root) in (0..).zip(scene.roots(0)) {
            let entity = world.spawn((Rig, RigId(u64::from(rig)), Transform::from_isometry(*root))).id();
            self.rigs.push(entity);
            if !hitboxes {
                continue;
            }
            for (part, (shape, local)) in (0..).zip(scene.shapes().iter().zip(scene.locals(0, rig as usize))) {
                let hitbox = (Hitbox::new(*shape), Transform::from_isometry(*local), ChildOf(entity));
                let hitbox = world.spawn(hitbox).id();
                self.hitboxes.push(hitbox);
                self.things.insert(hitbox, Met::Hitbox { rig, part });
            }
        }
    }

    /// Gives each rig a body and one collider, as a character has it.
    pub fn give_bodies(&mut self) {
        for rig in &self.rigs {
            let body = (RigidBody::KinematicPositionBased, Collider::capsule_y(0.5, 0.4));
            self.app.world_mut().entity_mut(*rig).insert(body);
        }
    }

    /// Moves everyone to where they stand in a tick.
    fn pose(&mut self, scene: &Scene, tick: usize) {
        let world = self.app.world_mut();
        let locals = (0..self.rigs.len()).flat_map(|rig| scene.locals(tick, rig));
        let moved = [
            (&self.rigs, &mut scene.roots(tick).iter() as &mut dyn Iterator<Item = &Isometry3d>),
            (&self.hitboxes, &mut locals.into_iter()),
            (&self.occluders, &mut scene.occluder_poses(tick).iter()),
        ];
        for (entities, poses) in moved {
            for (entity, pose) in entities.iter().zip(poses) {
                if let Some(mut transform) = world.get_mut::<Transform>(*entity) {
                    *transform = Transform::from_isometry(*pose);
                }
            }
        }
    }

    /// Plays one tick, and tells how long recording has taken.
    fn tick(&mut self, scene: &Scene, tick: usize) -> Duration {
        self.pose(scene, tick);
        // The first update of an app has no tick in it.
        while self.app.world().resource::<CurrentTick>().0 != Tick(tick as u32) {
            self.app.update();
        }
        self.app.world().resource::<Recording>().took
    }

    /// Plays one tick, and tells how long rapier has taken to follow everyone and to make its step.
    pub fn step(&mut self, scene: &Scene, tick: usize) -> Duration {
        self.pose(scene, tick);
        let start = Instant::now();
        self.app.world_mut().run_schedule(FixedUpdate);
        start.elapsed()
    }

    fn bytes_per_rig_second(&self) -> f64 {
        let per_rig = |rig: &Entity| {
            let history = self.app.world().get::<HistoryBuffer>(*rig)?;
            Some((size_of::<HistoryBuffer>() + history.bytes()) as f64 * HZ / history.len() as f64)
        };
        self.rigs.iter().filter_map(per_rig).sum::<f64>() / self.rigs.len() as f64
    }
}

/// Shots are written as [`ShotEvent`]s and read as [`HitConfirmed`] and [`HitRejected`], with admission, evidence and reports.
///
/// The time is that of writing the shots and running `FixedPostUpdate` without recording. It leaves out that a game reads the
/// verdicts, and that shots come over a network.
pub struct ByMessages {
    server: Server,
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
    pub fn run_tick(&mut self, scene: &Scene, tick: usize, shots: &Shots, first: impl FnOnce()) -> Duration {
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

    fn trace_events(&mut self, shots: &Shots, without_recording: bool) -> Duration {
        let mut events = core::mem::take(&mut self.events);
        events.clear();
        events.extend(shots.shots.iter().enumerate().map(|(number, shot)| self.event(number, shot)));
        let world = self.server.app.world_mut();
        world.resource_mut::<Recording>().paused = without_recording;
        let start = Instant::now();
        world.write_message_batch(events.drain(..));
        world.run_schedule(FixedPostUpdate);
        let took = start.elapsed();
        self.events = events;
        took
    }

    /// Reads the verdicts, and forgets all messages, as the end of a tick does.
    fn read(&mut self, shots: &Shots, answers: &mut Vec<Answer>) {
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
    fn record(&mut self, scene: &Scene, tick: usize) -> Duration {
        self.server.tick(scene, tick)
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Duration {
        let took = self.trace_events(shots, true);
        self.read(shots, answers);
        took
    }

    fn bytes_per_rig_second(&self, _: &Scene) -> f64 {
        self.server.bytes_per_rig_second()
    }
}

/// Each ray is a question to [`RewoundQuery`], from a system of the game's own; on all threads of the compute pool, if it has
/// more than one.
pub struct ByQuery {
    server: Server,
    query: SystemState<RewoundQuery<'static, 'static>>,
    found: Vec<Found>,
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
    pub fn new(scene: &Scene) -> Self {
        let mut server = Server::new(scene, true);
        let query = SystemState::new(server.app.world_mut());
        Self { server, query, found: Vec::new() }
    }
}

fn ask(query: &RewoundQuery, shooter: Entity, shot: &Shot, ray: Ray3d) -> Found {
    let cast = query.cast_ray(shot.view(), ray, RANGE, &RewoundFilter::new().fired_by(shooter));
    match (cast.victim(), cast.blocker) {
        (Some(hit), _) => {
            Found { entity: Some(hit.hitbox), distance: hit.distance, normal: Some(hit.normal) }
        }
        (None, Some(wall)) => Found { entity: wall.entity, distance: wall.distance, normal: Some(wall.normal) },
        (None, None) => Found::default(),
    }
}

impl Approach for ByQuery {
    fn record(&mut self, scene: &Scene, tick: usize) -> Duration {
        self.server.tick(scene, tick)
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Duration {
        let Server { app, rigs, things, .. } = &self.server;
        self.found.clear();
        let start = Instant::now();
        let query = self.query.get(app.world()).expect("all that it needs is there");
        let pool = ComputeTaskPool::get();
        let ask_all = |shots_of: &[Shot], found: &mut dyn FnMut(Found)| {
            for shot in shots_of {
                shots.rays[shot.rays()].iter().for_each(|ray| found(ask(&query, rigs[shot.shooter], shot, *ray)));
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

fn met(things: &EntityHashMap<Met>, entity: Option<Entity>) -> Met {
    entity.and_then(|entity| things.get(&entity).copied()).unwrap_or_default()
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
