//! Views of what was put in front of programs, and of what was taken away again.

use crate::style::Style;
use crate::text::printable;
use model::{InstallReport, InstalledKind, UninstallReport, UninstalledFile};

/// What was written, how it is undone, and what the user has to know.
pub fn installed(report: &InstallReport, style: &Style) -> String {
    let again = if report.replaced { " again" } else { "" };
    let (kind, path, subject) =
        (name(report.kind), printable(&report.path), printable(&report.subject));
    let mut text = format!("Wrote the {kind} {path} for {subject}{again}.\n");
    if let Some(record) = &report.record {
        text += &format!("Recording: {}\n", printable(record));
    }
    text += &format!("Undo: {}\n", printable(&report.undo));
    text + &style.notes_below(&report.notes)
}

/// What was removed, a line for each file.
pub fn uninstalled(report: &UninstallReport) -> String {
    let line = |file: &UninstalledFile| {
        let path = printable(&file.path);
        let mut text = match file.kind {
            Some(kind) => format!("Removed the {} {path}.\n", name(kind)),
            None => format!("There is no file {path}, so there is nothing to undo.\n"),
        };
        if let Some(record) = &file.record {
            text += &format!("Removed its recording {}.\n", printable(record));
        }
        text
    };
    report.files.iter().map(line).collect()
}

fn name(kind: InstalledKind) -> &'static str {
    match kind {
        InstalledKind::Launcher => "launcher",
        InstalledKind::DesktopEntry => "desktop entry",
        InstalledKind::DropIn => "drop-in",
    }
}
