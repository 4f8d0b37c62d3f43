//! Killed at any of its system calls that change files.

use crate::common::stderr;
use crate::stage::{FIXED, KINDS, OUT, Stage, command, names, run};
use std::fs;
use std::path::Path;
use std::process::Output;
use testkit::WhenFree;

/// Calls that change something on disk.
const CALLS: [&str; 10] = [
    "mkdir",
    "pwrite64",
    "write",
    "fchmod",
    "fsync",
    "linkat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat2",
];
/// Each call of more than these is killed at one of a few.
const EACH: usize = 6;

/// When it was killed.
pub struct Moment<'a> {
    call: &'a str,
    /// Before the how manieth.
    pub time: usize,
    /// This was the last of this call; the command came to its end.
    pub last: bool,
}

impl std::fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "killed at {} {} (last: {})", self.call, self.time, self.last)
    }
}

/// Runs the command again and again, killed at one call after the other, and looks each time.
/// Gives at which calls it was killed; nothing, said loudly, without strace.
pub fn at_every_call(words: &[&str], look: &dyn Fn(&Moment<'_>)) -> Vec<&'static str> {
    let Some(strace) = testkit::tool("strace") else { return Vec::new() };
    let mut killed = Vec::new();
    for call in CALLS {
        let mut time = 1;
        loop {
            let output = injected(&strace, (call, "signal=SIGKILL", time), words);
            let last = output.status.success();
            let said = stderr(&output);
            assert!(last || output.status.code().is_none(), "{call} {time}: {said}");
            look(&Moment { call, time, last });
            if last {
                break;
            }
            killed.push(call);
            assert!(killed.len() < 200, "{call} does not end");
            time += if time < EACH { 1 } else { time };
        }
    }
    killed
}

/// Runs the command, and something else happens at its call of that number.
pub fn injected(strace: &Path, (call, what, time): (&str, &str, usize), words: &[&str]) -> Output {
    let mut traced = command(strace);
    // One worker, so that the calls are numbered alike at each run.
    traced.env("RAYON_NUM_THREADS", "1").args(["-f", "-qq", "-o", "/dev/null"]);
    traced.args(["-e", &format!("trace={call}")]);
    traced.args(["-e", &format!("inject={call}:{what}:when={time}")]);
    traced.arg(env!("CARGO_BIN_EXE_headstart")).args(words).output_when_free()
}

/// What a former command left is cleaned up, and the bundle is whole.
fn is_whole(stage: &Stage, kind: &str, moment: &Moment<'_>) {
    let done = stage.start(&format!("{kind}/run")).output_when_free();
    assert_eq!(done.stdout, b"program v1: one-v1 two-v1/three-v1 three-v1\n", "{moment:?}");
    assert_eq!(done.status.code(), Some(7), "{moment:?}");
    assert!(stage.runs_merged(kind), "{moment:?}");
    assert!(run(&["verify", &stage.text(kind)]).status.success(), "{moment:?}");
}

fn words<'a>(kind: &str, out: &'a str, program: &'a str) -> Vec<&'a str> {
    let mut words = vec!["bundle", "--out", out, program];
    words.extend((kind == FIXED).then_some("--fixed"));
    words
}

#[test]
fn a_new_bundle_is_whole_or_not_there() {
    let Some(stage) = Stage::bare() else { return };
    let (out, program) = (stage.text(OUT), stage.text("program"));
    let killed = at_every_call(&words(OUT, &out, &program), &|moment: &Moment<'_>| {
        if Path::new(&out).join("run").exists() {
            is_whole(&stage, OUT, moment);
        } else {
            assert!(!moment.last, "{moment:?}");
            // The next one finds a folder with leftovers, and cleans it.
            if moment.time.is_multiple_of(2) {
                stage.bundle_one(OUT);
                assert_eq!(
                    names(Path::new(&out)),
                    ["headstart.json", "run", "symbols.gdb"],
                    "{moment:?}"
                );
            }
        }
        let _ = fs::remove_dir_all(&out);
    });
    let wanted = ["pwrite64", "fsync", "fchmod", "renameat2"];
    assert!(killed.is_empty() || wanted.iter().all(|call| killed.contains(call)), "{killed:?}");
}

#[test]
fn a_bundle_that_is_made_again_is_there_all_the_time() {
    let Some(stage) = Stage::bundled() else { return };
    let program = stage.text("program");
    for kind in KINDS {
        let out = stage.text(kind);
        at_every_call(&words(kind, &out, &program), &|moment: &Moment<'_>| {
            is_whole(&stage, kind, moment);
            if moment.last {
                assert_eq!(
                    names(Path::new(&out)),
                    ["headstart.json", "run", "symbols.gdb"],
                    "{moment:?}"
                );
            }
            if kind == FIXED {
                // Whether its spare is still there or not; the next one finds a spare.
                assert!(run(&["rerandomize", &out]).status.success(), "{moment:?}");
                is_whole(&stage, kind, moment);
            }
        });
    }
}
