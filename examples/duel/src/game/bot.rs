//! What a bot does: it strafes around its opponent, keeps its distance, takes cover now and then, and shoots a little beside what
//! it aims at.

use core::f32::consts::{PI, TAU};

use bevy::prelude::*;
use fastrand::Rng;

use super::{
    arena::Arena,
    chance::{between, gaussian, hash},
    character::{HEIGHT, RADIUS, yaw_and_pitch},
    controls::{Controls, Pilot},
    weapon::Weapon,
};

/// The distance from its opponent that a bot keeps, in metres.
const DISTANCE: core::ops::Range<f32> = 9.0..19.0;
/// How long it runs one way, in seconds.
const LEG: core::ops::Range<f32> = 0.25..1.0;
/// From nearer than this it steps back, whether it sees its opponent or not, in metres.
const TOO_CLOSE: f32 = 3.0;
/// How long it goes along a wall that its opponent is behind, in seconds.
const DETOUR: core::ops::Range<f32> = 0.6..2.4;
/// Who is slower than this, in metres per second, does not get on.
const STUCK: f32 = 0.5;
/// Ticks between two bullets of the rifle.
const SHOT_INTERVAL: core::ops::RangeInclusive<u32> = 11..=15;
/// The standard deviation of a shot from where the bot aims, in metres at the target, sideways and up.
///
/// In metres and not as an angle, so that about as many shots hit at any distance.
const AIM_ERROR: f32 = 0.21;
/// How fast it turns, in radians per second.
const TURN_RATE: f32 = 9.0;
/// How far it may look beside its target when it shoots, in radians.
const READY: f32 = 0.03;
/// How far ahead it looks for what is in its way, in metres.
const FORESIGHT: f32 = 1.0;

/// The mind of a bot. With the same seed and name, and in the same situations, it decides the same.
#[derive(Resource)]
pub struct Bot {
    rng: Rng,
    tick_rate: f32,
    distance: core::ops::Range<f32>,
    /// What it always fires; `None` if each life may have another weapon.
    favourite: Option<Weapon>,
    wishes: Controls,
    /// Ticks until it runs another way.
    leg: u32,
    /// Ticks until it may shoot again.
    reload: u32,
    /// Whether it was dead in the tick before.
    was_dead: bool,
    /// Where it was in the tick before, to find out that it is stuck.
    last_place: Vec3,
    /// How far away its target is, in metres.
    target_distance: f32,
}

/// What a bot knows when it decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Situation {
    /// Its own feet.
    pub feet: Vec3,
    /// Its own eyes.
    pub eye: Vec3,
    /// Whether it is alive.
    pub is_alive: bool,
    /// The feet of its nearest opponent.
    pub opponent: Option<Vec3>,
    /// The chest of that opponent, if it can be seen.
    pub target: Option<Vec3>,
    /// Whether it is the time to shoot.
    pub may_fire: bool,
}

impl Bot {
    /// A bot that decides `tick_rate` times in a second.
    pub fn new(seed: u64, name: &str, tick_rate: f32) -> Self {
        Self {
            rng: Rng::with_seed(hash(seed, name)),
            tick_rate,
            distance: DISTANCE,
            favourite: None,
            wishes: Controls { walk: Vec2::X, ..Controls::new(Pilot::Bot) },
            leg: 0,
            reload: 0,
            was_dead: false,
            last_place: Vec3::ZERO,
            target_distance: 10.0,
        }
    }

    /// The same bot, which keeps another distance, in metres.
    pub fn at_distance(self, distance: core::ops::Range<f32>) -> Self {
        Self { distance, ..self }
    }

    /// The same bot, which never changes its weapon.
    pub fn armed_with(self, weapon: Weapon) -> Self {
        Self { favourite: Some(weapon), wishes: Controls { weapon, ..self.wishes }, ..self }
    }

    /// Decides what to do in this tick. To be called once in each.
    pub fn decide(&mut self, situation: &Situation, arena: &Arena) -> Controls {
        if !situation.is_alive {
            self.was_dead = true;
            return Controls { walk: Vec2::ZERO, trigger: false, ..self.wishes };
        }
        if core::mem::take(&mut self.was_dead) {
            self.choose_weapon();
        }
        let Some(opponent) = situation.opponent else {
            return Controls { walk: Vec2::ZERO, trigger: false, ..self.wishes };
        };
        let goal = situation.target.unwrap_or(opponent + Vec3::Y * 1.2);
        self.target_distance = goal.distance(situation.eye);
        let misses = self.turn_to(Dir3::new(goal - situation.eye).unwrap_or(Dir3::NEG_Z));
        self.walk(situation, opponent, arena);
        self.reload = self.reload.saturating_sub(1);
        self.wishes.trigger = situation.may_fire && situation.target.is_some() && self.reload == 0 && misses < READY;
        if self.wishes.trigger {
            self.reload = self.rng.u32(SHOT_INTERVAL);
        }
        self.wishes
    }

