//! What is fired in a tick.

use core::f32::consts::TAU;

use bevy::{math::ops, prelude::*};
use bevy_hindsight::{PelletPattern, Tick, ViewTime};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{NOW, REWIND, Scene};
use crate::oracle::Walls;

/// One shot of a tick, with what its shooter saw.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The number of the rig that fires it; it is not hit.
    pub shooter: usize,
    /// Where it begins.
    pub origin: Vec3,
    /// Where it is aimed.
    pub aim: Dir3,
    /// The tick of the scene at or before its view time.
    pub tick: usize,
    /// How far its view time lies on the way to the next tick, in 65,536ths.
    pub fraction: u16,
    /// Its pellets, if it is of a shotgun.
    pub pellets: Option<PelletPattern>,
    /// The number of its first ray.
    first: usize,
    count: usize,
}

/// All shots of a tick, and their rays.
#[derive(Clone, Default)]
pub struct Shots {
    /// The shots.
    pub shots: Vec<Shot>,
    /// Where bullets and pellets fly, shot by shot.
    pub rays: Vec<Ray3d>,
}

impl Shot {
    /// What the shooter's screen showed.
    pub fn view(&self) -> ViewTime {
        ViewTime::new(Tick(self.tick as u32), self.fraction)
    }

    /// The same, from one tick to the next.
    pub fn fraction_f32(&self) -> f32 {
        self.view().fraction_f32()
    }

    /// The numbers of its rays.
    pub fn rays(&self) -> core::ops::Range<usize> {
        self.first..self.first + self.count
    }
}

impl Shots {
    /// So many shots; in a crowd, one in twenty begins within several rigs, all others at the eyes of their shooter; three in five aimed at somebody who is seen, one in four with eight pellets, each with a view time of its
    /// own up to 250 ms back.
    pub fn new(scene: &Scene, count: usize, seed: u64) -> Self {
        let mut chance = SmallRng::seed_from_u64(seed);
        let walls = Walls::new(scene);
        let mut shots = Self::default();
        for number in 0..count {
            let before = chance.random_range(1..REWIND << 16);
            let at = (NOW << 16) - before;
            let (tick, fraction) = (at >> 16, at as u16);
            let (shooter, eyes) = muzzle(scene, &walls, &mut chance);
            let origin = within_several(scene, shooter, tick, &mut chance).unwrap_or(eyes);
            let aim = aim_at_somebody(scene, &walls, shooter, origin, tick, &mut chance);
            let aim = aim.unwrap_or_else(|| anywhere(&mut chance));
            let pellets = chance.random_bool(0.25).then(|| PelletPattern::cone(8, 0.05).seeded(number as u32));
            let first = shots.rays.len();
            match pellets {
                Some(pellets) => shots.rays.extend(pellets.directions(aim).map(|pellet| Ray3d::new(origin, pellet))),
                None => shots.rays.push(Ray3d::new(origin, aim)),
            }
            let count = shots.rays.len() - first;
            shots.shots.push(Shot { shooter, origin, aim, tick, fraction, pellets, first, count });
        }
        shots
    }

    /// The first shots with no more than so many rays; at least one.
    pub fn up_to(&self, rays: usize) -> Self {
        let is_within = |(number, shot): &(usize, &Shot)| *number == 0 || shot.rays().end <= rays;
        let shots: Vec<_> = self.shots.iter().enumerate().take_while(is_within).map(|(_, shot)| *shot).collect();
        let rays = shots.last().map_or(0, |shot| shot.rays().end);
        Self { shots, rays: self.rays[..rays].to_vec() }
    }
}

/// Somebody's eyes, outside of all walls if that can be.
fn muzzle(scene: &Scene, walls: &Walls, chance: &mut SmallRng) -> (usize, Vec3) {
    let mut eyes = || {
        let shooter = chance.random_range(0..scene.setup.rigs);
        (shooter, scene.roots(NOW)[shooter] * Vec3::new(0.0, 1.6, 0.3))
    };
    let first = eyes();
    let is_free = |(_, eyes): &(usize, Vec3)| walls.first(Ray3d::new(*eyes, Dir3::X)) > 0.0;
    core::iter::once(first).chain(core::iter::repeat_with(&mut eyes).take(50)).find(is_free).unwrap_or(first)
}

