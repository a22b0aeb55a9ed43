//! What clients want to try.

use bevy::prelude::*;
use lightyear::prelude::{Connected, Link, MessageReceiver, MessageSystems, server::ClientOf};

use crate::net::{Policy, protocol::Tune};

/// How shots of this connection are judged.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct Tuned(pub Policy);

/// The plugin that does as they want.
pub fn plugin(app: &mut App) {
    app.add_systems(PreUpdate, tune.after(MessageSystems::Receive));
}

fn tune(
    mut links: Query<(Entity, &mut Link, &mut MessageReceiver<Tune>), (With<ClientOf>, With<Connected>)>,
    mut commands: Commands,
) {
    for (entity, mut link, mut receiver) in &mut links {
        if let Some(wish) = receiver.receive().last() {
            wish.conditions.apply(&mut link);
            commands.entity(entity).insert(Tuned(wish.policy));
        }
    }
}
