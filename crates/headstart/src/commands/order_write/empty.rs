//! An order without functions: it takes no other order's place.

use crate::exit::FileError;
use crate::output;
use anyhow::Result;
use model::OrderReport;
use ordering::write::OrderFile;
use std::io;
use std::path::Path;

/// Says that an order is empty, and what becomes of that.
///
/// # Errors
/// It would replace a file that has something else. The notes, which say why the order is empty,
/// have been written to standard error then.
pub fn check(out: Option<&Path>, report: &mut OrderReport, file: &OrderFile) -> Result<()> {
    if file.functions > 0 {
        return Ok(());
    }
    if let Some(out) = out.filter(|out| would_be_lost(out, &file.text)) {
        report.notes.iter().for_each(|note| output::tell(format_args!("note: {note}")));
        let found = "it is not replaced, as the new order has no functions";
        return Err(FileError {
            path: out.display().to_string(),
            source: io::Error::other(found),
            remedy: "give traces of launches that call the image's functions, or remove the file",
        }
        .into());
    }
    let note = "the order has no functions: a link with it leaves all functions where they are";
    report.notes.insert(0, note.to_owned());
    Ok(())
}

/// Whether a file has anything, and something else than this.
fn would_be_lost(path: &Path, text: &str) -> bool {
    let content = || std::fs::read(path).unwrap_or_default();
    path.is_file() && ![&[], text.as_bytes()].contains(&content().as_slice())
}
