//! A trace buffer of our own (Documentation/trace/ftrace.rst, "Instances").
//!
//! perf samples only while some program runs: of what interrupts do on a CPU that is idle, such as
//! the end of a read that everybody waits for, most is lost. The kernel's own trace has all of it.

use super::tracefs::Tracefs;
use crate::linux::guard::{Guard, hear};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The launch clock, as the kernel's trace calls it.
const CLOCK: &str = "mono_raw";
const NAME: &str = "headstart-";

/// How long the files of a buffer may stay open when headstart was killed.
const CLOSING: Duration = Duration::from_secs(5);
const LOOK_UP: Duration = Duration::from_millis(10);

/// A buffer that records tracepoints of the whole machine. It goes away when dropped, and when headstart
/// is killed.
pub(crate) struct TraceInstance {
    tracefs: Tracefs,
    name: String,
    _guard: Guard,
}

/// What a buffer recorded.
pub(crate) struct Trace {
    /// A line for each record, see [`TraceLine`].
    text: String,
    /// Records that were overwritten for want of room.
    pub(crate) lost: u64,
}

/// One record.
#[derive(Debug, PartialEq)]
pub(crate) struct TraceLine<'a> {
    /// On the launch clock. The trace has microseconds: this is the end of the one it tells.
    pub(crate) at_ns: u64,
    /// The record in the words of its tracepoint, without the name of that.
    pub(crate) words: &'a str,
}

impl TraceInstance {
    /// A buffer of `kib` for each CPU.
    ///
    /// # Errors
    /// Where the kernel refuses it, as it does to everybody but root.
    pub(crate) fn open(kib: u32) -> io::Result<TraceInstance> {
        let tracefs = Tracefs::open()?;
        remove_abandoned(&tracefs);
        // Several may be needed at once.
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("instances/{}{}-{count}", prefix(), std::process::id());
        let guard = Guard::living(c"trace", &[tracefs.folder().as_raw_fd()], |stream| {
            while hear::<1>(stream).is_some() {}
            remove(&tracefs, &name);
        })?;
        mkdirat(tracefs.folder(), name.as_str(), Mode::RWXU)?;
        let instance = TraceInstance { tracefs, name, _guard: guard };
        instance.write("buffer_size_kb", &kib.to_string())?;
        instance.write("trace_clock", CLOCK)?;
        Ok(instance)
    }

    /// Records the tracepoint `name`, such as `block/block_rq_complete`, from now on.
    ///
    /// # Errors
    /// Where the kernel has no such tracepoint.
    pub(crate) fn enable(&self, name: &str) -> io::Result<()> {
        self.write(&format!("events/{name}/enable"), "1")
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// Where the kernel cannot give it.
    pub(crate) fn finish(self) -> io::Result<Trace> {
        self.write("tracing_on", "0")?;
        let text = self.tracefs.read(&format!("{}/trace", self.name))?;
        Ok(Trace { lost: lost(&text), text })
    }

    /// Sets what one of its files says.
    pub(super) fn write(&self, file: &str, text: &str) -> io::Result<()> {
        self.tracefs.write(&format!("{}/{file}", self.name), text)
    }

    /// One of its files, to be read without waiting.
    pub(super) fn open_file(&self, file: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = format!("{}/{file}", self.name);
        Ok(openat(self.tracefs.folder(), path.as_str(), flags, Mode::empty())?.into())
    }

    /// The text of one of its files.
    pub(super) fn read(&self, file: &str) -> io::Result<String> {
        self.tracefs.read(&format!("{}/{file}", self.name))
    }

    /// The CPUs that have a buffer.
    pub(super) fn cpus(&self) -> io::Result<Vec<u32>> {
        let names = names(&self.tracefs, &format!("{}/per_cpu", self.name))?;
        Ok(names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect())
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        remove(&self.tracefs, &self.name);
    }
}

/// Removes a buffer, as soon as nobody has a file of it open. What stays is removed by the next one.
fn remove(tracefs: &Tracefs, name: &str) {
    let began = Instant::now();
    while unlinkat(tracefs.folder(), name, AtFlags::REMOVEDIR) == Err(Errno::BUSY)
        && began.elapsed() < CLOSING
    {
        std::thread::sleep(LOOK_UP);
    }
}

/// Whether a process has a buffer.
#[cfg(test)]
pub(crate) fn has_trace(pid: u32) -> bool {
    let tracefs = Tracefs::open().unwrap();
    let own = format!("{}{pid}-", prefix());
    names(&tracefs, "instances").unwrap().iter().any(|name| name.starts_with(&own))
}

/// Names in a folder.
fn names(tracefs: &Tracefs, path: &str) -> io::Result<Vec<String>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(tracefs.folder(), path, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// What the names of buffers begin with that processes of this namespace have: numbers of processes mean
/// nothing elsewhere.
fn prefix() -> String {
    let namespace = Path::new("/proc/self/ns/pid").metadata().map_or(0, |data| data.ino());
    format!("{NAME}{namespace}-")
}

/// Removes what killed processes have left.
fn remove_abandoned(tracefs: &Tracefs) {
    let prefix = prefix();
    for name in names(tracefs, "instances").unwrap_or_default() {
        let pid = name.strip_prefix(&prefix).and_then(|rest| rest.split('-').next());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let path = format!("instances/{name}");
            let _ = unlinkat(tracefs.folder(), path.as_str(), AtFlags::REMOVEDIR);
        }
    }
}

impl Trace {
    /// The records of the tracepoint `event`, such as `block_rq_complete`. They are in order of
    /// time.
    pub(crate) fn lines(&self, event: &str) -> impl Iterator<Item = TraceLine<'_>> {
        let label = format!(": {event}: ");
        self.text.lines().filter_map(move |line| {
            let (before, words) = line.rsplit_once(label.as_str())?;
            Some(TraceLine { at_ns: end_of_microsecond(before.rsplit(' ').next()?)?, words })
        })
    }
}

