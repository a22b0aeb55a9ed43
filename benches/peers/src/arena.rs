//! All approaches in one scene, tick by tick.

use core::hint::black_box;

use bevy::prelude::*;

use crate::{
    approach::{Approach, Kind},
    clock::{Clock, Took},
    scene::{Figure, HZ, NOW, Scene, Setup, Shots},
};

/// The last ticks, in which the time of recording is taken: all histories are full by then.
const TIMED: usize = 24;

/// One that takes part.
pub struct Entrant {
    /// Who.
    pub kind: Kind,
    /// Its state after the last tick.
    pub approach: Box<dyn Approach>,
    /// The microseconds of recording a tick.
    pub record_us: Vec<f64>,
}

/// A scene of each figure that is needed, and those that take part.
pub struct Arena {
    body: Scene,
    capsule: Scene,
    /// Those that take part.
    pub entrants: Vec<Entrant>,
    /// The microseconds of copying the raw poses of a tick.
    pub copy_us: Vec<f64>,
}

impl Arena {
    /// Plays all ticks of a scene of so many rigs.
    pub fn play(rigs: usize, crowded: bool, kinds: &[Kind], seed: u64) -> Self {
        let scene = |figure| Scene::new(Setup { rigs, crowded, figure }, seed);
        let (body, capsule) = (scene(Figure::Body), scene(Figure::Capsule));
        let entrant = |kind: &Kind| {
            let approach = kind.build(if kind.figure() == Figure::Body { &body } else { &capsule });
            Entrant { kind: *kind, approach, record_us: Vec::new() }
        };
        let entrants = kinds.iter().map(entrant).collect();
        let mut arena = Self { body, capsule, entrants, copy_us: Vec::new() };
        let mut ring = CopyRing::new(&arena.body);
        for tick in 1..=NOW {
            let is_timed = tick > NOW - TIMED;
            let took = ring.copy(tick);
            arena.copy_us.extend(is_timed.then(|| took.micros()));
            let Self { body, capsule, entrants, .. } = &mut arena;
            for entrant in entrants {
                let scene = if entrant.kind.figure() == Figure::Body { &*body } else { &*capsule };
                let took = entrant.approach.record(scene, tick);
                entrant.record_us.extend(took.filter(|_| is_timed).map(Took::micros));
            }
        }
        arena
    }

    /// The scene in which one plays.
    pub fn scene(&self, kind: Kind) -> &Scene {
        if kind.figure() == Figure::Body { &self.body } else { &self.capsule }
    }

    /// Those that take part, each with its scene.
    pub fn each(&mut self) -> impl Iterator<Item = (&mut Entrant, &Scene)> {
        let Self { body, capsule, entrants, .. } = self;
        entrants.iter_mut().map(|entrant| {
            let scene = if entrant.kind.figure() == Figure::Body { &*body } else { &*capsule };
            (entrant, scene)
        })
    }
}

/// Shots for those with 19 hitboxes, and for those with one.
pub struct Volleys {
    body: Shots,
    capsule: Shots,
}

impl Volleys {
    /// So many shots in each scene.
    pub fn new(arena: &Arena, shots: usize, seed: u64) -> Self {
        let [body, capsule] = [&arena.body, &arena.capsule].map(|scene| Shots::new(scene, shots, seed));
        Self { body, capsule }
    }

    /// Those for one approach; no more than it is given in a tick.
    pub fn of(&self, kind: Kind) -> Shots {
        self.all(kind).up_to(kind.most_rays())
    }

    /// All those in the scene of one approach.
    pub fn all(&self, kind: Kind) -> &Shots {
        if kind.figure() == Figure::Body { &self.body } else { &self.capsule }
    }
}

/// A second of raw poses.
struct CopyRing {
    poses: Vec<[f32; 7]>,
    past: Vec<[f32; 7]>,
}

impl CopyRing {
    fn new(scene: &Scene) -> Self {
        let number = |rig| {
            scene.hitboxes(0, rig).iter().map(|pose| {
                let (place, turn) = (pose.translation, pose.rotation);
                [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]
            })
        };
        let poses: Vec<_> = (0..scene.setup.rigs).flat_map(number).collect();
        let past = poses.repeat(HZ as usize);
        Self { poses, past }
    }

    fn copy(&mut self, tick: usize) -> Took {
        let count = self.poses.len();
        let start = Clock::start();
        self.past[tick % HZ as usize * count..][..count].copy_from_slice(black_box(&self.poses));
        black_box(&mut self.past);
        start.elapsed()
    }
}
