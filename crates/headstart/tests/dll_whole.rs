//! Sets of PE files are written whole, or not at all, and restored as far as can be.
#![allow(clippy::unwrap_used)]

mod common;

use common::pe::{bytes, files, words};
use common::{pe, run, stderr, stdout};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program, and so many DLLs at one base.
fn set(folder: &Path, dlls: u32) -> Vec<PathBuf> {
    pe::set(folder, &["--functions", "20", "--globals", "3", "--dlls", &dlls.to_string()])
}

/// A small file system, which is gone with this value.
struct Small(tempfile::TempDir);

impl Small {
    fn of(bytes: u64) -> Option<Small> {
        let small = Small(tempfile::tempdir().unwrap());
        let option = format!("size={bytes}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(small.0.path());
        mount.output().is_ok_and(|output| output.status.success()).then_some(small)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn on_a_full_disk_a_set_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let unbound = set(&folder.path().join("unbound"), 8);
    let bound = folder.path().join("bound");
    let bind = words(&["bind", "--out", bound.to_str().unwrap()], &unbound);
    assert!(run(&bind).status.success());
    let bound = files(&bound);
    let total: u64 =
        unbound.iter().map(|file| fs::metadata(file).unwrap().len().next_multiple_of(4096)).sum();
    let mut failed = 0;
    for verb in ["rebase", "hints", "bind", "unbind", "ordinal", "realign", "flags"] {
        let verb_words: &[&str] =
            if verb == "flags" { &["flags", "--set", "tsaware"] } else { &[verb] };
        let made = if verb == "unbind" { &bound } else { &unbound };
        for room in [20 << 10, 60 << 10, 4 * total / 5] {
            let Some(small) = Small::of(room) else {
                return testkit::skip("only root can mount a small file system");
            };
            let out = small.0.path().join("out");
            let output =
                run(&words(&[verb_words, &["--out", out.to_str().unwrap()]].concat(), made));
            if !output.status.success() {
                failed += 1;
                let said = stderr(&output);
                assert!(said.contains("No space left"), "{verb} {room}: {said}");
                assert!(!out.exists(), "{verb} {room}: {:?}", files(&out));
            }
        }
        for room in (1..10).map(|tenths| total + 8192 + total * tenths / 10) {
            let Some(small) = Small::of(room) else { return };
            for file in made {
                fs::copy(file, small.0.path().join(file.file_name().unwrap())).unwrap();
            }
            let (own, old) = (files(small.0.path()), bytes(&files(small.0.path())));
            let output = run(&words(&[verb_words, &["--in-place"]].concat(), &own));
            if !output.status.success() {
                failed += 1;
                let said = stderr(&output);
                assert!(said.contains("No space left"), "{verb} {room}: {said}");
                assert!(said.contains("nothing was changed"), "{verb} {room}: {said}");
                assert_eq!(files(small.0.path()), own, "{verb} {room}");
                assert!(bytes(&own) == old, "{verb} {room}");
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn one_odd_file_does_not_keep_the_others_from_being_restored() {
    let folder = tempfile::tempdir().unwrap();
    let made: Vec<PathBuf> = set(folder.path(), 6).into_iter().take(6).collect();
    let old = bytes(&made);
    let rewrite = || assert!(run(&words(&["rebase", "--in-place"], &made)).status.success());
    rewrite();
    // The original is back already: its undo file goes.
    fs::write(&made[2], &old[2]).unwrap();
    let undone = run(&words(&["rebase", "--undo"], &made));
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert!(bytes(&made) == old);
    assert_eq!(files(folder.path()).len(), 7, "no undo file is left");
    // Somebody's own version stays, and is named.
    rewrite();
    fs::write(&made[3], b"another").unwrap();
    let undone = run(&words(&["rebase", "--undo"], &made));
    let said = stderr(&undone);
    assert_eq!(undone.status.code(), Some(6), "{said}");
    assert!(said.contains("1 file was not restored; 5 other files were restored"), "{said}");
    assert!(said.contains("LoadTimeDLL_4.dll: it is not what was written here"), "{said}");
    assert!(!said.contains("nothing was changed"), "{said}");
    assert_eq!(stdout(&undone).lines().count(), 5);
    assert_eq!(fs::read(&made[3]).unwrap(), b"another");
    let others = |all: Vec<Vec<u8>>| [&all[..3], &all[4..]].concat();
    assert!(others(bytes(&made)) == others(old));
}

#[test]
fn a_file_that_was_never_rewritten_has_nothing_to_undo() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path(), 1);
    let undone = run(&words(&["hints", "--undo"], &made[..1]));
    let said = stderr(&undone);
    assert_eq!(undone.status.code(), Some(6), "{said}");
    assert!(said.contains("headstart has not replaced it"), "{said}");
    assert!(!said.contains("os error"), "{said}");
}

/// A run that was waited for is told of, and nothing is written before its end.
#[test]
fn a_run_waits_for_another_that_writes_to_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(&folder.path().join("set"), 2);
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    for (first, held) in [
        (["realign", "--out", out.to_str().unwrap()].as_slice(), &out),
        (&["rebase", "--in-place"], &folder.path().join("set")),
        (&["hints", "--undo"], &folder.path().join("set")),
    ] {
        let before = (bytes(&files(&out)), bytes(&made));
        let lock = fs::File::open(held).unwrap();
        lock.lock().unwrap();
        let mut waiting = Command::new(env!("CARGO_BIN_EXE_headstart"));
        waiting.args(words(first, &made)).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut waiting = waiting.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("another headstart is writing to"), "{first:?}: {said}");
        assert!(waiting.try_wait().unwrap().is_none(), "{first:?}");
        assert!((bytes(&files(&out)), bytes(&made)) == before, "{first:?}");
        drop(lock);
        assert!(waiting.wait().unwrap().success(), "{first:?}");
    }
}

/// Two runs that replace the same files at once: one of them does, and its work can be undone.
#[test]
fn no_original_is_lost_by_two_runs_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path(), 12);
    let old = bytes(&made);
    for _ in 0..4 {
        let run_of = |verb| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
            command.args(words(&[verb, "--in-place"], &made)).stderr(Stdio::piped());
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        let runs = [run_of("rebase"), run_of("realign")];
        let ends = runs.map(|run| run.wait_with_output().unwrap());
        let good = ends.iter().filter(|end| end.status.success()).count();
        assert_eq!(good, 1, "{} {}", stderr(&ends[0]), stderr(&ends[1]));
        let late = ends.iter().find(|end| !end.status.success()).unwrap();
        assert!(stderr(late).contains("take that back first with --undo"), "{}", stderr(late));
        assert!(run(&words(&["rebase", "--undo"], &made)).status.success());
        assert!(bytes(&made) == old);
    }
}
