//! What a bot does: it strafes around its opponent, keeps its distance, and shoots a little beside what it aims at.

use bevy::{math::ops, prelude::*};
use fastrand::Rng;

use super::{
    arena,
    chance::{between, gaussian, hash},
    character::{self, PlayerInput},
};

/// The distance from its opponent that a bot keeps, in metres.
const DISTANCE: core::ops::Range<f32> = 10.0..21.0;
/// How long it runs one way, in seconds.
const LEG: core::ops::Range<f32> = 0.25..1.0;
/// Ticks between two shots.
const SHOT_INTERVAL: core::ops::RangeInclusive<u32> = 11..=15;
/// The standard deviation of a shot from where the bot aims, in metres at the target, sideways and up.
///
/// In metres and not as an angle, so that about as many shots hit at any distance.
const AIM_ERROR: f32 = 0.21;

/// The mind of a bot. With the same seed and name, and in the same situations, it decides the same.
#[derive(Resource)]
pub struct Bot {
    rng: Rng,
    tick_rate: f32,
    /// To the right and forward, as in [`PlayerInput::walk`].
    walk: Vec2,
    /// Ticks until it runs another way.
    leg: u32,
    /// Ticks until it may shoot again.
    reload: u32,
}

impl Bot {
    /// A bot that decides `tick_rate` times in a second.
    pub fn new(seed: u64, name: &str, tick_rate: f32) -> Self {
        Self { rng: Rng::with_seed(hash(seed, name)), tick_rate, walk: Vec2::X, leg: 0, reload: 0 }
    }

    /// Decides how to move. To be called once in each tick.
    pub fn steer(&mut self, own: &Transform, opponent: Option<Vec3>) -> PlayerInput {
        let Some(to_opponent) = opponent.map(|opponent| opponent - own.translation) else {
            let (yaw, _, _) = own.rotation.to_euler(EulerRot::YXZ);
            return PlayerInput { walk: Vec2::ZERO, yaw };
        };
        let yaw = ops::atan2(-to_opponent.x, -to_opponent.z);
        self.leg = self.leg.saturating_sub(1);
        if self.leg == 0 {
            self.begin_leg();
        }
        let distance = to_opponent.length();
        if distance < DISTANCE.start {
            self.walk.y = -0.7;
        } else if distance > DISTANCE.end {
            self.walk.y = 0.7;
        }
        if !self.is_free_ahead(own, yaw) {
            self.walk.x = -self.walk.x;
        }
        PlayerInput { walk: self.walk, yaw }
    }

    /// Whether to shoot in this tick, given that there is something to shoot at. To be called once in each tick.
    pub fn pull_trigger(&mut self, target_in_sight: bool) -> bool {
        self.reload = self.reload.saturating_sub(1);
        let shoots = self.reload == 0 && target_in_sight;
        if shoots {
            self.reload = self.rng.u32(SHOT_INTERVAL);
        }
        shoots
    }

    /// The direction of a shot at `target`, a little beside it.
    pub fn aim(&mut self, eye: Vec3, target: Vec3) -> Dir3 {
        let straight = Dir3::new(target - eye).unwrap_or(Dir3::NEG_Z);
        let (right, up) = straight.any_orthonormal_pair();
        let (sideways, upwards) = (gaussian(&mut self.rng), gaussian(&mut self.rng));
        Dir3::new(target - eye + (right * sideways + up * upwards) * AIM_ERROR).unwrap_or(straight)
    }

    fn begin_leg(&mut self) {
        self.leg = (between(&mut self.rng, LEG.start, LEG.end) * self.tick_rate) as u32;
        let side = if self.walk.x > 0.0 { -1.0 } else { 1.0 };
        self.walk = match self.rng.u32(0..10) {
            0 => Vec2::new(0.0, 0.0),
            1 | 2 => Vec2::new(side, between(&mut self.rng, -1.0, 1.0)),
            // The same way on, but slower or faster.
            3 => Vec2::new(-side * between(&mut self.rng, 0.5, 1.0), 0.0),
            _ => Vec2::new(side, 0.0),
        };
    }

