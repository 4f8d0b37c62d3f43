//! Whether the files of a build leave memory: while another process has them mapped, or if they are on
//! tmpfs, they do not. Then no launch is cold, and what one reads tells nothing.

use model::{ColdCheck, Reading, quoted};
use std::path::PathBuf;

/// Evicts the files of a build, and tells whether they have left memory; why not, and what helps.
pub fn coldness(files: &[PathBuf]) -> Reading<()> {
    let each = files.iter().map(std::slice::from_ref);
    let mut each = each.map(|file| of_check(file, &os::cache::emptied_of(file)));
    each.find(|cold| cold.value().is_none()).unwrap_or(Reading::Value(()))
}

/// What the check of these files before a launch tells.
pub fn of_check(files: &[PathBuf], check: &ColdCheck) -> Reading<()> {
    let stayed = match &check.resident_pages {
        // The kernel tells it of other people's files to root only; nothing speaks against it then.
        Reading::Value(0) | Reading::Unavailable { .. } => return Reading::Value(()),
        Reading::Value(pages) => *pages,
    };
    let names: Vec<String> = files.iter().map(quoted).collect();
    let on = files.first().and_then(|file| os::host::file_system(file).ok());
    let remedy = match on.as_deref() {
        Some(kind @ ("tmpfs" | "ramfs")) => {
            format!("files on {kind} never leave it; verify copies of both builds on a disk")
        }
        _ => "probably another process has the file mapped, such as a running program; end it, or \
              verify a copy of the file"
            .to_owned(),
    };
    let reason = format!(
        "{stayed} of {} pages of {} stayed in memory, so launches are not cold",
        check.total_pages,
        names.join(", ")
    );
    Reading::unavailable(reason, remedy)
}
