//! What a process has in memory of the file that it executes: proc_pid_maps(5) and proc_pid_pagemap(5).

use super::maps::{self, FileMapping};
use super::ptrace::{self, Tid};
use super::session::Session;
use crate::linux::residency::page_bytes;
use model::{BundleMemory, FileOffset, ImagePages, MarkKind, Reading};
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The page is in memory, or was written to swap.
const IS_THERE: u64 = 0b11 << 62;
/// It is the file's own page, which all processes share.
const OF_FILE: u64 = 1 << 61;
/// Bytes of what is told of a page.
const ENTRY: usize = 8;
/// Pages that are asked for at once.
const AT_ONCE: u64 = 8192;
/// What every process has, and no system call has mapped.
const NO_PART: &[u8] = b"[vsyscall]";

impl Session<'_> {
    /// Records what the bundle that the process executes has in memory, where that was asked for.
    pub(super) fn look_at_memory(&mut self, tid: Tid, process: usize, at: MarkKind) {
        let Some(image) = self.present_image(process) else { return };
        let path = image.path.clone();
        let known = image.memory.iter().any(|memory| memory.at == at);
        if known || self.request.bundles.iter().all(|bundle| bundle.path != path) {
            return;
        }
        let Some(state) = self.processes.get_mut(process) else { return };
        if at == MarkKind::ExecDone || state.bundle_parts.is_empty() {
            state.bundle_parts = parts(tid, &path).unwrap_or_default();
        }
        let found = memory(tid, &state.bundle_parts, at);
        if let Some(image) = self.present_image(process) {
            image.memory.extend(found);
        }
    }

    /// Records what the launched process, which ends now, has in memory of its file, where that was asked for.
    pub(super) fn look_at_pages(&mut self, tid: Tid, process: usize) {
        let wanted = self.request.pages_at_exit.as_ref().filter(|_| process == 0);
        let Some(path) = wanted.cloned() else { return };
        if self.present_image(process).is_some_and(|image| image.path == path) {
            let unread = || {
                Reading::unavailable(
                    "/proc/PID/maps or /proc/PID/pagemap of the process cannot be read",
                    "",
                )
            };
            self.pages = Some(image_pages(tid, &path).map_or_else(unread, Reading::Value));
        }
    }
}

/// What `tid` has in memory of the file at `path`; `None` where that cannot be read. Code is never copied but
/// for a tracer, and a file that is mapped to be shared has no copies.
fn image_pages(tid: Tid, path: &str) -> Option<ImagePages> {
    let pages = File::open(ptrace::proc_path(tid, "pagemap")).ok()?;
    let mut found = ImagePages::default();
    for mapping in parts(tid, path)? {
        let is_private = !mapping.executable && !mapping.shared;
        each_page(&pages, &mapping, |range, entry| match entry {
            _ if entry & IS_THERE == 0 => {}
            _ if is_private && is_copy(entry) => add_page(&mut found.copied, range),
            _ => add_page(&mut found.shared, range),
        })?;
    }
    Some(found)
}

/// What the kernel has mapped of the file at `path`. Copies may take its place later, as memory of no file.
fn parts(tid: Tid, path: &str) -> Option<Vec<FileMapping>> {
    Some(maps::files(tid)?.into_iter().filter(|mapping| mapping.path == path).collect())
}

/// What `tid` has in memory of these parts of a file; `None` where that cannot be read.
fn memory(tid: Tid, own: &[FileMapping], at: MarkKind) -> Option<BundleMemory> {
    let lines = fs::read(ptrace::proc_path(tid, "maps")).ok()?;
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let parts = lines.filter(|line| !line.ends_with(NO_PART)).count() as u64;
    let pages = File::open(ptrace::proc_path(tid, "pagemap")).ok()?;
    let mut copied = Vec::new();
    for mapping in own.iter().filter(|mapping| !mapping.executable && !mapping.shared) {
        add_copied(&pages, mapping, &mut copied)?;
    }
    copied.sort_by_key(|range: &Range<FileOffset>| range.start);
    Some(BundleMemory { at, parts, own_parts: own.len() as u64, copied })
}

/// Adds the pages of a mapping that are copies.
fn add_copied(
    pages: &File,
    mapping: &FileMapping,
    found: &mut Vec<Range<FileOffset>>,
) -> Option<()> {
    each_page(pages, mapping, |range, entry| {
        if is_copy(entry) {
            add_page(found, range);
        }
    })
}

/// Calls `with` for every page of a mapping: its range of the file, and what is told of it.
fn each_page(
    pages: &File,
    mapping: &FileMapping,
    mut with: impl FnMut(Range<FileOffset>, u64),
) -> Option<()> {
    let page = page_bytes();
    let (first, end) = (mapping.memory.start.0 / page, mapping.memory.end.0 / page);
    let mut from = first;
    while from < end {
        let count = (end - from).min(AT_ONCE);
        let mut entries = vec![0; count as usize * ENTRY];
        pages.read_exact_at(&mut entries, from * ENTRY as u64).ok()?;
        for (number, entry) in (from..).zip(entries.as_chunks().0) {
            let start = FileOffset(mapping.offset.0 + (number - first) * page);
            with(start..FileOffset(start.0 + page), u64::from_le_bytes(*entry));
        }
        from += count;
    }
    Some(())
}

/// Whether a page of a private mapping of a file is the process's own.
fn is_copy(entry: u64) -> bool {
    entry & IS_THERE != 0 && entry & OF_FILE == 0
}

/// Adds a page, to the range before it where that goes on with it.
fn add_page(found: &mut Vec<Range<FileOffset>>, page: Range<FileOffset>) {
    match found.last_mut() {
        Some(last) if last.end == page.start => last.end = page.end,
        _ => found.push(page),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::processes::own_pid;

    #[test]
    fn only_what_was_written_to_is_a_copy() {
        assert!(is_copy(1 << 63 | 77) && is_copy(1 << 62));
        assert!(!is_copy(1 << 63 | OF_FILE | 77) && !is_copy(0));
    }

    #[test]
    fn pages_behind_one_another_are_a_range() {
        let page = |number: u64| FileOffset(number * 4096)..FileOffset((number + 1) * 4096);
        let mut found = Vec::new();
        for number in [1, 2, 3, 7, 8] {
            add_page(&mut found, page(number));
        }
        assert_eq!(
            found,
            [FileOffset(4096)..FileOffset(16384), FileOffset(28672)..FileOffset(36864)]
        );
    }

    #[test]
    fn relocated_constants_of_this_program_are_copies() {
        let own = std::env::current_exe().unwrap();
        let parts = parts(own_pid(), own.to_str().unwrap()).unwrap();
        let found = memory(own_pid(), &parts, MarkKind::Main).unwrap();
        assert!(found.own_parts > 1 && found.parts > found.own_parts, "{found:?}");
        assert!(!found.copied.is_empty(), "{found:?}");
    }

    #[test]
    fn code_of_this_program_is_shared_with_its_file_and_relocated_constants_are_not() {
        let own = std::env::current_exe().unwrap();
        let found = image_pages(own_pid(), own.to_str().unwrap()).unwrap();
        assert!(!found.shared.is_empty() && !found.copied.is_empty(), "{found:?}");
        // The page where two segments meet is mapped twice, and may be shared in one of them.
        let is_shared = |at: &Range<FileOffset>| {
            found.shared.iter().any(|it| it.start <= at.start && at.end <= it.end)
        };
        assert!(!found.copied.iter().all(is_shared), "{found:?}");
        assert_eq!(image_pages(own_pid(), "/not there"), Some(ImagePages::default()));
    }
}