    /// The direction of a shot, a little beside where the bot aims.
    pub fn shake(&mut self, aim: Dir3) -> Dir3 {
        let (right, up) = aim.any_orthonormal_pair();
        let (sideways, upwards) = (gaussian(&mut self.rng), gaussian(&mut self.rng));
        let error = (right * sideways + up * upwards) * AIM_ERROR / self.target_distance.max(1.0);
        Dir3::new(*aim + error).unwrap_or(aim)
    }

    fn choose_weapon(&mut self) {
        let weapon = match self.rng.u32(0..10) {
            0..=5 => Weapon::Rifle,
            6 | 7 => Weapon::Shotgun,
            _ => Weapon::Rocket,
        };
        self.wishes.weapon = self.favourite.unwrap_or(weapon);
    }

    /// Turns towards a direction, no faster than it can; returns how far it is still off, in radians.
    fn turn_to(&mut self, direction: Dir3) -> f32 {
        let (yaw, pitch) = yaw_and_pitch(direction);
        let step = TURN_RATE / self.tick_rate;
        let off = |from: f32, to: f32| (to - from + PI).rem_euclid(TAU) - PI;
        let (sideways, upwards) = (off(self.wishes.yaw, yaw), pitch - self.wishes.pitch);
        self.wishes.yaw += sideways.clamp(-step, step);
        self.wishes.pitch += upwards.clamp(-step, step);
        (sideways.abs().max(upwards.abs()) - step).max(0.0)
    }

    fn walk(&mut self, situation: &Situation, opponent: Vec3, arena: &Arena) {
        self.leg = self.leg.saturating_sub(1);
        if self.leg == 0 {
            self.begin_leg(situation.target.is_some());
        }
        let distance = opponent.distance(situation.feet);
        if situation.target.is_some() {
            if distance < self.distance.start {
                self.wishes.walk.y = -0.7;
            } else if distance > self.distance.end {
                self.wishes.walk.y = 0.7;
            }
        }
        if distance < TOO_CLOSE {
            self.wishes.walk.y = -0.7;
        }
        let is_stuck = situation.feet.distance(self.last_place) * self.tick_rate < STUCK && !self.wishes.crouch;
        if situation.target.is_some() {
            if !self.is_free_ahead(situation.feet, arena) {
                self.wishes.walk.x = -self.wishes.walk.x;
            }
        } else if is_stuck && self.wishes.walk.y > 0.0 {
            // Along the wall instead, long enough to come around it.
            let side = if self.rng.bool() { 1.0 } else { -1.0 };
            self.wishes.walk = Vec2::new(side, -0.05);
            self.leg = (between(&mut self.rng, DETOUR.start, DETOUR.end) * self.tick_rate) as u32;
        }
        let jumps = is_stuck && self.wishes.walk != Vec2::ZERO && self.rng.u32(0..16) == 0;
        self.wishes.jump = jumps || self.rng.u32(0..400) == 0;
        self.last_place = situation.feet;
    }

    fn begin_leg(&mut self, sees_opponent: bool) {
        self.leg = (between(&mut self.rng, LEG.start, LEG.end) * self.tick_rate) as u32;
        self.wishes.crouch = self.rng.u32(0..14) == 0;
        let side = if self.wishes.walk.x > 0.0 { -1.0 } else { 1.0 };
        if !sees_opponent {
            // Goes to look for them.
            self.leg *= 2;
            self.wishes.walk = Vec2::new(side * between(&mut self.rng, 0.0, 0.4), 1.0);
            return;
        }
        self.wishes.walk = match self.rng.u32(0..10) {
            0 => Vec2::ZERO,
            1 | 2 => Vec2::new(side, between(&mut self.rng, -1.0, 1.0)),
            // The same way on, but slower or faster.
            3 => Vec2::new(-side * between(&mut self.rng, 0.5, 1.0), 0.0),
            _ => Vec2::new(side, 0.0),
        };
    }

