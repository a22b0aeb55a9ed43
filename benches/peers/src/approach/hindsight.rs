//! This crate.

mod answers;
mod messages;
mod query;

use bevy::{
    ecs::{entity::EntityHashMap, schedule::SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::{Tick, prelude::*};
use bevy_rapier3d::prelude::*;

use crate::{
    answer::Met,
    clock::{Clock, Took},
    scene::{HZ, Scene},
};

pub use answers::write_all;
pub use messages::ByMessages;
pub use query::{ByQuery, Question};

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
    began: Option<Clock>,
    took: Took,
    paused: bool,
}

impl Server {
    /// With the scene; its rigs with or without hitboxes.
    pub fn new(scene: &Scene, hitboxes: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
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
                (|mut recording: ResMut<Recording>| recording.began = Some(Clock::start()))
                    .before(LagCompensationSystems::RecordHistory),
                (|mut recording: ResMut<Recording>| {
                    recording.took = recording.began.take().map(Clock::elapsed).unwrap_or_default();
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
        // The scene has the same ids, however many entities the plugins need for themselves.
        while world.spawn_empty().id().index_u32() < 1_000 {}
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
    fn tick(&mut self, scene: &Scene, tick: usize) -> Took {
        self.pose(scene, tick);
        // The first update of an app has no tick in it.
        while self.app.world().resource::<CurrentTick>().0 != Tick(tick as u32) {
            self.app.update();
        }
        self.app.world().resource::<Recording>().took
    }

    /// Plays one tick, and tells how long rapier has taken to follow everyone and to make its step.
    pub fn step(&mut self, scene: &Scene, tick: usize) -> Took {
        self.pose(scene, tick);
        let start = Clock::start();
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

fn met(things: &EntityHashMap<Met>, entity: Option<Entity>) -> Met {
    entity.and_then(|entity| things.get(&entity).copied()).unwrap_or_default()
}
