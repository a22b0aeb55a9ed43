//! The course of a match on one client, from the first packet to the last verdict.

use core::{net::SocketAddr, time::Duration};
use std::sync::mpsc::Sender;

use bevy::prelude::*;
use bevy_hindsight::lightyear::Displayed;
use lightyear::prelude::{
    Controlled, Disconnected, MessageSender,
    client::{Client, Connect, Connected, Disconnect},
};

use super::{opponents::Opponents, shot_log::ShotLog};
use crate::{
    error::DuelError,
    net::protocol::{GameChannel, Join, Player},
    report::ClientReport,
};

/// The shortest match, in seconds, that leaves time to shoot.
pub const SHORTEST_MATCH: i64 = 6;

/// Lightyear's estimate of the jitter, and with it the delay of interpolation, needs this long to settle.
const SETTLING: Duration = Duration::from_secs(3);
/// The last verdicts need this long to come home, also if their packets are lost a few times.
const HOMECOMING: Duration = Duration::from_secs(2);
const CONNECTION_PATIENCE: Duration = Duration::from_secs(10);
const OPPONENT_PATIENCE: Duration = Duration::from_secs(60);

/// Who plays, against which server, and since when.
#[derive(Resource)]
pub struct Session {
    name: String,
    seed: u64,
    server: SocketAddr,
    /// `None` for as long as somebody plays.
    length: Option<Duration>,
    /// When both characters were first there, on the clock of this app.
    began: Option<Duration>,
    connected: bool,
    leaving: bool,
}

/// How the match ended, for [`run`](super::run) to tell.
#[derive(Resource)]
pub struct Outcome(pub Sender<Result<ClientReport, DuelError>>);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    Waiting,
    Settling,
    Firing,
    ComingHome,
    Over,
}

impl Session {
    /// A match that has not begun, of so many seconds if they are limited.
    pub fn new(name: String, seed: u64, server: SocketAddr, seconds: Option<u32>) -> Self {
        let length = seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Self { name, seed, server, length, began: None, connected: false, leaving: false }
    }

    /// What the player is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the decisions of its bot come from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn phase(&self, now: Duration) -> Phase {
        let Some(began) = self.began else { return Phase::Waiting };
        let played = now.saturating_sub(began);
        if self.length.is_some_and(|length| played >= length) {
            Phase::Over
        } else if self.length.is_some_and(|length| played + HOMECOMING >= length) {
            Phase::ComingHome
        } else if played < SETTLING {
            Phase::Settling
        } else {
            Phase::Firing
        }
    }
}

/// The plugin of the course of the match.
pub fn plugin(app: &mut App) {
    app.add_observer(join).add_systems(Update, follow);
}

/// Whether it is the time for bots to shoot.
pub fn in_firing_time(session: &Session, time: &Time<Real>) -> bool {
    session.phase(time.elapsed()) == Phase::Firing
}

fn join(
    link: On<Add, Connected>,
    mut session: ResMut<Session>,
    mut links: Query<&mut MessageSender<Join>, With<Client>>,
) {
    if let Ok(mut link) = links.get_mut(link.entity) {
        link.send::<GameChannel>(Join { name: session.name.clone() });
        session.connected = true;
    }
}

fn follow(
    mut session: ResMut<Session>,
    time: Res<Time<Real>>,
    displayed: Res<Displayed>,
    own: Query<(), (With<Player>, With<Controlled>, With<Transform>)>,
    opponents: Opponents,
    link: Single<(Entity, Has<Disconnected>), With<Client>>,
    log: Res<ShotLog>,
    outcome: Res<Outcome>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let now = time.elapsed();
    if session.leaving {
        // The farewell went out at the end of the last frame.
        exit.write(AppExit::Success);
        return;
    }
    let both_there = displayed.view_time().is_some() && !own.is_empty() && opponents.are_here();
    if session.began.is_none() && both_there {
        session.began = Some(now);
    }
    let (link, disconnected) = *link;
    let name = || session.name.clone();
    let result = match session.phase(now) {
        Phase::Over => Ok(log.report(&session.name)),
        _ if session.connected && disconnected => Err(DuelError::ConnectionLost { name: name() }),
        Phase::Waiting if !session.connected && now > CONNECTION_PATIENCE => {
            Err(DuelError::NoServer { name: name(), server: session.server, waited: CONNECTION_PATIENCE })
        }
        // In a window there is enough to do alone.
        Phase::Waiting if session.length.is_some() && now > OPPONENT_PATIENCE => {
            Err(DuelError::NoOpponent { name: name(), waited: OPPONENT_PATIENCE })
        }
        Phase::Waiting if !session.connected && disconnected => {
            // Netcode gives up after 3 s. The server may still be starting.
            commands.trigger(Connect { entity: link });
            return;
        }
        _ => return,
    };
    // The receiver lives as long as the app.
    let _ = outcome.0.send(result);
    commands.trigger(Disconnect { entity: link });
    session.leaving = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_settles_fires_and_waits_for_its_verdicts() {
        let mut session = Session::new("red".into(), 1, SocketAddr::from(([127, 0, 0, 1], 1)), Some(20));
        assert_eq!(session.phase(Duration::from_secs(9)), Phase::Waiting);
        session.began = Some(Duration::from_secs(10));
        let phases =
            [10.0, 12.9, 13.0, 27.9, 28.0, 29.9, 30.0].map(|seconds| session.phase(Duration::from_secs_f32(seconds)));
        let expected = {
            use Phase::*;
            [Settling, Settling, Firing, Firing, ComingHome, ComingHome, Over]
        };
        assert_eq!(phases, expected);
    }

    #[test]
    fn the_shortest_match_has_time_to_shoot() {
        assert!(Duration::from_secs(SHORTEST_MATCH as u64) > SETTLING + HOMECOMING);
    }
}
