//! How long it takes, and how often it is right.

use core::hint::black_box;

use serde::Serialize;

use crate::{
    answer::Answer,
    approach::Kind,
    arena::{Arena, Volleys},
    clock::Took,
    oracle::{self, Tally},
    scene::Shots,
};

/// How thoroughly.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Repetitions of each time with warm caches, and with cold ones.
    pub repetitions: [usize; 2],
    /// Ticks of 1,024 shots that are compared with the oracle.
    pub judged: usize,
}

/// What is known of one approach in one scene, at one number of shots in a tick.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Row {
    /// Its name.
    pub approach: String,
    /// The rigs in the scene.
    pub rigs: usize,
    /// The shots in a tick.
    pub shots: usize,
    /// Nanoseconds for each ray, right after the same rays: the median.
    pub ns_per_ray: f64,
    /// The same, after the caches have been filled with something else.
    pub ns_per_ray_cold: f64,
    /// Microseconds to record a tick: the median; not a number for those that keep no history of their own.
    pub record_us: f64,
    /// Bytes to remember a rig for a second.
    pub bytes_per_rig_second: f64,
    /// Wrong answers among a million: another thing, or more than a millimetre off.
    pub wrong_per_million: f64,
    /// Those that name another thing than the truth.
    pub other_things_per_million: f64,
    /// The rays that were compared with the oracle for that.
    pub rays_judged: usize,
    /// By how much the bare kernel is faster, with warm caches: the median of the ratios of each repetition.
    pub times_the_kernel: f64,
    /// The time with warm caches, repetition by repetition.
    #[serde(skip)]
    pub samples: Vec<f64>,
}

/// More than the caches of a server's processor hold.
const CACHES: usize = 64 << 20;
/// Fewer shots than this in a tick are repeated with others, until it is so many.
const LEAST_SHOTS: usize = 64;
/// The ticks whose shots are traced for one time with cold caches, if they are few.
const COLD_TICKS: usize = 4;
/// The slow ones do not take part in each repetition.
const SLOW_PACE: usize = 3;

/// Something to fill the caches with.
pub struct Caches(Vec<u8>);

impl Default for Caches {
    fn default() -> Self {
        Self(vec![0; CACHES])
    }
}

impl Caches {
    /// Writes over them.
    pub fn evict(&mut self) {
        // One write for each line of a cache.
        self.0.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
        black_box(&mut self.0);
    }
}

/// Measures all that take part, at this number of shots in a tick. What does not depend on it is measured elsewhere.
pub fn times(arena: &mut Arena, shots: usize, effort: Effort, caches: &mut Caches) -> Vec<Row> {
    let ticks: Vec<_> =
        (0..LEAST_SHOTS.div_ceil(shots).max(1)).map(|tick| Volleys::new(arena, shots, 1_000 + tick as u64)).collect();
    let calls: Vec<_> = arena.entrants.iter().map(|entrant| calls(&ticks, entrant.kind)).collect();
    let mut samples = vec![[Vec::new(), Vec::new()]; calls.len()];
    let mut answers = Vec::new();
    for (cold, repetitions) in [(false, effort.repetitions[0]), (true, effort.repetitions[1])] {
        for repetition in 0..repetitions {
            for (((entrant, scene), calls), samples) in arena.each().zip(&calls).zip(&mut samples) {
                if entrant.kind.most_rays() != usize::MAX && !repetition.is_multiple_of(SLOW_PACE) {
                    continue;
                }
                let mut trace = |shots: &Shots| entrant.approach.trace(scene, shots, &mut answers);
                let (mut time, mut rays) = (Took::default(), 0);
                if cold {
                    let first = repetition * COLD_TICKS;
                    for shots in calls.iter().cycle().skip(first).take(COLD_TICKS.min(calls.len())) {
                        caches.evict();
                        time += trace(shots);
                        rays += shots.rays.len();
                    }
                } else {
                    calls.iter().for_each(|shots| {
                        trace(shots);
                    });
                    for shots in calls {
                        time += trace(shots);
                        rays += shots.rays.len();
                    }
                }
                samples[usize::from(cold)].push(time.micros() * 1e3 / rays as f64);
            }
        }
    }
    let kernel = arena.entrants.iter().position(|entrant| entrant.kind == Kind::Kernel);
    let kernel = kernel.map(|kernel| samples[kernel][0].clone()).unwrap_or_default();
    let rows = arena.each().zip(samples).map(|((entrant, scene), [warm, cold])| Row {
        approach: entrant.kind.name().into(),
        rigs: scene.setup.rigs,
        shots,
        ns_per_ray: median(&warm),
        ns_per_ray_cold: median(&cold),
        record_us: median(&entrant.record_us),
        bytes_per_rig_second: entrant.approach.bytes_per_rig_second(scene),
        wrong_per_million: f64::NAN,
        other_things_per_million: f64::NAN,
        rays_judged: 0,
        times_the_kernel: ratio(&warm, &kernel),
        samples: warm,
    });
    rows.collect()
}

/// The shots of each tick for one approach, as many as it is given.
fn calls(ticks: &[Volleys], kind: Kind) -> Vec<Shots> {
    let mut rays = 0;
    let few = |shots: &Shots| {
        let is_first = rays == 0;
        rays += shots.rays.len();
        is_first || rays <= kind.most_rays()
    };
    ticks.iter().map(|tick| tick.of(kind)).take_while(few).collect()
}

/// Compares all that take part with the oracle, in their order.
pub fn judge(arena: &mut Arena, effort: Effort) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); arena.entrants.len()];
    let mut answers: Vec<Answer> = Vec::new();
    for tick in 0..effort.judged {
        let volleys = Volleys::new(arena, 1_024, 1_000_000 + tick as u64);
        let mut truths = Vec::new();
        for ((entrant, scene), tally) in arena.each().zip(&mut tallies) {
            let (blend, figure) = (entrant.kind.blend(), entrant.kind.figure());
            let shots = volleys.of(entrant.kind);
            entrant.approach.trace(scene, &shots, &mut answers);
            // Each truth is found once; those who are given fewer rays look at its beginning.
            let known = truths.iter().position(|(of, _)| *of == (blend, figure));
            let known = known.unwrap_or_else(|| {
                let all = volleys.all(entrant.kind);
                truths.push(((blend, figure), oracle::trace(scene, all, blend)));
                truths.len() - 1
            });
            let (_, truths) = &truths[known];
            tally.merge(oracle::judge(scene, &shots, blend, truths, &answers));
        }
    }
    tallies
}

/// The middle one, or the mean of the two in the middle.
pub fn median(numbers: &[f64]) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable_by(f64::total_cmp);
    match numbers.len() {
        0 => f64::NAN,
        count => 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]),
    }
}

/// The median of the ratios of what was measured one after the other.
pub fn ratio(numbers: &[f64], others: &[f64]) -> f64 {
    if numbers.len() == others.len() {
        median(&numbers.iter().zip(others).map(|(number, other)| number / other).collect::<Vec<_>>())
    } else {
        median(numbers) / median(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_lie_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        assert_eq!(ratio(&[2.0, 20.0, 8.0], &[1.0, 10.0, 2.0]), 2.0);
        assert_eq!(ratio(&[8.0], &[1.0, 2.0, 3.0]), 4.0);
    }
}
