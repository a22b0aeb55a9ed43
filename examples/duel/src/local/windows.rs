//! The duel in two windows, or on pictures.

use core::time::Duration;
use std::{fs, thread, time::Instant};

use super::{LocalArgs, NAMES};
use crate::{
    error::DuelError,
    net::LinkConditions,
    process::{Bots, Process, start_server, too_slow},
};

/// How often the processes are looked after.
const PERIOD: Duration = Duration::from_millis(50);
/// How long the script may take, on a machine that draws slowly.
const SCRIPT_PATIENCE: Duration = Duration::from_secs(300);
/// Who comes first gets the first colour.
const HEAD_START: Duration = Duration::from_secs(1);
/// The size of a window: two of them fit side by side on a usual screen.
const SIZE: (u32, u32) = (940, 528);
/// Between the windows, in pixels.
const GAP: u32 = 20;

/// Opens two windows side by side. The first one is the user's; in the second a bot plays until the user clicks into it. When one
/// is closed, all end.
pub(super) fn play(args: &LocalArgs) -> Result<(), DuelError> {
    let (mut server, address) = start_server(&args.conditions, true, None)?;
    let open = |(number, name): (u32, &&str)| {
        let mut arguments = vec!["client".into(), format!("--name={name}"), format!("--connect={address}")];
        arguments.push(format!("--seed={}", args.seed));
        arguments.push(format!("--position={},0", number * (SIZE.0 + GAP)));
        arguments.push(format!("--size={},{}", SIZE.0, SIZE.1));
        arguments.extend((number > 0).then(|| "--bot".into()));
        arguments.extend(args.conditions.to_flags());
        if number > 0 {
            thread::sleep(HEAD_START);
        }
        Process::start(format!("client `{name}`"), &arguments)
    };
    let mut windows = (0..).zip(&NAMES).map(open).collect::<Result<Vec<_>, _>>()?;
    let mut bots = Bots::start(args.bots, args.seed, address, &args.conditions)?;
    loop {
        for window in &mut windows {
            if !window.check()? {
                return Ok(());
            }
        }
        if !server.check()? {
            return Err(DuelError::BadReport { part: server.name.clone(), reason: "it has ended".into() });
        }
        bots.check()?;
        thread::sleep(PERIOD);
    }
}

/// Plays the script: one client draws it, the other one is a bot.
pub(super) fn record(args: &LocalArgs) -> Result<(), DuelError> {
    let Some(folder) = &args.record else { return Ok(()) };
    let cannot_write = |source| DuelError::CannotWrite { path: folder.clone(), source };
    fs::create_dir_all(folder).map_err(cannot_write)?;
    let conditions: LinkConditions = args.conditions;
    let (_server, address) = start_server(&conditions, true, Some(SCRIPT_PATIENCE))?;
    let mut arguments = vec!["client".into(), format!("--name={}", NAMES[0]), format!("--connect={address}")];
    arguments.extend([format!("--seed={}", args.seed), format!("--record={}", folder.display())]);
    arguments.extend(conditions.to_flags());
    let mut client = Process::start(format!("client `{}`", NAMES[0]), &arguments)?;
    thread::sleep(HEAD_START);
    let mut bots = Bots::start(1.max(args.bots), args.seed, address, &conditions)?;
    let deadline = Instant::now() + SCRIPT_PATIENCE;
    while client.check()? {
        bots.check()?;
        if Instant::now() > deadline {
            return Err(too_slow(&client.name, "finished its script", SCRIPT_PATIENCE));
        }
        thread::sleep(PERIOD);
    }
    Ok(())
}
