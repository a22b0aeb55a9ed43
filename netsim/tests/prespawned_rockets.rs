//! A client flies its rockets from the moment it fires; the server's are matched to them, and are in the same place.

extern crate alloc;

use alloc::collections::BTreeMap;
use core::time::Duration;
use std::collections::HashSet;

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Ballistics, CompensatedProjectile, CurrentTick, Projectile, ProjectileLaunched, Tick,
    lightyear::{Displayed, FireShots, ShotProtocolPlugin, prespawn_hash},
    prelude::*,
};
use lightyear::prelude::{client::Client, *};
use netsim::{Network, Scene, Shooter, Sim, SimConfig, Strafing, TICK, Target};
use serde::{Deserialize, Serialize};

/// One each half second, of a second each: there are always two in the air.
const TICKS_PER_ROCKET: u32 = 32;
const BALLISTICS: Ballistics = Ballistics { gravity: Vec3::new(1.0, -9.81, 0.0), drag: 0.1 };

/// The scene: clients fire rockets into the sky.
#[derive(Clone, Copy)]
struct Rockets {
    rocket: Projectile,
    /// Whether rockets have lightyear's targets for prediction and interpolation, too.
    targeted: bool,
    /// Whether each shot is followed by a rollback to before it.
    roll_back: bool,
}

/// The scene, for its systems.
#[derive(Resource, Clone, Copy)]
struct Playing(Rockets);

/// Named by its hash.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
struct Rocket(u64);

/// How a rocket flies: at first as the client believes, and then as the server says.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
struct Flight {
    muzzle: Vec3,
    velocity: Vec3,
    left_at: ViewTime,
}

impl Flight {
    fn place(&self, at: ViewTime) -> Vec3 {
        let flown = self.left_at.ticks_before(at.tick) + f64::from(at.fraction_f32());
        BALLISTICS.fly(self.muzzle, self.velocity, (flown.max(0.0) * TICK.as_secs_f64()) as f32).0
    }
}

/// The rockets that a client has fired.
#[derive(Resource, Default)]
struct Fired(Vec<(Tick, u64, Flight)>);

/// Where rockets were, by hash and tick, and when they left their muzzles.
#[derive(Resource, Default)]
struct Places(BTreeMap<(u64, u32), (Vec3, ViewTime)>);

/// What a client knew of its rockets.
#[derive(Resource, Default)]
struct Seen {
    /// All entities that ever stood for a rocket.
    entities: BTreeMap<u64, HashSet<Entity>>,
    /// Those that the server's were matched to.
    matched: BTreeMap<u64, HashSet<Entity>>,
    /// The most entities that stood for one rocket in a frame.
    most: usize,
    /// Where a rocket was drawn first.
    drawn_at: BTreeMap<u64, Vec3>,
    /// Ticks that were simulated once more.
    repeated: u32,
}

impl Scene for Rockets {
    fn protocol(&self, app: &mut App) {
        app.component::<Target>().replicate();
        app.component::<Shooter>().replicate();
        app.component::<Rocket>().replicate();
        app.component::<Flight>().replicate();
        app.component::<Transform>()
            .replicate()
            .interpolate_with(InterpolationFns::interpolate(TransformLinearInterpolation::lerp));
        app.add_plugins(ShotProtocolPlugin::<()>::default());
    }

    fn server(&self, app: &mut App, config: &SimConfig) {
        Strafing::default().server(app, config);
        app.insert_resource(Playing(*self)).init_resource::<Places>().add_observer(dress).add_systems(
            FixedPostUpdate,
            (
                arm.after(LagCompensationSystems::ReceiveShots).before(LagCompensationSystems::AdmitShots),
                log_places_on_server.after(LagCompensationSystems::ReportVerdicts),
            ),
        );
    }

    fn client(&self, app: &mut App, config: &SimConfig, id: u64) {
        Strafing { shoot: false, ..default() }.client(app, config, id);
        app.insert_resource(Playing(*self))
            .init_resource::<Fired>()
            .init_resource::<Places>()
            .init_resource::<Seen>()
            .add_systems(FixedUpdate, (fire, spawn, fly, log_places_on_client, count_repeated).chain())
            .add_systems(Last, look);
        if self.roll_back {
            app.add_systems(Last, roll_back);
        }
    }
}

fn arm(mut shots: MessageMutator<ShotEvent>, scene: Res<Playing>) {
    for shot in shots.read() {
        shot.attack = Attack::Projectile(scene.0.rocket);
    }
}

