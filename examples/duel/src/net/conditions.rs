//! A bad network, made on purpose.

use core::time::Duration;

use clap::Args;
use lightyear::{
    link::RecvLinkConditioner,
    prelude::{Link, LinkConditionerConfig},
};
use serde::{Deserialize, Serialize};

/// What is done to each packet that a process receives.
///
/// Server and client each spoil what comes in to them, so with the same flags on both sides the figures hold each way.
#[derive(Args, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct LinkConditions {
    /// Delay of each packet that comes in, in milliseconds one way.
    #[arg(long, value_name = "MS", default_value_t = 60, value_parser = clap::value_parser!(u16).range(..=i64::from(MOST_DELAY)))]
    pub latency: u16,
    /// How far that delay is off at most, in milliseconds up or down.
    #[arg(long, value_name = "MS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(..=i64::from(MOST_DELAY)))]
    pub jitter: u16,
    /// Share of the packets that get lost, in per cent.
    #[arg(long, value_name = "PER CENT", default_value_t = 2.0, value_parser = parse_loss)]
    pub loss: f32,
}

/// The most latency and jitter, in milliseconds.
const MOST_DELAY: u16 = 1000;
/// The most loss, in per cent.
const MOST_LOSS: f32 = 90.0;

fn parse_loss(text: &str) -> Result<f32, String> {
    match text.trim_end_matches('%').trim_end().parse() {
        Ok(loss) if (0.0..=MOST_LOSS).contains(&loss) => Ok(loss),
        _ => Err("must be a number of per cent from 0 to 90".into()),
    }
}

impl LinkConditions {
    /// The conditioner of one connection.
    pub fn conditioner(&self) -> RecvLinkConditioner {
        RecvLinkConditioner::new(
            LinkConditionerConfig::default()
                .with_incoming_latency(Duration::from_millis(self.latency.into()))
                .with_incoming_jitter(Duration::from_millis(self.jitter.into()))
                .with_fixed_loss(self.loss / 100.0),
        )
    }

    /// Puts a connection into these conditions. What is on its way arrives as it would have.
    pub fn apply(&self, link: &mut Link) {
        let mut conditioner = self.tamed().conditioner();
        if let Some(before) = link.recv.conditioner.take() {
            conditioner.time_queue = before.time_queue;
        }
        link.recv.conditioner = Some(conditioner);
    }

    /// The same conditions with whatever is not a number, or too much, taken out: they may have come over the network.
    fn tamed(self) -> Self {
        let Self { latency, jitter, loss } = self;
        let loss = if loss.is_finite() { loss.clamp(0.0, MOST_LOSS) } else { 0.0 };
        Self { latency: latency.min(MOST_DELAY), jitter: jitter.min(MOST_DELAY), loss }
    }

    /// The flags that give another process the same conditions.
    pub fn to_flags(self) -> [String; 3] {
        let Self { latency, jitter, loss } = self;
        [format!("--latency={latency}"), format!("--jitter={jitter}"), format!("--loss={loss}")]
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        conditions: LinkConditions,
    }

    fn parse(flags: impl IntoIterator<Item = String>) -> Result<LinkConditions, clap::Error> {
        let flags = core::iter::once("duel".into()).chain(flags);
        Flags::try_parse_from(flags).map(|flags| flags.conditions)
    }

    #[test]
    fn flags_reach_the_other_process_unchanged() {
        let conditions = LinkConditions { latency: 45, jitter: 0, loss: 1.5 };
        assert_eq!(parse(conditions.to_flags()).unwrap(), conditions);
    }

    #[test]
    fn conditions_from_the_network_are_tamed() {
        let hostile = LinkConditions { latency: u16::MAX, jitter: u16::MAX, loss: f32::NAN }.tamed();
        assert_eq!(hostile, LinkConditions { latency: MOST_DELAY, jitter: MOST_DELAY, loss: 0.0 });
        assert_eq!(LinkConditions { loss: 1e9, ..hostile }.tamed().loss, MOST_LOSS);
    }

    #[test]
    fn loss_is_in_per_cent_and_below_all() {
        assert_eq!(parse(["--loss=2".into()]).unwrap().loss, 2.0);
        assert_eq!(parse(["--loss=2%".into()]).unwrap().loss, 2.0);
        for bad in ["-1", "91", "NaN", "much"] {
            assert!(parse([format!("--loss={bad}")]).is_err(), "{bad}");
        }
    }
}
