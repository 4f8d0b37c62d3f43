//! `task.txt`: which process executed what, and which thread belongs to which process.

use super::ProgramRun;
use crate::lines::{Line, Lines, Words, decimal, name_text};
use crate::trace::problem::{TraceProblem, TraceReadError};
use model::ExecutedProgram;
use rustc_hash::FxHashMap;

/// What `task.txt` says.
#[derive(Default)]
pub(super) struct Tasks {
    /// In order of their start, as the file has them.
    pub programs: Vec<ProgramRun>,
    /// The process of each thread.
    threads: FxHashMap<u32, u32>,
    order: Vec<u32>,
}

impl Tasks {
    /// The threads, in the order in which they began.
    pub fn tids(&self) -> impl Iterator<Item = u32> {
        self.order.iter().copied()
    }

    /// Which program a thread ran at that time; before any, the first of its process.
    pub fn program_at(&self, tid: u32, time: u64) -> Option<u32> {
        let pid = self.threads.get(&tid).copied().unwrap_or(tid);
        let own = || self.programs.iter().enumerate().filter(|(_, run)| run.program.pid == pid);
        let started = own().rfind(|(_, run)| run.start <= time);
        let (index, _) = started.or_else(|| own().next())?;
        u32::try_from(index).ok()
    }

    fn thread(&mut self, tid: u32, pid: u32) {
        if self.threads.insert(tid, pid).is_none() {
            self.order.push(tid);
        }
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), TraceProblem> {
        let mut words = line.words();
        let kind = words.next().unwrap_or_default();
        let start = time(field(words, b"timestamp=").unwrap_or_default())?;
        let id = |key: &[u8]| {
            let number = field(words, key).map(decimal).and_then(Result::ok);
            let number = number.and_then(|number| u32::try_from(number).ok());
            number.ok_or(TraceProblem::Number("the id of a process"))
        };
        match kind {
            b"SESS" => {
                let path = field(words, b"exename=").unwrap_or_default();
                let path = name_text(path.strip_prefix(b"\"").unwrap_or(path));
                let path = path.strip_suffix('"').unwrap_or(&path).to_owned();
                let sid = field(words, b"sid=").unwrap_or_default();
                // It becomes a part of a file's name.
                if sid.is_empty() || !sid.iter().all(u8::is_ascii_hexdigit) {
                    return Err(TraceProblem::Number("the id of a session"));
                }
                let program = ExecutedProgram { pid: id(b"pid=")?, path, forked_from: None };
                self.programs.push(ProgramRun { program, start, sid: Some(name_text(sid)) });
            }
            b"TASK" => self.thread(id(b"tid=")?, id(b"pid=")?),
            b"FORK" => {
                let (pid, parent) = (id(b"pid=")?, id(b"ppid=")?);
                self.thread(pid, pid);
                let forked_from = self.program_at(parent, start);
                let parent = forked_from.and_then(|index| self.programs.get(index as usize));
                let path = parent.map(|it| it.program.path.clone()).unwrap_or_default();
                let sid = parent.and_then(|it| it.sid.clone());
                let program = ExecutedProgram { pid, path, forked_from };
                self.programs.push(ProgramRun { program, start, sid });
            }
            // DLOP: libraries that were opened later are in the map of the session, too, where
            // uftrace could read it; calls elsewhere are counted.
            _ => {}
        }
        Ok(())
    }
}

/// Reads the file.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Tasks, TraceReadError> {
    let mut tasks = Tasks::default();
    for line in Lines::of(text).filter(|line| !line.bytes.trim_ascii().is_empty()) {
        tasks.line(line).map_err(|problem| line.error(file, problem))?;
    }
    Ok(tasks)
}

/// `KEY=VALUE`; a path may have blanks, and stands last.
fn field<'a>(mut words: Words<'a>, key: &[u8]) -> Option<&'a [u8]> {
    loop {
        let rest = words.rest();
        let word = words.next()?;
        if word.starts_with(key) {
            let value = if key == b"exename=" { rest } else { word };
            return value.get(key.len()..);
        }
    }
}

/// `SECONDS.NANOSECONDS`, in nanoseconds.
fn time(text: &[u8]) -> Result<u64, TraceProblem> {
    let mut parts = text.split(|&byte| byte == b'.');
    let mut part = || parts.next().map(decimal).and_then(Result::ok);
    let time = part().zip(part()).and_then(|(seconds, nanoseconds)| {
        seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    });
    time.ok_or(TraceProblem::Number("the time"))
}
