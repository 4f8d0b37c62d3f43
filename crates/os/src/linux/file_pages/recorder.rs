//! What a thread and the processes that it starts bring into memory.

use super::family::Family;
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::launcher::Source;
use crate::linux::perf::{Added, PageCacheAdditions, TracePipes, Tracefs, Tracepoint};
use std::io;
use std::os::fd::RawFd;

/// What is refused where tracepoints are, in words.
const MECHANISM: &str = "recording the pages of a launch";
/// A new thread, told by the one that makes it.
const NEW_THREAD: &str = "task/task_newtask";
/// What is written into the trace, to see who writes it.
const MARK: &str = "headstart records";

/// Pages that entered memory at once.
pub(super) struct Addition {
    pub(super) at_ns: u64,
    pub(super) added: Added,
}

/// What a thread did, maybe a stranger's.
struct Deed {
    at_ns: u64,
    thread: u32,
    event: Event,
}

enum Event {
    Added(Added),
    /// It made a thread with this number.
    Made(u32),
}

/// The tracepoints.
struct Points {
    added: PageCacheAdditions,
    made: Tracepoint,
}

/// What the calling thread and the processes that it starts bring into memory.
pub(super) struct Recorder {
    pipes: TracePipes,
    points: Points,
    family: Family,
    /// What is not judged yet.
    deeds: Vec<Deed>,
    /// When all that had happened until then was among them: each CPU tells its part in order of time,
    /// and they are read one after the other.
    read: Instant,
    additions: Vec<Addition>,
}

impl Recorder {
    pub(super) fn open() -> Result<Recorder, LaunchError> {
        let points = Points::open()?;
        let names = [PageCacheAdditions::NAME, NEW_THREAD];
        let mut pipes = TracePipes::open(&names).map_err(refused)?;
        let family = Family::of(points.own_number(&mut pipes).map_err(refused)?);
        Ok(Recorder {
            pipes,
            points,
            family,
            deeds: Vec::new(),
            read: Instant::now(),
            additions: Vec::new(),
        })
    }

    /// Whether [`Recorder::open`] is permitted, as far as that is known without changing anything.
    pub(super) fn permitted() -> Result<(), LaunchError> {
        Points::open().map(|_| ())
    }

    /// What was recorded since the last time.
    pub(super) fn take(&mut self) -> Vec<Addition> {
        self.read();
        self.judge_until(Instant::now());
        std::mem::take(&mut self.additions)
    }

    /// How many records were lost for want of room.
    pub(super) fn lost(&self) -> u64 {
        self.pipes.lost()
    }

    fn read(&mut self) {
        let (points, deeds) = (&self.points, &mut self.deeds);
        self.pipes.drain(|record| deeds.extend(points.deed(record.at_ns, record.raw)));
    }

    /// Judges what happened before, in order of time.
    fn judge_until(&mut self, end: Instant) {
        self.deeds.sort_by_key(|deed| deed.at_ns);
        let count = self.deeds.partition_point(|deed| deed.at_ns < end.ticks());
        for Deed { at_ns, thread, event } in self.deeds.drain(..count) {
            match event {
                Event::Made(made) => self.family.learn(thread, made),
                Event::Added(added) if self.family.has(thread) => {
                    self.additions.push(Addition { at_ns, added });
                }
                Event::Added(_) => {}
            }
        }
    }
}

impl Source for Recorder {
    fn descriptors(&self) -> Vec<RawFd> {
        self.pipes.descriptors()
    }

    fn drain(&mut self) -> bool {
        let now = Instant::now();
        self.read();
        let before = std::mem::replace(&mut self.read, now);
        self.judge_until(before);
        false
    }
}

impl Points {
    fn open() -> Result<Points, LaunchError> {
        if !rustix::process::geteuid().is_root() {
            return Err(refused(io::ErrorKind::PermissionDenied.into()));
        }
        let tracefs = Tracefs::open().map_err(refused)?;
        Ok(Points {
            added: PageCacheAdditions::open(&tracefs).map_err(refused)?,
            made: tracefs.tracepoint(NEW_THREAD).map_err(refused)?,
        })
    }

    /// The number of the calling thread in the trace, which is another one than its own where numbers of
    /// processes are those of a container.
    fn own_number(&self, pipes: &mut TracePipes) -> io::Result<u32> {
        pipes.mark(MARK)?;
        let mut number = None;
        pipes.drain(|record| {
            if record.raw.windows(MARK.len()).any(|text| text == MARK.as_bytes()) {
                number = self.made.field(record.raw, "common_pid");
            }
        });
        let missing = || io::Error::other("it does not tell of its own records");
        number.map(|number| number as u32).ok_or_else(missing)
    }

    fn deed(&self, at_ns: u64, raw: &[u8]) -> Option<Deed> {
        let field = |name| self.made.field(raw, name);
        // Fields with these names are the first of every tracepoint.
        let thread = field("common_pid")? as u32;
        let event = match field("common_type")? {
            id if id == self.made.id => Event::Made(field("pid")? as u32),
            id if id == self.added.id() => Event::Added(self.added.added(raw)?),
            _ => return None,
        };
        Some(Deed { at_ns, thread, event })
    }
}

fn refused(error: io::Error) -> LaunchError {
    LaunchError::NotPermitted {
        mechanism: MECHANISM,
        reason: format!("the kernel refuses its tracepoints ({error}); run headstart as root"),
    }
}
