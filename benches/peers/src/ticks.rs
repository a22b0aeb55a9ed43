//! What a server pays for the plugin in a whole tick, and for hitboxes in its physics step.

use bevy::prelude::*;

use crate::{
    approach::hindsight::{ByMessages, Server},
    measure::{Caches, Effort, median},
    scene::{Figure, NOW, Scene, Setup, Shots},
};

/// Microseconds of whole ticks, all of it with cold caches and on one thread.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    /// 64 rigs and 16 shots: recording and judging.
    pub small: f64,
    /// 1,024 rigs and 1,024 shots.
    pub large: f64,
    /// The physics step with 256 characters that have hitboxes.
    pub step: f64,
    /// The same without the hitboxes.
    pub step_without: f64,
}

impl Ticks {
    /// Measures all of them.
    pub fn measure(seed: u64, effort: Effort, caches: &mut Caches) -> Self {
        let [step, step_without] = steps(seed, effort);
        Self {
            small: plugin(64, 16, seed, effort, caches),
            large: plugin(1_024, 1_024, seed, effort, caches),
            step,
            step_without,
        }
    }
}

fn plugin(rigs: usize, shots: usize, seed: u64, effort: Effort, caches: &mut Caches) -> f64 {
    let scene = Scene::new(Setup { rigs, crowded: false, figure: Figure::Body }, seed);
    let mut approach = ByMessages::new(&scene);
    approach.play(&scene);
    let ticks = effort.repetitions[1];
    let samples = (0..ticks).map(|tick| {
        let shots = Shots::new(&scene, shots, 2_000 + tick as u64);
        // They run back the way that they came, so that everyone has moved.
        approach.run_tick(&scene, NOW - 1 - tick, &shots, || caches.evict()).micros()
    });
    median(&samples.collect::<Vec<_>>())
}

fn steps(seed: u64, effort: Effort) -> [f64; 2] {
    let scene = Scene::new(Setup { rigs: 256, crowded: false, figure: Figure::Body }, seed);
    let mut servers = [true, false].map(|hitboxes| {
        let mut server = Server::new(&scene, hitboxes);
        server.give_bodies();
        server
    });
    let mut samples = [Vec::new(), Vec::new()];
    for tick in 1..=NOW {
        for (server, samples) in servers.iter_mut().zip(&mut samples) {
            let took = server.step(&scene, tick);
            samples.extend((tick + 6 * effort.repetitions[0] > NOW).then(|| took.micros()));
        }
    }
    samples.map(|samples| median(&samples))
}
