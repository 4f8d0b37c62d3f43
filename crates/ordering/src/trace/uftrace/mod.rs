//! Recordings of uftrace: the folder of raw data that `uftrace record` leaves.
//!
//! The raw data is read rather than any of uftrace's texts, because addresses, modules and
//! build-ids are in it only. Source: uftrace, `utils/utils.h`, `utils/fstack.h` and
//! `doc/uftrace-record.md`, version 4 of the data; little-endian, 64 bits.
//!
//! | file | has |
//! |---|---|
//! | `info` | the magic number, the version, features |
//! | `task.txt` | processes, threads, forks and programs |
//! | `sid-ID.map` | modules of a program, with their addresses and build-ids |
//! | `MODULE.sym` | functions of a module |
//! | `TID.dat` | records of a thread, 16 bytes each |
//!
//! Arguments (`-A`, `-a`) change the size of records: such recordings are refused.

mod records;
mod session;
mod tasks;

use super::problem::{TraceProblem, TraceReadError, no_line};
use model::{ExecutedProgram, FirstCall, FunctionTrace, ModuleId, Rva};
use records::{Entries, Entry};
use rustc_hash::FxHashMap;
use session::{Session, Symbols};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tasks::Tasks;

/// A folder of uftrace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UftraceError {
    /// A file cannot be read.
    #[error("{}: {source}; give a folder that uftrace record has written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file says what it should not.
    #[error(transparent)]
    Read(#[from] TraceReadError),
}

const MAGIC: &[u8] = b"Ftrace!\0";
const LITTLE: u8 = 1;
const CLASS_64: u8 = 2;
/// Feature bits: records with arguments or return values.
const ARGUMENTS: u64 = 1 << 3 | 1 << 4;

/// Reads the folder.
///
/// # Errors
/// A file is missing or damaged, or the records have arguments.
pub fn read(folder: &Path) -> Result<FunctionTrace, UftraceError> {
    let file = |name: &str| content(&folder.join(name)).map(|bytes| (shown(folder, name), bytes));
    let (name, info) = file("info")?;
    check(&name, &info)?;
    let (name, text) = file("task.txt")?;
    let tasks = tasks::read(&name, &text)?;
    let mut found = Found::default();
    for run in &tasks.programs {
        if let Some(sid) = &run.sid {
            found.session(folder, sid)?;
        }
    }
    let mut entries = Entries::default();
    for tid in tasks.tids() {
        let path = folder.join(format!("{tid}.dat"));
        if path.exists() {
            entries.add(&shown(folder, &format!("{tid}.dat")), &content(&path)?, tid, &tasks)?;
        }
    }
    for entry in entries.in_order() {
        found.call(&entry, &tasks);
    }
    Ok(found.into_trace(&tasks))
}

fn content(path: &Path) -> Result<Vec<u8>, UftraceError> {
    fs::read(path).map_err(|source| UftraceError::Io { path: path.to_owned(), source })
}

fn shown(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// The beginning of `info`: magic, version (4 bytes), size of the header (2), byte order, class,
/// features (8).
fn check(file: &str, info: &[u8]) -> Result<(), TraceReadError> {
    let fail = |why| Err(no_line().error(file, TraceProblem::Unsupported(why)));
    let features =
        info.get(16..24).and_then(|it| it.first_chunk().copied().map(u64::from_le_bytes));
    match (info.starts_with(MAGIC), info.get(14..16), features) {
        (false, ..) | (_, _, None) | (_, None, _) => fail(
            "this is not a recording of uftrace; give a folder that uftrace record has written",
        ),
        (_, Some([LITTLE, CLASS_64]), Some(bits)) if bits & ARGUMENTS == 0 => Ok(()),
        (_, Some([LITTLE, CLASS_64]), _) => {
            fail("the records have arguments of functions; record again without -A, -R and -a")
        }
        _ => fail("the recording is not from a 64-bit little-endian machine; record it on one"),
    }
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    trace: FunctionTrace,
    modules: FxHashMap<String, ModuleId>,
    sessions: FxHashMap<String, Session>,
    symbols: FxHashMap<String, Symbols>,
    places: FxHashMap<(u32, ModuleId, Rva), usize>,
    outside: u64,
}

impl Found {
    /// Reads the modules of a program.
    fn session(&mut self, folder: &Path, sid: &str) -> Result<(), UftraceError> {
        let name = format!("sid-{sid}.map");
        let text = content(&folder.join(&name))?;
        let session = session::read(&shown(folder, &name), &text)?;
        if self.symbols.is_empty() {
            self.symbols = session::symbols(folder)?;
        }
        for mapped in &session.mapped {
            if !self.modules.contains_key(&mapped.module.path) {
                let id = ModuleId::at(self.trace.modules.len());
                self.modules.insert(mapped.module.path.clone(), id);
                self.trace.modules.push(mapped.module.clone());
            }
        }
        self.sessions.insert(sid.to_owned(), session);
        Ok(())
    }

    fn call(&mut self, entry: &Entry, tasks: &Tasks) {
        let sid = tasks.programs.get(entry.program as usize).and_then(|it| it.sid.as_ref());
        let session = sid.and_then(|sid| self.sessions.get(sid));
        let Some((path, rva)) = session.and_then(|session| session.place(entry.address)) else {
            self.outside += entry.count;
            return;
        };
        let Some(&module) = self.modules.get(path) else { return };
        let function = self.symbols.get(path).and_then(|symbols| symbols.covering(rva));
        let call = match function {
            // Calls through the linkage table are recorded by the place there.
            Some(symbol) if symbol.is_linkage => return,
            Some(symbol) => FirstCall {
                program: entry.program,
                module,
                rva: symbol.rva,
                bytes: symbol.bytes,
                count: Some(entry.count),
                name: symbol.name.clone(),
            },
            None => {
                let (program, count) = (entry.program, Some(entry.count));
                FirstCall { program, module, rva, bytes: 0, count, name: String::new() }
            }
        };
        let key = (call.program, module, call.rva);
        let place = *self.places.entry(key).or_insert(self.trace.calls.len());
        match self.trace.calls.get_mut(place) {
            // Two threads called it.
            Some(known) => known.count = known.count.map(|it| it.saturating_add(entry.count)),
            None => self.trace.calls.push(call),
        }
    }

    fn into_trace(self, tasks: &Tasks) -> FunctionTrace {
        let mut trace = self.trace;
        trace.recorder = "uftrace".to_owned();
        trace.weight = 1.0;
        trace.programs = tasks.programs.iter().map(|run| run.program.clone()).collect();
        if self.outside > 0 {
            let calls = self.outside;
            trace.notes.push(format!("{calls} calls are outside the modules that uftrace lists"));
        }
        trace
    }
}

/// A program that was executed, or a fork.
struct ProgramRun {
    program: ExecutedProgram,
    /// When, in nanoseconds.
    start: u64,
    /// Its session, which tells its modules.
    sid: Option<String>,
}
