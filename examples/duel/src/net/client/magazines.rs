//! What is left in the magazines, by the client's own count: the server's is a round trip old.

use bevy::prelude::*;
use lightyear::prelude::{Controlled, is_in_rollback};

use crate::{
    game::{controls::Controls, weapon::Weapon},
    net::protocol::{Health, Player, TICK, TICK_RATE},
};

/// For how many ticks a reload is asked for.
const INSISTENCE: u32 = 8;
/// For the server's own order of things, in ticks.
const MARGIN: u32 = 3;

/// The state of all weapons, and when the next shot may be fired.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Magazines {
    left: [u32; Weapon::ALL.len()],
    /// The weapon whose magazine is being changed, and for how many ticks still.
    reloading: Option<(Weapon, u32)>,
    asked_for: u32,
    cooldown: u32,
    in_hands: Weapon,
}

impl Default for Magazines {
    fn default() -> Self {
        let left = Weapon::ALL.map(|weapon| weapon.magazine().map_or(u32::MAX, |(size, _)| size));
        Self { left, reloading: None, asked_for: 0, cooldown: 0, in_hands: Weapon::default() }
    }
}

impl Magazines {
    /// Whether the weapon may be fired in this tick.
    pub fn may_fire(&self, weapon: Weapon) -> bool {
        self.cooldown == 0 && self.left[weapon.index()] > 0 && self.reloading.is_none_or(|(other, _)| other != weapon)
    }

    /// A shot is fired.
    pub fn fire(&mut self, weapon: Weapon) {
        self.cooldown = (TICK_RATE / weapon.rate()).ceil() as u32;
        if weapon.magazine().is_some() {
            let left = &mut self.left[weapon.index()];
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.reload(weapon);
            }
        }
    }

    /// Begins to change a magazine that is not full.
    pub fn reload(&mut self, weapon: Weapon) {
        let Some((size, time)) = weapon.magazine() else { return };
        if self.reloading.is_none() && self.left[weapon.index()] < size {
            let ticks = time.as_secs_f32() / TICK.as_secs_f32();
            self.reloading = Some((weapon, ticks.ceil() as u32 + MARGIN));
            self.asked_for = INSISTENCE;
        }
    }

    /// Whether the server is to be asked for a reload.
    pub fn wants_reload(&self) -> bool {
        self.asked_for > 0
    }

    /// The shots left; `None` if the weapon needs none.
    pub fn left(&self, weapon: Weapon) -> Option<u32> {
        weapon.magazine().map(|_| self.left[weapon.index()])
    }

    /// Whether the magazine of this weapon is being changed.
    pub fn is_reloading(&self, weapon: Weapon) -> bool {
        self.reloading.is_some_and(|(other, _)| other == weapon)
    }

    fn tick(&mut self, weapon: Weapon) {
        self.cooldown = self.cooldown.saturating_sub(1);
        self.asked_for = self.asked_for.saturating_sub(1);
        if self.in_hands != weapon {
            // What was begun with the other weapon is given up, here and in the server's hands.
            (self.in_hands, self.reloading, self.asked_for) = (weapon, None, 0);
            self.cooldown = self.cooldown.max(MARGIN);
        }
        if let Some((weapon, ticks)) = &mut self.reloading {
            *ticks -= 1;
            if *ticks == 0 {
                self.left[weapon.index()] = weapon.magazine().map_or(u32::MAX, |(size, _)| size);
                self.reloading = None;
            }
        } else if self.left[weapon.index()] == 0 {
            self.reload(weapon);
        }
    }
}

/// The plugin that counts.
pub fn plugin(app: &mut App) {
    app.init_resource::<Magazines>()
        .add_systems(FixedFirst, count.run_if(not(is_in_rollback)))
        .add_systems(Update, refill);
}

fn count(mut magazines: ResMut<Magazines>, controls: Res<Controls>) {
    if controls.reload {
        magazines.reload(controls.weapon);
    }
    magazines.tick(controls.weapon);
}

/// A new life begins with full magazines.
fn refill(
    own: Query<&Health, (With<Player>, With<Controlled>, Changed<Health>)>,
    mut was_dead: Local<bool>,
    mut magazines: ResMut<Magazines>,
) {
    for health in &own {
        if *was_dead && health.is_alive() {
            *magazines = Magazines { in_hands: magazines.in_hands, ..Magazines::default() };
        }
        *was_dead = !health.is_alive();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weapon_fires_at_its_rate_until_it_is_empty_and_then_reloads() {
        let mut magazines = Magazines::default();
        let (mut fired, mut ticks) = (0, 0);
        while !magazines.is_reloading(Weapon::Rifle) {
            ticks += 1;
            magazines.tick(Weapon::Rifle);
            if magazines.may_fire(Weapon::Rifle) {
                magazines.fire(Weapon::Rifle);
                fired += 1;
            }
        }
        assert_eq!((fired, ticks), (30, 29 * 8 + 1));
        assert!(magazines.wants_reload() && !magazines.may_fire(Weapon::Rifle));
        for _ in 0..(1.6 * TICK_RATE) as u32 + MARGIN + 1 {
            magazines.tick(Weapon::Rifle);
        }
        assert!(magazines.may_fire(Weapon::Rifle) && !magazines.wants_reload());
        assert_eq!(magazines.left(Weapon::Rifle), Some(30));
    }

    #[test]
    fn a_full_magazine_is_not_changed() {
        let mut magazines = Magazines::default();
        magazines.reload(Weapon::Rifle);
        assert!(!magazines.is_reloading(Weapon::Rifle) && !magazines.wants_reload());
        magazines.reload(Weapon::Blade);
        assert!(magazines.may_fire(Weapon::Blade));
    }
}
