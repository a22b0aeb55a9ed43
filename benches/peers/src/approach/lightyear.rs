//! The lag compensation of lightyear, on avian.

use avian3d::{physics_transform::PhysicsTransformConfig, prelude::*, schedule::PhysicsStepSystems};
use bevy::{
    ecs::{entity::EntityHashMap, schedule::SingleThreadedExecutor, system::SystemState},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_hindsight::Shape;
use fixed::types::U32F32;
use lightyear_avian3d::prelude::{
    LagCompensationHistory, LagCompensationPlugin, LagCompensationSpatialQuery, LagCompensationSystems,
    LightyearAvianPlugin,
};
use lightyear_core::{prelude::LocalTimeline, time::PositiveTickDelta};
use lightyear_interpolation::plugin::InterpolationDelay;
use lightyear_link::prelude::Server;

use super::Approach;
use crate::{
    answer::{Answer, Met},
    clock::{Clock, Took},
    scene::{HZ, NOW, RANGE, Scene, Shot, Shots},
};

/// `LagCompensationSpatialQuery` of `lightyear_avian3d`, with one kinematic body for each hitbox and each occluder.
///
/// Set up as its documentation recommends: avian's own transform and interpolation plugins are off, `LightyearAvianPlugin` is on
/// in its default mode, in which `Position` rules. To its favour, all targets are on a layer of their own without contacts, the
/// filter lets the broad phase skip everything else, and avian has its SIMD tree. A wall may stand before the target, so each
/// ray is also cast at the static boxes, as far as the hit.
///
/// Recording is the system set `UpdateHistory`; it leaves out what avian pays for a second collider on each hitbox, which is
/// more. Its history of 35 ticks is its default; the memory is that of the records themselves.
pub struct LightyearAvian {
    app: App,
    query: SystemState<(LagCompensationSpatialQuery<'static, 'static>, SpatialQuery<'static, 'static>)>,
    movers: Vec<Entity>,
    things: EntityHashMap<Met>,
    found: Vec<Option<RayHitData>>,
}

/// The layers of avian are bits.
const WALLS: LayerMask = LayerMask(1);
const TARGETS: LayerMask = LayerMask(2);

/// The ticks that it plays: enough to fill its history, and no more, since many colliders take long to move.
const TICKS: usize = 44;

/// How long recording has taken in the last tick.
#[derive(Resource, Default)]
struct Recording {
    began: Option<Clock>,
    took: Took,
}

impl LightyearAvian {
    /// A server with the scene.
    pub fn new(scene: &Scene) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin))
            .add_plugins(
                PhysicsPlugins::default()
                    .build()
                    .disable::<PhysicsTransformPlugin>()
                    .disable::<PhysicsInterpolationPlugin>(),
            )
            .init_resource::<PhysicsTransformConfig>()
            .add_plugins(LightyearAvianPlugin { register_physics_components: false, ..default() })
            .insert_resource(Time::<Fixed>::from_hz(HZ))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .insert_resource(Gravity(Vec3::ZERO))
            .init_resource::<LocalTimeline>()
            .init_resource::<Recording>()
            .add_plugins(LagCompensationPlugin)
            .add_systems(FixedFirst, |mut timeline: ResMut<LocalTimeline>| timeline.apply_delta(1))
            .add_systems(
                PhysicsSchedule,
                (
                    (|mut recording: ResMut<Recording>| recording.began = Some(Clock::start()))
                        .after(PhysicsStepSystems::Solver)
                        .before(LagCompensationSystems::UpdateHistory),
                    (|mut recording: ResMut<Recording>| {
                        recording.took = recording.began.take().map(Clock::elapsed).unwrap_or_default();
                    })
                    .after(LagCompensationSystems::UpdateHistory)
                    .before(PhysicsStepSystems::Finalize),
                ),
            );
        app.world_mut().spawn(Server::default());
        app.finish();
        app.cleanup();
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        let (movers, things) = spawn(app.world_mut(), scene);
        let query = SystemState::new(app.world_mut());
        Self { app, query, movers, things, found: Vec::new() }
    }
}

impl LightyearAvian {
    /// Runs the next tick as far as `FixedPostUpdate`, where `LagCompensationSystems::Collisions` is the set for questions. Later
    /// in the frame, the colliders around the history of each hitbox are moved elsewhere, until the next tick.
    fn run_until_questions(&mut self) {
        let world = self.app.world_mut();
        let mut time = world.resource_mut::<Time<Fixed>>();
        let timestep = time.timestep();
        time.advance_by(timestep);
        let time = time.as_generic();
        *world.resource_mut::<Time>() = time;
        world.run_schedule(FixedFirst);
        world.run_schedule(FixedPostUpdate);
    }
}

