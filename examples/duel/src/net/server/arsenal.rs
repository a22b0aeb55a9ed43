//! Which weapon a character holds, and what is left in its magazines.

use bevy::prelude::*;
use bevy_hindsight::{FireControl, Reload};
use lightyear::prelude::input::native::ActionState;

use super::movement::MoveSystems;
use crate::{
    game::{character::PlayerInput, weapon::Weapon},
    net::protocol::{Health, Loadout},
};

/// The weapons of a character, except for what has moved into its hands: its [`FireControl`].
#[derive(Component, Clone, Debug)]
#[require(FireControl = Weapon::default().fire_control())]
pub struct Arsenal {
    stowed: [FireControl; Weapon::ALL.len()],
}

impl Default for Arsenal {
    /// All weapons, with full magazines.
    fn default() -> Self {
        Self { stowed: Weapon::ALL.map(Weapon::fire_control) }
    }
}

impl Arsenal {
    /// Puts one weapon away and takes the other one.
    fn swap(&mut self, in_hands: &mut FireControl, from: Weapon, to: Weapon) {
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
) {
    for (input, health, mut loadout, mut arsenal, mut in_hands) in &mut holders {
        let (from, to) = (loadout.weapon, input.0.weapon);
        if from != to && health.is_alive() {
            arsenal.swap(&mut in_hands, from, to);
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

    #[test]
    fn a_weapon_comes_back_as_it_was_put_away() {
        let mut arsenal = Arsenal::default();
        let mut in_hands = Weapon::Rifle.fire_control();
        in_hands.set_ammunition(7);
        arsenal.swap(&mut in_hands, Weapon::Rifle, Weapon::Shotgun);
        assert_eq!(in_hands.ammunition(), Weapon::Shotgun.fire_control().ammunition());
        arsenal.swap(&mut in_hands, Weapon::Shotgun, Weapon::Blade);
        assert_eq!(in_hands.ammunition(), None);
        arsenal.swap(&mut in_hands, Weapon::Blade, Weapon::Rifle);
        assert_eq!(in_hands.ammunition(), Some(7));
    }
}
