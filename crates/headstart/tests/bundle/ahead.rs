//! Bundles that read themselves ahead.

use crate::common::{stderr, stdout, wait_for};
use crate::place::Place;
use crate::stage::{command, json, outcome, run};
use model::{FileOffset, FileRange, RecordedFile, RecordedIdentity, Recording, RecordingMode};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use testkit::WhenFree;

/// 4096 pages, of which it touches none. Of every 16th it tells whether it is in memory, those of even
/// number first; then how many descriptors and threads it has, and whether it has a child.
const LOOKS: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern const volatile char constants[];
__asm__(".section .constants,\"a\",@progbits\n.balign 4096\nconstants:\n.ascii \"first constant\"\n"
        ".zero 4082\n.rept 4095\n.byte 1\n.zero 4095\n.endr\n.text\n");
static char *pointer = "a pointer";
static char **to_pointer = &pointer;
static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}
static int there(int first) {
    int count = 0;
    for (int page = first; page < 4096; page += 32) {
        unsigned char known = 0;
        mincore((void *)(constants + page * 4096L), 1, &known);
        count += known & 1;
    }
    return count;
}
int main(int count, char **words) {
    if (count > 3) pause();
    if (count > 2) raise(SIGKILL);
    /* Reading takes its time. */
    int tries = count > 1 && !strcmp(words[1], "wait") ? 6000 : 200;
    for (int wait = 0; wait < tries && count > 1 && there(0) < 128; wait++) usleep(10000);
    if (count > 1) return printf("%d %d\n", there(0), there(16)) < 0;
    int own = fork();
    if (own < 0) return 9;
    if (own == 0) _exit(0);
    waitpid(own, 0, 0);
    int child = waitpid(-1, 0, __WALL | WNOHANG);
    printf("%s %d %d %d\n", *to_pointer, entries("/proc/self/fd"), entries("/proc/self/task"),
           child == -1 && errno == ECHILD);
    return 7;
}"#;
/// Ranges of pages that the recording has.
const LISTED: u64 = 128;
const PAGE: u64 = 4096;