fn dress(
    launched: On<ProjectileLaunched>,
    flights: Query<&CompensatedProjectile>,
    clients: Query<&RemoteId>,
    scene: Res<Playing>,
    mut commands: Commands,
) {
    let link = launched.link.expect("it came over a link");
    let peer = clients.get(link).expect("the link has a client").0;
    let hash = prespawn_hash(peer, launched.shot);
    let flight = flights.get(launched.projectile).expect("it has just been launched");
    let flight = Flight { muzzle: flight.place(), velocity: flight.velocity(), left_at: flight.view_time() };
    let mut rocket = commands.entity(launched.projectile);
    rocket.insert((
        Rocket(hash),
        flight,
        PreSpawned::new(hash).for_client(link),
        Replicate::to_clients(NetworkTarget::All),
    ));
    if scene.0.targeted {
        rocket.insert((
            PredictionTarget::to_clients(NetworkTarget::Single(peer)),
            InterpolationTarget::to_clients(NetworkTarget::AllExceptSingle(peer)),
        ));
    }
}

fn log_places_on_server(
    rockets: Query<(&Rocket, &Flight, &CompensatedProjectile)>,
    tick: Res<CurrentTick>,
    mut places: ResMut<Places>,
) {
    for (rocket, flight, projectile) in &rockets {
        places.0.insert((rocket.0, tick.0.0), (projectile.place(), flight.left_at));
    }
}

fn fire(
    mut shots: FireShots,
    displayed: Res<Displayed>,
    local: Res<LocalTimeline>,
    client: Single<&LocalId, With<Client>>,
    me: Single<&Transform, With<Controlled>>,
    scene: Res<Playing>,
    mut fired: ResMut<Fired>,
    stop: Option<Res<netsim::CeaseFire>>,
) {
    let tick = Tick(local.tick().0);
    let Some(view) = displayed.view_time() else { return };
    if stop.is_some() || !tick.0.is_multiple_of(TICKS_PER_ROCKET) {
        return;
    }
    let ray = Ray3d::new(me.translation, Dir3::Y);
    if let Ok(shot) = shots.fire(ray, 200.0, ()) {
        let rocket = scene.0.rocket;
        let velocity = ray.direction * rocket.speed;
        let left_at = rocket.leaves_at(view, tick);
        let flight = Flight { muzzle: ray.origin, velocity, left_at };
        fired.0.push((tick, prespawn_hash(client.0, shot), flight));
    }
}

/// Spawns the rockets of this tick, each time that it is simulated.
fn spawn(fired: Res<Fired>, local: Res<LocalTimeline>, mut commands: Commands) {
    for (_, hash, flight) in fired.0.iter().filter(|(tick, ..)| tick.0 == local.tick().0) {
        commands.spawn((Rocket(*hash), *flight, Transform::default(), PreSpawned::new(*hash)));
    }
}

fn fly(mut rockets: Query<(&mut Transform, &Flight)>, local: Res<LocalTimeline>) {
    for (mut transform, flight) in &mut rockets {
        transform.translation = flight.place(ViewTime::at(Tick(local.tick().0)));
    }
}

fn log_places_on_client(
    rockets: Query<(&Rocket, &Flight, &Transform)>,
    local: Res<LocalTimeline>,
    mut places: ResMut<Places>,
) {
    for (rocket, flight, transform) in &rockets {
        places.0.insert((rocket.0, local.tick().0), (transform.translation, flight.left_at));
    }
}

fn count_repeated(rollback: Option<Res<Rollback>>, mut seen: ResMut<Seen>) {
    seen.repeated += u32::from(rollback.is_some());
}

fn look(
    rockets: Query<(Entity, &Rocket, Option<&Flight>, Has<ConfirmHistory>)>,
    displayed: Res<Displayed>,
    mut seen: ResMut<Seen>,
) {
    let mut counts = BTreeMap::new();
    for (entity, rocket, flight, is_matched) in &rockets {
        *counts.entry(rocket.0).or_insert(0) += 1;
        seen.entities.entry(rocket.0).or_default().insert(entity);
        if is_matched {
            seen.matched.entry(rocket.0).or_default().insert(entity);
        }
        if let (Some(flight), Some(view)) = (flight, displayed.view_time()) {
            seen.drawn_at.entry(rocket.0).or_insert_with(|| flight.place(view));
        }
    }
    seen.most = seen.most.max(counts.into_values().max().unwrap_or_default());
}

/// Two ticks after each shot, and long before the server's rocket can have come, to two ticks before it.
fn roll_back(
    fired: Res<Fired>,
    local: Res<LocalTimeline>,
    mut rolled_back: Local<usize>,
    mut rollbacks: ResMut<StateRollbackMetadata>,
) {
    if let Some((tick, ..)) = fired.0.last()
        && Tick(local.tick().0).since(*tick) >= 2
        && *rolled_back < fired.0.len()
    {
        *rolled_back = fired.0.len();
        rollbacks.request_forced_rollback(lightyear::prelude::Tick(tick.0.wrapping_sub(2)));
    }
}

