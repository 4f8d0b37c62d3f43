//! `headstart relr` and `headstart exec` as commands: output, undo, and being killed.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "#include <stdio.h>\nconst char *words[] = {\"here\", \"there\"};\n\
    int main(int count, char **all) { (void)all; return puts(words[count - 1]) < 0; }";

fn built(folder: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    Some(testkit::compile(&cc, folder, "program", SOURCE, &["-pie", "-fPIE"]))
}

fn says_here(program: &Path) -> bool {
    Command::new(program).output().unwrap().stdout == b"here\n"
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_copy_is_written_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let out = folder.path().join("packed");
    let found = json(&["relr", "--json", "--out", &text(&out), &text(&program)]);
    assert!(found["packed"].as_u64().unwrap() >= 4 && found["schema"] == 1, "{found}");
    assert!(found["table_bytes_after"].as_u64() < found["table_bytes_before"].as_u64());
    assert!(says_here(&out));
    let again = run(&["relr", "--out", &text(&out), &text(&program)]);
    assert!(stderr(&again).contains("exists already") && again.status.code() == Some(6));
    let fixed = folder.path().join("fixed");
    let base = ["exec", "--base", "0x2000000000", "--out", &text(&fixed), &text(&program)];
    let said = stdout(&run(&base));
    assert!(said.contains("Fixed at 0x2000000000") && said.contains("no ASLR"), "{said}");
    assert!(says_here(&fixed));
    let declined = run(&["exec", "--in-place", &text(&fixed)]);
    let said = stderr(&declined);
    assert!(said.contains("is not rewritten: its addresses are fixed already"), "{said}");
    assert_eq!(declined.status.code(), Some(1));
    for words in [vec!["relr", "/bin/sh"], vec!["exec", "--base", "xyz", "--undo", "/bin/sh"]] {
        assert_eq!(run(&words).status.code(), Some(2), "{words:?}");
    }
    for path in ["/etc/passwd", "/no/such/file", "/"] {
        let output = run(&["relr", "--out", "/tmp/never-written", path]);
        assert!(output.status.code() == Some(6) && stderr(&output).contains(path), "{output:?}");
    }
}

#[test]
fn bases_differ_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let base = |name: &str| {
        let out = folder.path().join(name).display().to_string();
        json(&["exec", "--json", "--out", &out, program.to_str().unwrap()])["base"].clone()
    };
    assert_ne!(base("one"), base("two"));
}

#[test]
fn in_place_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let path = program.to_str().unwrap();
    let (old, time) = (fs::read(&program).unwrap(), modified(&program));
    for verb in ["relr", "exec"] {
        let done = stdout(&run(&[verb, "--in-place", path]));
        assert!(done.contains("--undo restores it"), "{done}");
        assert!(says_here(&program) && fs::read(&program).unwrap() != old, "{verb}");
        let done = stdout(&run(&[verb, "--undo", path]));
        assert!(done.contains("as it was before"), "{done}");
        assert_eq!((fs::read(&program).unwrap(), modified(&program)), (old.clone(), time));
        assert_eq!(names(folder.path()), ["program", "program.c"]);
    }
    let nothing = run(&["relr", "--undo", path]);
    assert!(stderr(&nothing).contains("headstart-undo") && nothing.status.code() == Some(6));
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// The command is killed before each of its system calls in turn that could change a file.
#[test]
fn killed_at_any_moment_it_leaves_the_old_file_or_the_new_one() {
    let Some(strace) = testkit::tool("strace") else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let path = program.to_str().unwrap();
    let old = fs::read(&program).unwrap();
    assert!(run(&["relr", "--in-place", path]).status.success());
    let new = fs::read(&program).unwrap();
    let calls = "write,pwrite64,fsync,linkat,rename,renameat2,unlink,fchmod,utimensat";
    for verb in ["--in-place", "--undo"] {
        let (mut killed, mut finished) = (0, false);
        for moment in 1..200 {
            // As before the command: what a killed one has left is its own to deal with.
            let (before, words) = if verb == "--undo" { (&new, "new") } else { (&old, "old") };
            prepare(&program, before, verb, &old);
            let status = Command::new(&strace)
                .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")])
                .args(["-e", &format!("inject={calls}:signal=SIGKILL:when={moment}")])
                .args([env!("CARGO_BIN_EXE_headstart"), "relr", verb, path])
                .output()
                .unwrap()
                .status;
            let present = fs::read(&program).unwrap();
            assert!(present == old || present == new, "{verb} {moment}, from {words}");
            whole(folder.path(), &old, &new, moment);
            assert!(says_here(&program));
            if status.success() {
                finished = true;
                break;
            }
            killed += 1;
            // Whatever was left, the same command still works, unless it was done already.
            if present == *before {
                let again = run(&["relr", verb, path]);
                assert!(again.status.success(), "{verb} {moment}: {}", stderr(&again));
            }
        }
        assert!(finished && killed > 5, "{verb}: {killed}");
    }
}

/// The file as it is before `verb`, with what a former command left.
fn prepare(program: &Path, before: &[u8], verb: &str, old: &[u8]) {
    let path = program.to_str().unwrap();
    let undo = program.with_file_name("program.headstart-undo");
    let _ = fs::remove_file(&undo);
    let present = fs::read(program).unwrap();
    if present != old {
        replace(program, old);
    }
    if verb == "--undo" {
        assert!(run(&["relr", "--in-place", path]).status.success());
    }
    assert_eq!(fs::read(program).unwrap(), before);
}

fn replace(program: &Path, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    fs::remove_file(program).unwrap();
    fs::write(program, bytes).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file in the folder is whole.
fn whole(folder: &Path, old: &[u8], new: &[u8], moment: u32) {
    for name in names(folder) {
        let bytes = fs::read(folder.join(&name)).unwrap();
        match name.as_str() {
            "program.c" => {}
            "program.headstart-undo" => assert!(bytes.len() > 100, "{moment}"),
            // Between the last two steps the new file has a name of its own.
            "program" | ".program.headstart-new" => {
                assert!(bytes == old || bytes == new, "{moment}")
            }
            other => panic!("{other} was left at {moment}"),
        }
    }
}
