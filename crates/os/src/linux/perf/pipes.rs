//! The binary records of a trace buffer, read while it records (Documentation/trace/ftrace.rst,
//! `trace_pipe_raw`). A record costs the traced program a third of what a sample of a perf event costs it.

use super::instance::TraceInstance;
use super::trace_page::{TraceRecord, records};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};

/// For each CPU: some 20,000 records.
const KIB: u32 = 1024;

/// What tracepoints record on all CPUs, from now on.
pub(crate) struct TracePipes {
    /// One for each CPU; closed before the buffer is removed.
    pipes: Vec<(u32, File)>,
    page: Vec<u8>,
    instance: TraceInstance,
}

impl TracePipes {
    /// Records these tracepoints.
    ///
    /// # Errors
    /// Where the kernel refuses it, as it does to everybody but root, or has no such tracepoint.
    pub(crate) fn open(points: &[&str]) -> io::Result<TracePipes> {
        let instance = TraceInstance::open(KIB)?;
        let pipe = |cpu: u32| {
            let pipe = instance.open_file(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"))?;
            Ok((cpu, pipe))
        };
        let pipes = instance.cpus()?.into_iter().map(pipe).collect::<io::Result<_>>()?;
        points.iter().try_for_each(|point| instance.enable(point))?;
        let page = vec![0; rustix::param::page_size()];
        Ok(TracePipes { pipes, page, instance })
    }

    /// Has the calling thread write a record with this text.
    ///
    /// # Errors
    /// Where the kernel takes none.
    pub(crate) fn mark(&self, text: &str) -> io::Result<()> {
        self.instance.write("trace_marker", text)
    }

    /// Descriptors that become readable when a buffer is half full.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_raw_fd()).collect()
    }

    /// Takes what was recorded so far: one CPU after the other, each in order of time.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(TraceRecord<'_>)) {
        for (_, pipe) in &mut self.pipes {
            // No more than was there in the beginning, as reading may be slower than recording.
            for _ in 0..=u64::from(KIB) * 1024 / self.page.len() as u64 {
                let Ok(length @ 1..) = pipe.read(&mut self.page) else { break };
                records(&self.page[..length], &mut take);
            }
        }
    }

    /// How many records were lost for want of room.
    pub(crate) fn lost(&self) -> u64 {
        let of_cpu = |(cpu, _): &(u32, File)| {
            let text = self.instance.read(&format!("per_cpu/cpu{cpu}/stats"));
            text.map_or(0, |text| lost(&text))
        };
        self.pipes.iter().map(of_cpu).sum()
    }
}

/// From lines such as `overrun: 3`.
fn lost(stats: &str) -> u64 {
    let number = |line: &str| {
        let (name, number) = line.split_once(':')?;
        let counts = ["overrun", "commit overrun", "dropped events"].contains(&name);
        counts.then(|| number.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::clock::Instant;
    use crate::linux::perf::Tracefs;

    #[test]
    fn lost_records_are_counted() {
        let stats = "entries: 5\noverrun: 3\ncommit overrun: 1\nbytes: 7\ndropped events: 10\n";
        assert_eq!(lost(stats), 14);
        assert_eq!(lost(""), 0);
    }

    #[test]
    fn records_are_those_of_the_text() {
        const POINT: &str = "task/task_newtask";
        let before = Instant::now().ticks();
        let mut pipes = match TracePipes::open(&[POINT]) {
            Ok(pipes) => pipes,
            Err(error) => return testkit::skip(&format!("tracefs is refused: {error}")),
        };
        let point = Tracefs::open().unwrap().tracepoint(POINT).unwrap();
        let mut expected = Vec::new();
        for _ in 0..200 {
            let mut child = std::process::Command::new("true").spawn().unwrap();
            expected.push(u64::from(child.id()));
            child.wait().unwrap();
        }
        let mut found = Vec::new();
        // Other processes are started at any time, also while and after this takes what there is.
        let drained = Instant::now().ticks();
        pipes.drain(|record| {
            let field = |name| point.field(record.raw, name).unwrap();
            assert_eq!(field("common_type"), point.id);
            found.push((record.at_ns, field("pid")));
        });
        found.sort_unstable();
        let now = Instant::now().ticks();
        assert!(found.iter().all(|(at_ns, _)| (before..=now).contains(at_ns)), "{found:?}");
        let pids: Vec<u64> = found.iter().map(|(_, pid)| *pid).collect();
        let pids: Vec<u64> = pids.into_iter().filter(|pid| expected.contains(pid)).collect();
        assert_eq!(pids, expected);
        assert_eq!(pipes.lost(), 0);
        pipes.drain(|record| assert!(record.at_ns >= drained));
    }
}
