//! The weapons: what they fire, how fast, and what it does to whom it hits.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{Attack, Blast, FireControl, HitBy, PelletPattern, Projectile, Swing, Zone};
use serde::{Deserialize, Serialize};

/// What a player holds.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
pub enum Weapon {
    /// One bullet at a time, far and fast.
    #[default]
    Rifle,
    /// Many pellets, near.
    Shotgun,
    /// A rocket that takes its time.
    Rocket,
    /// A blow.
    Blade,
}

/// How many pellets the shotgun fires.
const PELLETS: u8 = 9;
/// The half angle of their cone, in radians.
const SPREAD: f32 = 0.055;
/// How far the explosion of a rocket reaches, in metres.
pub const BLAST_RADIUS: f32 = 3.0;

impl Weapon {
    /// All of them, in the order of the keys.
    pub const ALL: [Self; 4] = [Self::Rifle, Self::Shotgun, Self::Rocket, Self::Blade];

    /// The place in [`Weapon::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// What players call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rifle => "rifle",
            Self::Shotgun => "shotgun",
            Self::Rocket => "rocket",
            Self::Blade => "blade",
        }
    }

    /// Shots per second.
    pub const fn rate(self) -> f32 {
        match self {
            Self::Rifle => 8.0,
            Self::Shotgun => 1.25,
            Self::Rocket => 1.0,
            Self::Blade => 1.5,
        }
    }

    /// How many shots a magazine holds, and how long it takes to change it; nothing for what needs none.
    pub const fn magazine(self) -> Option<(u32, Duration)> {
        match self {
            Self::Rifle => Some((30, Duration::from_millis(1600))),
            Self::Shotgun => Some((6, Duration::from_millis(2000))),
            Self::Rocket => Some((4, Duration::from_millis(2500))),
            Self::Blade => None,
        }
    }

    /// How far its shots go, in metres.
    pub const fn range(self) -> f32 {
        match self {
            Self::Blade => 2.4,
            _ => 120.0,
        }
    }

    /// Whether its shots are rays, which a client can judge by its own screen at once.
    pub const fn is_hitscan(self) -> bool {
        matches!(self, Self::Rifle | Self::Shotgun)
    }

    /// The rules that the server holds it to.
    pub fn fire_control(self) -> FireControl {
        let control = FireControl::default().with_rate(self.rate()).with_range(self.range());
        let control = match self.magazine() {
            Some((size, reload)) => control.with_magazine(size, reload),
            None => control,
        };
        match self.pellets() {
            Some(pattern) => control.with_pellets(pattern),
            None => control,
        }
    }

    /// The pattern of its pellets.
    pub fn pellets(self) -> Option<PelletPattern> {
        (self == Self::Shotgun).then(|| PelletPattern::cone(PELLETS, SPREAD))
    }

    /// The rocket, if it fires one.
    pub const fn projectile(self) -> Option<Projectile> {
        match self {
            Self::Rocket => {
                Some(Projectile::new(28.0).with_radius(0.1).lasting(256).with_blast(Blast::new(BLAST_RADIUS)))
            }
            _ => None,
        }
    }

    /// What it does; `None` for what shots do anyway: they fly as bullets.
    pub fn attack(self) -> Option<Attack> {
        match self {
            Self::Rifle | Self::Shotgun => None,
            Self::Rocket => self.projectile().map(Attack::Projectile),
            // 45° to both sides, an eighth of a second.
            Self::Blade => Some(Attack::Swing(Swing::arc(self.range(), core::f32::consts::FRAC_PI_4).lasting(8))),
        }
    }

    /// How much health a hit takes.
    ///
    /// Of a blast, `distance` is that from its centre, in metres.
    pub fn damage(self, by: HitBy, zone: Zone, distance: f32) -> f32 {
        let base = match (self, by) {
            (_, HitBy::Blast) => return 70.0 * (1.0 - distance / BLAST_RADIUS).clamp(0.0, 1.0),
            (Self::Rifle, _) => 22.0,
            (Self::Shotgun, _) => 9.0,
            (Self::Rocket, _) => return 85.0,
            (Self::Blade, _) => return 55.0,
        };
        match zone {
            Zone::Head => base * 2.5,
            Zone::Neck => base * 1.5,
            Zone::Arm | Zone::Hand | Zone::Leg | Zone::Foot => base * 0.75,
            _ => base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weapon_is_found_at_its_own_index() {
        for (index, weapon) in Weapon::ALL.into_iter().enumerate() {
            assert_eq!(weapon.index(), index);
        }
    }

    #[test]
    fn heads_are_worth_more_than_feet_and_blasts_fade_out() {
        let rifle = |zone| Weapon::Rifle.damage(HitBy::Bullet, zone, 10.0);
        assert!(rifle(Zone::Head) > rifle(Zone::Torso) && rifle(Zone::Torso) > rifle(Zone::Foot));
        let blast = |distance| Weapon::Rocket.damage(HitBy::Blast, Zone::Torso, distance);
        assert_eq!((blast(0.0), blast(BLAST_RADIUS), blast(9.0)), (70.0, 0.0, 0.0));
    }

    #[test]
    fn only_the_server_says_what_a_shot_is() {
        assert!(Weapon::ALL.iter().all(|weapon| weapon.is_hitscan() == weapon.attack().is_none()));
        assert_eq!(Weapon::Shotgun.pellets().map(|pattern| pattern.count()), Some(usize::from(PELLETS)));
    }
}
