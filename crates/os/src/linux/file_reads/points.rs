//! The tracepoints that tell of reads, and what their records say.

use super::assign::{Event, Happening, Sectors};
use crate::linux::perf::{
    Attr, EventKind, PageCacheAdditions, Record, Scope, Trace, TraceInstance, Tracefs, Tracepoint,
    kernel_device,
};
use std::io;

const ASKED: &str = "block/block_bio_queue";
/// The first is of devices with queues of requests, the second of those without, which lie on
/// other devices (dm, md).
const DONE: [&str; 2] = ["block_rq_complete", "block_bio_complete"];
/// For each CPU: some 50,000 of them.
const COMPLETIONS_KIB: u32 = 4096;

/// The block layer counts in sectors of that size, whatever the device's are.
pub(super) const SECTOR_BYTES: u64 = 512;

pub(super) struct Points {
    added: PageCacheAdditions,
    asked: Tracepoint,
}

impl Points {
    /// # Errors
    /// Where tracepoints may not be read or not be opened: by default for all but root.
    pub(super) fn open(scope: Scope) -> io::Result<Points> {
        let tracefs = Tracefs::open()?;
        let found = Points {
            added: PageCacheAdditions::open(&tracefs)?,
            asked: tracefs.tracepoint(ASKED)?,
        };
        for attr in found.own(scope) {
            attr.open(-1)?;
        }
        Ok(found)
    }

    /// What the launch does.
    pub(super) fn own(&self, scope: Scope) -> [Attr; 2] {
        let attr = |id| Attr::new(EventKind::Tracepoint(id), scope).before_execve_too();
        [self.added.id(), self.asked.id].map(attr)
    }

    /// A record of the event at `place` of [`Points::own`].
    pub(super) fn own_happening(&self, record: &Record, place: usize) -> Option<Happening> {
        let Record::Sample { thread, at_ns, raw, .. } = record else { return None };
        let thread = *thread;
        let event = match place {
            0 => Event::Added { thread, added: self.added.added(raw)? },
            _ => self.asked(thread, raw)?,
        };
        Some(Happening { at_ns: *at_ns, event })
    }

    /// A read. Those of the file system's own blocks are marked with an M.
    fn asked(&self, thread: u32, raw: &[u8]) -> Option<Event> {
        let kind = self.asked.bytes(raw, "rwbs")?;
        let sectors = sectors(&self.asked, raw).filter(|_| kind.contains(&b'R'))?;
        Some(match kind.contains(&b'M') {
            true => Event::AskedMetadata { sectors },
            false => Event::Asked { thread, sectors },
        })
    }
}

fn sectors(point: &Tracepoint, raw: &[u8]) -> Option<Sectors> {
    let field = |name| point.field(raw, name);
    Some(Sectors { disk: field("dev")?, first: field("sector")?, count: field("nr_sector")? })
}

/// What devices finish.
pub(super) struct Completions(TraceInstance);

impl Completions {
    /// # Errors
    /// Where the kernel's trace is refused: by default to all but root.
    pub(super) fn record() -> io::Result<Completions> {
        let instance = TraceInstance::open(COMPLETIONS_KIB)?;
        for name in DONE {
            instance.enable(&format!("block/{name}"))?;
        }
        Ok(Completions(instance))
    }

    /// # Errors
    /// Where the kernel cannot give what it recorded.
    pub(super) fn finish(self) -> io::Result<Trace> {
        self.0.finish()
    }
}

/// All that was finished.
pub(super) fn completed(trace: &Trace) -> impl Iterator<Item = Happening> {
    DONE.into_iter().flat_map(|name| trace.lines(name)).filter_map(|line| {
        let sectors = finished(line.words)?;
        Some(Happening { at_ns: line.at_ns, event: Event::Done { sectors } })
    })
}

/// Such as `7,0 RA () 393216 + 32 be,0,4 [0]`.
fn finished(words: &str) -> Option<Sectors> {
    let (device, rest) = words.split_once(' ')?;
    let (major, minor) = device.split_once(',')?;
    let (before, after) = rest.split_once(" + ")?;
    Some(Sectors {
        disk: kernel_device(major.parse().ok()?, minor.parse().ok()?),
        first: before.rsplit(' ').next()?.parse().ok()?,
        count: after.split(' ').next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_of_both_kinds_are_read() {
        for words in ["7,1 RA () 393216 + 32 be,0,4 [0]", "7,1 R 393216 + 32 [0]"] {
            let found = finished(words).unwrap();
            let expected = (kernel_device(7, 1), 393_216, 32);
            assert_eq!((found.disk, found.first, found.count), expected, "{words}");
        }
        for words in ["", "7 R 1 + 2", "7,1 R x + 2", "7,1 R 1 +", "7,1 R 1 + "] {
            assert!(finished(words).is_none(), "{words}");
        }
    }
}