    /// Whether the way that the bot runs is free for the next steps.
    fn is_free_ahead(&self, own: &Transform, yaw: f32) -> bool {
        let way = Quat::from_rotation_y(yaw) * Vec3::new(self.walk.x, 0.0, -self.walk.y);
        arena::is_free(own.translation + way.normalize_or_zero() * 1.0, character::RADIUS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{
        arena::SPAWN_POINTS,
        character::{MAX_SPEED, Velocity, eye, step},
        figure,
    };

    const DT: f32 = 1.0 / 64.0;

    struct Duelist {
        bot: Bot,
        transform: Transform,
        velocity: Velocity,
    }

    /// Two bots that see each other as they are, and what `each_tick` finds.
    fn play(seed: u64, seconds: u32, mut each_tick: impl FnMut(&mut [Duelist; 2])) {
        let mut duelists = ["red", "blue"].map(|name| {
            let spawn = SPAWN_POINTS[usize::from(name == "blue")];
            Duelist {
                bot: Bot::new(seed, name, 64.0),
                transform: Transform::from_translation(spawn.position),
                velocity: Velocity::default(),
            }
        });
        for _ in 0..seconds * 64 {
            let places = [1, 0].map(|other: usize| duelists[other].transform.translation);
            for (duelist, opponent) in duelists.iter_mut().zip(places) {
                let input = duelist.bot.steer(&duelist.transform, Some(opponent));
                step(&mut duelist.transform, &mut duelist.velocity, input, DT);
            }
            each_tick(&mut duelists);
        }
    }

    fn share(part: u32, of: u32) -> f32 {
        part as f32 / of as f32
    }

    #[test]
    fn the_same_seed_gives_the_same_duel() {
        let duel = |seed| {
            let mut places = Vec::new();
            play(seed, 5, |duelists| places.extend(duelists.iter().map(|duelist| duelist.transform.translation)));
            places
        };
        assert_eq!(duel(1), duel(1));
        assert_ne!(duel(1), duel(2));
    }

    #[test]
    fn bots_are_on_the_move_at_their_distance() {
        for seed in 1..=10 {
            let (mut ticks, mut fast, mut near) = (0, 0, 0);
            play(seed, 60, |[red, blue]| {
                ticks += 1;
                fast += u32::from(red.velocity.0.length() > 0.5 * MAX_SPEED);
                let distance = red.transform.translation.distance(blue.transform.translation);
                near += u32::from((8.0..25.0).contains(&distance));
            });
            assert!(share(fast, ticks) > 0.6, "seed {seed}: fast in {}", share(fast, ticks));
            assert!(share(near, ticks) > 0.97, "seed {seed}: near in {}", share(near, ticks));
        }
    }

    #[test]
    fn shots_come_five_times_a_second_and_two_thirds_of_them_hit() {
        let (mut seconds, mut shots, mut hits) = (0, 0, 0);
        let parts = figure::parts();
        for seed in 1..=10 {
            seconds += 60;
            play(seed, 60, |[red, blue]| {
                let (eye, chest) = (eye(&red.transform), figure::chest(&blue.transform));
                if red.bot.pull_trigger(arena::is_clear(eye, chest)) {
                    shots += 1;
                    let ray = Ray3d::new(eye, red.bot.aim(eye, chest));
                    let hit = figure::cast_ray(&parts, &blue.transform, ray, 100.0);
                    hits += u32::from(hit.is_some_and(|hit| arena::cast_ray(ray, hit).is_none()));
                }
            });
        }
        let (rate, hits) = (share(shots, seconds), share(hits, shots));
        assert!((4.0..5.5).contains(&rate), "{rate} shots in a second");
        assert!((0.6..0.75).contains(&hits), "{hits} of the shots hit");
    }
}
