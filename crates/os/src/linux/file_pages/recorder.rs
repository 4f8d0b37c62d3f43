//! What a thread and the processes that it starts bring into memory.

use super::family::Family;
use crate::linux::error::LaunchError;
use crate::linux::launcher::Source;
use crate::linux::perf::{
    self, Added, Attr, EventKind, PageCacheAdditions, Record, Rings, Tracefs,
};
use std::io;
use std::os::fd::RawFd;

/// What is refused where tracepoints are, in words.
const MECHANISM: &str = "recording the pages of a launch";

/// Pages that entered memory at once.
pub(super) struct Addition {
    pub(super) at_ns: u64,
    pub(super) added: Added,
}

/// An addition by a thread of a process, which may be a stranger's.
struct Somebodys {
    process: u32,
    thread: u32,
    addition: Addition,
}

/// What the calling thread and the processes that it starts bring into memory.
pub(super) struct Recorder {
    rings: Rings,
    point: PageCacheAdditions,
    family: Family,
    /// Read last. Whose they are is known after the next reading: the ring of another CPU may hold
    /// the beginning of their process.
    unjudged: Vec<Somebodys>,
    additions: Vec<Addition>,
    pub(super) lost: u64,
}

impl Recorder {
    pub(super) fn open(cpus: &[u32]) -> Result<Recorder, LaunchError> {
        if !rustix::process::geteuid().is_root() {
            return Err(refused(io::ErrorKind::PermissionDenied.into()));
        }
        let scope = perf::scope(MECHANISM)?;
        let point = Tracefs::open().and_then(|tracefs| PageCacheAdditions::open(&tracefs));
        let point = point.map_err(refused)?;
        // The kernel reads the beginning of a program before execve has replaced the launcher.
        let attr = Attr::new(EventKind::Tracepoint(point.id()), scope).before_execve_too();
        attr.open(-1).map_err(refused)?;
        Ok(Recorder {
            rings: perf::open_of_everyone(&[attr.with_forks()], cpus)?,
            point,
            family: Family::of_this_thread(),
            unjudged: Vec::new(),
            additions: Vec::new(),
            lost: 0,
        })
    }

    /// What was recorded since the last time.
    pub(super) fn take(&mut self) -> Vec<Addition> {
        self.drain();
        self.judge();
        std::mem::take(&mut self.additions)
    }

    fn judge(&mut self) {
        let family = &self.family;
        let ours = self.unjudged.drain(..).filter(|one| family.has(one.process, one.thread));
        self.additions.extend(ours.map(|one| one.addition));
    }
}

impl Source for Recorder {
    fn descriptors(&self) -> Vec<RawFd> {
        self.rings.descriptors()
    }

    fn drain(&mut self) -> bool {
        let (mut new, mut forks) = (Vec::new(), Vec::new());
        let (lost, point) = (&mut self.lost, &self.point);
        self.rings.drain(|record, _| match record {
            Record::Lost(count) => *lost += count,
            Record::Forked { pid, parent, at_ns } => forks.push((at_ns, pid, parent)),
            Record::Sample { at_ns, raw, pid: process, thread, .. } => {
                let addition = point.added(&raw).map(|added| Addition { at_ns, added });
                new.extend(addition.map(|addition| Somebodys { process, thread, addition }));
            }
            _ => {}
        });
        self.family.learn(forks);
        self.judge();
        self.unjudged = new;
        false
    }
}

fn refused(error: io::Error) -> LaunchError {
    LaunchError::NotPermitted {
        mechanism: MECHANISM,
        reason: format!("the kernel refuses its tracepoints ({error}); run headstart as root"),
    }
}
