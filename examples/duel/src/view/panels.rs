//! What can be opened and closed.

use bevy::prelude::*;

/// Which panels are open. Keys write it, and so may anyone else.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Panels {
    /// F1: ghosts of the latest shots.
    pub ghosts: bool,
    /// F2: the network, and how it can be made worse.
    pub network: bool,
    /// F3: who has hit this player, and from where.
    pub victim: bool,
    /// F4: one shot in slow motion.
    pub why: bool,
    /// Tab, as long as it is held.
    pub scoreboard: bool,
}

impl Panels {
    /// Whether any of them needs the mouse.
    pub fn need_mouse(&self) -> bool {
        self.network || self.why
    }
}

/// Opens and closes them by their keys.
pub fn toggle(keys: Res<ButtonInput<KeyCode>>, mut panels: ResMut<Panels>) {
    let mut next = *panels;
    for (key, open) in [
        (KeyCode::F1, &mut next.ghosts),
        (KeyCode::F2, &mut next.network),
        (KeyCode::F3, &mut next.victim),
        (KeyCode::F4, &mut next.why),
    ] {
        *open ^= keys.just_pressed(key);
    }
    if keys.just_pressed(KeyCode::Tab) {
        next.scoreboard = true;
    } else if keys.just_released(KeyCode::Tab) {
        next.scoreboard = false;
    }
    panels.set_if_neq(next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_opens_and_closes_its_own_panel() {
        let mut world = World::new();
        world.init_resource::<Panels>();
        world.init_resource::<ButtonInput<KeyCode>>();
        let mut press = |key| {
            let mut keys = world.resource_mut::<ButtonInput<KeyCode>>();
            keys.reset_all();
            keys.press(key);
            world.run_system_cached(toggle).unwrap();
            *world.resource::<Panels>()
        };
        assert_eq!(press(KeyCode::F1), Panels { ghosts: true, ..default() });
        assert_eq!(press(KeyCode::F4), Panels { ghosts: true, why: true, ..default() });
        assert_eq!(press(KeyCode::F1), Panels { why: true, ..default() });
        assert!(press(KeyCode::F2).need_mouse());
        assert!(press(KeyCode::F3).victim);
    }
}
