//! Whatever arrives from the network, the server lives on, answers each shot once, and serves the others.
//!
//! The number of inputs is set by the environment variable `FUZZ_INPUTS`. The same ones come in each run.

use core::{ops::Range, time::Duration};
use std::{
    collections::{HashMap, HashSet},
    env,
    io::{Write, stdout},
};

use bevy::prelude::*;
use bevy_hindsight::{
    CurrentTick, DisplayedRig, FireControl, Muzzle, Shown, SnapshotPair, Tick, ViewTime,
    lightyear::{ShotOutcome, ShotRequest, ShotServerConfig},
};
use netsim::{ClientLog, Network, ServerLog, Shooter, Sim, SimConfig, Strafing, TICK, Target};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

/// The clients. Lightyear takes in one undecodable message per frame from each, so many of them send bytes.
const RAW: Range<usize> = 0..16;
const STRUCTURED: usize = 16;
const HONEST: usize = 17;

#[test]
fn nothing_from_the_network_harms_the_server() {
    let wanted: usize = env::var("FUZZ_INPUTS").map_or(20_000, |number| number.parse().expect("a number of inputs"));
    let mut sim = start();
    let message = message(sim.kind_of_requests());
    let (mut runner, mut inputs, mut sent) = (TestRunner::deterministic(), 0, 0);
    let (mut answered, mut outcomes) = (HashSet::new(), HashMap::new());
    for step in 0.. {
        if inputs >= wanted {
            break;
        }
        arm(&mut sim, step);
        let entities = known_entities(&mut sim);
        for client in RAW {
            sim.send_bytes(client, draw(&mut runner, &message));
        }
        inputs += RAW.len() + 48;
        for _ in 0..48 {
            sent += 1;
            let (blank, again) = draw(&mut runner, &(request(), prop::bool::weighted(0.05)));
            let request = fill_in(blank, sent, now(&sim), &entities);
            for _ in 0..=usize::from(again) {
                sim.fire_raw(STRUCTURED, request.clone());
            }
        }
        sim.run(TICK);
        collect(&mut sim, &mut answered, &mut outcomes);
    }
    for client in &mut sim.clients {
        client.app.insert_resource(netsim::CeaseFire);
    }
    sim.run(Duration::from_secs(5));
    collect(&mut sim, &mut answered, &mut outcomes);
    assert_eq!(answered.len(), sent as usize, "each shot is answered");
    writeln!(stdout(), "{inputs} inputs; what became of the requests among them: {outcomes:?}")
        .expect("standard output should be open");
    assert_honest_client_was_served(&sim);
}

/// Many clients, of which only the last one plays.
fn start() -> Sim {
    let network = Network { latency: 20.0, jitter: 2.0, loss: 0.0 };
    let config = SimConfig { network, client_fps: [vec![64.0; HONEST], vec![144.0]].concat(), ..SimConfig::default() };
    let mut sim = Sim::new(config, Strafing::default());
    for client in &mut sim.clients[..HONEST] {
        client.app.insert_resource(netsim::CeaseFire);
    }
    // All of them are to be looked at.
    let mut limits = sim.server.app.world_mut().resource_mut::<ShotServerConfig>();
    (limits.max_waiting, limits.max_per_tick) = (10_000, 1_000);
    sim.run(Duration::from_secs(3));
    sim.clients[HONEST].app.insert_resource(ClientLog::default());
    sim
}

fn now(sim: &Sim) -> Tick {
    sim.server.app.world().resource::<CurrentTick>().0
}

/// For some of the time, all rigs but the target have muzzles and weapons.
fn arm(sim: &mut Sim, step: u32) {
    let world = sim.server.app.world_mut();
    let rigs: Vec<_> = world.query_filtered::<Entity, With<Shooter>>().iter(world).collect();
    for rig in rigs {
        match step % 64 {
            16 => {
                let weapon = FireControl::default().with_rate(1_000.0).with_magazine(1_000, Duration::from_secs(1));
                let muzzle = Muzzle::at(Vec3::Y).within(1e6).with_max_turn_rate(1e6);
                world.entity_mut(rig).insert((weapon, muzzle));
            }
            32 => {
                world.entity_mut(rig).remove::<(FireControl, Muzzle)>();
            }
            _ => {}
        }
    }
}

/// What the client with structured requests has on its screen.
fn known_entities(sim: &mut Sim) -> Vec<Entity> {
    let world = sim.clients[STRUCTURED].app.world_mut();
    world.query_filtered::<Entity, Or<(With<Target>, With<Shooter>)>>().iter(world).collect()
}

/// Takes in what the client with structured requests has been answered, and forgets the rest.
fn collect(sim: &mut Sim, answered: &mut HashSet<u32>, outcomes: &mut HashMap<String, usize>) {
    sim.server.app.insert_resource(ServerLog::default());
    let mut log = sim.clients[STRUCTURED].app.world_mut().resource_mut::<ClientLog>();
    for verdict in log.verdicts.drain(..) {
        assert!(answered.insert(verdict.shot.sequence), "{verdict:?} came twice");
        let outcome = match verdict.outcome {
            ShotOutcome::Rejected(reason) => format!("{reason:?}"),
            _ => "Hit".into(),
        };
        *outcomes.entry(outcome).or_default() += 1;
        if let ShotOutcome::Hit { point, normal, distance, .. } = verdict.outcome {
            assert!(point.is_finite() && normal.is_normalized() && distance >= 0.0, "{verdict:?}");
        }
    }
    for client in &mut sim.clients[RAW] {
        client.app.insert_resource(ClientLog::default());
    }
}

