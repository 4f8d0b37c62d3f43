//! Figures from elsewhere, shown beside those of the experiment.

use super::forms::Form;
use crate::exit::{FileError, Usage};
use anyhow::Result;
use model::Reading;
use model::load_table::{LoadCell, LoadColumn};
use std::path::Path;

/// Reads figures from elsewhere, such as a published table: a line `name,milliseconds` for each
/// row, by the row's name here or by the column's own. Empty lines and those after # say nothing.
pub fn read(file: &Path, forms: &[Form]) -> Result<LoadColumn> {
    let remedy = "name a file with lines such as: default,120.5";
    let failed = |source| FileError { path: file.display().to_string(), source, remedy };
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let mut found = vec![None; forms.len()];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            continue;
        }
        let parsed = line.rsplit_once(',').and_then(|(name, ms)| {
            let ms: f64 = ms.trim().parse().ok()?;
            (ms.is_finite() && ms > 0.0).then(|| (name.trim(), ms))
        });
        let at = parsed.and_then(|(name, ms)| {
            let named = |form: &Form| form.name == name || form.counterpart == Some(name);
            Some((forms.iter().position(named)?, ms))
        });
        let Some((at, ms)) = at else {
            let names: Vec<&str> =
                forms.iter().map(|form| form.counterpart.unwrap_or(form.name)).collect();
            return Err(Usage(format!(
                "{}: '{line}' is no row and its milliseconds; rows are {}",
                file.display(),
                names.join(", ")
            ))
            .into());
        };
        found[at] = Some(ms * 1e3);
    }
    let first = found.first().copied().flatten();
    let cell = |(index, us): (usize, Option<f64>)| match us {
        Some(fastest_us) => Reading::Value(LoadCell {
            fastest_us,
            median_us: None,
            improvement: first.filter(|_| index > 0).map(|first| 1.0 - fastest_us / first),
            effect: None,
        }),
        None => Reading::unavailable(format!("{} has no such row", file.display()), ""),
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let cells = found.into_iter().enumerate().map(cell).collect();
    Ok(LoadColumn { name, cache: None, cells })
}
