//! What would help a launch, by what it reads.

use model::{ContentKind, FileIo, IoAdvice, ReadSum};

/// A file of which so much is read is read nearly whole.
const WHOLE: f64 = 0.8;
/// What is read in fewer pieces gains little.
const LEAST_READS: u64 = 8;
/// A file that is read in pieces of this size could hardly be read faster.
const LARGE_BYTES: u64 = 256 << 10;
/// Of a file with more small reads than this the reads lie apart.
const MOST_SMALL: f64 = 0.5;
/// Relocations of fewer bytes, or of a smaller share, are not worth a word.
const LEAST_RELOCATIONS: (u64, f64) = (128 << 10, 0.05);
/// Files of each kind that are named.
const FILES: usize = 3;

/// The most important first of each kind.
pub fn advice(files: &[FileIo]) -> Vec<IoAdvice> {
    let mut found: Vec<IoAdvice> = relocations(files).into_iter().collect();
    let whole = files.iter().filter_map(read_whole).take(FILES);
    let scattered = files.iter().filter_map(scattered).take(FILES);
    found.extend(whole);
    found.extend(scattered);
    found
}

/// Its reads, and which share of the file they are.
fn share(file: &FileIo) -> Option<(ReadSum, f64)> {
    let reads = file.reads.get().filter(|reads| reads.reads >= LEAST_READS)?;
    Some((reads, (reads.bytes as f64 / file.file_bytes.max(1) as f64).min(1.0)))
}

fn read_whole(file: &FileIo) -> Option<IoAdvice> {
    let (reads, share) = share(file)?;
    let is_in_pieces = reads.bytes / reads.reads < LARGE_BYTES;
    (share >= WHOLE && is_in_pieces).then(|| IoAdvice::ReadWhole {
        path: file.path.clone(),
        share,
        reads,
    })
}

fn scattered(file: &FileIo) -> Option<IoAdvice> {
    let (reads, share) = share(file)?;
    let small_reads = file.small_reads.get()?;
    let is_small = small_reads.reads as f64 >= MOST_SMALL * reads.reads as f64;
    (share < WHOLE && is_small).then(|| IoAdvice::Scattered {
        path: file.path.clone(),
        share,
        reads,
        small_reads,
    })
}

fn relocations(files: &[FileIo]) -> Option<IoAdvice> {
    let bytes_of = |file: &FileIo, is_wanted: fn(&str) -> bool| -> u64 {
        let wanted = file
            .sections
            .iter()
            .filter(|section| section.kind == ContentKind::Relocations && is_wanted(&section.name));
        wanted.filter_map(|section| section.bytes.get()).sum()
    };
    let sum = |is_wanted| files.iter().map(|file| bytes_of(file, is_wanted)).sum::<u64>();
    let all: u64 = files.iter().filter_map(|file| Some(file.reads.get()?.bytes)).sum();
    let bytes = sum(|_| true);
    let share = bytes as f64 / all.max(1) as f64;
    let most = files.iter().max_by_key(|file| bytes_of(file, |_| true))?;
    (bytes >= LEAST_RELOCATIONS.0 && share >= LEAST_RELOCATIONS.1).then(|| IoAdvice::Relocations {
        bytes,
        share,
        path: most.path.clone(),
        unpacked_bytes: sum(|name| !name.starts_with(".relr")),
    })
}
