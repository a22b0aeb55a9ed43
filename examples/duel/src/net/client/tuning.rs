//! The network of this client, as a choice for trying.

use bevy::prelude::*;
use lightyear::prelude::{
    Link, MessageSender,
    client::{Client, Connected},
};

use crate::net::{
    LinkConditions, Policy,
    protocol::{GameChannel, Tune},
};

/// What the network of this client does to its packets, and how the server judges its shots. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Tuning {
    /// In both directions.
    pub conditions: LinkConditions,
    /// How the server looks back.
    pub policy: Policy,
}

/// The plugin that applies the [`Tuning`] to this side and tells the server of it.
pub fn plugin(app: &mut App) {
    app.add_observer(tell_on_connecting).add_systems(Update, apply.run_if(resource_changed::<Tuning>));
}

fn tell_on_connecting(
    link: On<Add, Connected>,
    tuning: Res<Tuning>,
    mut links: Query<&mut MessageSender<Tune>, With<Client>>,
) {
    if let Ok(mut link) = links.get_mut(link.entity) {
        link.send::<GameChannel>(Tune { conditions: tuning.conditions, policy: tuning.policy });
    }
}

fn apply(tuning: Res<Tuning>, mut links: Query<(&mut Link, Option<&mut MessageSender<Tune>>), With<Client>>) {
    for (mut link, sender) in &mut links {
        tuning.conditions.apply(&mut link);
        if let Some(mut sender) = sender {
            sender.send::<GameChannel>(Tune { conditions: tuning.conditions, policy: tuning.policy });
        }
    }
}
