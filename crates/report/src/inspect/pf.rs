//! What prefetch files of Windows say, as text.

use super::{Block, WIDTH, end_of};
use crate::text::printable;
use model::PfFacts;
use model::figures::{bytes, count, plural};
use std::fmt::Write;

/// What one file says.
pub(super) fn block(facts: &PfFacts) -> String {
    let mut block = Block(String::new());
    block.end(&printable(&facts.path));
    let size = match facts.content_bytes {
        Some(content) => format!("{}, {} uncompressed", bytes(facts.file_bytes), bytes(content)),
        None => bytes(facts.file_bytes),
    };
    let kind = format!("prefetch file, version {}, {size}", facts.version);
    block.row("kind", &kind);
    block.row("written by", &facts.windows);
    let of = if facts.boot { "the start of Windows" } else { &facts.executable };
    block.row("launches of", of);
    block.row("launches", &count(facts.run_count.into()));
    let mut label = "last";
    for time in &facts.last_runs {
        block.row(label, time);
        label = "";
    }
    block.row("hash", &facts.hash);
    if let Some(path) = &facts.hashed_path {
        block.row("", &format!("of {path}"));
    }
    for volume in &facts.volumes {
        let made = volume.created.as_ref().map_or(String::new(), |time| format!(", made {time}"));
        block.row("volume", &format!("{}, serial {}{made}", volume.device_path, volume.serial));
        let folders = plural(volume.directories.len() as u64, "folder", "folders");
        let files = plural(volume.references.len() as u64, "file opened", "files opened");
        block.row("", &format!("{folders}, {files}"));
    }
    if let Some(text) = facts.text.as_ref().filter(|text| facts.hashed_path.as_ref() != Some(text))
    {
        block.row("text", text);
    }
    let pages = plural(facts.pages(), "page", "pages");
    let files = plural(facts.files.len() as u64, "file", "files");
    block.row("reads ahead", &format!("{pages} of {files}"));
    for file in &facts.files {
        block.counted(file.pages.len() as u64, below_volume(facts, &file.path));
    }
    for problem in &facts.problems {
        block.row("PROBLEM", problem);
    }
    block.0
}

/// The path without its volume, where all files are on one.
fn below_volume<'a>(facts: &PfFacts, path: &'a str) -> &'a str {
    match facts.volumes.as_slice() {
        [volume] => path.strip_prefix(&*volume.device_path).unwrap_or(path),
        _ => path,
    }
}

/// One line a file.
pub(super) fn list(files: &[&PfFacts]) -> String {
    let mut text = format!(
        "{:>7} {:>8} {:>6} {:>7}  {:<19}  {}\n",
        "version", "launches", "files", "pages", "last", "file"
    );
    for facts in files {
        let last = facts.last_runs.first().map_or("-", String::as_str);
        let last = last.split('.').next().unwrap_or(last);
        let _ = writeln!(
            text,
            "{:>7} {:>8} {:>6} {:>7}  {last:<19}  {}",
            facts.version,
            count(facts.run_count.into()),
            count(facts.files.len() as u64),
            count(facts.pages()),
            end_of(&printable(&facts.path), WIDTH - 54),
        );
    }
    let number = plural(files.len() as u64, "prefetch file", "prefetch files");
    let damaged = files.iter().filter(|facts| !facts.problems.is_empty()).count() as u64;
    let _ = match damaged {
        0 => writeln!(text, "{number}"),
        _ => writeln!(
            text,
            "{number}, {} with problems (inspect them alone for details)",
            count(damaged)
        ),
    };
    text
}
