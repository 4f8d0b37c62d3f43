//! `headstart prefetch install` and `uninstall`: launchers, desktop entries and drop-ins, written, started
//! and removed.
#![allow(clippy::unwrap_used)]

mod common;

use common::{stderr, stdout};
use model::{
    CacheState, FileRange, RecordedFile, RecordedIdentity, Recording, RecordingMode,
    UninstallReport,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testkit::WhenFree;

/// Prints its process and its words in hexadecimal digits, copies its input, and ends with code 7, or
/// by a signal.
const PROBE: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    printf("%d", getpid());
    for (int at = 0; at < count; at++) {
        printf(" ");
        for (char *byte = words[at]; *byte; byte++) printf("%02x", (unsigned char)*byte);
    }
    printf("\n");
    for (int byte; (byte = getchar()) != EOF;) putchar(byte);
    fflush(stdout);
    if (count > 1 && !strcmp(words[1], "signal")) raise(SIGTERM);
    return 7;
}"#;

/// A home folder of its own, and a program.
struct World {
    folder: TempDir,
    program: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let program = testkit::compile(&cc, &programs, "probe", PROBE, &[]);
        Some(World { program, folder })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CACHE_HOME", "home/cache"),
            ("XDG_CONFIG_HOME", "home/config"),
            ("XDG_DATA_HOME", "home/data"),
            ("XDG_DATA_DIRS", "share"),
        ] {
            command.env(name, self.at(folder));
        }
        let mut path = vec![self.at("home/.local/bin"), self.at("programs")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        command.env("PATH", std::env::join_paths(path).unwrap()).env("LC_ALL", "C.UTF-8");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn headstart(&self) -> Command {
        self.command(Path::new(env!("CARGO_BIN_EXE_headstart")))
    }

    fn prefetch(&self, words: &[&str]) -> Output {
        self.headstart().arg("prefetch").args(words).output().unwrap()
    }

    /// The same, which has to succeed.
    fn done(&self, words: &[&str]) -> String {
        let output = self.prefetch(words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// The same, which has to be refused, with this exit code and these words.
    fn refused(&self, words: &[&str], code: i32, said: &str) {
        let before = self.files();
        let output = self.prefetch(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
        assert_eq!(self.files(), before, "{words:?}");
    }

    /// Every file with its content, mode and inode.
    fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32, u64)> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.folder.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let data = entry.path().symlink_metadata().unwrap();
                if data.is_dir() {
                    folders.push(entry.path());
                } else {
                    let content = fs::read(entry.path()).unwrap_or_default();
                    files.insert(entry.path(), (content, data.mode(), data.ino()));
                }
            }
        }
        files
    }
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hex(words: &[&OsStr]) -> String {
    let digits = |word: &&OsStr| -> String {
        word.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    words.iter().map(digits).collect::<Vec<_>>().join(" ")
}

/// Gives it this input, and what it prints and how it ends with its process id.
fn talked(mut child: Child, input: &[u8]) -> (u32, Output) {
    child.stdin.take().unwrap().write_all(input).unwrap();
    (child.id(), child.wait_with_output().unwrap())
}

#[test]
fn a_launcher_becomes_its_program() {
    let Some(world) = World::new() else { return };
    let said = unwrapped(&world.done(&["install", "--", "probe"]));
    let at = world.at("home/.local/bin/probe");
    assert!(said.contains("headstart record -- ") && said.contains("prefetch uninstall"), "{said}");
    assert!(!said.contains("PATH"), "{said}");
    let odd: Vec<OsString> = [&b"a  b"[..], b"", b"\xff'\n\"", b"--quiet", b"--"]
        .map(|w| OsStr::from_bytes(w).into())
        .into();
    // By its path, and along PATH.
    for by in [at.as_path(), Path::new("probe")] {
        let mut command = world.command(Path::new("sh"));
        command.args(["-c", "exec \"$@\"", "sh"]).arg(by).args(&odd);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (pid, output) = talked(command.spawn().unwrap(), b"\0input\xff");
        let mut words = vec![world.program.as_os_str()];
        words.extend(odd.iter().map(OsString::as_os_str));
        let wanted = [format!("{pid} {}\n", hex(&words)).as_bytes(), b"\0input\xff"].concat();
        assert_eq!(output.stdout, wanted, "{}", stdout(&output));
        assert_eq!((output.status.code(), stderr(&output)), (Some(7), String::new()));
    }
    let output = world.command(&at).arg("signal").output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    // Installed again, by its name, which leads to the launcher now: its program is meant.
    let before = fs::read(&at).unwrap();
    assert!(world.done(&["install", "probe"]).contains("again"));
    assert_eq!(fs::read(&at).unwrap(), before);
    // And so it is of other commands, though there is nothing to read.
    world.refused(&["--only", "--", "probe"], 2, &format!("{}", world.program.display()));
    let output = world.prefetch(&["--", "probe"]);
    assert!(stderr(&output).contains("there is no recording") && output.status.code() == Some(7));
}

#[test]
fn arguments_and_recordings_are_kept_in_the_launcher() {
    let Some(world) = World::new() else { return };
    let (data, record) = (world.at("data"), world.at("r.record"));
    fs::write(&data, vec![1; 1 << 20]).unwrap();
    fs::File::open(&data).unwrap().sync_all().unwrap();
    prefetch::store::save(&record, &recording_of(&data, &world.program)).unwrap();
    let said =
        world.done(&["install", "--record", "r.record", "--to", "x/y", "--", "probe", "a b"]);
    assert!(said.contains("is not on PATH") && said.contains("r.record"), "{said}");
    let now = || os::cache::check(&[&data], CacheState::ColdEvicted).resident_pages.get();
    let evicted = || {
        os::cache::evict(&[&data]);
        now() == Some(0)
    };
    let words = [world.program.as_os_str(), OsStr::new("a b"), OsStr::new("c")];
    let launch = || {
        let output = world.command(&world.at("x/y")).arg("c").output().unwrap();
        assert!(stdout(&output).trim_end().ends_with(&hex(&words)), "{}", stdout(&output));
    };
    match testkit::brought_in(&Some(256), evicted, launch, now) {
        None => testkit::skip("the folder for temporary files is in memory"),
        found => assert_eq!(found, Some(Some(256)), "pages in memory"),
    }
}

fn recording_of(data: &Path, program: &Path) -> Recording {
    let found = data.metadata().unwrap();
    let identity = RecordedIdentity {
        device: found.dev(),
        inode: found.ino(),
        size_bytes: found.len(),
        modified_ns: found.mtime() * 1_000_000_000 + found.mtime_nsec(),
        build_id: None,
    };
    let file = RecordedFile {
        path: data.display().to_string(),
        identity,
        ranges: vec![FileRange::from((0, found.len()))],
        touched_us: vec![1.0],
    };
    Recording {
        program: program.display().to_string(),
        command: "probe".to_owned(),
        mode: RecordingMode::Exact,
        approximate_files: 0,
        launches: 1,
        total_us: 10.0,
        page_bytes: 4096,
        files: vec![file],
        looked_up: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn what_was_installed_goes_without_a_trace_and_nothing_else_is_touched() {
    let Some(world) = World::new() else { return };
    let entry = "[Desktop Entry]\nName=P\nExec=probe \"a b\" %U\n";
    fs::create_dir_all(world.at("share/applications")).unwrap();
    fs::write(world.at("share/applications/p.desktop"), entry).unwrap();
    let units = world.at("home/data/systemd/user");
    fs::create_dir_all(&units).unwrap();
    let unit = format!("[Service]\nExecStart=-{} a 'b c'\n", world.program.display());
    fs::write(units.join("p.service"), unit).unwrap();
    let data = world.at("data");
    fs::write(&data, vec![1; 8192]).unwrap();
    prefetch::store::save(&world.at("r"), &recording_of(&data, &world.program)).unwrap();
    let before = world.files();
    let drop_in = "home/config/systemd/user/p.service.d/50-headstart.conf";
    for (words, file) in [
        (&["probe"][..], "home/.local/bin/probe"),
        (&["--to", "it", "probe"], "it"),
        (&["--desktop", "probe"], "home/data/applications/p.desktop"),
        (&["--desktop=p", "--record", "r"], "home/data/applications/p.desktop"),
        (&["--service", "p", "--user", "--record", "r"], drop_in),
    ] {
        let words = [&["install"], words].concat();
        world.done(&words);
        let after = world.files();
        assert!(before.iter().all(|(path, file)| after.get(path) == Some(file)), "{words:?}");
        assert!(after.len() > before.len() && after.contains_key(&world.at(file)), "{words:?}");
        let said = world.done(&["uninstall", file]);
        assert!(said.starts_with("Removed the ") && said.contains(file), "{said}");
        assert_eq!(world.files(), before, "{words:?}");
        let again: UninstallReport =
            serde_json::from_str(&world.done(&["uninstall", "--json", file])).unwrap();
        assert!(again.files.iter().all(|file| file.kind.is_none()), "{again:?}");
    }
    world.refused(&["uninstall", "data"], 1, "headstart has not made this file");
    world.refused(&["install", "--to", "data", "probe"], 1, "headstart has not made");
    world.refused(&["install", "--service", "gone", "--user", "--record", "r"], 1, "not among");
    world.refused(&["install", "--service", "p", "--user"], 2, "there is no recording");
    world.refused(&["install", "--desktop=q"], 2, "desktop entries");
    world.refused(&["install", "--desktop"], 2, "--desktop=ID");
    world.refused(&["install", "--record", "data", "probe"], 6, "data");
    world.refused(&["install", "A=1 probe"], 2, "env");
    world.refused(&["install", "no-such-program-x"], 3, "no-such-program-x");
}

#[test]
fn what_menus_and_systemd_start_is_the_program() {
    let Some(world) = World::new() else { return };
    fs::create_dir_all(world.at("share/applications")).unwrap();
    let entry = "[Desktop Entry]\nExec=probe x\n[Desktop Action y]\nExec=env A=1 probe y\n";
    fs::write(world.at("share/applications/p.desktop"), entry).unwrap();
    world.done(&["install", "--desktop", "probe"]);
    let units = world.at("home/data/systemd/user");
    fs::create_dir_all(&units).unwrap();
    let unit = format!("[Service]\nExecStart={} x\n", world.program.display());
    fs::write(units.join("p.service"), unit).unwrap();
    fs::write(world.at("data"), "1").unwrap();
    prefetch::store::save(&world.at("r"), &recording_of(&world.at("data"), &world.program))
        .unwrap();
    world.done(&["install", "--service", "p", "--user", "--record", "r"]);
    let mut lines = 0;
    for file in [
        "home/data/applications/p.desktop",
        "home/config/systemd/user/p.service.d/50-headstart.conf",
    ] {
        let text = fs::read_to_string(world.at(file)).unwrap();
        let values = text.lines().filter_map(|line| line.split_once('='));
        for (_, value) in values.filter(|(key, value)| key.starts_with("Exec") && !value.is_empty())
        {
            let mut command = world.command(Path::new("sh"));
            let child = command.args(["-c", &format!("exec {value}")]).stdin(Stdio::piped());
            let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (pid, output) = talked(child, b"input");
            assert!(stdout(&output).starts_with(&format!("{pid} ")), "{value}: {output:?}");
            assert!(stdout(&output).ends_with("\ninput"), "{value}: {output:?}");
            assert_eq!((output.status.code(), stderr(&output)), (Some(7), String::new()));
            lines += 1;
        }
    }
    assert_eq!(lines, 3);
}

#[test]
fn a_launcher_without_its_program_says_so() {
    let Some(world) = World::new() else { return };
    world.done(&["install", "probe"]);
    let at = world.at("home/.local/bin/probe");
    fs::rename(&world.program, world.at("moved")).unwrap();
    let output = world.command(&at).output_when_free();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(127), "{said}");
    assert!(said.contains(at.to_str().unwrap()) && said.contains("it is not there"), "{said}");
    // The launcher itself in that place.
    fs::rename(&at, &world.program).unwrap();
    let output = world.command(&world.program).output_when_free();
    assert!(stderr(&output).contains("the launcher itself"), "{}", stderr(&output));
}

/// What is recorded, and removed, after a launcher was made.
#[test]
fn launchers_follow_their_recordings() {
    let Some(world) = World::new() else { return };
    let own = |command: &mut Command| {
        let output = command.args(["--ignore-failure", "--", "probe"]).output_when_free();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    world.done(&["install", "probe"]);
    let at = world.at("home/.local/bin/probe");
    let empty = fs::metadata(&at).unwrap().len();
    let said = own(world.headstart().args(["record", "--mode", "page-faults"]));
    assert!(said.contains("renewed the launcher") && said.contains("bin/probe"), "{said}");
    let full = fs::metadata(&at).unwrap().len();
    assert!(full > empty, "{full} bytes, before {empty}");
    own(world.headstart().args(["record", "--mode", "page-faults", "--out", "other"]));
    assert_eq!(fs::metadata(&at).unwrap().len(), full, "it uses what is kept");
    assert!(world.done(&["rm", "1"]).contains("probe"));
    assert_eq!(fs::metadata(&at).unwrap().len(), empty);
    assert_eq!(world.command(&at).output_when_free().status.code(), Some(7));
}

/// Whenever it is killed, the launcher is the old one, the new one, or there is none.
#[test]
fn a_killed_install_leaves_all_or_nothing() {
    let Some(world) = World::new() else { return };
    let names = ["one", "two"];
    for name in names {
        fs::copy(&world.program, world.at(&format!("programs/{name}"))).unwrap();
    }
    let texts = names.map(|name| {
        world.done(&["install", "--to", "it", name]);
        fs::read(world.at("it")).unwrap()
    });
    world.done(&["uninstall", "it"]);
    for round in 0..24 {
        let before = fs::read(world.at("it")).ok();
        let mut command = world.headstart();
        command.args(["prefetch", "install", "--to", "it", names[round % 2]]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(2 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = fs::read(world.at("it")).ok();
        let whole = after.as_ref() == Some(&texts[round % 2]);
        assert!(whole || after == before, "{round}: {after:?}");
        if round % 5 == 4 {
            world.done(&["uninstall", "it"]);
            assert!(!world.at("it").exists());
        }
    }
}
