//! Private memory is what a process has written to, and no other process has.
#![cfg(unix)]

use model::{Ending, Launch, Reading, Until};
use os::launcher::{LaunchSpec, Launcher, Stdio};
use os::program::resolve;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::WhenFree;

fn spec(timeout: Duration) -> LaunchSpec {
    LaunchSpec { until: Until::Exit, timeout, grace: Duration::from_millis(300) }
}

fn followed_for(argv: &[&str], timeout: Duration) -> Launch {
    let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
    let null = Stdio::null().expect("/dev/null");
    let mut launcher = Launcher::start().expect("launcher");
    let command = resolve(&argv).expect("found");
    let slot = launcher.prepare(&command, &null, &[]).expect("prepared");
    launcher.followed(slot, &spec(timeout)).expect("launched")
}

fn followed(argv: &[&str]) -> Launch {
    followed_for(argv, Duration::from_secs(60))
}

fn private_kib(launch: &Launch) -> Option<u64> {
    match launch.private_kib.as_ref().expect("it was looked at") {
        Reading::Value(kib) => Some(*kib),
        Reading::Unavailable { reason, .. } if reason.contains("Operation not permitted") => {
            testkit::skip("to trace processes is not permitted here");
            None
        }
        missing => panic!("{missing:?}"),
    }
}

/// `write KIB`, `read FILE`, `child KIB KIB`, `thread KIB`, `shared KIB`, `leave` or `stop`.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char *map(long bytes, int flags, int file) {
    int access = file < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    return mmap(0, bytes, access, flags | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
}
static void dirty(long kib, int flags) {
    char *memory = map(kib << 10, flags, -1);
    for (long at = 0; at < kib << 10; at += 4096) memory[at] = 1;
}
static void *late(void *kib) {
    usleep(50000);
    dirty((long)kib, MAP_PRIVATE);
    return 0;
}
int main(int count, char **words) {
    const char *what = words[1];
    if (!strcmp(what, "write")) dirty(atol(words[2]), MAP_PRIVATE);
    if (!strcmp(what, "shared")) dirty(atol(words[2]), MAP_SHARED);
    if (!strcmp(what, "read")) {
        struct stat data;
        int file = open(words[2], O_RDONLY), sum = 0;
        if (file < 0 || fstat(file, &data)) return 1;
        char *memory = map(data.st_size, MAP_PRIVATE, file);
        for (long at = 0; at < data.st_size; at += 4096) sum += memory[at];
        return sum == 0;
    }
    if (!strcmp(what, "child")) {
        int child = fork();
        dirty(atol(words[child ? 2 : 3]), MAP_PRIVATE);
        if (child) waitpid(child, 0, 0);
    }
    if (!strcmp(what, "thread")) {
        pthread_t thread;
        pthread_create(&thread, 0, late, (void *)atol(words[2]));
        pthread_exit(0);
    }
    if (!strcmp(what, "stop")) {
        int own = getpid();
        if (fork()) raise(SIGSTOP);
        // More than once: the first may come before it has stopped.
        else while (getppid() == own) { kill(own, SIGCONT); usleep(10000); }
    }
    if (!strcmp(what, "leave") && !fork()) for (;;) pause();
    return 0;
}"#;

struct Program {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn built() -> Option<Program> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().expect("folder");
        let path = testkit::compile(&cc, folder.path(), "program", PROGRAM, &["-pthread"]);
        Some(Program { folder, path })
    }

    fn launched(&self, words: &[&str]) -> Launch {
        followed(&[&[self.path.to_str().expect("UTF-8")], words].concat())
    }
}

/// Far more than the C library and its relocations take, and far less than what is written.
const OWN_KIB: u64 = 1000;

#[test]
fn what_a_process_has_written_to_is_its_own() {
    let Some(program) = Program::built() else { return };
    let file = program.folder.path().join("file");
    fs::write(&file, vec![1; 40 << 20]).expect("written");
    let data = file.to_str().expect("UTF-8");
    let Some(plain) = private_kib(&program.launched(&["nothing"])) else { return };
    assert!((4..OWN_KIB).contains(&plain), "{plain} KiB");
    for (words, wanted) in [
        (&["write", "20000"][..], 20_000),
        (&["write", "8"], 8),
        // Its pages may still have to go to the disk, which makes them no one's own.
        (&["read", data], 0),
        // A mapping that others could share.
        (&["shared", "20000"], 0),
        // The larger of two processes, whichever it is.
        (&["child", "8000", "20000"], 20_000),
        (&["child", "20000", "8000"], 20_000),
        // Of a process whose leading thread has ended before.
        (&["thread", "20000"], 20_000),
        (&["stop"], 0),
    ] {
        let launch = program.launched(words);
        assert_eq!(launch.ending, Ending::Code(0), "{words:?}");
        let found = private_kib(&launch).expect("the first one could be read");
        // A thread has a stack and an arena, and a stack begins anywhere in its page.
        assert!((wanted + plain).abs_diff(found) <= 128, "{words:?}: {found}, {plain} KiB");
        let peak = launch.peak_rss_kib.get().expect("a value");
        assert!(peak >= found, "{words:?}: {found}, peak {peak} KiB");
    }
}

