//! Figures from elsewhere, shown beside those of the experiment.

use super::{PietrekError, PietrekPath};
use model::Reading;
use model::load_table::{LoadCell, LoadColumn, LoadRow};
use std::path::Path;

/// Reads figures from elsewhere, such as a published table: a line `name,milliseconds` for each
/// row, by the row's name here or by the column's own. Empty lines and those after # say nothing.
pub fn read(file: &Path, rows: &[LoadRow]) -> Result<LoadColumn, PietrekError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| PietrekError::io(file, PietrekPath::Figures, error))?;
    let mut found = vec![None; rows.len()];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            continue;
        }
        let parsed = line.rsplit_once(',').and_then(|(name, ms)| {
            let ms: f64 = ms.trim().parse().ok()?;
            (ms.is_finite() && ms > 0.0).then(|| (name.trim(), ms))
        });
        let at = parsed.and_then(|(name, ms)| {
            let named =
                |row: &LoadRow| row.name == name || row.counterpart.as_deref() == Some(name);
            Some((rows.iter().position(named)?, ms))
        });
        let Some((at, ms)) = at else {
            let name = |row: &LoadRow| row.counterpart.clone().unwrap_or(row.name.clone());
            let rows = rows.iter().map(name).collect::<Vec<_>>().join(", ");
            let (file, line) = (file.to_owned(), line.to_owned());
            return Err(PietrekError::Row { file, line, rows });
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
