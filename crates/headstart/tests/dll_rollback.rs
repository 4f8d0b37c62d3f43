//! One file of a set cannot be written, for reasons other than a full disk: the others are as they
//! were, and that file is named.
#![allow(clippy::unwrap_used)]

mod common;

use common::pe::files;
use common::{pe, stderr};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VERBS: [&[&str]; 7] = [
    &["rebase"],
    &["bind"],
    &["unbind"],
    &["hints"],
    &["ordinal"],
    &["realign"],
    &["flags", "--set", "swaprun:net"],
];
/// Those that change every file of the set.
const CHANGING: [&[&str]; 3] = [VERBS[0], VERBS[5], VERBS[6]];

/// Small files, and a large one that comes last.
fn set(folder: &Path) -> Vec<PathBuf> {
    pe::set(folder, &["--dlls", "4", "--functions", "10"]);
    let large = folder.join("large");
    pe::set(&large, &["--dlls", "1", "--functions", "3000"]);
    fs::rename(large.join("LoadTimeDLL_1.dll"), folder.join("Z.dll")).unwrap();
    fs::remove_dir_all(large).unwrap();
    files(folder)
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    files(folder).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

fn headstart(verb: &[&str], to: &[&str], files: &[PathBuf]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.arg("pe").args(verb).args(to).args(files);
    command
}

/// Runs a command that must not write files of more than 64 KiB.
fn limited(command: &Command) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 128; exec \"$0\" \"$@\""]).arg(command.get_program());
    limited.args(command.get_args()).output().unwrap()
}

#[test]
fn a_file_larger_than_the_limit_leaves_no_part_of_its_set() {
    let folder = tempfile::tempdir().unwrap();
    let (own, out) = (folder.path().join("in"), folder.path().join("out"));
    let made = set(&own);
    let sizes: Vec<u64> = made.iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    assert!(sizes.iter().filter(|size| **size > 64 << 10).count() == 1, "{sizes:?}");
    let before = contents(&own);
    let fails = |command: &Command| {
        let output = limited(command);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{command:?}: {said}");
        // The file, or what would restore it.
        assert!(said.contains("/Z.dll"), "{command:?}: {said}");
        assert!(said.contains(": writing it: File too large"), "{command:?}: {said}");
        assert!(said.contains("nothing was changed"), "{command:?}: {said}");
        assert!(!out.exists(), "{command:?}");
        assert!(contents(&own) == before, "{command:?}");
    };
    for verb in VERBS {
        fails(&headstart(verb, &["--out", out.to_str().unwrap()], &made));
    }
    for verb in CHANGING {
        fails(&headstart(verb, &["--in-place"], &made));
    }
}

/// A file that may not be replaced, by chattr(1), until this value is gone.
struct Immutable<'a>(&'a Path);

impl<'a> Immutable<'a> {
    fn new(file: &'a Path) -> Option<Immutable<'a>> {
        let made = Command::new("chattr").arg("+i").arg(file).output();
        made.is_ok_and(|made| made.status.success()).then_some(Immutable(file))
    }
}

impl Drop for Immutable<'_> {
    fn drop(&mut self) {
        let _ = Command::new("chattr").arg("-i").arg(self.0).status();
    }
}

#[test]
fn files_that_were_replaced_are_restored_when_the_last_one_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path());
    let before = contents(folder.path());
    for verb in CHANGING {
        let Some(last) = Immutable::new(made.last().unwrap()) else {
            return testkit::skip("files cannot be made immutable here");
        };
        // With one thread it is the last.
        let mut command = headstart(verb, &["--in-place"], &made);
        let output = command.env("RAYON_NUM_THREADS", "1").output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{verb:?}: {said}");
        assert!(said.contains("Z.dll: replacing it: "), "{verb:?}: {said}");
        assert!(said.contains("nothing was changed"), "{verb:?}: {said}");
        drop(last);
        assert!(contents(folder.path()) == before, "{verb:?}");
    }
}

/// A mount of its own, in which the folder can be read only.
#[test]
fn a_folder_that_can_only_be_read_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path());
    let before = contents(folder.path());
    let Some(unshare) = testkit::tool("unshare") else { return };
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" || exit 97
        shift; exec \"$@\"";
    let inside = folder.path().join("out");
    for verb in CHANGING {
        for to in [&["--in-place"][..], &["--out", inside.to_str().unwrap()]] {
            let command = headstart(verb, to, &made);
            let mut mounted = Command::new(&unshare);
            mounted.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
            mounted.arg(folder.path()).arg(command.get_program()).args(command.get_args());
            let output = mounted.output().unwrap();
            let said = stderr(&output);
            if output.status.code() == Some(97) || said.contains("unshare:") {
                return testkit::skip("file systems cannot be mounted here");
            }
            assert_eq!(output.status.code(), Some(6), "{command:?}: {said}");
            assert!(said.to_lowercase().contains("read-only"), "{command:?}: {said}");
            assert!(said.contains(folder.path().to_str().unwrap()), "{command:?}: {said}");
            assert!(contents(folder.path()) == before, "{command:?}");
        }
    }
}