/// In a crowd, now and then: a point within two rigs, none of them the shooter's.
fn within_several(scene: &Scene, shooter: usize, tick: usize, chance: &mut SmallRng) -> Option<Vec3> {
    if !scene.setup.crowded || !chance.random_bool(0.05) {
        return None;
    }
    let roots = scene.roots(tick);
    let has_company = |rig: &usize| {
        let is_close = |other: usize| roots[other].translation.distance(roots[*rig].translation) < 0.15;
        *rig != shooter && (0..roots.len()).any(|other| other != *rig && other != shooter && is_close(other))
    };
    let rig = core::iter::repeat_with(|| chance.random_range(0..roots.len())).take(200).find(has_company)?;
    Some(roots[rig] * Vec3::new(0.0, 0.96, 0.0))
}

/// Towards, or just past, a hitbox that is 3 to 80 m away with no wall before it.
fn aim_at_somebody(
    scene: &Scene,
    walls: &Walls,
    shooter: usize,
    eyes: Vec3,
    tick: usize,
    chance: &mut SmallRng,
) -> Option<Dir3> {
    if !chance.random_bool(0.6) {
        return None;
    }
    for _ in 0..200 {
        let rig = chance.random_range(0..scene.setup.rigs);
        let part = chance.random_range(0..scene.shapes().len());
        let mut aside = || chance.random_range(-0.25..0.25) + chance.random_range(-0.25..0.25);
        let aside = Vec3::new(aside(), aside(), aside());
        let target = Vec3::from(scene.hitboxes(tick, rig)[part].translation);
        let distance = target.distance(eyes);
        let Ok(aim) = Dir3::new(target + aside - eyes) else { continue };
        if rig != shooter && (3.0..80.0).contains(&distance) && walls.first(Ray3d::new(eyes, aim)) > distance - 1.0 {
            return Some(aim);
        }
    }
    None
}

fn anywhere(chance: &mut SmallRng) -> Dir3 {
    let (turn, pitch) = (chance.random_range(0.0..TAU), chance.random_range(-0.12..0.12));
    let (sin, cos) = ops::sin_cos(turn);
    Dir3::new(Vec3::new(sin, ops::sin(pitch), cos)).unwrap_or(Dir3::X)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        oracle::{self, Blend},
        scene::{Figure, Setup},
    };

    fn scene() -> Scene {
        Scene::new(Setup { rigs: 32, crowded: true, figure: Figure::Body }, 3)
    }

    #[test]
    fn shots_are_as_the_issue_asks() {
        let scene = scene();
        let shots = Shots::new(&scene, 400, 1);
        let shotguns = shots.shots.iter().filter(|shot| shot.pellets.is_some()).count();
        assert!((70..130).contains(&shotguns), "{shotguns} of 400");
        assert_eq!(shots.rays.len(), 400 + 7 * shotguns);
        for shot in &shots.shots {
            let back = shot.view().ticks_before(Tick(NOW as u32));
            assert!(back > 0.0 && back <= REWIND as f64, "{back}");
        }
    }

    #[test]
    fn many_rays_meet_somebody() {
        let scene = scene();
        let shots = Shots::new(&scene, 200, 1);
        let hits = oracle::trace(&scene, &shots, Blend::World).iter().filter(|truth| truth.met.is_hitbox()).count();
        assert!(hits > shots.rays.len() / 10, "{hits} of {}", shots.rays.len());
    }

    #[test]
    fn in_a_crowd_some_rays_begin_within_somebody() {
        let scene = Scene::new(Setup { rigs: 256, crowded: true, figure: Figure::Body }, 1);
        let shots = Shots::new(&scene, 400, 1);
        let truths = oracle::trace(&scene, &shots, Blend::OfTheRig);
        let within = truths.iter().filter(|truth| truth.met.is_hitbox() && truth.distance == 0.0).count();
        assert!(within > 10, "{within}");
    }

    #[test]
    fn fewer_shots_keep_whole_shots() {
        let shots = Shots::new(&scene(), 50, 1);
        let few = shots.up_to(20);
        assert!(few.rays.len() <= 20 && few.rays.len() > 12);
        assert_eq!(few.shots.last().map(|shot| shot.rays().end), Some(few.rays.len()));
    }
}
