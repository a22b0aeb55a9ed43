//! What shots are fired with: the server says, not the client.

use alloc::collections::VecDeque;

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_hindsight::{LagCompensationSystems, RejectReason, ShotEvent, ShotId, lightyear::ShotReceived};

use super::{arsenal::Arsenal, tuning::Tuned};
use crate::{game::weapon::Weapon, net::protocol::Loadout};

/// The shooter holds another weapon than the shot says, or has only just taken it.
const WRONG_WEAPON: RejectReason = RejectReason::Game(1);

/// How many shots are remembered: rockets hit seconds later.
const REMEMBERED: usize = 8192;

/// The weapons of the last shots.
#[derive(Resource, Default)]
pub struct FiredWith {
    weapons: HashMap<ShotId, Weapon>,
    order: VecDeque<ShotId>,
}

impl FiredWith {
    /// The weapon of a shot.
    pub fn get(&self, shot: ShotId) -> Option<Weapon> {
        self.weapons.get(&shot).copied()
    }

    /// The first word counts: nobody makes another weapon of a shot that is on its way.
    fn note(&mut self, shot: ShotId, weapon: Weapon) {
        if self.weapons.contains_key(&shot) {
            return;
        }
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.weapons.remove(&oldest);
        }
        self.weapons.insert(shot, weapon);
        self.order.push_back(shot);
    }
}

/// The plugin that arms them.
pub fn plugin(app: &mut App) {
    app.init_resource::<FiredWith>().add_systems(
        FixedPostUpdate,
        arm_shots.after(LagCompensationSystems::ReceiveShots).before(LagCompensationSystems::AdmitShots),
    );
}

fn arm_shots(
    mut received: MessageReader<ShotReceived<Weapon>>,
    mut shots: MessageMutator<ShotEvent>,
    mut fired_with: ResMut<FiredWith>,
    holders: Query<(&Loadout, &Arsenal)>,
    links: Query<&Tuned>,
) {
    for ShotReceived { shot, weapon, .. } in received.read() {
        fired_with.note(*shot, *weapon);
    }
    for shot in shots.read() {
        let Some(weapon) = fired_with.get(shot.id) else { continue };
        if holders
            .get(shot.shooter)
            .is_ok_and(|(held, arsenal)| held.weapon != weapon || !arsenal.is_ready(shot.command_tick))
        {
            shot.refuse(WRONG_WEAPON);
        }
        if let Some(attack) = weapon.attack() {
            shot.attack = attack;
        }
        if let Some(Tuned(policy)) = shot.link.and_then(|link| links.get(link).ok()) {
            shot.view_source = Some(policy.source());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_shots_are_forgotten() {
        let mut fired_with = FiredWith::default();
        for sequence in 0..=REMEMBERED as u32 {
            fired_with.note(ShotId::local(sequence), Weapon::Rocket);
        }
        assert_eq!(fired_with.get(ShotId::local(0)), None);
        assert_eq!(fired_with.get(ShotId::local(1)), Some(Weapon::Rocket));
        assert_eq!((fired_with.weapons.len(), fired_with.order.len()), (REMEMBERED, REMEMBERED));
    }
}
