//! Memory of processes by modules and sections: what is private to each, what they share, and what
//! copies of a program cost.
//!
//! Every page is counted once: the mappings of a process are divided among its images and the rest,
//! and sums are those of the kernel. `images` finds where images are, `pages` divides a mapping,
//! `account` does so for a process, and `merge` adds up processes.

mod account;
mod images;
mod merge;
mod pages;
mod sections;

use account::Account;
use images::Placements;
use model::{Command, Ending, SHARING_REPORT_SCHEMA, SharingReport, SharingState, UnreadProcess};
use os::LaunchError;
use os::copies::{Copies, CopiesRequest, Held, HeldProcess};
use os::memory::{MemoryError, ProcessMemory};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// How often a process is read whose pages change while they are divided.
const TRIES: u32 = 5;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The memory of none of the processes can be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The command cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// All copies ended so suddenly that they could not be held.
    #[error(
        "'{0}' was ended by a signal before its memory could be read; start it by hand for details"
    )]
    Lost(String),
}

/// A process to be read.
#[derive(Clone, Copy)]
struct Subject {
    pid: u32,
    copy: Option<u32>,
    state: SharingState,
}

/// The memory of processes that run already, and of their descendants if asked for. None of them is
/// stopped. A process that is named twice counts once.
///
/// # Errors
/// None of them can be read; the error is that of the first.
pub fn of_processes(pids: &[u32], descendants: bool) -> Result<SharingReport, SharingError> {
    let mut all: Vec<u32> = Vec::new();
    let mut known = BTreeSet::new();
    for &pid in pids {
        let more = match descendants {
            true => os::processes::descendants(pid.cast_signed()),
            false => Vec::new(),
        };
        let more = more.into_iter().map(i32::cast_unsigned);
        all.extend(std::iter::once(pid).chain(more).filter(|&pid| known.insert(pid)));
    }
    let state = SharingState::Running;
    let subjects: Vec<Subject> =
        all.into_iter().map(|pid| Subject { pid, copy: None, state }).collect();
    let (report, error) = read(&subjects);
    match error {
        Some(error) if report.processes.is_empty() => Err(error.into()),
        _ => Ok(report),
    }
}

/// The memory of copies of `command`, which stand still while it is read, and end then.
///
/// # Errors
/// They cannot be launched, or none of them can be read.
pub fn of_copies(
    command: &Command,
    request: &CopiesRequest,
) -> Result<SharingReport, SharingError> {
    let copies = Copies::start(command, request)?;
    let held = copies.held().clone();
    let subject =
        |held: &HeldProcess| Subject { pid: held.pid, copy: held.copy, state: held.state };
    let subjects: Vec<Subject> = held.processes.iter().map(subject).collect();
    let (mut report, error) = read(&subjects);
    copies.end()?;
    report.command = Some(command.line());
    report.copies = Some(request.count);
    report.notes.extend(notes(&held));
    match error {
        Some(error) if report.processes.is_empty() => Err(error.into()),
        None if report.processes.is_empty() => Err(SharingError::Lost(command.line())),
        _ => Ok(report),
    }
}

/// What became of copies that were not as one would wish.
fn notes(held: &Held) -> Vec<String> {
    let lost = held.lost.iter().map(|(number, ending)| {
        let ending = in_words(*ending);
        format!("copy {number} ended before its memory could be read ({ending})")
    });
    let mut notes: Vec<String> = lost.collect();
    let endings = held.processes.iter().filter_map(|process| process.ending);
    let failed: Vec<Ending> = endings.filter(|ending| *ending != Ending::Code(0)).collect();
    if let Some(first) = failed.first() {
        notes.push(format!(
            "{} of the copies failed ({}): their memory is as it was at their end; start the \
             program by hand to see why",
            failed.len(),
            in_words(*first)
        ));
    }
    let moving = held.processes.iter().filter(|process| !process.still).count();
    if moving > 0 {
        notes.push(format!(
            "{moving} of the processes could not be stopped, because they wait for a device or for a child: their \
             figures may belong to different moments"
        ));
    }
    for (state, was) in [
        (SharingState::Busy, "still at work when they were looked at"),
        (SharingState::Stopped, "stopped by a signal, such as SIGSTOP, before they were looked at"),
    ] {
        let count = held.processes.iter().filter(|held| held.state == state).count();
        if count > 0 {
            notes.push(format!("{count} of the copies were {was}: their memory is as it was then"));
        }
    }
    notes
}

fn in_words(ending: Ending) -> String {
    match ending {
        Ending::Signal(signal) => format!("signal {signal}"),
        Ending::Code(code) => format!("exit code {code}"),
        Ending::Status(status) => model::nt_status::words(status),
        Ending::Ready | Ending::TimedOut => "its time was up".to_owned(),
    }
}

/// Everything of the processes, and the first error.
fn read(subjects: &[Subject]) -> (SharingReport, Option<MemoryError>) {
    let placements = Placements::default();
    let accounts: Vec<Result<Account, MemoryError>> =
        subjects.par_iter().map(|subject| account_of(subject, &placements)).collect();
    let (mut unread, mut first, mut read) = (Vec::new(), None, Vec::new());
    for (subject, account) in subjects.iter().zip(accounts) {
        match account {
            Ok(account) => read.push((*subject, account)),
            Err(error) => {
                unread.push(UnreadProcess { pid: subject.pid, reason: error.to_string() });
                first.get_or_insert(error);
            }
        }
    }
    let mut report = merge::merge(read);
    report.schema = SHARING_REPORT_SCHEMA;
    report.unread = unread;
    (report, first)
}

/// Read again where it changes meanwhile, a few times; who shares a page changes also for a process
/// that stands still.
fn account_of(subject: &Subject, placements: &Placements) -> Result<Account, MemoryError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let memory: ProcessMemory = os::memory::read(subject.pid)?;
        let account = Account::of(memory, placements);
        if account.is_exact() || tries == TRIES {
            return Ok(account);
        }
    }
}

#[cfg(test)]
mod tests;
