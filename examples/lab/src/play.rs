//! One run under one network condition.

use core::time::Duration;

use netsim::{Pace, Sim, SimConfig, Transport};
use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    frames::{FrameFiles, FrameLog},
    grid::Condition,
    judge::{Past, Verdict, Verdicts},
    outcome::Cell,
    scene::ShootingRange,
    shooter::ShotLog,
};

/// Frames per second of the clients in each run.
pub const CLIENT_FPS: [u32; 3] = [30, 60, 144];

/// Until the clocks have settled.
const SETTLING: Duration = Duration::from_secs(5);
/// Until the last shot is answered, however often its packet is lost.
const ANSWERING: Duration = Duration::from_secs(4);

/// How a run is played.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How long clients fire.
    pub firing: Duration,
    /// The seed of all chance.
    pub seed: u64,
    /// How packets travel.
    pub transport: Transport,
    /// How fast the clock goes.
    pub pace: Pace,
    /// Where the frames go, if anywhere.
    pub frames: Option<FrameFiles>,
}

/// What a run comes to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// One for each of [`CLIENT_FPS`].
    pub cells: Vec<Cell>,
    /// Of all frames and verdicts.
    pub digest: Digest,
}

/// Plays one condition.
pub fn play(condition: Condition, setup: &Setup) -> Run {
    let config = SimConfig {
        transport: setup.transport,
        network: condition.network(),
        client_fps: CLIENT_FPS.map(f64::from).to_vec(),
        send_interval: condition.send.interval(),
        random_phase: true,
        pace: setup.pace,
        seed: setup.seed ^ (condition.number() << 20),
        ..SimConfig::default()
    };
    let range = ShootingRange { firing: SETTLING..SETTLING + setup.firing, frames: setup.frames.clone() };
    let mut sim = Sim::new(config, range);
    sim.run(SETTLING + setup.firing + ANSWERING);
    let server = sim.server.app.world();
    let (verdicts, past) = (&server.resource::<Verdicts>().0, server.resource::<Past>());
    let mut digest = digest_of(verdicts);
    let clients = (1..).zip(&sim.clients).zip(CLIENT_FPS);
    let cells = clients.map(|((id, client), fps)| {
        let world = client.app.world();
        let (shots, frames) = (world.resource::<ShotLog>(), world.resource::<FrameLog>());
        let own: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.client == id).collect();
        digest.write_digest(frames.digest);
        Cell { frames: frames.drawn, starved: frames.starved, ..Cell::new(condition, fps, &shots.0, &own, past) }
    });
    Run { cells: cells.collect(), digest }
}

fn digest_of(verdicts: &[Verdict]) -> Digest {
    // Within a tick, the order in which the server looks at its links is no part of the outcome.
    let mut verdicts: Vec<_> = verdicts.iter().collect();
    verdicts.sort_unstable_by_key(|verdict| (verdict.client, verdict.sequence, verdict.policy));
    let mut digest = Digest::default();
    for verdict in verdicts {
        digest.write_str(&format!("{verdict:?}"));
    }
    digest
}