#[test]
fn children_in_other_programs_count_and_nothing_is_left_running() {
    let Some(program) = Program::built() else { return };
    let path = program.path.to_str().expect("UTF-8");
    let launch = followed(&["sh", "-c", &format!("'{path}' write 20000; '{path}' write 8; true")]);
    let Some(found) = private_kib(&launch) else { return };
    assert!((20_000..20_000 + OWN_KIB).contains(&found), "{found} KiB");
    let launch = program.launched(&["leave"]);
    assert_eq!((launch.ending, launch.left_running), (Ending::Code(0), 1));
    assert!(!runs(&program.path), "it goes on");
}

/// Whether any process executes a program.
fn runs(program: &Path) -> bool {
    let program = program.canonicalize().expect("there");
    let is_it = |entry: fs::DirEntry| {
        fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program)
    };
    fs::read_dir("/proc").expect("/proc").flatten().any(is_it)
}

#[test]
fn a_launch_that_takes_too_long_is_ended_once() {
    let Some(program) = Program::built() else { return };
    let path = program.path.to_str().expect("UTF-8");
    let script = format!("echo >> '{path}.began'; exec sleep 1000");
    let launch = followed_for(&["sh", "-c", &script], Duration::from_millis(300));
    assert_eq!(launch.ending, Ending::TimedOut);
    assert!(launch.private_kib.expect("it was looked at").value().is_none());
    assert_eq!(fs::read(format!("{path}.began")).expect("began"), b"\n");
}

/// A program that is another user's, set-user-ID: as root it runs as that user, traced or not.
#[test]
fn a_set_user_id_program_keeps_its_rights_or_is_not_traced() {
    if rustix::process::geteuid().as_raw() != 0 {
        return testkit::skip("CI may run as an ordinary user: needs root");
    }
    const NOBODY: u32 = 65534;
    let Some(id) = testkit::find("id") else { return };
    let folder = tempfile::tempdir().expect("folder");
    let own = folder.path().join("id");
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("permitted");
    fs::copy(id, &own).expect("copied");
    chown(&own, Some(NOBODY), None).expect("root may");
    fs::set_permissions(&own, PermissionsExt::from_mode(0o4755)).expect("permitted");
    let said = folder.path().join("said");
    let script = format!("'{}' -u > '{}'", own.display(), said.display());
    for argv in [&["sh", "-c", &script][..], &["sh", "-c", &format!("exec {script}")]] {
        let launch = followed(argv);
        assert_eq!(launch.ending, Ending::Code(0));
        assert!(launch.private_kib.is_some());
        assert_eq!(fs::read_to_string(&said).expect("said"), format!("{NOBODY}\n"));
    }
}

#[test]
#[ignore = "a helper of privileges_that_would_be_lost_are_not"]
fn helper_follows() {
    let script = std::env::var("HEADSTART_TEST_SCRIPT").expect("given");
    let launch = followed(&["sh", "-c", &script]);
    println!("{:?} {:?}", launch.ending, launch.private_kib);
}

/// Whoever may not trace such programs sees them run as they always do.
#[test]
fn privileges_that_would_be_lost_are_not() {
    if rustix::process::geteuid().as_raw() != 0 {
        return testkit::skip("CI may run as an ordinary user: needs root");
    }
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let Some(id) = testkit::find("id") else { return };
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name);
    let permit = |path: &Path, mode| {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("permitted");
    };
    permit(folder.path(), 0o777);
    let (own, program, said) = (at("tests"), at("id"), at("said"));
    fs::copy(std::env::current_exe().expect("this"), &own).expect("copied");
    fs::copy(id, &program).expect("copied");
    let launched = || {
        let _ = fs::remove_file(&said);
        let mut user = std::process::Command::new(&setpriv);
        user.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&own);
        user.args(["--ignored", "--exact", "--nocapture", "helper_follows"]);
        let script = format!("'{}' -u >> '{}'", program.display(), said.display());
        let output = user.env("HEADSTART_TEST_SCRIPT", script).output_when_free();
        let printed = fs::read_to_string(&said).unwrap_or_default();
        (printed, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (printed, told) = launched();
    assert_eq!(printed, "65534\n", "{told}");
    permit(&program, 0o4755);
    let (printed, told) = launched();
    if printed == "65534\n" {
        return testkit::skip("a file system that ignores set-user-ID is mounted here");
    }
    assert_eq!(printed, "0\n", "{told}");
    assert!(told.contains("Code(0)") && told.contains("gains privileges"), "{told}");
    permit(&program, 0o711);
    let (printed, told) = launched();
    assert_eq!(printed, "65534\n", "{told}");
    assert!(told.contains("Code(0)") && told.contains("could not be read"), "{told}");
}
