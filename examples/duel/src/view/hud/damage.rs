//! Numbers that rise from those who are hit.

use bevy::prelude::*;
use bevy_egui::egui::{Align2, Color32};
use bevy_hindsight::Zone;

use super::{Canvas, Me, write};
use crate::net::protocol::Damaged;

/// How long a number is seen, in seconds.
const LIFE: f32 = 1.0;
/// How far it rises, in metres.
const RISE: f32 = 0.5;
/// Hits within this time are one number: pellets.
const TOGETHER: f32 = 0.05;

/// The numbers that are seen.
#[derive(Resource, Default)]
pub(super) struct DamageNumbers(Vec<DamageNumber>);

#[derive(Clone, Copy, PartialEq, Debug)]
struct DamageNumber {
    victim: Entity,
    point: Vec3,
    amount: f32,
    headshot: bool,
    age: f32,
}

impl DamageNumbers {
    fn add(&mut self, damage: &Damaged) {
        let headshot = damage.zone == Zone::Head;
        let recent = self.0.iter_mut().find(|number| number.victim == damage.victim && number.age < TOGETHER);
        if let Some(number) = recent {
            number.amount += damage.amount;
            number.headshot |= headshot;
            return;
        }
        let Damaged { victim, point, amount, .. } = *damage;
        self.0.push(DamageNumber { victim, point, amount, headshot, age: 0.0 });
    }

    fn grow_older(&mut self, seconds: f32) {
        for number in &mut self.0 {
            number.age += seconds;
        }
        self.0.retain(|number| number.age < LIFE);
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<DamageNumbers>().add_systems(Update, count);
}

fn count(mut damages: MessageReader<Damaged>, mut numbers: ResMut<DamageNumbers>, me: Me, time: Res<Time>) {
    numbers.grow_older(time.delta_secs());
    for damage in damages.read().filter(|damage| Some(damage.victim) != me.entity()) {
        numbers.add(damage);
    }
}

pub(super) fn draw(mut canvas: Canvas, numbers: Res<DamageNumbers>) -> Result {
    let (painter, _) = canvas.painter()?;
    for number in &numbers.0 {
        let share = number.age / LIFE;
        let Some(at) = canvas.project(number.point + Vec3::Y * (0.15 + RISE * share)) else { continue };
        let (color, size) = if number.headshot {
            (Color32::from_rgb(255, 176, 72), 24.0)
        } else {
            (Color32::from_rgb(255, 240, 205), 18.0)
        };
        let color = color.gamma_multiply((2.0 * (1.0 - share)).min(1.0));
        write(&painter, at, Align2::CENTER_BOTTOM, &format!("{:.0}", number.amount), size, color);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bevy_hindsight::HitBy;

    use super::*;

    fn damage(amount: f32, zone: Zone) -> Damaged {
        let (victim, attacker) = (Entity::from_raw_u32(1).unwrap(), Entity::from_raw_u32(2).unwrap());
        Damaged { victim, attacker, by: HitBy::Bullet, zone, point: Vec3::ONE, amount }
    }

    #[test]
    fn pellets_that_hit_together_are_one_number() {
        let mut numbers = DamageNumbers::default();
        numbers.add(&damage(9.0, Zone::Torso));
        numbers.add(&damage(22.5, Zone::Head));
        assert!(matches!(numbers.0[..], [DamageNumber { amount: 31.5, headshot: true, .. }]));
        numbers.grow_older(0.1);
        numbers.add(&damage(9.0, Zone::Torso));
        assert_eq!(numbers.0.len(), 2);
        numbers.grow_older(LIFE);
        assert!(numbers.0.is_empty());
    }
}
