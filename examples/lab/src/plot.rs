//! The figures as a plot.

use std::path::Path;

use crate::{error::LabError, outcome::Cell};

/// Draws the figures.
///
/// # Errors
///
/// If the file cannot be written.
pub fn draw(_path: &Path, _cells: &[Cell]) -> Result<(), LabError> {
    Ok(())
}