    /// Whether the way that the bot runs is free for the next steps.
    fn is_free_ahead(&self, feet: Vec3, arena: &Arena) -> bool {
        let walk = self.wishes.walk;
        let way = Quat::from_rotation_y(self.wishes.yaw) * Vec3::new(walk.x, 0.0, -walk.y);
        let ahead = feet + way.normalize_or_zero() * FORESIGHT;
        let is_in_the_way = |solid: &super::arena::Solid| {
            solid.is_between(feet.y + 0.5, feet.y + HEIGHT) && solid.push_out(ahead.xz(), RADIUS).is_some()
        };
        !arena.blocks.iter().any(|block| is_in_the_way(&block.solid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{
        character::{Body, MAX_SPEED},
        figure,
    };

    const DT: f32 = 1.0 / 64.0;

    struct Duelist {
        bot: Bot,
        feet: Transform,
        body: Body,
        wishes: Controls,
    }

    /// Two bots that see each other as they are, and what `each_tick` finds.
    fn play(seed: u64, seconds: u32, mut each_tick: impl FnMut(&mut [Duelist; 2], &Arena)) {
        let arena = Arena::load().unwrap();
        let mut duelists = ["red", "blue"].map(|name| Duelist {
            bot: Bot::new(seed, name, 64.0),
            feet: Transform::from_translation(arena.spawn_points[usize::from(name == "blue")]),
            body: Body::default(),
            wishes: Controls::new(Pilot::Bot),
        });
        for tick in 0..seconds * 64 {
            let places = [1, 0].map(|other: usize| duelists[other].feet.translation);
            for (duelist, opponent) in duelists.iter_mut().zip(places) {
                let eye = duelist.body.eye(duelist.feet.translation);
                let chest = opponent + Vec3::Y * 1.3;
                let (way, distance) = Dir3::new_and_length(chest - eye).unwrap_or((Dir3::X, 0.0));
                let is_clear = arena.cast_ray(Ray3d::new(eye, way), distance).is_none();
                let situation = Situation {
                    feet: duelist.feet.translation,
                    eye,
                    is_alive: true,
                    opponent: Some(opponent),
                    target: is_clear.then_some(chest),
                    may_fire: true,
                };
                duelist.wishes = duelist.bot.decide(&situation, &arena);
                let now = f64::from(tick) * f64::from(DT);
                duelist.body.step(&mut duelist.feet, &arena, now, duelist.wishes.input(), DT);
            }
            each_tick(&mut duelists, &arena);
        }
    }

    fn share(part: u32, of: u32) -> f32 {
        part as f32 / of as f32
    }

    #[test]
    fn the_same_seed_gives_the_same_duel() {
        let duel = |seed| {
            let mut places = Vec::new();
            play(seed, 5, |duelists, _| places.extend(duelists.iter().map(|duelist| duelist.feet.translation)));
            places
        };
        assert_eq!(duel(1), duel(1));
        assert_ne!(duel(1), duel(2));
    }

    #[test]
    fn bots_are_on_the_move_in_sight_of_each_other_and_shoot() {
        let (mut ticks, mut fast, mut shots) = (0, 0, 0);
        for seed in 1..=8 {
            let mut out_of_sight = 0;
            play(seed, 60, |[red, blue], arena| {
                ticks += 1;
                let eye = red.body.eye(red.feet.translation);
                let way = blue.feet.translation + Vec3::Y * 1.3 - eye;
                let (way, distance) = Dir3::new_and_length(way).unwrap_or((Dir3::X, 0.0));
                let is_hidden = arena.cast_ray(Ray3d::new(eye, way), distance).is_some();
                out_of_sight = if is_hidden { out_of_sight + 1 } else { 0 };
                assert!(out_of_sight < 64 * 20, "seed {seed}: they do not find each other");
                fast += u32::from(red.body.velocity.length() > 0.4 * MAX_SPEED);
                shots += u32::from(red.wishes.trigger);
            });
        }
        assert!(share(fast, ticks) > 0.6, "{}", share(fast, ticks));
        assert!(share(shots, ticks) > 0.02, "{}", share(shots, ticks));
    }

    #[test]
    fn about_two_shots_in_three_are_on_target() {
        let (mut shots, mut hits) = (0, 0);
        for seed in 1..=8 {
            play(seed, 30, |[red, blue], _| {
                if red.wishes.trigger {
                    let aim = red.bot.shake(red.wishes.input().direction());
                    let ray = Ray3d::new(red.body.eye(red.feet.translation), aim);
                    let parameters = blue.body.parameters(&blue.feet);
                    shots += 1;
                    hits += u32::from(figure::cast_ray(&blue.feet, &parameters, ray, 100.0).is_some());
                }
            });
        }
        assert!((0.35..0.9).contains(&share(hits, shots)), "{hits} of {shots}");
    }

    #[test]
    fn bots_do_not_turn_faster_than_they_can() {
        let mut before: Option<f32> = None;
        play(3, 20, |[red, _], _| {
            let yaw = red.wishes.yaw;
            assert!(before.is_none_or(|before| (yaw - before).abs() <= TURN_RATE * DT + 1e-5));
            before = Some(yaw);
        });
    }

    #[test]
    fn the_dead_and_the_lonely_do_nothing() {
        let arena = Arena::load().unwrap();
        let mut bot = Bot::new(1, "red", 64.0);
        let lonely =
            Situation { feet: Vec3::ZERO, eye: Vec3::Y, is_alive: true, opponent: None, target: None, may_fire: true };
        let dead = Situation { is_alive: false, opponent: Some(Vec3::X), target: Some(Vec3::X), ..lonely };
        for situation in [lonely, dead] {
            let wishes = bot.decide(&situation, &arena);
            assert_eq!((wishes.walk, wishes.trigger), (Vec2::ZERO, false));
        }
    }
}