fn assert_honest_client_was_served(sim: &Sim) {
    let log = sim.client_log(HONEST);
    assert!(log.fired.len() > 50, "it has played");
    for fired in &log.fired {
        let mut verdicts = log.verdicts.iter().filter(|verdict| verdict.shot == fired.shot);
        let verdict = verdicts.next().expect("each shot is answered");
        assert!(verdicts.next().is_none(), "{verdict:?} came twice");
        assert_eq!(verdict.outcome.is_hit(), fired.on_target, "{verdict:?}");
    }
}

fn draw<S: Strategy>(runner: &mut TestRunner, strategy: &S) -> S::Value {
    strategy.new_tree(runner).expect("there should be a value").current()
}

/// Bytes that begin like a request, or like nothing that there is. Lightyear's own messages are its own business.
fn message(kind_of_requests: u8) -> impl Strategy<Value = Vec<u8>> {
    // The greatest number of two bytes.
    let kind = prop_oneof![9 => Just(vec![kind_of_requests]), 1 => Just(vec![0x7F, 0xFF])];
    let tail = prop::collection::vec(prop_oneof![Just(0), Just(1), Just(0xFF), any::<u8>()], 0..96);
    (kind, tail).prop_map(|(kind, tail)| [kind, tail].concat())
}

/// A tick, or how far it lies from the present.
#[derive(Clone, Copy, Debug)]
enum When {
    At(u32),
    FromNow(i32),
}

/// An entity, or the number of one that is known.
#[derive(Clone, Copy, Debug)]
enum Whom {
    Bits(u64),
    Known(usize),
}

type Instant = (When, u16);
type Pair = (When, Option<When>);

/// What a request says of one rig.
type Claim = (Whom, Pair, Option<Pair>, Option<Instant>, bool);

/// All of a request but its number.
#[derive(Clone, Debug)]
struct Blank {
    shooter: Option<Whom>,
    when: When,
    view: Option<Instant>,
    epoch: u16,
    ray: [[f32; 3]; 2],
    range: f32,
    claims: Option<Vec<Option<Claim>>>,
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        8 => (-30..6).prop_map(When::FromNow),
        1 => (-100..100).prop_map(When::FromNow),
        1 => any::<i32>().prop_map(When::FromNow),
        1 => prop::sample::select(vec![0, 1, 1 << 31, (1 << 31) - 1, u32::MAX]).prop_map(When::At),
    ]
}

fn whom() -> impl Strategy<Value = Whom> {
    prop_oneof![9 => (0_usize..32).prop_map(Whom::Known), 1 => any::<u64>().prop_map(Whom::Bits)]
}

/// Any number, also those that are none; mostly one of these.
fn number(usual: Range<f32>) -> impl Strategy<Value = f32> {
    prop_oneof![19 => usual, 1 => any::<u32>().prop_map(f32::from_bits)]
}

/// A ray, mostly towards where the target strafes.
fn ray() -> impl Strategy<Value = [[f32; 3]; 2]> {
    let origin = [number(-1.0..1.0), number(-0.2..0.2), number(-1.0..1.0)];
    (origin, [number(-4.0..4.0), number(-0.3..0.3), number(8.0..12.0)])
        .prop_map(|(origin, direction)| [origin, direction])
}

fn request() -> impl Strategy<Value = Blank> {
    let instant = || (when(), any::<u16>());
    let pair = || (when(), prop::option::of(when()));
    let claim = (whom(), pair(), prop::option::of(pair()), prop::option::of(instant()), prop::bool::weighted(0.02));
    let claims = prop::option::of(prop::collection::vec(prop::option::weighted(0.2, claim), 8));
    let epoch = prop_oneof![9 => 0_u16..2, 1 => any::<u16>()];
    let who = prop::option::weighted(0.2, whom());
    let fields = (who, when(), prop::option::weighted(0.9, instant()), epoch, ray(), number(0.0..200.0), claims);
    fields.prop_map(|(shooter, when, view, epoch, ray, range, claims)| Blank {
        shooter,
        when,
        view,
        epoch,
        ray,
        range,
        claims,
    })
}

fn fill_in(blank: Blank, sequence: u32, now: Tick, entities: &[Entity]) -> ShotRequest<()> {
    let tick = |when| match when {
        When::At(tick) => Tick(tick),
        When::FromNow(ticks) => Tick(now.0.wrapping_add_signed(ticks)),
    };
    let entity = |whom| match whom {
        Whom::Bits(bits) => Entity::try_from_bits(bits).unwrap_or(Entity::PLACEHOLDER),
        Whom::Known(number) => entities[number % entities.len()],
    };
    let instant = |(when, fraction)| ViewTime::new(tick(when), fraction);
    let pair = |(start, end): Pair| SnapshotPair { start: tick(start), end: end.map(tick) };
    let displayed = |(whom, own, parameters, at, predicted): Claim| {
        let rig = entity(whom);
        let at = at.map(instant);
        if predicted {
            return DisplayedRig { rig, shown: Shown::Predicted(at.unwrap_or(ViewTime::at(now))) };
        }
        let claim = match at {
            Some(at) => DisplayedRig::interpolated_at(rig, pair(own), at),
            None => DisplayedRig::interpolated(rig, pair(own)),
        };
        parameters.map_or(claim, |parameters| claim.with_parameters(pair(parameters)))
    };
    ShotRequest {
        sequence,
        shooter: blank.shooter.map(entity),
        command_tick: tick(blank.when),
        view_time: blank.view.map(instant),
        epoch: blank.epoch,
        origin: blank.ray[0].into(),
        direction: blank.ray[1].into(),
        range: blank.range,
        displayed: blank.claims.map(|claims| core::array::from_fn(|slot| claims[slot].map(displayed))),
        weapon: (),
    }
}
