//! What a duel comes to: the counts of each client, as a table and as JSON.

use core::fmt::{self, Display, Formatter};
use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::error::DuelError;

/// The path that stands for standard output.
const STDOUT: &str = "-";

/// The counts of all clients.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// One entry for each client.
    pub clients: Vec<ClientReport>,
}

/// The counts of one client.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
pub struct ClientReport {
    /// Who.
    pub name: String,
    /// Bullets and pellets fired.
    pub fired: usize,
    /// Shots that hit on the shooter's own screen.
    pub on_target: usize,
    /// Those of them that the server confirmed.
    pub confirmed: usize,
    /// The share of them, from 0 to 1; none if no shot was on target.
    pub agreement: Option<f64>,
    /// The same share, had the server judged the same shots by the present.
    pub agreement_uncompensated: Option<f64>,
    /// Shots that missed on the shooter's screen and were confirmed nevertheless.
    pub confirmed_off_target: usize,
    /// Shots of who was dead by then, which count for nothing else.
    pub void: usize,
    /// Shots that the server has not answered.
    pub unanswered: usize,
}

/// Where a report goes, as the user wants it.
pub struct Output {
    json: Option<(PathBuf, File)>,
    table: bool,
}

impl Output {
    /// Prepares the output: a table, and JSON in a file, too, if there is a path. If that is `-`, JSON goes to standard
    /// output and takes the place of the table.
    ///
    /// Opens the file at once, so that a mistake shows before the match and not after it.
    pub fn open(json: Option<&Path>) -> Result<Self, DuelError> {
        match json {
            None => Ok(Self { json: None, table: true }),
            Some(path) if path == Path::new(STDOUT) => Ok(Self { json: None, table: false }),
            Some(path) => match File::create(path) {
                Ok(file) => Ok(Self { json: Some((path.into(), file)), table: true }),
                Err(source) => Err(DuelError::CannotWrite { path: path.into(), source }),
            },
        }
    }

    /// Writes the report.
    pub fn publish(self, report: &Report) -> Result<(), DuelError> {
        if let Some((path, file)) = self.json {
            report.write_json(file).map_err(|source| DuelError::CannotWrite { path, source })?;
        }
        let mut stdout = io::stdout().lock();
        let written = if self.table { write!(stdout, "{report}") } else { report.write_json(stdout) };
        written.map_err(|source| DuelError::CannotWrite { path: "standard output".into(), source })
    }
}

impl Report {
    /// An error unless each client had shots on target and at least this share of them was confirmed, more than without
    /// compensation.
    pub fn require_agreement(&self, share: f64) -> Result<(), DuelError> {
        let good = |client: &ClientReport| {
            let uncompensated = client.agreement_uncompensated.unwrap_or(0.0);
            client.agreement.is_some_and(|agreement| agreement >= share && agreement > uncompensated)
        };
        match self.clients.iter().find(|client| !good(client)) {
            None => Ok(()),
            Some(ClientReport { name, on_target, .. }) => {
                Err(DuelError::Disagreement { name: name.clone(), on_target: *on_target })
            }
        }
    }

    fn write_json(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut to, self)?;
        writeln!(to)
    }
}

const HEADINGS: [&str; 9] = [
    "client",
    "fired",
    "on target",
    "confirmed",
    "agreement",
    "uncompensated",
    "confirmed off target",
    "void",
    "unanswered",
];

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let rows: Vec<[String; 9]> = self.clients.iter().map(ClientReport::cells).collect();
        let headings = HEADINGS.map(String::from);
        let width = |column: usize| {
            let cells = core::iter::once(&headings).chain(&rows).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        for row in core::iter::once(&headings).chain(&rows) {
            write!(f, "{:<1$}", row[0], width(0))?;
            for (column, cell) in row.iter().enumerate().skip(1) {
                write!(f, "  {cell:>0$}", width(column))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl ClientReport {
    fn cells(&self) -> [String; 9] {
        [
            self.name.clone(),
            self.fired.to_string(),
            self.on_target.to_string(),
            self.confirmed.to_string(),
            percent(self.agreement),
            percent(self.agreement_uncompensated),
            self.confirmed_off_target.to_string(),
            self.void.to_string(),
            self.unanswered.to_string(),
        ]
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.1} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let red = ClientReport {
            name: "red".into(),
            fired: 60,
            on_target: 40,
            confirmed: 39,
            agreement: Some(0.975),
            agreement_uncompensated: Some(0.125),
            confirmed_off_target: 1,
            void: 2,
            unanswered: 0,
        };
        Report { clients: vec![red, ClientReport { name: "a long name".into(), ..ClientReport::default() }] }
    }

    #[test]
    fn columns_of_the_table_stand_below_each_other() {
        let table = report().to_string();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{table}");
        assert!(lines[1].contains("97.5 %") && lines[1].contains("12.5 %"), "{table}");
        assert!(lines[2].contains(" - "), "{table}");
    }

    #[test]
    fn json_has_the_promised_keys_and_comes_back() {
        let mut json = Vec::new();
        report().write_json(&mut json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let red = &value["clients"][0];
        for key in ["name", "fired", "on_target", "confirmed", "agreement", "agreement_uncompensated", "void"] {
            assert!(!red[key].is_null(), "{key}");
        }
        assert_eq!(serde_json::from_slice::<Report>(&json).unwrap(), report());
    }

    #[test]
    fn agreement_can_be_required() {
        let client = |agreement, uncompensated| {
            let client = ClientReport { agreement, agreement_uncompensated: uncompensated, ..Default::default() };
            Report { clients: vec![client] }.require_agreement(0.9).is_ok()
        };
        assert!(client(Some(0.9), Some(0.1)));
        assert!(!client(Some(0.89), Some(0.1)));
        assert!(!client(Some(1.0), Some(1.0)), "compensation should make a difference");
        assert!(!client(None, None), "nothing was measured");
    }
}
