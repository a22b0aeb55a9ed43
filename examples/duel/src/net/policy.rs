//! How the server looks back, as a choice for trying.

use bevy_hindsight::ViewSource;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The [`ViewSource`]s, from the best to none at all.
#[derive(Serialize, Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// What the screen was made of.
    #[default]
    AsDisplayed,
    /// What the client says that it showed.
    Reported,
    /// What the server has measured.
    Estimated,
    /// Now, less half a round trip and the interpolation.
    Textbook,
    /// Now.
    None,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AsDisplayed, Self::Reported, Self::Estimated, Self::Textbook, Self::None];

    /// What players read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsDisplayed => "as displayed",
            Self::Reported => "reported",
            Self::Estimated => "estimated",
            Self::Textbook => "textbook",
            Self::None => "none",
        }
    }

    /// What the server is told.
    pub const fn source(self) -> ViewSource {
        match self {
            Self::AsDisplayed => ViewSource::AsDisplayed,
            Self::Reported => ViewSource::Reported,
            Self::Estimated => ViewSource::Estimated,
            Self::Textbook => ViewSource::Textbook,
            Self::None => ViewSource::None,
        }
    }
}
