//! What is not known of a launch's reads, and what would help, in words.

use model::figures::{bytes, count, plural};
use model::{FileIo, FileReads, IoAdvice, IoReport, PageFaults};
use std::path::Path;

/// From here on most of what is read may be read for nothing.
const FAR_KIB: u64 = 64;

/// Of a launch whose reads were recorded.
pub fn of_reads(found: &FileReads, files: &[FileIo], is_cold: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let (true, Some(pages @ 1..)) = (is_cold, found.cold.resident_pages.get()) {
        notes.push(format!(
            "{} of the files {} in memory when the launch began, because other programs have them \
             mapped or have read them again, or because they are not written yet; the launch did not \
             read them; headstart cache evict shows which stay",
            plural(pages, "page", "pages"),
            if pages == 1 { "was" } else { "were" }
        ));
    }
    if let (true, Some(pages @ 1..)) = (is_cold, found.brought_pages.get()) {
        notes.push(format!(
            "other programs read {} of the files into memory while the launch ran, so that reads of \
             the launch may be missing; run the command again while nothing else uses these files",
            plural(pages, "page", "pages")
        ));
    }
    let unread: Vec<&FileIo> =
        files.iter().filter(|file| file.unread_pages.get().unwrap_or(0) > 0).collect();
    if let Some(first) = unread.first() {
        let pages: u64 = unread.iter().filter_map(|file| file.unread_pages.get()).sum();
        notes.push(format!(
            "{} of {}{} entered memory without a read of a block device: they come from the network, \
             from a program (FUSE), from memory, or lie in holes",
            plural(pages, "page", "pages"),
            first.path,
            others(unread.len())
        ));
    }
    notes.extend(in_memory(found));
    if found.others.unassigned.reads > 0 {
        notes.push(format!(
            "of {} ({}) it is not known what they filled: reads past the page cache, or on file \
             systems that have no device of their own",
            plural(found.others.unassigned.reads, "read", "reads"),
            bytes(found.others.unassigned.bytes)
        ));
    }
    let ahead = files.iter().filter_map(|file| file.read_ahead_kib.get()).max();
    if let Some(kib) = ahead.filter(|kib| *kib >= FAR_KIB && !files.is_empty()) {
        notes.push(format!(
            "the kernel reads up to {} ahead of what is asked for, so the launch may not need all of \
             this; headstart trace --pages shows which pages it touches",
            bytes(kib << 10)
        ));
    }
    notes.extend(lost(found.lost));
    notes
}

/// Files that are always in memory.
fn in_memory(found: &FileReads) -> Option<String> {
    let is_there = |path: &str| {
        let path = model::text::name(path);
        let system = os::host::file_system(Path::new(&path)).ok();
        system.filter(|it| ["tmpfs", "ramfs"].contains(&it.as_str()))
    };
    let on: Vec<(String, &str)> = found
        .files
        .iter()
        .filter_map(|file| Some((is_there(&file.path)?, file.path.as_str())))
        .collect();
    let (system, first) = on.first()?;
    Some(format!(
        "{first}{} on {system}: {system} keeps its files in memory, so nothing is read of them",
        match on.len() - 1 {
            0 => " is".to_owned(),
            more => format!(" and {} are", plural(more as u64, "other file", "other files")),
        }
    ))
}

fn others(files: usize) -> String {
    match files - 1 {
        0 => String::new(),
        more => format!(" and {}", plural(more as u64, "other file", "other files")),
    }
}

fn lost(records: u64) -> Option<String> {
    (records > 0).then(|| {
        format!(
            "the kernel dropped {}: reads are missing; run the command again",
            plural(records, "record", "records")
        )
    })
}

/// Of a launch whose page faults were recorded.
pub fn of_faults(found: &PageFaults) -> Vec<String> {
    let mut notes = vec![
        "only page faults that waited for input are known here: the kernel reads more around each \
         of them, and what system calls read (execve, read) is in no figure but the kernel's sum; \
         run headstart as root for every read"
            .to_owned(),
    ];
    notes.extend(lost(found.lost));
    notes
}

/// What would help, a sentence each.
pub fn advice(report: &IoReport) -> Vec<String> {
    report.advice.iter().map(words).collect()
}

fn words(advice: &IoAdvice) -> String {
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    match advice {
        IoAdvice::ReadWhole { path, share, reads } => format!(
            "{path}: {} of it is read, in {} of {} on average: reading the whole file ahead \
             (vmtouch -t, or cat to /dev/null) asks for fewer and larger ones",
            percent(share),
            plural(reads.reads, "read", "reads"),
            mean(reads.bytes, reads.reads)
        ),
        IoAdvice::Scattered { path, share, reads, small_reads } => format!(
            "{path}: {} of it is read, in {} of {} on average, {} of them under 32 KiB: reading the \
             whole file ahead would read {} for nothing; read exactly these pages ahead, or put the \
             functions of the launch together (headstart order write)",
            percent(share),
            plural(reads.reads, "read", "reads"),
            mean(reads.bytes, reads.reads),
            count(small_reads.reads),
            percent(&(1.0 - share))
        ),
        IoAdvice::Relocations { bytes: all, share, path, unpacked_bytes } => {
            let remedy = match unpacked_bytes * 2 > *all {
                true => {
                    "relative ones shrink to a fraction when they are packed (headstart elf relr), \
                     and a bundle needs few of the others (headstart bundle)"
                }
                false => "a bundle needs few of them (headstart bundle)",
            };
            format!(
                "{} of relocations are read, {} of all that is read of files, most of them in {path}: \
                 {remedy}",
                bytes(*all),
                percent(share)
            )
        }
    }
}

fn mean(all: u64, reads: u64) -> String {
    bytes(all / reads.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ReadSum, Reading};

    #[test]
    fn advice_has_the_figures_and_a_next_step() {
        let reads = ReadSum { reads: 20, bytes: 20 << 14 };
        let small_reads = ReadSum { reads: 15, bytes: 1 << 16 };
        let path = || "/lib/x.so".to_owned();
        let text = words(&IoAdvice::Scattered { path: path(), share: 0.25, reads, small_reads });
        for part in ["25 % of it is read, in 20 reads of 16.0 KiB on average, 15 of them", "75 %"] {
            assert!(text.contains(part), "{text}");
        }
        let text = words(&IoAdvice::ReadWhole { path: path(), share: 0.9, reads });
        assert!(text.contains("90 % of it is read") && text.contains("ahead"), "{text}");
        let relocations = |unpacked_bytes| {
            words(&IoAdvice::Relocations {
                bytes: 1 << 20,
                share: 0.5,
                path: path(),
                unpacked_bytes,
            })
        };
        assert!(relocations(1 << 20).contains("elf relr"));
        assert!(!relocations(0).contains("elf relr") && relocations(0).contains("bundle"));
        assert_eq!(lost(0), None);
    }

    #[test]
    fn what_page_faults_do_not_tell_is_said() {
        let found = PageFaults {
            total_us: 1.0,
            pid: 1,
            source: String::new(),
            mappings: Vec::new(),
            faults: Vec::new(),
            read_bytes_by_file: Reading::Value(Vec::new()),
            read_bytes: Reading::Value(0),
            lost: 2,
        };
        let notes = of_faults(&found);
        assert!(notes[0].contains("root") && notes[1].contains("2 records"), "{notes:?}");
    }
}