struct World {
    place: Place,
    program: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        let place = Place::new()?;
        let program = place.built("looks", LOOKS, &["-O1"]);
        Some(World { place, program })
    }

    /// A recording of the program, made up: a page of every 32.
    fn recording(&self) -> Recording {
        self.recording_of(LISTED, 32)
    }

    /// The same with so many ranges.
    fn recording_of(&self, count: u64, step_pages: u64) -> Recording {
        let bytes = fs::read(&self.program).unwrap();
        let mark = b"first constant";
        let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap() as u64;
        let pages = (0..count).map(|number| at + number * step_pages * PAGE);
        let range = |offset| FileRange { offset: FileOffset(offset), bytes: PAGE };
        Recording {
            program: self.program.to_str().unwrap().to_owned(),
            command: "looks".to_owned(),
            mode: RecordingMode::Exact,
            approximate_files: 0,
            launches: 1,
            total_us: 1000.0,
            page_bytes: PAGE,
            files: vec![recorded(&self.program, pages.map(range).collect())],
            looked_up: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn record(&self, recording: &Recording) -> String {
        let path = self.place.path("record");
        fs::write(&path, prefetch::recording::write(recording)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Makes a bundle, and gives its file.
    fn bundle(&self, out: &str, words: &[&str]) -> PathBuf {
        let made = self.try_bundle(out, words);
        assert!(made.status.success(), "{}", stderr(&made));
        self.place.path(out).join("run")
    }

    fn try_bundle(&self, out: &str, words: &[&str]) -> Output {
        let out = self.place.path(out).to_str().unwrap().to_owned();
        run(&[&["bundle", "--out", &out][..], words, &[self.program.to_str().unwrap()]].concat())
    }
}

pub fn recorded(path: &Path, ranges: Vec<FileRange>) -> RecordedFile {
    let data = path.metadata().unwrap();
    RecordedFile {
        path: path.to_str().unwrap().to_owned(),
        identity: RecordedIdentity {
            device: data.dev(),
            inode: data.ino(),
            size_bytes: data.size(),
            modified_ns: data.mtime() * 1_000_000_000 + data.mtime_nsec(),
            build_id: None,
        },
        touched_us: vec![0.0; ranges.len()],
        ranges,
    }
}

/// Whether the file leaves memory, but for what cannot.
fn evicted(run: &Path) -> bool {
    os::cache::evict(&[run]);
    let (_, left) = os::residency::resident_pages(run).unwrap();
    left.value().is_some_and(|&left| left <= 64)
}

/// What a launch says is in memory that touches nothing of it; `None`, said loudly, where the file cannot
/// leave memory.
fn looked<T: Clone + PartialEq>(
    run: &Path,
    wanted: &T,
    mut launch: impl FnMut() -> T,
) -> Option<T> {
    let said = RefCell::new(None);
    let bring = || *said.borrow_mut() = Some(launch());
    let wanted = Some(wanted.clone());
    let found = testkit::brought_in(&wanted, || evicted(run), bring, || said.borrow().clone());
    if found.is_none() {
        testkit::skip("the folder for temporary files is in memory");
    }
    found?
}

/// How many of the pages that are listed are in memory, after a launch that waits until all are.
fn resident(run: &Path) -> Option<u64> {
    looked(run, &LISTED, || first_count(command(run).arg("wait")))
}

/// What a launch prints first.
fn first_count(launch: &mut Command) -> u64 {
    stdout(&launch.output_when_free()).split(' ').next().unwrap().parse().unwrap()
}

const KINDS: [(&str, &[&str]); 2] = [("out", &[]), ("fixed", &["--fixed"])];

#[test]
fn a_cold_start_reads_what_is_listed_and_runs_as_the_original() {
    let Some(world) = World::new() else { return };
    let original = outcome(&command(&world.program).output_when_free());
    let record = world.record(&world.recording());
    for (out, kind) in KINDS {
        let run = world.bundle(out, &[kind, &["--prefetch", &record]].concat());
        assert_eq!(outcome(&command(&run).output_when_free()), original, "{out}, warm");
        let Some(found) = resident(&run) else { return };
        assert_eq!(found, LISTED, "{out}");
        os::cache::evict(&[&run]);
        assert_eq!(outcome(&command(&run).output_when_free()), original, "{out}, cold");
        // Without a list they would not be there.
        let plain = world.bundle("plain", kind);
        wait_for("no page of it is in memory", || evicted(&plain));
        let found = first_count(command(&plain).arg("look"));
        assert!(found < LISTED, "{out}: {found}");
        // From a copy, in a folder that may not be written to.
        let folder = world.place.path("elsewhere");
        fs::create_dir_all(&folder).unwrap();
        let copy = folder.join("run");
        fs::copy(&run, &copy).unwrap();
        fs::File::open(&copy).unwrap().sync_all().unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
        assert_eq!(resident(&copy), Some(LISTED), "{out}");
        assert_eq!(outcome(&command(&copy).output_when_free()), original, "{out}, copied");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// More than is asked for before the program goes on: the rest is for the reading process.
#[test]
fn what_is_read_meanwhile_is_read_by_a_process_that_is_nobodys_child() {
    let Some(world) = World::new() else { return };
    let original = outcome(&command(&world.program).output_when_free());
    let record = world.record(&world.recording_of(512, 8));
    for (out, kind) in KINDS {
        let run = world.bundle(out, &[kind, &["--prefetch", &record]].concat());
        let Some(found) = resident(&run) else { return };
        assert_eq!(found, LISTED, "{out}");
        for line in [
            "exec \"$0\"",
            "ulimit -n 4; exec \"$0\"",
            "exec \"$0\" <&-",
            "trap '' ALRM; exec \"$0\"",
            "ulimit -u 0; exec \"$0\"",
            // A child is the first process of a namespace, which ends with it.
            "exec unshare --pid \"$0\"",
        ] {
            let started = |program: &Path| {
                os::cache::evict(&[program]);
                let shell = Path::new("/bin/bash");
                outcome(&command(shell).args(["-c", line]).arg(program).output_when_free())
            };
            assert_eq!(started(&run), started(&world.program), "{out}: {line}");
        }
        // The first process of a container would inherit it.
        let mut first = command(Path::new("unshare"));
        first.args(["--pid", "--fork", "--mount-proc"]);
        if !first.arg("true").output_when_free().status.success() {
            testkit::skip("unshare is refused");
            continue;
        }
        let started = |words: &[&str]| {
            let mut first = command(Path::new("unshare"));
            first.args(["--pid", "--fork", "--mount-proc"]).arg(&run).args(words);
            first.output_when_free()
        };
        let all = "128 128\n".to_owned();
        let found = looked(&run, &all, || stdout(&started(&["wait"])));
        assert_eq!(found, Some(all), "{out}");
        os::cache::evict(&[&run]);
        assert_eq!(outcome(&started(&[])), original, "{out}");
    }
}

#[test]
fn other_files_are_read_where_the_bundle_is_in_memory_and_they_are_not() {
    let Some(world) = World::new() else { return };
    let data = world.place.file("data", &[7; 100_000]);
    fs::File::open(&data).unwrap().sync_all().unwrap();
    let mut recording = world.recording();
    let all = FileRange { offset: FileOffset(0), bytes: 100_000 };
    recording.files.push(recorded(&data, vec![all]));
    // A file that is on no disk may be one of a server that does not answer.
    let shared = Path::new("/dev/shm/headstart-test-of-files-ahead");
    fs::write(shared, [7; 5000]).unwrap();
    recording.files.push(recorded(shared, vec![FileRange { offset: FileOffset(0), bytes: 5000 }]));
    let record = world.record(&recording);
    let run = world.bundle("out", &["--prefetch", &record]);
    fs::remove_file(shared).unwrap();
    let folder = world.place.path("out").to_str().unwrap().to_owned();
    let verified = json(&["verify", "--json", &folder]);
    assert_eq!(verified["read_ahead"]["bytes_of_files"], 100_000, "{verified}");
    let pages = || os::residency::resident_pages(&data).unwrap().1.value().copied();
    for _ in 0..2 {
        let evicted = || {
            fs::read(&run).unwrap();
            os::cache::evict(&[&data]);
            pages() == Some(0)
        };
        let launch = || assert_eq!(command(&run).output_when_free().status.code(), Some(7));
        match testkit::brought_in(&Some(25), evicted, launch, pages) {
            None => return testkit::skip("the folder for temporary files is in memory"),
            found => assert_eq!(found, Some(Some(25)), "pages in memory"),
        }
    }
    // One that is another now says nothing: it is not read.
    fs::write(&data, vec![8; 100_001]).unwrap();
    fs::File::open(&data).unwrap().sync_all().unwrap();
    fs::read(&run).unwrap();
    os::cache::evict(&[&data]);
    assert_eq!(command(&run).output_when_free().status.code(), Some(7));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(pages(), Some(0));
}

#[test]
fn a_warm_start_makes_few_system_calls_more() {
    let Some(world) = World::new() else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let record = world.record(&world.recording());
    let log = world.place.path("log");
    let calls = |run: &Path| {
        // A look at every page brings it into memory.
        fs::read(run).unwrap();
        let mut traced = command(&strace);
        let status = traced.arg("-o").arg(&log).arg(run).output_when_free().status;
        assert_eq!(status.code(), Some(7));
        fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for (out, kind) in KINDS {
        let plain = calls(&world.bundle("plain", kind));
        let ahead = calls(&world.bundle(out, &[kind, &["--prefetch", &record]].concat()));
        let more = ahead.len() - plain.len();
        assert!((1..=16).contains(&more), "{out}: {more}: {ahead:#?}");
        let read = |line: &String| line.contains("WILLNEED") || line.contains("readahead");
        assert!(!ahead.iter().any(read), "{out}: {ahead:#?}");
    }
}

/// The kernel tells only the owner of a file what of it is in memory. That may be another user than the one who made
/// the bundle, and root without its capabilities is one like others.
#[test]
fn a_bundle_that_belongs_to_another_user_than_its_maker_is_read_ahead() {
    let Some(world) = World::new() else { return };
    let (Some(strace), Some(setpriv)) = (testkit::tool("strace"), testkit::tool("setpriv")) else {
        return;
    };
    if os::program::own_user() != 0 {
        return testkit::skip("only root can give files away");
    }
    let record = world.record(&world.recording());
    let run = world.bundle("out", &["--prefetch", &record]);
    std::os::unix::fs::chown(&run, Some(65534), None).unwrap();
    let log = world.place.path("log");
    let reads = || {
        let mut traced = command(&strace);
        traced.arg("-fo").arg(&log).arg(&setpriv).args(["--bounding-set", "-all"]);
        let status = traced.args(["--inh-caps", "-all"]).arg(&run).output_when_free().status;
        assert_eq!(status.code(), Some(7));
        let calls = fs::read_to_string(&log).unwrap();
        calls.lines().filter(|line| line.contains("WILLNEED") || line.contains("readahead")).count()
    };
    if !evicted(&run) {
        return testkit::skip("the folder for temporary files is in memory");
    }
    assert!(reads() > 0, "cold");
    fs::read(&run).unwrap();
    assert_eq!(reads(), 0, "warm");
}

/// Nothing can be opened, or nothing is where it usually is.
#[test]
fn closed_and_scarce_descriptors_do_no_harm() {
    let Some(world) = World::new() else { return };
    let data = world.place.file("data", &[7; 100_000]);
    let mut recording = world.recording();
    let all = FileRange { offset: FileOffset(0), bytes: 100_000 };
    recording.files.push(recorded(&data, vec![all]));
    let record = world.record(&recording);
    let run = world.bundle("out", &["--prefetch", &record]);
    let manifest = fs::read_to_string(world.place.path("out/headstart.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["read_ahead"]["files"], 1, "{}", manifest["read_ahead"]);
    assert_eq!(manifest["read_ahead"]["recorded"], "exact");
    for limits in ["ulimit -n 4", "exec <&- 3>&1", "exec 2>&- <&-", "true"] {
        let started = |program: &Path| {
            os::cache::evict(&[program, &data]);
            let line = format!("{limits}; exec {}", program.display());
            outcome(&command(Path::new("/bin/sh")).args(["-c", &line]).output_when_free())
        };
        assert_eq!(started(&run), started(&world.program), "{limits}");
    }
    // Another file, a pipe or nothing stands in the place of the data.
    for command_line in ["echo other >data", "rm data; mkfifo data", "rm data"] {
        let shell = Command::new("/bin/sh")
            .args(["-c", command_line])
            .current_dir(world.place.folder.path())
            .status();
        assert!(shell.unwrap().success());
        os::cache::evict(&[&run]);
        assert_eq!(command(&run).output_when_free().status.code(), Some(7), "{command_line}");
    }
}

#[test]
fn what_a_recording_does_not_fit_is_said() {
    let Some(world) = World::new() else { return };
    let data = world.place.file("data", &[7; 100_000]);
    let mut recording = world.recording();
    recording.files.push(recorded(&data, vec![FileRange { offset: FileOffset(0), bytes: 4096 }]));
    fs::write(&data, "changed").unwrap();
    let record = world.record(&recording);
    let made = world.try_bundle("out", &["--prefetch", &record]);
    assert!(made.status.success(), "{}", stderr(&made));
    let said = stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("/data changed after the launch was recorded"), "{said}");
    assert!(said.contains("Where it is not in memory, a start reads"), "{said}");
    // A recording of another program.
    recording.files.remove(0);
    let record = world.record(&recording);
    let refused = world.try_bundle("other", &["--prefetch", &record]);
    assert_eq!(refused.status.code(), Some(6), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("says nothing of"), "{}", stderr(&refused));
    assert!(!world.place.path("other").exists());
    // No recording at all.
    let program = world.program.to_str().unwrap();
    for record in [program, "/dev/null", "/nonexistent"] {
        let refused = world.try_bundle("other", &["--prefetch", record]);
        assert_eq!(refused.status.code(), Some(6), "{record}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(record), "{}", stderr(&refused));
    }
    let refused = run(&["bundle", "--out", "x", program, "argument"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

#[test]
fn a_launch_of_the_bundle_itself_is_recorded() {
    if let Err(error) = os::file_pages::permitted() {
        return testkit::skip(&error.to_string());
    }
    let Some(world) = World::new() else { return };
    let original = outcome(&command(&world.program).output_when_free());
    for (out, kind) in KINDS {
        let made = world.try_bundle(out, &[kind, &["--prefetch", "auto"]].concat());
        // The program ends with 7, which is its own affair.
        assert!(made.status.success(), "{}", stderr(&made));
        let folder = world.place.path(out).to_str().unwrap().to_owned();
        let verified = json(&["verify", "--json", &folder]);
        let ahead = &verified["read_ahead"];
        assert_eq!(ahead["recorded"], "exact", "{verified}");
        assert!(ahead["ranges"].as_u64().unwrap() > 0, "{verified}");
        let bytes = ahead["bytes"].as_u64().unwrap();
        assert!(bytes < 2 << 20, "not the constants: {bytes}");
        let run_file = world.place.path(out).join("run");
        os::cache::evict(&[&run_file]);
        assert_eq!(outcome(&command(&run_file).output_when_free()), original, "{out}");
        if out == "fixed" {
            let moved = run(&["rerandomize", &folder]);
            assert!(moved.status.success(), "{}", stderr(&moved));
            os::cache::evict(&[&run_file]);
            assert_eq!(outcome(&command(&run_file).output_when_free()), original, "moved");
            let again = json(&["verify", "--json", &folder]);
            assert_eq!(again["read_ahead"], *ahead);
        }
    }
}

/// A program at fixed addresses has its bundle made again, from the list that it has.
#[test]
fn a_new_base_keeps_the_list_and_its_disk() {
    let Some(world) = World::new() else { return };
    world.place.built("looks", LOOKS, &["-O1", "-no-pie"]);
    let record = world.record(&world.recording_of(512, 8));
    for disk in ["hdd", "slow-flash", "flash"] {
        world.bundle("out", &["--fixed", "--prefetch", &record, "--disk", disk]);
        let folder = world.place.path("out").to_str().unwrap().to_owned();
        let first = json(&["verify", "--json", &folder]);
        let ahead = &first["read_ahead"];
        assert_eq!(ahead["disk"], disk, "{first}");
        assert!(ahead["ranges"].as_u64().unwrap() > 0, "{first}");
        let moved = run(&["rerandomize", &folder]);
        assert!(moved.status.success(), "{}", stderr(&moved));
        let again = json(&["verify", "--json", &folder]);
        assert_eq!(again["read_ahead"], *ahead, "{disk}");
    }
}

#[test]
fn what_a_killed_headstart_has_left_beside_a_bundle_is_removed() {
    if let Err(error) = os::file_pages::permitted() {
        return testkit::skip(&error.to_string());
    }
    let Some(world) = World::new() else { return };
    world.bundle("out", &[]);
    for words in [&["--prefetch", "auto"][..], &[]] {
        let next = world.place.path("out/.headstart.next");
        fs::create_dir(&next).unwrap();
        fs::write(next.join(".run.headstart-new"), "half of it").unwrap();
        world.bundle("out", words);
        assert!(!next.exists(), "{words:?}");
    }
}

/// What a launch that is killed would teach is not known, and the bundle that was there is better than one
/// that reads nothing ahead.
#[test]
fn a_bundle_stays_where_the_launch_that_is_recorded_is_killed() {
    if let Err(error) = os::file_pages::permitted() {
        return testkit::skip(&error.to_string());
    }
    let Some(world) = World::new() else { return };
    let program = world.program.to_str().unwrap();
    let killed = |out: &str| {
        let words = ["bundle", "--prefetch", "auto", "--out", out, "--", program, "be", "killed"];
        let made = run(&words);
        assert_eq!(made.status.code(), Some(4), "{}", stderr(&made));
        stderr(&made).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let made = world.try_bundle("out", &["--prefetch", "auto"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let folder = world.place.path("out").to_str().unwrap().to_owned();
    let seen =
        || (fs::read(world.place.path("out/run")).unwrap(), json(&["verify", "--json", &folder]));
    let before = seen();
    assert_eq!(before.1["current"], true);
    let said = killed(&folder);
    assert!(said.contains("was killed by signal 9") && said.contains("was not replaced"), "{said}");
    assert_eq!(seen(), before);
    assert_eq!(hidden(&world.place.path("out")), Vec::<String>::new());

    // Interrupted while it is launched.
    let words =
        ["bundle", "--prefetch", "auto", "--out", &folder, "--", program, "be", "too", "slow"];
    let binary = Path::new(env!("CARGO_BIN_EXE_headstart"));
    let child = command(binary).args(words).stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
    let child = child.unwrap();
    // Its arguments are those of the original.
    let next = world.place.path("out").canonicalize().unwrap().join(".headstart.next/run");
    let of_next = |process: fs::DirEntry| {
        fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == next)
    };
    wait_for("a launch", || fs::read_dir("/proc").unwrap().flatten().any(of_next));
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130), "{}", stderr(&interrupted));
    assert_eq!(seen(), before);
    assert_eq!(hidden(&world.place.path("out")), Vec::<String>::new());

    // Made again with what was learned beside it, and left there by a headstart that was killed.
    let left = world.place.path("out/.headstart.next");
    fs::create_dir(&left).unwrap();
    for name in ["run", "headstart.json"] {
        fs::copy(world.place.path("out").join(name), left.join(name)).unwrap();
    }
    let made = world.try_bundle("out", &["--prefetch", "auto"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let again = json(&["verify", "--json", &folder]);
    // What is read of other files depends on what others have in memory of them.
    for figure in ["bytes", "ranges", "recorded"] {
        assert_eq!(again["read_ahead"][figure], before.1["read_ahead"][figure], "{again}");
    }
    assert_eq!(hidden(&world.place.path("out")), Vec::<String>::new());

    // Where there was none.
    let new = world.place.path("new").to_str().unwrap().to_owned();
    let said = killed(&new);
    assert!(said.contains("reads nothing ahead"), "{said}");
    assert_eq!(json(&["verify", "--json", &new])["current"], true);
}

/// Names in a folder that begin with a dot.
fn hidden(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten();
    let names = names.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn verify_counts_what_is_still_read_ahead_and_says_how_to_record_again() {
    let Some(world) = World::new() else { return };
    let [data, other] = ["data", "other"].map(|name| world.place.file(name, &[7; 100_000]));
    let mut recording = world.recording();
    for path in [&data, &other] {
        let range = FileRange { offset: FileOffset(0), bytes: PAGE };
        recording.files.push(recorded(path, vec![range]));
    }
    let record = world.record(&recording);
    world.bundle("out", &["--prefetch", &record]);
    let folder = world.place.path("out").to_str().unwrap().to_owned();
    let verified = || json(&["verify", "--json", &folder]);
    let found = verified();
    assert_eq!((&found["read_ahead"]["files"], &found["not_read_ahead"]), (&2.into(), &().into()));
    fs::write(&data, "changed").unwrap();
    let found = verified();
    assert_eq!((&found["current"], &found["remedy"]), (&true.into(), &().into()), "{found}");
    assert_eq!(found["read_ahead"]["files"], 1, "{found}");
    assert_eq!(found["read_ahead"]["bytes_of_files"], PAGE, "{found}");
    assert_eq!(found["not_read_ahead"], serde_json::json!([data.to_str().unwrap()]));
    let said = stdout(&run(&["verify", &folder]));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("1 other file, as") && said.contains("data has changed or is gone"),
        "{said}"
    );

    // Another program in its place: the remedy is a line that can be typed.
    world.place.built("looks", &LOOKS.replace("return 7", "return 0"), &["-O1"]);
    let found: serde_json::Value =
        serde_json::from_slice(&run(&["verify", "--json", &folder]).stdout).unwrap();
    let remedy = found["remedy"].as_str().unwrap();
    let line = remedy.strip_prefix("Make the bundle again: ").unwrap();
    assert!(!line.contains("RECORD") && line.contains("--prefetch looks.record"), "{line}");
    let mut shell = command(Path::new("/bin/sh"));
    let binaries = Path::new(env!("CARGO_BIN_EXE_headstart")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", binaries.display());
    let done = shell
        .args(["-c", line])
        .env("PATH", path)
        .current_dir(&world.place.folder)
        .output_when_free();
    if done.status.code() == Some(7) {
        return testkit::skip(&format!("launches may not be recorded: {}", stderr(&done)));
    }
    assert!(done.status.success(), "{line}: {}", stderr(&done));
    let found = verified();
    assert_eq!(found["current"], true, "{found}");
    assert!(found["read_ahead"]["command"].as_str().unwrap().ends_with("/looks"), "{found}");
}