fn rocket() -> Projectile {
    Projectile::new(60.0).flying(BALLISTICS).lasting(64)
}

/// Two clients fire rockets for some seconds, which all end.
fn play(scene: Rockets) -> Sim {
    let network = Network { latency: 60.0, jitter: 5.0, loss: 0.05 };
    let mut sim = Sim::new(SimConfig { network, client_fps: vec![144.0, 60.0], ..default() }, scene);
    sim.run_until("rockets", Duration::from_secs(30), |sim| {
        sim.clients.iter().all(|client| client.app.world().resource::<Fired>().0.len() >= 12)
    });
    for client in &mut sim.clients {
        client.app.insert_resource(netsim::CeaseFire);
    }
    sim.run(Duration::from_secs(3));
    sim
}

/// One rocket for each shot on each screen, matched, and where the server's is.
fn check(mut sim: Sim, scene: Rockets, entities_of_own: usize) {
    let server = sim.server.app.world().resource::<Places>();
    let fired = |client: usize| &sim.clients[client].app.world().resource::<Fired>().0;
    for client in 0..2 {
        let world = sim.clients[client].app.world();
        let seen = world.resource::<Seen>();
        let own: Vec<u64> = fired(client).iter().map(|(_, hash, _)| *hash).collect();
        let others: Vec<u64> = fired(1 - client).iter().map(|(_, hash, _)| *hash).collect();
        assert_eq!(seen.most, 1, "no rocket is there twice");
        assert_eq!(seen.entities.len(), own.len() + others.len(), "the rockets of both are seen");
        for hash in &own {
            assert_eq!(seen.entities[hash].len(), entities_of_own, "the server's rocket is none of its own");
            assert_eq!(seen.matched[hash].len(), 1, "and is matched");
        }
        for hash in &others {
            assert_eq!((seen.entities[hash].len(), seen.matched[hash].len()), (1, 1));
        }
        // Not each of them: the server despawns before the client, whose ticks are ahead, hears of it.
        let (mut compared, mut misjudged) = (0, HashSet::new());
        for ((hash, tick), (place, left_at)) in &world.resource::<Places>().0 {
            let Some((there, left_there)) = server.0.get(&(*hash, *tick)) else { continue };
            if left_at == left_there {
                assert!(place.distance(*there) < 1e-4, "at {tick}: {place} here, {there} on the server");
                compared += 1;
            } else {
                misjudged.insert(*hash);
                let ticks = tick - fired(client).iter().find(|fired| fired.1 == *hash).expect("it is its own").0.0;
                // A round trip, and one and a half more for a packet that is lost.
                assert!(ticks < 40, "{ticks} ticks later it should fly as the server says");
            }
        }
        assert!(compared > 40 * own.len(), "{compared} places of {} rockets", own.len());
        // At first the clocks have not settled, and the screen is further behind than the server allows.
        assert!(misjudged.len() <= if scene.rocket.max_catch_up == 8 { 0 } else { 3 }, "{}", misjudged.len());
        for (tick, hash, flight) in fired(client) {
            let capped = flight.left_at == ViewTime::at(*tick - scene.rocket.max_catch_up);
            assert_eq!(capped, scene.rocket.max_catch_up == 8, "the screen is between 8 and 64 ticks behind");
            let drawn_at = seen.drawn_at[hash];
            assert!(drawn_at.distance(flight.muzzle) < 2.0, "drawn first at {drawn_at}, fired from {}", flight.muzzle);
        }
    }
    for client in &mut sim.clients {
        let world = client.app.world_mut();
        assert_eq!(world.query::<&Rocket>().iter(world).count(), 0, "they have all ended");
    }
}

#[test]
fn the_servers_rocket_is_the_one_that_the_client_spawned_and_in_the_same_place() {
    // Rockets that have ended on the server, and not yet on the screen, cost no shot that passes near them.
    for (max_catch_up, targeted) in [(8, true), (64, false)] {
        let scene = Rockets { rocket: Projectile { max_catch_up, ..rocket() }, targeted, roll_back: false };
        let sim = play(scene);
        for client in &sim.clients {
            assert_eq!(client.app.world().resource::<Seen>().repeated, 0, "nothing had to be corrected");
        }
        check(sim, scene, 1);
    }
}

#[test]
fn a_rocket_that_is_spawned_once_more_after_a_rollback_is_matched_too() {
    let scene = Rockets { rocket: rocket(), targeted: false, roll_back: true };
    let sim = play(scene);
    for client in &sim.clients {
        assert!(client.app.world().resource::<Seen>().repeated >= 36, "each shot was simulated twice");
    }
    check(sim, scene, 2);
}
