//! Launchers that are written, read and started.

use super::class::ClassWords;
use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use testkit::WhenFree;

fn launcher(folder: &tempfile::TempDir, data: &LauncherData) -> PathBuf {
    let path = folder.path().join("launcher");
    std::fs::write(&path, write(data).unwrap()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn of(program: &str) -> LauncherData {
    LauncherData {
        text: "a text\nof two lines\n".to_owned(),
        program: program.as_bytes().to_vec(),
        ..LauncherData::default()
    }
}

fn class(words: &[&[u8]]) -> Vec<String> {
    let mut class = ClassWords::new();
    let written = |word: class::ClassWord<'_>| [word.before, word.rest].concat();
    let words = words.iter().filter_map(|word| class.next(word)).map(written);
    words.map(|word| String::from_utf8_lossy(&word).into_owned()).collect()
}

#[test]
fn it_has_no_code_that_panics_and_needs_nothing() {
    let code = data_place(PROGRAM).unwrap();
    assert!(code < 2 * PAGE, "a cold start reads {code} bytes");
    for word in [&b"panick"[..], b"overflow", b"out of range"] {
        assert!(!PROGRAM.windows(word.len()).any(|part| part == word), "{}", word.escape_ascii());
    }
    let Some(readelf) = testkit::tool("readelf") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = launcher(&folder, &of("/bin/true"));
    let said = Command::new(readelf).arg("-hlW").arg(path).output().unwrap();
    assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    let said = String::from_utf8(said.stdout).unwrap();
    let parts: Vec<&str> = said.lines().filter(|line| line.contains("LOAD ")).collect();
    assert!(parts.len() == 2 && !said.contains("INTERP") && !said.contains("DYNAMIC"), "{said}");
    assert!(parts[0].contains(" R E ") && parts[1].contains(" R   "), "{said}");
}

#[test]
fn it_becomes_its_program_with_all_words() {
    let folder = tempfile::tempdir().unwrap();
    let script = "printf '%s|' $$ \"$VALUE\" \"$@\"";
    let arguments = ["-c", script, "zero", "one "].map(|word| word.as_bytes().to_vec());
    let data = LauncherData { arguments: arguments.into(), ..of("/bin/sh") };
    let path = launcher(&folder, &data);
    let mut command = Command::new(path);
    command.args(["two", ""]).arg(OsStr::from_bytes(b"\xff\n")).env("VALUE", "set");
    command.stdout(std::process::Stdio::piped());
    let child = command.spawn_when_free();
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    let wanted = [format!("{id}|set|one |two||").as_bytes(), b"\xff\n|"].concat();
    assert_eq!(output.stdout, wanted, "{output:?}");
}

#[test]
fn what_cannot_be_started_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    for (program, code, why) in
        [("/no/such/program", 127, "it is not there"), (plain, 126, "permission denied")]
    {
        let output = Command::new(launcher(&folder, &of(program))).output_when_free();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(&format!("cannot start '{program}': {why}")), "{said}");
    }
}

#[test]
fn it_does_not_start_itself() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("launcher");
    let path = launcher(&folder, &of(own.to_str().unwrap()));
    let output = Command::new(path).output_when_free();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(127) && said.contains("the launcher itself"), "{said}");
}

#[test]
fn a_damaged_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    let mut bytes = write(&of("/bin/true")).unwrap();
    let at = data_place(&bytes).unwrap() + LENGTH_BYTES;
    bytes[at] = b'x';
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(path).output_when_free();
    assert_eq!(output.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&output.stderr).contains("install it again"), "{output:?}");
}

#[test]
fn its_text_is_read_and_other_files_have_none() {
    let bytes = write(&of("/bin/true")).unwrap();
    assert_eq!(text(&bytes), Some("a text\nof two lines\n"));
    assert_eq!(text(PROGRAM), None);
    assert_eq!(text(&bytes[..bytes.len().min(4000)]), None);
    assert_eq!(text(b""), None);
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(text(&own[..4096]), None);
}

#[test]
fn what_no_launcher_can_hold_is_refused() {
    assert_eq!(write(&of("/a\0b")), Err(LauncherProblem::Nul));
    let plan = LauncherPlan {
        requests: vec![PartEntry { file: 0, bytes: 1, offset: 0 }; 300_000],
        ..LauncherPlan::default()
    };
    let data = LauncherData { plans: vec![plan], ..of("/bin/true") };
    assert_eq!(write(&data), Err(LauncherProblem::TooLarge));
}

