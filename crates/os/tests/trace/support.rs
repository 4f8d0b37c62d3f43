//! Building, tracing and reading marks.

use model::{Ending, Mark, MarkKind, TracedImage};
use os::launcher::Stdio;
use os::trace::{TraceRequest, TracedLaunch, trace};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A folder for one test.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Compiles with the machine's C compiler; `None` (said loudly) where there is none.
pub fn gcc(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    Some(testkit::compile(&testkit::tool("gcc")?, folder, name, source, flags))
}

/// A traced launch and what it wrote to stdout.
pub struct Run {
    pub launch: TracedLaunch,
    pub output: String,
}

impl Run {
    /// Image `index` of the launched process.
    pub fn image(&self, index: usize) -> &TracedImage {
        &self.launch.trace.processes[0].images[index]
    }

    pub fn code(&self) -> i32 {
        match self.launch.ending {
            Ending::Code(code) => code,
            other => panic!("{other:?}"),
        }
    }
}

pub fn strings(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|&argument| argument.to_owned()).collect()
}

/// Traces with `change` made to the default request.
pub fn traced_with(argv: &[&str], change: impl FnOnce(&mut TraceRequest)) -> Run {
    let output = Arc::new(tempfile::tempfile().unwrap());
    let stdio = Stdio::null().unwrap().with_stdout(Arc::clone(&output));
    let mut request = TraceRequest::new(stdio);
    change(&mut request);
    let command = os::program::resolve(&strings(argv)).unwrap();
    let launch = trace(&command, &request).unwrap();
    assert!(launch.trace.stops > 0);
    check_times(&launch);
    let mut bytes = Vec::new();
    let mut output = &*output;
    output.rewind().unwrap();
    output.read_to_end(&mut bytes).unwrap();
    Run { launch, output: String::from_utf8_lossy(&bytes).into_owned() }
}

pub fn traced(argv: &[&str]) -> Run {
    traced_with(argv, |_| ())
}

/// What holds for every launch.
fn check_times(launch: &TracedLaunch) {
    let trace = &launch.trace;
    assert_eq!(trace.processes[0].ended_us, trace.total_us);
    for process in &trace.processes {
        assert!(process.started_us <= process.ended_us, "{process:?}");
        let marks: Vec<&Mark> = process.images.iter().flat_map(|image| &image.marks).collect();
        assert!(marks.is_sorted_by_key(|mark| mark.at_us), "{process:?}");
        assert!(marks.iter().all(|mark| mark.at_us <= process.ended_us), "{process:?}");
    }
}

pub fn kinds(image: &TracedImage) -> Vec<MarkKind> {
    image.marks.iter().map(|mark| mark.kind).collect()
}

/// When `image` passed `kind`.
pub fn at(image: &TracedImage, kind: MarkKind) -> f64 {
    let mark = image.marks.iter().find(|mark| mark.kind == kind);
    mark.unwrap_or_else(|| panic!("no {kind:?} in {image:?}")).at_us
}

/// Microseconds between two marks.
pub fn between(image: &TracedImage, from: MarkKind, to: MarkKind) -> f64 {
    at(image, to) - at(image, from)
}

/// Whether a process with this id exists and is no zombie.
pub fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// This test program, running one of its hidden helpers.
pub fn helper(name: &str) -> Vec<String> {
    let own = std::env::current_exe().unwrap();
    strings(&[own.to_str().unwrap(), "--ignored", "--exact", "--nocapture", name])
}

/// Waits for `condition`. The limit is for what never happens: a busy machine takes long.
pub fn wait_until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}