fn spawn(world: &mut World, scene: &Scene) -> (Vec<Entity>, EntityHashMap<Met>) {
    let (mut movers, mut things) = (Vec::new(), EntityHashMap::default());
    let place = |pose: Isometry3d| {
        let Transform { translation, rotation, .. } = Transform::from_isometry(pose);
        (Position(translation), Rotation(rotation), Transform::from_isometry(pose))
    };
    let cuboid = |half: Vec3| Collider::cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z);
    for (number, wall) in (0..).zip(&scene.walls) {
        let layers = CollisionLayers::new(WALLS, LayerMask::ALL);
        let wall = world.spawn((RigidBody::Static, cuboid(wall.half), place(wall.pose), layers)).id();
        things.insert(wall, Met::Wall(number));
    }
    let mut spawn_mover = |collider: Collider, pose: Isometry3d, met: Met| {
        let layers = CollisionLayers::new(TARGETS, LayerMask::NONE);
        let body = (RigidBody::Kinematic, collider, place(pose), layers, LagCompensationHistory::default());
        let mover = world.spawn(body).id();
        movers.push(mover);
        things.insert(mover, met);
    };
    for (number, occluder) in (0..).zip(&scene.occluders) {
        spawn_mover(cuboid(occluder.half), occluder.pose, Met::Occluder(number));
    }
    for rig in 0..scene.setup.rigs {
        for (part, (shape, pose)) in (0..).zip(scene.shapes().iter().zip(scene.hitboxes(0, rig))) {
            let collider = match *shape {
                Shape::Capsule { half_height, radius } => Collider::capsule(radius, 2.0 * half_height),
                Shape::Ball { radius } => Collider::sphere(radius),
                other => unreachable!("no figure has {other:?}"),
            };
            spawn_mover(collider, *pose, Met::Hitbox { rig: rig as u32, part });
        }
    }
    (movers, things)
}

/// The delay that leads from the last tick to the view time of a shot.
fn delay(shot: &Shot) -> InterpolationDelay {
    let ticks = NOW as f64 - shot.tick as f64 - f64::from(shot.fraction) / 65_536.0;
    InterpolationDelay { delay: PositiveTickDelta { value: U32F32::from_num(ticks) } }
}

impl Approach for LightyearAvian {
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took> {
        if tick + TICKS <= NOW {
            self.app.world_mut().resource_mut::<LocalTimeline>().apply_delta(1);
            return None;
        }
        let hitboxes = (0..scene.setup.rigs).flat_map(|rig| scene.hitboxes(tick, rig));
        let poses = scene.occluder_poses(tick).iter().chain(hitboxes);
        let world = self.app.world_mut();
        for (mover, pose) in self.movers.iter().zip(poses) {
            if let Some(mut position) = world.get_mut::<Position>(*mover) {
                position.0 = pose.translation.into();
            }
            if let Some(mut rotation) = world.get_mut::<Rotation>(*mover) {
                rotation.0 = pose.rotation;
            }
        }
        if tick == NOW {
            self.run_until_questions();
        }
        // The first update of an app has no tick in it.
        while self.app.world().resource::<LocalTimeline>().tick().0 != tick as u32 {
            self.app.update();
        }
        Some(self.app.world().resource::<Recording>().took)
    }

    fn trace(&mut self, _: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took {
        self.found.clear();
        let start = Clock::start();
        let (targets, walls) = self.query.get(self.app.world()).expect("all that it needs is there");
        let mut targets_only = SpatialQueryFilter::from_mask(TARGETS);
        let walls_only = SpatialQueryFilter::from_mask(WALLS);
        for shot in &shots.shots {
            let delay = delay(shot);
            let things = &self.things;
            let is_met = |target: Entity| !matches!(things.get(&target), Some(Met::Hitbox { rig, .. }) if *rig as usize == shot.shooter);
            for Ray3d { origin, direction } in &shots.rays[shot.rays()] {
                let target =
                    targets.cast_ray_predicate(delay, *origin, *direction, RANGE, true, &is_met, &mut targets_only);
                let reach = target.map_or(RANGE, |target| target.distance);
                let wall = walls.cast_ray(*origin, *direction, reach, true, &walls_only);
                self.found.push(wall.or(target));
            }
        }
        let took = start.elapsed();
        answers.clear();
        answers.extend(self.found.iter().map(|found| {
            found.map_or(Answer::default(), |RayHitData { entity, distance, normal }| {
                let met = self.things.get(&entity).copied().unwrap_or_default();
                Answer { met, distance, normal }
            })
        }));
        took
    }

    fn bytes_per_rig_second(&self, scene: &Scene) -> f64 {
        let record = size_of::<(u32, u32, Position, Rotation, ColliderAabb)>();
        (record * scene.shapes().len()) as f64 * HZ
    }
}
