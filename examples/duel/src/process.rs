//! The processes that a duel is made of.

use core::{net::SocketAddr, time::Duration};
use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
};

use crate::{
    error::DuelError,
    net::{LinkConditions, server::LISTENING},
};

/// How long the server has to say that it listens.
pub const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long a bot stays that is not sent away.
const BOT_SECONDS: u32 = 3600;

/// A process of the duel; it does not outlive this value.
pub struct Process {
    /// What it is, for messages.
    pub name: String,
    /// The process.
    pub child: Child,
    /// What it writes to its standard output.
    pub lines: Receiver<String>,
}

impl Process {
    /// Starts this program once more, with other arguments.
    pub fn start(name: String, arguments: &[String]) -> Result<Self, DuelError> {
        let cannot_start = |source| DuelError::CannotStart { part: name.clone(), source };
        let program = env::current_exe().map_err(cannot_start)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot_start)?;
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            // Ends with the process, or when nobody listens any more.
            thread::spawn(move || {
                BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        Ok(Self { name, child, lines })
    }

    /// Whether the process is still there; an error if it has failed.
    pub fn check(&mut self) -> Result<bool, DuelError> {
        let part = || self.name.clone();
        match self.child.try_wait() {
            Ok(None) => Ok(true),
            Ok(Some(status)) if status.success() => Ok(false),
            Ok(Some(status)) => Err(DuelError::PartDied { part: part(), status }),
            Err(error) => Err(DuelError::BadReport { part: part(), reason: error.to_string() }),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails only if the process has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server on any free port of this machine; returns it and its address.
pub fn start_server(
    conditions: &LinkConditions,
    evidence: bool,
    limit: Option<Duration>,
) -> Result<(Process, SocketAddr), DuelError> {
    let mut arguments = vec!["server".into(), "--address=127.0.0.1:0".into()];
    arguments.extend(limit.map(|limit| format!("--seconds={}", (limit + START_PATIENCE).as_secs())));
    arguments.extend(evidence.then(|| "--evidence".into()));
    arguments.extend(conditions.to_flags());
    let mut server = Process::start("server".into(), &arguments)?;
    let address = await_address(&mut server)?;
    Ok((server, address))
}

fn await_address(server: &mut Process) -> Result<SocketAddr, DuelError> {
    let bad = |reason: String| DuelError::BadReport { part: "server".into(), reason };
    let line = match server.lines.recv_timeout(START_PATIENCE) {
        Ok(line) => line,
        Err(RecvTimeoutError::Timeout) => return Err(too_slow(&server.name, "begun to listen", START_PATIENCE)),
        Err(RecvTimeoutError::Disconnected) => {
            // Its output ends a moment before it does.
            let status = server.child.wait().map_err(|error| bad(error.to_string()))?;
            return Err(DuelError::PartDied { part: server.name.clone(), status });
        }
    };
    let address = line.strip_prefix(LISTENING).and_then(|address| address.parse().ok());
    address.ok_or_else(|| bad(format!("`{line}` is no address")))
}

/// Says that a process did not do its part in time.
pub fn too_slow(part: &str, what: &'static str, waited: Duration) -> DuelError {
    DuelError::PartTooSlow { part: part.into(), what, waited }
}

/// Bots that fill a match, each a client of its own without a window.
pub struct Bots(Vec<Process>);

impl Bots {
    /// Starts so many of them, which play against whoever is at `address`.
    pub fn start(count: u8, seed: u64, address: SocketAddr, conditions: &LinkConditions) -> Result<Self, DuelError> {
        let start = |number| {
            let mut arguments = vec!["client".into(), "--no-window".into(), format!("--name=bot {number}")];
            arguments.extend([format!("--connect={address}"), format!("--seconds={BOT_SECONDS}"), "--json=-".into()]);
            arguments.push(format!("--seed={seed}"));
            arguments.extend(conditions.to_flags());
            Process::start(format!("bot {number}"), &arguments)
        };
        (1..=count).map(start).collect::<Result<_, _>>().map(Self)
    }

    /// An error if one of them has failed.
    pub fn check(&mut self) -> Result<(), DuelError> {
        self.0.iter_mut().try_for_each(|bot| bot.check().map(drop))
    }
}
