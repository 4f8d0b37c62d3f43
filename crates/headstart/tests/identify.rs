//! `headstart identify` as a command: what it prints where, its exit codes, and what it does to the
//! files that it looks at.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod common;

use common::{headstart, run, stderr, stdout};
use serde_json::Value;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn identify(arguments: &[&str]) -> Output {
    run(&[&["identify"], arguments].concat())
}

fn files(output: &Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `path` and `kind` of each, paths without their folder.
fn kinds(output: &Output) -> Vec<(String, String)> {
    let text = |file: &Value, field: &str| file[field].as_str().unwrap().to_owned();
    let name = |path: String| path.rsplit('/').next().unwrap().to_owned();
    files(output).iter().map(|file| (name(text(file, "path")), text(file, "kind"))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
}

/// A folder of one file of some kinds, a folder below, and links that lead astray.
fn sample() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("inner")).unwrap();
    std::fs::copy("/bin/sh", path("program")).unwrap();
    std::fs::write(path("inner/run.py"), "#!/usr/bin/env python3\n").unwrap();
    std::fs::write(path("note.txt"), "text\n").unwrap();
    std::fs::write(path("nothing"), "").unwrap();
    symlink("program", path("link")).unwrap();
    symlink("..", path("inner/loop")).unwrap();
    folder
}

