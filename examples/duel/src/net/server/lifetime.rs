//! When the server begins and ends.

use core::time::Duration;
use std::io::{self, Write};

use bevy::prelude::*;
use lightyear::prelude::{
    Connected, LocalAddr,
    server::{ClientOf, Started},
};

/// What the server says on standard output before its address, once clients may come.
pub const LISTENING: &str = "listening on ";

/// How long the server waits for its first player.
const PATIENCE: Duration = Duration::from_secs(60);

/// The plugin that tells the address, and ends the app when the last player has left, or after `seconds`.
pub fn plugin(seconds: Option<u32>) -> impl Fn(&mut App) + Send + Sync + 'static {
    let limit = seconds.map(|seconds| Duration::from_secs(seconds.into()));
    move |app| {
        app.add_observer(tell_address).add_systems(Update, end(limit));
    }
}

fn tell_address(server: On<Add, Started>, addresses: Query<&LocalAddr>) {
    if let Ok(LocalAddr(address)) = addresses.get(server.entity) {
        let mut stdout = io::stdout().lock();
        let told = writeln!(stdout, "{LISTENING}{address}").and_then(|()| stdout.flush());
        if let Err(error) = told {
            warn!("nobody reads the address {address}: {error}");
        }
    }
}

fn end(
    limit: Option<Duration>,
) -> impl FnMut(Res<Time<Real>>, Query<(), (With<ClientOf>, With<Connected>)>, MessageWriter<AppExit>) {
    let mut somebody_came = false;
    move |time, players, mut exit| {
        somebody_came |= !players.is_empty();
        let now = time.elapsed();
        let is_over = if somebody_came { players.is_empty() } else { now > PATIENCE };
        if is_over || limit.is_some_and(|limit| now > limit) {
            exit.write(AppExit::Success);
        }
    }
}
