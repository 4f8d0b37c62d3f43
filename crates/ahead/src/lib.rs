//! The program that a launcher is: it looks whether what its program needs is in memory, has it read
//! ahead if not, and becomes the program. That program never runs in headstart; how its data is written,
//! and what a class of arguments is, are shared.
//!
//! A launcher is one static executable without libraries: a cold start of it reads a few pages, and a warm
//! one costs a few tenths of a millisecond. Behind the program, which is the same in all of them, stands
//! the [`LauncherData`]: what is started, and what is asked for before ([`mod@format`] says how).
//!
//! The program is built by `build.rs` from `src/code`, which has neither the standard library nor
//! another one, and makes its system calls itself.

pub mod class;
pub mod format;
mod written;

pub use format::PartEntry;
pub use written::write;

use format::{Data, PLAN_BYTES};
use thiserror::Error;

/// The program without data; empty for other systems than Linux on x86-64.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));
/// Larger files are no launchers.
pub const MOST_BYTES: u64 = 4 << 20;
/// So much of a launcher tells what it is.
pub const BEGINNING_BYTES: u64 = 32 << 10;
/// Where the program expects its data, as `launcher.ld` says.
const DATA_ADDRESS: u64 = 0x2000_0000;
/// Where its program header is: the second one behind the file's header (elf(5)).
const DATA_HEADER: usize = 64 + 56;
/// Length of the data, which stands before it.
const LENGTH_BYTES: usize = 8;
/// A segment begins at a page of its file.
const PAGE: usize = 4096;

/// What a launcher does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LauncherData {
    /// For people, and for whoever reads the launcher.
    pub text: String,
    /// Path of the program.
    pub program: Vec<u8>,
    /// Arguments that stand before those of each launch.
    pub arguments: Vec<Vec<u8>>,
    /// The first whose class a launch belongs to is used.
    pub plans: Vec<LauncherPlan>,
}

/// What is read ahead of launches of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LauncherPlan {
    /// The words of the class; nothing: every launch belongs to it.
    pub class: Option<Vec<String>>,
    /// Whose parts are read.
    pub files: Vec<LauncherFile>,
    /// What is asked for, in this order.
    pub requests: Vec<PartEntry>,
    /// Paths that are looked up.
    pub looked_up: Vec<Vec<u8>>,
    /// If these are in memory nothing is asked for.
    pub samples: Vec<PartEntry>,
    /// Make the requests one after the other, not from several processes.
    pub one_by_one: bool,
}

/// A file as it was recorded. One that has changed is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherFile {
    /// Where it is.
    pub path: Vec<u8>,
    /// Its size.
    pub size_bytes: u64,
    /// When its content was changed last, since 1970.
    pub modified_ns: i64,
}

/// Why there is no launcher.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum LauncherProblem {
    /// There is no program for it.
    #[error("launchers are made for Linux on x86-64 only")]
    OtherSystem,
    /// A string cannot be handed to the kernel.
    #[error("a name or argument has a NUL character in it")]
    Nul,
    /// What is to be read ahead takes too much room.
    #[error(
        "a launcher would have more than {} MiB; name one recording for it, or record less",
        MOST_BYTES >> 20
    )]
    TooLarge,
}

/// The text of a launcher, from the first [`BEGINNING_BYTES`] of its file; `None` for any other file.
pub fn text(beginning: &[u8]) -> Option<&str> {
    let at = data_place(beginning)?.checked_add(LENGTH_BYTES)?;
    let data = Data(beginning.get(at..)?);
    if !data.0.starts_with(format::MAGIC) {
        return None;
    }
    let rest = data.0.get(data.text()..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    str::from_utf8(rest.get(..end)?).ok()
}

/// Where in a launcher's file its data begins, from its program headers (elf(5)).
fn data_place(file: &[u8]) -> Option<usize> {
    let word = |at: usize| Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?));
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let place = usize::try_from(word(DATA_HEADER + 8)?).ok()?;
    (word(DATA_HEADER + 16)? == DATA_ADDRESS).then_some(place)
}

#[cfg(test)]
mod tests;
