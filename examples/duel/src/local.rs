//! The whole duel on this machine: a server and two clients, each a process of its own.

use core::{net::SocketAddr, time::Duration};
use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Instant,
};

use clap::Args;

use crate::{
    error::DuelError,
    net::{LinkConditions, client::SHORTEST_MATCH, server::LISTENING},
    report::{Output, Report},
};

/// The two clients.
const NAMES: [&str; 2] = ["red", "blue"];
/// How long the server has to say that it listens.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How much longer than the match itself a client may take, with the patience it has for server and opponent.
const MARGIN: Duration = Duration::from_secs(90);
/// How often the processes are looked after.
const PERIOD: Duration = Duration::from_millis(50);

/// Settings of a duel on this machine.
#[derive(Args, Clone, Debug)]
pub struct LocalArgs {
    /// Length of the match.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(SHORTEST_MATCH..=3600))]
    seconds: u32,
    /// Where the bots' decisions come from. The network has its own chance, so figures still differ a little.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    conditions: LinkConditions,
    /// Write the report to this file as JSON, too; `-` writes it to standard output instead of the table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Fail unless each client had shots on target, and the server confirmed at least this share of them, and more than it
    /// would have without compensation. For automatic checks.
    #[arg(long, value_name = "PER CENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    require_agreement: Option<u8>,
}

/// A process of the duel; it does not outlive this value.
struct Part {
    name: String,
    child: Child,
    lines: Receiver<String>,
}

impl Part {
    fn start(name: String, arguments: &[String]) -> Result<Self, DuelError> {
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

    /// An error if the process has failed.
    fn check(&mut self) -> Result<(), DuelError> {
        let part = || self.name.clone();
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(DuelError::PartDied { part: part(), status }),
            Err(error) => Err(DuelError::BadReport { part: part(), reason: error.to_string() }),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Fails only if the process has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays a duel and shows its report.
pub fn run(args: &LocalArgs) -> Result<(), DuelError> {
    let output = Output::open(args.json.as_deref())?;
    let limit = Duration::from_secs(args.seconds.into()) + MARGIN;
    let conditions = args.conditions.to_flags();
    let mut arguments = vec!["server".into(), "--address=127.0.0.1:0".into()];
    arguments.push(format!("--seconds={}", (limit + START_PATIENCE).as_secs()));
    arguments.extend_from_slice(&conditions);
    let mut server = Part::start("server".into(), &arguments)?;
    let address = await_address(&mut server)?;

    let start_client = |name: &str| {
        let mut arguments = vec!["client".into(), format!("--name={name}"), format!("--server={address}")];
        arguments.extend([format!("--seconds={}", args.seconds), format!("--seed={}", args.seed), "--json=-".into()]);
        arguments.extend_from_slice(&conditions);
        Part::start(format!("client `{name}`"), &arguments)
    };
    let mut clients = Vec::new();
    for name in NAMES {
        clients.push(start_client(name)?);
    }

    let deadline = Instant::now() + limit;
    let mut report = Report::default();
    for index in 0..clients.len() {
        let line = await_line(&mut clients, index, &mut server, deadline, limit)?;
        report.clients.extend(parse_report(&clients[index].name, &line)?.clients);
    }
    output.publish(&report)?;
    match args.require_agreement {
        Some(per_cent) => report.require_agreement(f64::from(per_cent) / 100.0),
        None => Ok(()),
    }
}

fn await_address(server: &mut Part) -> Result<SocketAddr, DuelError> {
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

/// Waits for the report of one client, as long as all others are well.
fn await_line(
    clients: &mut [Part],
    index: usize,
    server: &mut Part,
    deadline: Instant,
    limit: Duration,
) -> Result<String, DuelError> {
    loop {
        match clients[index].lines.recv_timeout(PERIOD) {
            Ok(line) => return Ok(line),
            Err(RecvTimeoutError::Disconnected) => {
                let part = clients[index].name.clone();
                let status = clients[index].child.wait();
                return Err(match status {
                    Ok(status) if !status.success() => DuelError::PartDied { part, status },
                    _ => DuelError::BadReport { part, reason: "it said nothing".into() },
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        for client in &mut *clients {
            client.check()?;
        }
        // It ends by itself when both clients have left, and their reports are on the way then.
        server.check()?;
        if Instant::now() > deadline {
            return Err(too_slow(&clients[index].name, "reported", limit));
        }
    }
}

fn parse_report(part: &str, line: &str) -> Result<Report, DuelError> {
    let bad = |reason: String| DuelError::BadReport { part: part.into(), reason };
    serde_json::from_str(line).map_err(|error| bad(error.to_string()))
}

fn too_slow(part: &str, what: &'static str, waited: Duration) -> DuelError {
    DuelError::PartTooSlow { part: part.into(), what, waited }
}