/// `1930.893717`, in seconds.
fn end_of_microsecond(seconds: &str) -> Option<u64> {
    let (whole, micros) = seconds.split_once('.')?;
    let micros = Some(micros).filter(|micros| micros.len() == 6)?.parse::<u64>().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000)?
        .checked_add(micros)?
        .checked_mul(1000)?
        .checked_add(999)
}

/// From the line `# entries-in-buffer/entries-written: 5/7   #P:2`.
fn lost(text: &str) -> u64 {
    let numbers = |line: &str| {
        let rest = line.split_once("entries-in-buffer/entries-written:")?.1;
        let (kept, written) = rest.split_whitespace().next()?.split_once('/')?;
        written.parse::<u64>().ok()?.checked_sub(kept.parse().ok()?)
    };
    text.lines().take_while(|line| line.starts_with('#')).find_map(numbers).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_tracepoint_are_read() {
        let text = "# tracer: nop\n# entries-in-buffer/entries-written: 2/7   #P:2\n\
            \x20  a: b 1 -30     [001] ..s3.  1930.894153: rq_done: 254,0 RA () 8 + 2 be,0,4 [0]\n\
            \x20     <idle>-0     [001] ..s3.  1930.894155: other: 254,0 RA () 8 + 2 be,0,4 [0]\n\
            \x20     <idle>-0     [001] ..s3.  x.894155: rq_done: 254,0\n";
        let trace = Trace { text: text.to_owned(), lost: lost(text) };
        let lines: Vec<_> = trace.lines("rq_done").collect();
        let words = "254,0 RA () 8 + 2 be,0,4 [0]";
        assert_eq!(lines, [TraceLine { at_ns: 1_930_894_153_999, words }]);
        assert_eq!(trace.lost, 5);
        assert_eq!(end_of_microsecond("99999999999999999999.000001"), None);
        assert_eq!(end_of_microsecond("9999999999999999999.000001"), None);
    }

    #[test]
    fn an_instance_goes_away() {
        let instance = match TraceInstance::open(64) {
            Ok(instance) => instance,
            Err(error) => return testkit::skip(&format!("tracefs is refused: {error}")),
        };
        let name = instance.name.clone();
        instance.enable("sched/sched_process_exec").unwrap();
        let status = std::process::Command::new("true").status().unwrap();
        assert!(status.success());
        let trace = instance.finish().unwrap();
        assert!(trace.lines("sched_process_exec").any(|line| line.words.contains("/true")));
        assert!(Tracefs::open().unwrap().read(&format!("{name}/trace")).is_err(), "{name}");
    }
}
