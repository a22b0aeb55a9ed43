//! The figures as tables for people, in Markdown.

use core::fmt::{self, Display, Formatter};

use crate::{goals::Goal, measure::Row};

/// One line for each approach and number of rigs.
pub struct Table<'a> {
    /// The figures.
    pub rows: &'a [Row],
    /// The numbers of shots in a tick.
    pub shots: &'a [usize],
}

/// What was wanted, and what is.
pub struct Goals<'a>(pub &'a [Goal]);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "| rigs | {:<31} |", "ns per ray")?;
        for shots in self.shots {
            write!(f, " {:>9} |", format!("S={shots}"))?;
        }
        for shots in self.shots {
            write!(f, " {:>9} |", format!("cold {shots}"))?;
        }
        writeln!(f, " × kernel | record µs | bytes/rig s | wrong/million | other thing |")?;
        writeln!(f, "|---|---|{}--:|--:|--:|--:|--:|", "--:|".repeat(2 * self.shots.len()))?;
        for rigs in self.rows.chunk_by(|a, b| a.rigs == b.rigs) {
            let firsts =
                rigs.iter().enumerate().filter(|(n, row)| !rigs[..*n].iter().any(|r| r.approach == row.approach));
            for (_, first) in firsts {
                let of = |shots: usize| rigs.iter().find(|row| row.approach == first.approach && row.shots == shots);
                self.line(f, first, of)?;
            }
        }
        Ok(())
    }
}

impl Table<'_> {
    fn line<'r>(&self, f: &mut Formatter<'_>, first: &Row, of: impl Fn(usize) -> Option<&'r Row>) -> fmt::Result {
        write!(f, "| {:>4} | {:<31} |", first.rigs, first.approach)?;
        for figure in [|row: &Row| row.ns_per_ray, |row: &Row| row.ns_per_ray_cold] {
            for shots in self.shots {
                write!(f, " {:>9} |", number(of(*shots).map_or(f64::NAN, figure)))?;
            }
        }
        // The middle of the goals, or else what there is.
        let typical = of(128).unwrap_or(first);
        // Few rays do not tell of a million.
        let per_million = |figure: f64| match first.rays_judged {
            few @ ..10_000 => format!("{:.0} of {few}", figure * few as f64 / 1e6),
            _ => number(figure),
        };
        writeln!(
            f,
            " {:>8} | {:>9} | {:>11} | {:>13} | {:>11} |",
            format!("{:.2}", typical.times_the_kernel),
            number(first.record_us),
            number(first.bytes_per_rig_second),
            per_million(first.wrong_per_million),
            per_million(first.other_things_per_million),
        )
    }
}

impl Display for Goals<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Goal { goal, measured, unit, met } in self.0 {
            let verdict = match (met, measured.is_nan()) {
                (true, _) => "met",
                (false, true) => "not measured",
                (false, false) => "NOT MET",
            };
            writeln!(f, "{goal:<75} {:>9} {unit:<12} {verdict}", format!("{measured:.2}"))?;
        }
        Ok(())
    }
}

/// With as many digits as it is worth, and commas between thousands.
fn number(number: f64) -> String {
    if number.is_nan() {
        return "-".into();
    }
    if number != 0.0 && number.abs() < 10.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{:.0}", number.abs());
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_are_worth() {
        let texts = [0.0, 0.514, 13.4, 1_234.5, 1_234_567.0, f64::NAN].map(number);
        assert_eq!(texts, ["0", "0.51", "13", "1,234", "1,234,567", "-"]);
    }
}
