//! Which weapon a character holds, and what is left in its magazines.

use bevy::prelude::*;
use bevy_hindsight::{CurrentTick, FireControl, Reload, Tick};
use lightyear::prelude::input::native::ActionState;

use super::movement::MoveSystems;
use crate::{
    game::{character::PlayerInput, weapon::Weapon},
    net::protocol::{Health, Loadout},
};

/// How many ticks it takes to change weapons; clients wait for a tick more.
const SWITCH: u32 = 1;

/// The weapons of a character, except for what has moved into its hands: its [`FireControl`].
#[derive(Component, Clone, Debug)]
#[require(FireControl = Weapon::default().fire_control())]
pub struct Arsenal {
    stowed: [FireControl; Weapon::ALL.len()],
    /// The last tick in which no other weapon may be fired yet: weapons take turns.
    busy_until: Option<Tick>,
}

impl Default for Arsenal {
    /// All weapons, with full magazines.
    fn default() -> Self {
        Self { stowed: Weapon::ALL.map(Weapon::fire_control), busy_until: None }
    }
}

impl Arsenal {
    /// Whether the weapon in hands may be fired in this tick: not right after it was taken.
    pub fn is_ready(&self, tick: Tick) -> bool {
        self.busy_until.is_none_or(|busy| tick.since(busy) > 0)
    }

    /// Puts one weapon away and takes the other one. A magazine that was being changed stays as it was.
    fn swap(&mut self, in_hands: &mut FireControl, from: Weapon, to: Weapon, now: Tick) {
        if in_hands.is_reloading() {
            let left = in_hands.ammunition();
            *in_hands = from.fire_control();
            in_hands.set_ammunition(left.unwrap_or_default());
        }
        self.busy_until = Some(now + SWITCH);
        core::mem::swap(&mut self.stowed[from.index()], in_hands);
        core::mem::swap(&mut self.stowed[to.index()], in_hands);
    }
}

/// The plugin of weapons.
pub fn plugin(app: &mut App) {
    app.add_systems(FixedUpdate, (change_weapons, reload, show_loadouts).chain().before(MoveSystems));
}

fn change_weapons(
    mut holders: Query<(&ActionState<PlayerInput>, &Health, &mut Loadout, &mut Arsenal, &mut FireControl)>,
    tick: Res<CurrentTick>,
) {
    for (input, health, mut loadout, mut arsenal, mut in_hands) in &mut holders {
        let (from, to) = (loadout.weapon, input.0.weapon);
        if from != to && health.is_alive() {
            arsenal.swap(&mut in_hands, from, to, tick.0);
            loadout.weapon = to;
        }
    }
}

fn reload(holders: Query<(Entity, &ActionState<PlayerInput>, &Loadout, &FireControl)>, mut commands: Commands) {
    for (entity, input, loadout, in_hands) in &holders {
        let size = loadout.weapon.magazine().map(|(size, _)| size);
        if input.0.reload && !in_hands.is_reloading() && in_hands.ammunition() < size {
            commands.trigger(Reload { entity });
        }
    }
}

fn show_loadouts(mut holders: Query<(&mut Loadout, &FireControl)>) {
    for (mut loadout, in_hands) in &mut holders {
        let shown =
            Loadout { weapon: loadout.weapon, ammunition: in_hands.ammunition(), reloading: in_hands.is_reloading() };
        loadout.set_if_neq(shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick(7);

    #[test]
    fn a_weapon_comes_back_as_it_was_put_away() {
        let mut arsenal = Arsenal::default();
        let mut in_hands = Weapon::Rifle.fire_control();
        in_hands.set_ammunition(7);
        arsenal.swap(&mut in_hands, Weapon::Rifle, Weapon::Shotgun, NOW);
        assert_eq!(in_hands.ammunition(), Weapon::Shotgun.fire_control().ammunition());
        arsenal.swap(&mut in_hands, Weapon::Shotgun, Weapon::Blade, NOW);
        assert_eq!(in_hands.ammunition(), None);
        arsenal.swap(&mut in_hands, Weapon::Blade, Weapon::Rifle, NOW);
        assert_eq!(in_hands.ammunition(), Some(7));
    }

    #[test]
    fn no_weapon_is_fired_in_the_tick_in_which_it_is_taken() {
        let mut arsenal = Arsenal::default();
        assert!(arsenal.is_ready(NOW));
        arsenal.swap(&mut Weapon::Rifle.fire_control(), Weapon::Rifle, Weapon::Rocket, NOW);
        let ready = [NOW, NOW + 1, NOW + 2].map(|tick| arsenal.is_ready(tick));
        assert_eq!(ready, [false, false, true]);
    }
}
