//! Views of what of files is in memory, and of what left it.

use crate::figure::{bytes, count, kib, percent, plural, why};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::{
    CacheEviction, CacheStatus, CacheTotals, CachedFile, EvictedFile, EvictionLevel,
    MappingProcess, Reading, SkippedPath,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Files that are shown; the rest is one line.
const ROWS: usize = 20;
/// Paths that are named of those that were left out.
const SKIPPED: usize = 5;
/// Names of processes that are named.
const PROCESSES: usize = 8;

/// How much is in memory, in a sentence, and the files with the most pages there. With `all`, every
/// file.
pub fn status_view(status: &CacheStatus, style: &Style, all: bool) -> String {
    let mut view = head(status.command.as_deref(), style);
    view += &(style.wrap(&style.spelt(&status_sentence(status)), 0) + "\n");
    let mut files: Vec<&CachedFile> = status.files.iter().collect();
    files.sort_by_key(|file| Reverse(file.resident_pages.get().map_or(file.pages, |it| it)));
    let is_shown = |file: &&&CachedFile| all || file.resident_pages.get() != Some(0);
    let shown: Vec<&CachedFile> = files.iter().filter(is_shown).copied().collect();
    let rows = if all || shown.len() <= ROWS + 1 { shown.len() } else { ROWS };
    if rows > 0 {
        view += &format!("\n{}", status_table(&shown[..rows]).render(style));
    }
    if shown.len() > rows {
        let is_known = |file: &&CachedFile| file.resident_pages.get().is_some();
        let what = if shown[rows..].iter().all(is_known) { " have pages in memory" } else { "" };
        view += &format!("  {} more files{what}\n", shown.len() - rows);
    }
    let mut notes = status.notes.clone();
    notes.extend(unknown_note(&status.files));
    notes.extend(status.files_from.clone());
    notes.extend(skipped_note(&status.skipped));
    view + &style.notes_below(&notes)
}

fn head(command: Option<&str>, style: &Style) -> String {
    command.map_or(String::new(), |command| {
        style.paint(Tint::Name, &style.shorten(command, style.width)) + "\n\n"
    })
}

fn status_sentence(status: &CacheStatus) -> String {
    let totals = &status.totals;
    if totals.files == 0 {
        return "There is no file to look at.".to_owned();
    }
    let mut text = known_sentence(totals, status.page_bytes, "in memory");
    if totals.dirty_pages > 0 {
        text += &format!(", {} of them changed and not written yet", count(totals.dirty_pages));
    }
    text.push('.');
    text + &unknown_sentence(totals)
}

/// `1,234 of 2,000 pages of 12 files in memory (4,936 KiB, 61.7 %)`.
fn known_sentence(totals: &CacheTotals, page_bytes: u64, what: &str) -> String {
    let files = totals.files - totals.unknown_files;
    let pages = totals.pages - totals.unknown_pages;
    if files == 0 {
        let files = plural(totals.files, "file", "files");
        return format!("Of {files} it is not known how much is {what}");
    }
    let share = match pages {
        0 => String::new(),
        pages => format!(", {}", percent(totals.resident_pages as f64 / pages as f64)),
    };
    format!(
        "{} of {} of {} {what} ({}{share})",
        count(totals.resident_pages),
        plural(pages, "page", "pages"),
        plural(files, "file", "files"),
        bytes(totals.resident_pages * page_bytes),
    )
}

fn unknown_sentence(totals: &CacheTotals) -> String {
    match totals.unknown_files {
        0 => String::new(),
        unknown if unknown == totals.files => String::new(),
        unknown => format!(
            " Of {} with {} it is not known.",
            plural(unknown, "other file", "other files"),
            plural(totals.unknown_pages, "page", "pages")
        ),
    }
}

fn status_table(files: &[&CachedFile]) -> Table {
    let mut table = Table::new(vec![
        Column::left("file"),
        Column::right("in memory"),
        Column::right("pages"),
        Column::right("share").or_drop(1),
        Column::right("changed").or_drop(2),
    ]);
    for file in files {
        let share = match (file.resident_pages.get(), file.pages) {
            (Some(resident), pages @ 1..) => percent(resident as f64 / pages as f64),
            _ => String::new(),
        };
        let dirty = match file.dirty_pages.get() {
            Some(0) => String::new(),
            Some(dirty) => count(dirty),
            None if file.resident_pages.get() == Some(0) => String::new(),
            None => "unknown".to_owned(),
        };
        table.row(vec![
            Cell::new(Tint::Name, &file.path),
            Cell::new(Tint::Plain, figure(&file.resident_pages)),
            Cell::new(Tint::Plain, count(file.pages)),
            Cell::new(Tint::Plain, share),
            Cell::new(Tint::Plain, dirty),
        ]);
    }
    table
}

fn figure(pages: &Reading<u64>) -> String {
    pages.get().map_or("unknown".to_owned(), count)
}

/// Why it is unknown: each reason once.
fn unknown_note(files: &[CachedFile]) -> Vec<String> {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for file in files {
        for reading in [&file.resident_pages, &file.dirty_pages] {
            if reading.value().is_none() {
                *reasons.entry(why(reading)).or_default() += 1;
                break;
            }
        }
    }
    let note = |(reason, files)| format!("unknown of {}: {reason}", plural(files, "file", "files"));
    reasons.into_iter().map(note).collect()
}

fn skipped_note(skipped: &[SkippedPath]) -> Option<String> {
    if skipped.is_empty() {
        return None;
    }
    let named: Vec<String> = skipped
        .iter()
        .take(SKIPPED)
        .map(|one| match one.path.as_str() {
            "" => one.reason.clone(),
            path => format!("{path}: {}", one.reason),
        })
        .collect();
    let more = match skipped.len().saturating_sub(SKIPPED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!("left out: {}{more}", named.join("; ")))
}

/// What left memory and what stayed, in sentences, and the files of which pages stayed. With `all`,
/// every file.
pub fn eviction_view(found: &CacheEviction, style: &Style, all: bool) -> String {
    let mut view = head(found.command.as_deref(), style);
    view += &(style.wrap(&style.spelt(&eviction_sentence(found)), 0) + "\n");
    let mut files: Vec<&EvictedFile> = found.files.iter().collect();
    files.sort_by_key(|file| Reverse(file.left_pages.get().unwrap_or(0)));
    let has_stayed = |file: &&&EvictedFile| all || file.left_pages.get().unwrap_or(0) > 0;
    let shown: Vec<&EvictedFile> = files.iter().filter(has_stayed).copied().collect();
    let rows = if all || shown.len() <= ROWS + 1 { shown.len() } else { ROWS };
    if rows > 0 {
        view += &format!("\n{}", eviction_table(&shown[..rows]).render(style));
    }
    if shown.len() > rows {
        view += &format!("  pages of {} more files stayed\n", shown.len() - rows);
    }
    let mut notes = found.notes.clone();
    notes.extend(unknown_after(found));
    notes.extend(processes_note(found));
    notes.extend(metadata_note(found));
    notes.extend(found.files_from.clone());
    notes.extend(skipped_note(&found.skipped));
    view + &style.notes_below(&notes)
}

fn eviction_sentence(found: &CacheEviction) -> String {
    let (before, after) = (&found.before, &found.after);
    let known = after.files - after.unknown_files;
    let did = match found.level {
        EvictionLevel::File => "",
        EvictionLevel::Drop => "The page cache of the whole machine was dropped. ",
        EvictionLevel::Remount => "",
    };
    let mut text = did.to_owned();
    if !found.remounted.is_empty() {
        text += &format!("Mounted anew: {}. ", found.remounted.join(", "));
    }
    if after.files == 0 {
        return text + "There is no file to evict.";
    }
    if known == 0 {
        text += &format!(
            "{} evicted as far as nobody uses their pages; what stayed is not known.",
            plural(after.files, "file was", "files were")
        );
        return text;
    }
    let gone = before.resident_pages.saturating_sub(after.resident_pages);
    text += &format!(
        "{} of {} evicted ({}); {} left in memory.",
        plural(gone, "page", "pages"),
        plural(known, "file", "files"),
        bytes(gone * found.page_bytes),
        match after.resident_pages {
            0 => "none".to_owned(),
            left => format!("{} ({})", count(left), bytes(left * found.page_bytes)),
        },
    );
    if after.unknown_files > 0 {
        text += &format!(
            " {} evicted, too, as far as nobody uses them: what stayed is not known.",
            plural(after.unknown_files, "other file was", "other files were")
        );
    }
    text
}

fn eviction_table(files: &[&EvictedFile]) -> Table {
    let mut table = Table::new(vec![
        Column::left("file"),
        Column::right("before"),
        Column::right("left"),
        Column::right("of").or_drop(1),
        Column::left("because"),
    ]);
    for file in files {
        table.row(vec![
            Cell::new(Tint::Name, &file.path),
            Cell::new(Tint::Plain, figure(&file.before_pages)),
            Cell::new(Tint::Plain, figure(&file.left_pages)),
            Cell::new(Tint::Plain, count(file.pages)),
            Cell::new(Tint::Plain, file.reason.clone().unwrap_or_default()),
        ]);
    }
    table
}

fn unknown_after(found: &CacheEviction) -> Vec<String> {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for file in found.files.iter().filter(|file| file.left_pages.value().is_none()) {
        *reasons.entry(why(&file.left_pages)).or_default() += 1;
    }
    let note = |(reason, files)| {
        format!("what stayed is unknown of {}: {reason}", plural(files, "file", "files"))
    };
    reasons.into_iter().map(note).collect()
}

/// Names of the processes that have the files mapped, the most frequent first.
fn processes_note(found: &CacheEviction) -> Option<String> {
    let each = found.files.iter().flat_map(|file| &file.mapped_by);
    let processes: BTreeSet<&MappingProcess> = each.collect();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for process in processes {
        *counts.entry(&process.name).or_default() += 1;
    }
    let mut names: Vec<(&str, u64)> = counts.into_iter().collect();
    names.sort_by_key(|(_, processes)| Reverse(*processes));
    let named = names.iter().take(PROCESSES).map(|(name, processes)| match processes {
        1 => (*name).to_owned(),
        several => format!("{name} ({several} processes)"),
    });
    let named: Vec<String> = named.collect();
    let more = match names.len().saturating_sub(PROCESSES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut parts = Vec::new();
    if !named.is_empty() {
        parts.push(format!("some of the files are mapped by {}{more}", named.join(", ")));
    }
    if found.hidden_processes > 0 && found.after.unknown_files + found.after.resident_pages > 0 {
        let hidden = plural(found.hidden_processes, "process", "processes");
        let map = if found.hidden_processes == 1 { "maps" } else { "map" };
        parts.push(format!("what {hidden} {map} that this user may not look into is unknown"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn metadata_note(found: &CacheEviction) -> Option<String> {
    let metadata = &found.metadata;
    let blocks = kib(metadata.block_kib.get()?);
    let (names, inodes) = (count(metadata.names.get()?), count(metadata.inodes.get()?));
    let of_machine = format!(
        "in the whole machine, {blocks} of blocks of file systems, {names} names and {inodes} inodes \
         are in memory"
    );
    Some(match found.level {
        EvictionLevel::Remount => {
            format!(
                "of the file systems themselves nothing stayed, unless a container has them mounted, \
                 too; {of_machine}"
            )
        }
        _ => format!(
            "what file systems keep of the files stays: {of_machine}; only mounting a file system \
             anew clears them"
        ),
    })
}

#[cfg(test)]
mod tests;
