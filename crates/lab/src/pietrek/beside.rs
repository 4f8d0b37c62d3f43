//! Figures from elsewhere, shown beside those of the experiment.

use super::{PietrekError, PietrekPath};
use crate::libraries::decoded;
use model::Reading;
use model::load_table::{LoadCell, LoadColumn, LoadRow};
use std::io;
use std::path::Path;

/// Reads figures from elsewhere, such as a published table: a line `name,milliseconds` for each
/// row, by the row's name here or by the column's own. UTF-8, or UTF-16 behind a byte order mark, as spreadsheets and
/// shells of Windows write it. Empty lines and those after # say nothing.
pub fn read(file: &Path, rows: &[LoadRow]) -> Result<LoadColumn, PietrekError> {
    let failed = |error| PietrekError::io(file, PietrekPath::Figures, error);
    let bytes = decoded(&std::fs::read(file).map_err(failed)?);
    let bytes = bytes.map_err(|error| failed(io::Error::other(error)))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(io::Error::other(error)))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_the_encodings_of_windows() {
        let rows = ["default", "based"].map(|name| LoadRow {
            name: name.to_owned(),
            counterpart: None,
            about: String::new(),
        });
        let text = "# ms\r\ndefault,20\r\nbased,15.5\r\n";
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("there.csv");
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&[0xff, 0xfe], wide(text).as_slice()].concat(),
        ] {
            std::fs::write(&file, bytes).unwrap();
            let column = read(&file, &rows).unwrap();
            assert_eq!(column.name, "there");
            let fastest = column.cells.iter().map(|cell| cell.value().unwrap().fastest_us);
            assert_eq!(fastest.collect::<Vec<_>>(), [20_000.0, 15_500.0]);
        }
        std::fs::write(&file, wide(text)).unwrap();
        let error = read(&file, &rows).unwrap_err();
        let words = format!("{error} {:?}", std::error::Error::source(&error));
        assert!(words.contains("UTF-16 without a byte order mark"), "{words}");
    }
}
