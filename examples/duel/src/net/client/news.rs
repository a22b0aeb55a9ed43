//! What the server tells the players, as messages in this world.

use bevy::prelude::*;
use lightyear::prelude::{Message as NetMessage, MessageReceiver, MessageSystems, client::Client};

use crate::net::protocol::{Damaged, Exploded, Killed};

/// The plugin that passes them on.
pub fn plugin(app: &mut App) {
    app.add_message::<Damaged>().add_message::<Killed>().add_message::<Exploded>().add_systems(
        PreUpdate,
        (pass_on::<Damaged>, pass_on::<Killed>, pass_on::<Exploded>).after(MessageSystems::Receive),
    );
}

fn pass_on<M: Message + NetMessage>(
    mut links: Query<&mut MessageReceiver<M>, With<Client>>,
    mut news: MessageWriter<M>,
) {
    for mut link in &mut links {
        news.write_batch(link.receive());
    }
}
