//! The policies that are compared.

use core::fmt::{self, Display, Formatter};

use bevy_hindsight::{ShotEvent, ViewSource, ViewTime};
use serde::{Deserialize, Serialize};

/// How a server may find what the shooter saw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// By the snapshots that the screen was made of.
    AsDisplayed,
    /// By the view time that the shot reports.
    Reported,
    /// By what the server has measured of the connection.
    Estimated,
    /// By half the round trip and the interpolation delay.
    Textbook,
    /// Not at all.
    None,
    /// By the `InterpolationDelay` that lightyear keeps for each client, as lightyear's own lag compensation does.
    LightyearDelay,
}

impl Policy {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Self; 6] =
        [Self::AsDisplayed, Self::Reported, Self::Estimated, Self::Textbook, Self::None, Self::LightyearDelay];

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsDisplayed => "as_displayed",
            Self::Reported => "reported",
            Self::Estimated => "estimated",
            Self::Textbook => "textbook",
            Self::None => "none",
            Self::LightyearDelay => "lightyear_delay",
        }
    }

    /// The same shot, to be judged by this policy; `None` if it lacks what that needs.
    pub(crate) fn ask(self, shot: ShotEvent, lightyear: Option<ViewTime>) -> Option<ShotEvent> {
        // What a copy claims is not to be compared with what the shots of the client claim.
        let unlinked = ShotEvent { link: None, ..shot };
        Some(match self {
            Self::AsDisplayed => shot.judged_by(ViewSource::AsDisplayed),
            Self::Reported => unlinked.judged_by(ViewSource::Reported),
            Self::Estimated => shot.judged_by(ViewSource::Estimated),
            Self::Textbook => shot.judged_by(ViewSource::Textbook),
            Self::None => shot.judged_by(ViewSource::None),
            Self::LightyearDelay => unlinked.seen_at(lightyear?).judged_by(ViewSource::Reported),
        })
    }
}

impl Display for Policy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
