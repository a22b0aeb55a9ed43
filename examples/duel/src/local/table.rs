//! The duel without windows, for its figures.

use core::time::Duration;
use std::{sync::mpsc::RecvTimeoutError, time::Instant};

use super::{LocalArgs, NAMES};
use crate::{
    error::DuelError,
    process::{Bots, Process, START_PATIENCE, start_server, too_slow},
    report::{Output, Report},
};

/// How much longer than the match itself a client may take, with the patience it has for server and opponent.
const MARGIN: Duration = Duration::from_secs(90);
/// How often the processes are looked after.
const PERIOD: Duration = Duration::from_millis(50);

/// Plays a duel and shows its report.
pub(super) fn play(args: &LocalArgs) -> Result<(), DuelError> {
    let output = Output::open(args.json.as_deref())?;
    let limit = Duration::from_secs(args.seconds.into()) + MARGIN;
    let (mut server, address) = start_server(&args.conditions, false, Some(limit + START_PATIENCE))?;
    let start_client = |name: &&str| {
        let mut arguments = vec!["client".into(), "--no-window".into(), format!("--name={name}")];
        arguments.extend([format!("--connect={address}"), format!("--seconds={}", args.seconds)]);
        arguments.extend([format!("--seed={}", args.seed), "--json=-".into()]);
        arguments.extend(args.conditions.to_flags());
        Process::start(format!("client `{name}`"), &arguments)
    };
    let mut clients = NAMES.iter().map(start_client).collect::<Result<Vec<_>, _>>()?;
    let mut bots = Bots::start(args.bots, args.seed, address, &args.conditions)?;

    let deadline = Instant::now() + limit;
    let mut report = Report::default();
    for index in 0..clients.len() {
        let line = await_line(&mut clients, index, &mut server, &mut bots, deadline, limit)?;
        report.clients.extend(parse_report(&clients[index].name, &line)?.clients);
    }
    output.publish(&report)?;
    match args.require_agreement {
        Some(per_cent) => report.require_agreement(f64::from(per_cent) / 100.0),
        None => Ok(()),
    }
}

/// Waits for the report of one client, as long as all others are well.
fn await_line(
    clients: &mut [Process],
    index: usize,
    server: &mut Process,
    bots: &mut Bots,
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
        // It ends by itself when all clients have left, and their reports are on the way then.
        server.check()?;
        bots.check()?;
        if Instant::now() > deadline {
            return Err(too_slow(&clients[index].name, "reported", limit));
        }
    }
}

fn parse_report(part: &str, line: &str) -> Result<Report, DuelError> {
    let bad = |reason: String| DuelError::BadReport { part: part.into(), reason };
    serde_json::from_str(line).map_err(|error| bad(error.to_string()))
}