#[test]
fn classes_have_names_of_options_endings_and_a_sub_command() {
    let words: [&[u8]; 4] = [b"--export-type=png", b"-O2", b"in/a.svg", b"out"];
    assert_eq!(class(&words), ["--export-type", "-O", "*.svg"]);
    assert_eq!(class(&[b"-s", b"status", b"other"]), ["-s", "status"]);
    assert_eq!(class(&[b"3.14", b"-", b".emacs", b"a.tar.gz", b"a.b/"]), ["*.gz", "*.b"]);
    assert_eq!(class(&["-é1".as_bytes(), b"-\xff", b"--"]), ["-é", "-\u{fffd}", "--"]);
    assert!(class(&[b"", b"/", b"..", b"a.", b"a.too-long-an-ending"]).is_empty());
}

/// As the first process of a container, which reads ahead before the program, and does not wait for
/// children that were there before.
#[test]
fn as_the_first_process_it_waits_for_its_reader_only() {
    let Some(unshare) = testkit::tool("unshare") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    std::fs::write(&file, "content").unwrap();
    let plan = LauncherPlan {
        files: vec![LauncherFile {
            path: file.into_os_string().into_encoded_bytes(),
            size_bytes: 7,
            modified_ns: 1,
        }],
        requests: vec![PartEntry { file: 0, bytes: 7, offset: 0 }],
        ..LauncherPlan::default()
    };
    let arguments = [b"-c".to_vec(), b"echo $$; ulimit -n".to_vec()];
    let data = LauncherData { arguments: arguments.into(), plans: vec![plan], ..of("/bin/sh") };
    let path = launcher(&folder, &data);
    let mut command = Command::new(unshare);
    command.args(["--pid", "--fork", "--kill-child", "sh", "-c"]);
    command.arg("ulimit -Sn 100; sleep 60 >/dev/null 2>&1 & exec \"$0\"").arg(path);
    let began = std::time::Instant::now();
    let output = command.output_when_free();
    if !output.status.success() {
        return testkit::skip("only root makes pid namespaces here");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n100\n");
    assert!(began.elapsed().as_secs() < 30, "it has waited for a child that was there before");
}

/// A file server that does not answer: a FUSE whose requests nobody reads.
fn dead_server(at: &std::path::Path) -> Option<Command> {
    let unshare = testkit::tool("unshare")?;
    let script = "exec 7<>/dev/fuse && mount -i -n -t fuse -o \
        fd=7,rootmode=40000,user_id=0,group_id=0 dead \"$0\" 2>/dev/null && exec \"$@\"";
    let mut command = Command::new(unshare);
    command.args(["--mount", "sh", "-c", script]).arg(at);
    Some(command)
}

#[test]
fn a_server_that_does_not_answer_keeps_no_program_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("server");
    std::fs::create_dir(&server).unwrap();
    let Some(mut command) = dead_server(&server) else { return };
    let path = |name: &str| server.join(name).into_os_string().into_encoded_bytes();
    let file = LauncherFile { path: path("data"), size_bytes: 7, modified_ns: 1 };
    let part = PartEntry { file: 0, bytes: 1, offset: 0 };
    let plan = LauncherPlan {
        files: vec![file],
        requests: vec![part],
        samples: vec![part],
        looked_up: vec![path("other")],
        ..LauncherPlan::default()
    };
    let data = LauncherData { plans: vec![plan], ..of("/bin/true") };
    command.arg(launcher(&folder, &data));
    let began = std::time::Instant::now();
    let output = command.output_when_free();
    if !output.status.success() {
        return testkit::skip("a test may not mount a FUSE here");
    }
    assert!(began.elapsed().as_secs() < 30, "it has waited for the server");
}

/// With an argument it becomes a subreaper and starts that; without one it fails if it has a child.
const SUBREAPER: &str = "
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count > 1) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        char *none[] = {words[1], 0};
        return execv(words[1], none);
    }
    usleep(300000);
    return waitpid(-1, 0, WNOHANG) >= 0;
}";

/// Children of a subreaper's children become its own, and would be taken for those of the program.
#[test]
fn a_subreaper_gets_no_child() {
    let folder = tempfile::tempdir().unwrap();
    let plan = LauncherPlan {
        files: vec![LauncherFile { path: b"/".to_vec(), size_bytes: 1, modified_ns: 1 }],
        requests: vec![PartEntry { file: 0, bytes: 1, offset: 0 }],
        ..LauncherPlan::default()
    };
    let Some(cc) = testkit::tool("cc") else { return };
    let program = testkit::compile(&cc, folder.path(), "program", SUBREAPER, &[]);
    let data = LauncherData { plans: vec![plan], ..of(program.to_str().unwrap()) };
    let path = launcher(&folder, &data);
    let output = Command::new(program).arg(path).output_when_free();
    assert!(output.status.success(), "it has a child: {output:?}");
}
