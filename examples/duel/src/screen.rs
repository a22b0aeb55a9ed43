//! How a client is shown: in a window, on a picture that nobody sees, or not at all.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use bevy::prelude::*;
use clap::Args;

use crate::{
    record::{self, Script},
    view::{ViewSettings, display_available},
};

/// Where and how large.
#[derive(Args, Clone, PartialEq, Debug)]
pub struct ScreenArgs {
    /// Open no window.
    #[arg(long)]
    pub no_window: bool,
    /// Where the window's upper left corner is.
    #[arg(long, value_name = "X,Y", value_parser = parse_pair::<i32>, allow_hyphen_values = true)]
    pub position: Option<(i32, i32)>,
    /// Width and height of the window, in pixels.
    #[arg(long, value_name = "W,H", value_parser = parse_pair::<u32>, default_value = "1280,720")]
    pub size: (u32, u32),
    /// Play a scripted duel without a window, and write pictures of it into this folder.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
}

fn parse_pair<N: core::str::FromStr>(text: &str) -> Result<(N, N), String> {
    let pair = text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    pair.ok_or_else(|| "must be two whole numbers with a comma between them".into())
}

impl ScreenArgs {
    /// Whether there is anything to see.
    pub fn is_wanted(&self) -> bool {
        self.is_scripted() || (!self.no_window && display_available())
    }

    /// Says so if there should be a window, and there is no display for it.
    pub fn tell_of_missing_display(&self) {
        if !self.no_window && !self.is_wanted() {
            // If not even that can be said, the table will tell.
            let _ = writeln!(io::stderr(), "duel: there is no display, so a bot plays without a window");
        }
    }

    /// Whether nobody plays.
    pub fn is_scripted(&self) -> bool {
        self.record.is_some()
    }

    /// What the app draws on.
    pub fn settings(&self, title: &str) -> ViewSettings {
        ViewSettings {
            title: title.into(),
            position: self.position.map(IVec2::from),
            size: UVec2::from(self.size),
            offscreen: self.is_scripted(),
        }
    }

    /// The plugin of the script, if there is one.
    pub fn plugin(&self) -> impl Fn(&mut App) + Send + Sync + 'static {
        let folder = self.record.clone();
        move |app| {
            if let Some(folder) = folder.clone() {
                app.insert_resource(Script::new(folder)).add_plugins(record::plugin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_numbers_are_read() {
        assert_eq!(parse_pair::<i32>("-10, 20"), Ok((-10, 20)));
        assert!(parse_pair::<u32>("-10,20").is_err());
        assert!(parse_pair::<u32>("1280x720").is_err());
    }
}
