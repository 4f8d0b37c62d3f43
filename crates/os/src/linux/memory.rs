//! What processes have in memory, as the kernel counts it: smaps, smaps_rollup and pagemap
//! (proc_pid_smaps(5), proc_pid_pagemap(5)). Nothing is stopped or changed.

mod error;
mod pages;
mod smaps;

pub use error::MemoryError;
pub use pages::{PageEntry, pages};
pub use smaps::{MappedMemory, MemoryAccess};

use super::processes;
use super::trace::ptrace::proc_path;
use model::{MappingFigures, MemoryFigures};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// Size of a page.
pub fn page_bytes() -> u64 {
    super::residency::page_bytes()
}

/// How often the memory of a process is read that changes meanwhile.
const TRIES: u32 = 25;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(4);

/// The memory of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Its number.
    pub pid: u32,
    /// Its command line, as one would type it; its name where it has none.
    pub command: String,
    /// CPU time so far.
    pub cpu_us: u64,
    /// Its mappings, by address.
    pub mappings: Vec<MappedMemory>,
    /// The kernel's own sum; nothing where it has none (before Linux 4.14).
    pub rollup: Option<MappingFigures>,
}

impl ProcessMemory {
    /// Sum of the mappings.
    pub fn sum(&self) -> MappingFigures {
        let mut sum = MappingFigures::default();
        self.mappings.iter().for_each(|mapping| sum += mapping.figures);
        sum
    }

    /// Whether the sum of the mappings is the kernel's own, but for what is rounded of the
    /// proportional share and for sizes, which the kernel does not sum up.
    pub fn agrees(&self) -> Option<bool> {
        self.rollup.map(|rollup| counted(rollup) == counted(self.sum()))
    }
}

/// What both the mappings and the kernel's own sum say exactly.
fn counted(figures: MappingFigures) -> MappingFigures {
    let mut counted = MappingFigures { pss_kib: 0, ..figures };
    (counted.memory.size_kib, counted.memory.committed_kib) = (0, 0);
    counted
}

/// Reads the memory of a process, again where it changes meanwhile; then the last one is given.
///
/// # Errors
/// There is no such process, it has no memory, or it may not be read.
pub fn read(pid: u32) -> Result<ProcessMemory, MemoryError> {
    let mut tries = 1;
    loop {
        let memory = read_once(pid)?;
        if memory.agrees() != Some(false) || tries == TRIES {
            return Ok(memory);
        }
        tries += 1;
        std::thread::sleep(PAUSE);
    }
}

/// What belongs to a process alone: anonymous memory and copies of a file's pages that it has written
/// to, which no other process maps, also where they are in swap. `None` where it may not be read.
pub fn private_kib(pid: libc::pid_t) -> Option<u64> {
    let mappings = smaps::mappings(&fs::read(proc_path(pid, "smaps")).ok()?);
    if mappings.is_empty() {
        return None;
    }
    let of = |mapping: &MappedMemory| {
        let MemoryFigures { private_kib, copied_kib, swap_kib, .. } = mapping.figures.memory;
        let swapped_kib = if mapping.access.shared { 0 } else { swap_kib };
        // Pages of a file that nobody else happens to map count as private, too, but as no copies;
        // copies that a forked process shares are no private ones.
        private_kib.min(copied_kib) + swapped_kib
    };
    Some(mappings.iter().map(of).sum())
}

fn read_once(pid: u32) -> Result<ProcessMemory, MemoryError> {
    let id = id(pid)?;
    let fields = processes::stat_fields(id).ok_or(MemoryError::NoProcess(pid))?;
    let failed = |source| error::explain(pid, &fields, source);
    let smaps = fs::read(proc_path(id, "smaps")).map_err(failed)?;
    let mut mappings = smaps::mappings(&smaps);
    if mappings.is_empty() {
        return Err(failed(io::ErrorKind::NotFound.into()));
    }
    mappings.iter_mut().for_each(|mapping| mapping.unescape(id));
    // Refused before Linux 4.14, and where the process has ended since.
    let rollup = fs::read(proc_path(id, "smaps_rollup")).ok();
    let rollup = rollup.and_then(|text| smaps::rollup(&text));
    Ok(ProcessMemory { pid, command: command(id), cpu_us: cpu_us(id, &fields), mappings, rollup })
}

fn id(pid: u32) -> Result<libc::pid_t, MemoryError> {
    libc::pid_t::try_from(pid).map_err(|_| MemoryError::NoProcess(pid))
}

/// A path by which the file of a mapping can be opened: the one that the process sees, in whatever
/// file system tree it lives; or the kernel's link, which only root may follow, where the file has
/// no name any more.
pub fn file_of(pid: u32, mapping: &MappedMemory) -> Vec<std::path::PathBuf> {
    let Ok(id) = id(pid) else { return Vec::new() };
    let (start, end) = (mapping.memory.start, mapping.memory.end);
    let link = proc_path(id, &format!("map_files/{:x}-{:x}", start.0, end.0));
    let seen = proc_path(id, &format!("root{}", mapping.name));
    match mapping.deleted {
        true => vec![link.into()],
        false => vec![model::text::name(&seen).into(), link.into()],
    }
}

fn command(pid: libc::pid_t) -> String {
    let line = fs::read(proc_path(pid, "cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let words = line.split(|&byte| byte == 0);
    let words: Vec<String> = words.map(|word| model::quoted(OsStr::from_bytes(word))).collect();
    if !line.is_empty() {
        return words.join(" ");
    }
    let name = fs::read(proc_path(pid, "comm")).unwrap_or_default();
    model::text::text(OsStr::from_bytes(name.strip_suffix(b"\n").unwrap_or(&name)))
}

/// utime and stime of stat, in ticks of a hundredth of a second, also of threads that have ended; or,
/// where that is more, what the threads that there are have used, to the nanosecond.
fn cpu_us(pid: libc::pid_t, fields: &[String]) -> u64 {
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let ticks = ticks(11).unwrap_or(0).saturating_add(ticks(12).unwrap_or(0));
    let ticks_us = ticks.saturating_mul(1_000_000) / rustix::param::clock_ticks_per_second().max(1);
    let tasks = fs::read_dir(proc_path(pid, "task")).into_iter().flatten().flatten();
    let used_ns = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    ticks_us.max(used_ns.fold(0, u64::saturating_add) / 1000)
}

#[cfg(test)]
mod tests;
