//! The shots of a tick, one after the other or on several threads.

use bevy::{prelude::*, tasks::ComputeTaskPool};

use super::{
    blast, bullets,
    filter::RewoundFilter,
    projectiles,
    query::RewoundQuery,
    sustained::{Kind, SustainedAttacks},
};
use crate::{
    shot::{AdmittedShot, AdmittedShots, Shooters, Verdicts},
    weapon::Attack,
};

/// Fewer shots than this are not worth waking other threads for.
const LEAST_FOR_THREADS: usize = 64;

/// What each thread needs for itself, kept for its memory.
#[derive(Default)]
pub(crate) struct Bench {
    verdicts: Verdicts,
    bullets: bullets::Scratch,
    blasts: blast::Scratch,
}

/// Traces every admitted shot and decides its verdict.
pub(crate) fn trace_shots(
    mut shots: ResMut<AdmittedShots>,
    mut verdicts: ResMut<Verdicts>,
    query: RewoundQuery,
    mut benches: Local<Vec<Bench>>,
    mut launched: Local<u64>,
    shooters: Shooters,
    mut sustained: ResMut<SustainedAttacks>,
    mut commands: Commands,
) {
    let is_judged_at_once = |shot: &AdmittedShot| matches!(shot.attack, Attack::Bullet(_) | Attack::Blast(_));
    for shots in shots.0.chunk_by(|shot, next| is_judged_at_once(shot) && is_judged_at_once(next)) {
        match shots {
            [shot] if !is_judged_at_once(shot) => match shot.attack {
                Attack::Projectile(projectile) => {
                    projectiles::launch(*shot, projectile, query.tick.0, *launched, &mut commands);
                    *launched += 1;
                }
                Attack::Swing(swing) => sustained.begin(*shot, Kind::Swing(swing), &shooters),
                Attack::Beam(beam) => sustained.begin(*shot, Kind::Beam(beam), &shooters),
                Attack::Bullet(_) | Attack::Blast(_) => {}
            },
            _ => judge_all(shots, &query, &mut verdicts, &mut benches),
        }
    }
    shots.0.clear();
}

/// Judges shots that need nothing but a look at the past: each for itself, and so in parallel if they are many. The order of their
/// verdicts is theirs.
fn judge_all(shots: &[AdmittedShot], query: &RewoundQuery, verdicts: &mut Verdicts, benches: &mut Vec<Bench>) {
    let threads = ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num());
    if threads == 1 || shots.len() < LEAST_FOR_THREADS {
        benches.resize_with(benches.len().max(1), Bench::default);
        let Bench { bullets, blasts, .. } = &mut benches[0];
        shots.iter().for_each(|shot| judge(shot, query, verdicts, bullets, blasts));
        return;
    }
    // Shots differ in what they take; with a few parts for each thread, none waits long for the others.
    let part = shots.len().div_ceil(4 * threads);
    let count = shots.len().div_ceil(part);
    benches.resize_with(benches.len().max(count), Bench::default);
    ComputeTaskPool::get().scope(|scope| {
        for (shots, bench) in shots.chunks(part).zip(&mut *benches) {
            scope.spawn(async move {
                let Bench { verdicts, bullets, blasts } = bench;
                shots.iter().for_each(|shot| judge(shot, query, verdicts, bullets, blasts));
            });
        }
    });
    benches.iter_mut().take(count).for_each(|bench| verdicts.append(&mut bench.verdicts));
}

fn judge(
    shot: &AdmittedShot,
    query: &RewoundQuery,
    verdicts: &mut Verdicts,
    bullets: &mut bullets::Scratch,
    blasts: &mut blast::Scratch,
) {
    let filter = RewoundFilter::new().fired_by(shot.shooter).targets(shot.targets);
    let filter = query.with_defaults(&filter);
    match shot.attack {
        Attack::Bullet(bullet) => bullets::trace(query, shot, bullet, &filter, verdicts, bullets),
        Attack::Blast(blast) => blast::trace(query, shot, blast, &filter, verdicts, blasts),
        Attack::Projectile(_) | Attack::Swing(_) | Attack::Beam(_) => {}
    }
}