#[test]
fn json_has_what_was_promised_in_order() {
    let folder = sample();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let output = identify(&["--json", &at("nothing"), &at("link"), &at("inner/run.py")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = [("nothing", "empty"), ("link", "elf"), ("run.py", "script")];
    assert_eq!(kinds(&output), pairs(&expected));
    let found = files(&output);
    assert_eq!(found[0]["bytes_read"], 0);
    assert_eq!(found[1]["interpreter"].as_str().map(|path| path.contains("/ld-")), Some(true));
    assert_eq!(found[2]["interpreter"], "python3");
    assert_eq!(found[2]["detail"], "for python3, found by /usr/bin/env");
    assert!(found.iter().all(|file| file["bytes_read"].as_u64().unwrap() <= 65_536));
}

#[test]
fn folders_are_walked_and_patterns_are_expanded() {
    let folder = sample();
    let root = folder.path().to_string_lossy().into_owned();
    let expected =
        [("run.py", "script"), ("note.txt", "text"), ("nothing", "empty"), ("program", "elf")];
    assert_eq!(kinds(&identify(&["--json", &root])), pairs(&expected));
    let output = identify(&["--json", &format!("{root}/no*")]);
    assert_eq!(kinds(&output), pairs(&[("note.txt", "text"), ("nothing", "empty")]));
    let output = identify(&["--json", &format!("{root}/in[n]er")]);
    assert_eq!(kinds(&output), pairs(&[("run.py", "script")]));
    // A file of that very name is no pattern.
    std::fs::write(folder.path().join("*"), "x").unwrap();
    assert_eq!(kinds(&identify(&["--json", &format!("{root}/*")])), pairs(&[("*", "text")]));
    let output = identify(&["--json", &format!("{root}/none*")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("none*: there is no such file"), "{}", stderr(&output));
}

#[test]
fn a_file_that_cannot_be_read_is_told_after_the_others() {
    let output = identify(&["/no/such/file", "/bin/sh"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("/bin/sh") && !stdout(&output).contains("such"));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).starts_with("headstart: /no/such/file: "));
    let output = identify(&["--json", "/no/such/file", "/bin/sh"]);
    assert_eq!(kinds(&output), pairs(&[("file", "unreadable"), ("sh", "elf")]));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn scripts_can_ask() {
    let code = |arguments: &[&str]| {
        let output = identify(arguments);
        assert_eq!(stdout(&output), "");
        output.status.code()
    };
    assert_eq!(code(&["-q", "--is", "elf", "--is", "program", "/bin/sh", "/bin/cat"]), Some(0));
    assert_eq!(code(&["-q", "--is", "script", "/bin/sh"]), Some(1));
    assert_eq!(code(&["-q", "--is", "elf", "/bin/sh", "/no/such/file"]), Some(1));
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_string_lossy();
    assert_eq!(code(&["-q", "--is", "elf", &empty]), Some(1));
    assert_eq!(code(&["-q", "/bin/sh"]), Some(2));
    assert_eq!(code(&["-q", "--is", "elk", "/bin/sh"]), Some(2));
    assert_eq!(code(&[]), Some(2));
    let output = identify(&["--is", "script", "/bin/sh"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("/bin/sh"));
}

/// A pipe that nobody writes to would wait for ever if it were opened.
#[test]
fn pipes_sockets_and_devices_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    let socket = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let root = folder.path().to_string_lossy().into_owned();
    let output = identify(&["--json", "/dev/null", &pipe.to_string_lossy(), &root]);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = [("null", "other"), ("pipe", "other"), ("pipe", "other"), ("socket", "other")];
    assert_eq!(kinds(&output), pairs(&expected));
    let details: Vec<Value> = files(&output).iter().map(|file| file["detail"].clone()).collect();
    assert_eq!(details, ["character device", "pipe", "pipe", "socket"]);
    assert!(files(&output).iter().all(|file| file["bytes_read"] == 0));
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    assert!(path.metadata().unwrap().file_type().is_fifo());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = headstart(folder.path(), &["identify", "--json"]);
    let mut child = command
        .args(vec!["/bin/sh"; 2000])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_table_fits_into_eighty_columns() {
    let output = identify(&["/bin/sh", "/usr/bin/ldd", "/usr/lib/x86_64-linux-gnu"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.lines().count() > 3);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// What the system says of a look: lines of strace that name the file by its descriptor or path.
fn calls(path: &Path) -> Option<Vec<String>> {
    let strace = testkit::tool("strace")?;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = Command::new(strace);
    command.args(["-f", "-y", "-o"]).arg(&log).arg(env!("CARGO_BIN_EXE_headstart"));
    let output = command.arg("identify").arg(path).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(log).unwrap();
    let (named, open) = (format!("\"{}\"", path.display()), format!("<{}>", path.display()));
    let about = |line: &&str| line.contains(&named) || line.contains(&open);
    // The command's own start names its arguments too; Rust's debug builds look before they close.
    let own = |line: &&str| !line.contains("execve(") && !line.contains("F_GETFD");
    let lines = text.lines().filter(about).filter(own);
    Some(lines.map(|line| line.split_once(' ').unwrap().1.trim().to_owned()).collect())
}

/// Bytes asked for by a line such as `pread64(3</bin/sh>, "\177ELF"..., 4096, 0) = 4096`.
fn asked(line: &str) -> u64 {
    let arguments = line.rsplit_once(") = ").unwrap().0;
    arguments.rsplit(", ").nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_look_is_one_open_and_short_reads() {
    let wine = Path::new("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/shell32.dll");
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let dll = wine.is_file().then_some(wine);
    for path in [Some(shell.as_path()), dll].into_iter().flatten() {
        let Some(calls) = calls(path) else { return };
        let named = |name: &str| calls.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!((named("openat("), named("open(")), (1, 0), "{calls:#?}");
        assert_eq!((named("statx(") + named("newfstatat("), named("close(")), (1, 1), "{calls:#?}");
        assert_eq!((named("fadvise64("), named("mmap")), (1, 0), "{calls:#?}");
        let reads: Vec<&String> =
            calls.iter().filter(|line| line.starts_with("pread64(")).collect();
        // Nothing else at all.
        assert_eq!(calls.len(), 4 + reads.len(), "{calls:#?}");
        assert_eq!(asked(reads[0]), 4096);
        assert!(reads.iter().map(|line| asked(line)).sum::<u64>() <= 65_536, "{calls:#?}");
    }
}

/// An emitted image among the libraries that `generate` makes.
#[test]
fn generated_images_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let arguments = ["generate", "pietrek", "--format", "pe", "--dlls", "3", "--out", &out];
    let output = run(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = identify(&["--json", "--is", "pe", &out]);
    let found = files(&output);
    let roles: Vec<&str> = found.iter().filter_map(|file| file["role"].as_str()).collect();
    assert_eq!(roles.iter().filter(|role| **role == "library").count(), 3, "{found:?}");
    assert_eq!(roles.iter().filter(|role| **role == "executable").count(), 1, "{found:?}");
}

/// Pages of the file that are in memory; `None` where the system does not say.
fn resident(path: &Path) -> Option<u64> {
    os::residency::resident_pages(path).unwrap().1.get()
}

/// A program and megabytes behind it, with its dynamic section where it was.
#[test]
fn what_is_in_memory_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let mut bytes = std::fs::read("/bin/sh").unwrap();
    bytes.resize(8 << 20, 1);
    std::fs::write(&path, &bytes).unwrap();
    let look = || assert!(identify(&[path.to_str().unwrap()]).status.success());
    let Some(all) = resident(&path) else { return testkit::skip("residency is not told here") };
    look();
    assert_eq!(resident(&path), Some(all));
    os::cache::evict(&[&path]);
    if resident(&path) != Some(0) {
        return testkit::skip("the folder for temporary files is in memory");
    }
    look();
    let brought = resident(&path).unwrap();
    assert!((1..=16).contains(&brought), "{brought} pages");
}

#[test]
fn a_file_of_somebody_else_is_told() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let [program, secret] = ["headstart", "secret"].map(|name| folder.path().join(name));
    std::fs::copy(env!("CARGO_BIN_EXE_headstart"), &program).unwrap();
    std::fs::write(&secret, "text").unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&secret, 0o600)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(setpriv);
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
    let output = command.arg("identify").arg(&secret).output().unwrap();
    if stderr(&output).starts_with("setpriv") {
        return testkit::skip("setpriv needs root");
    }
    assert_eq!(output.status.code(), Some(1));
    let expected = "secret: Permission denied (os error 13); check the path and its permissions";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
