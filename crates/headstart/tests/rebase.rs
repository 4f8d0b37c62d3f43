//! `headstart pe rebase` as a command: sets, databases, undo, refusals, and being killed.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::WhenFree;

/// A generated set: a program, and so many DLLs at one base.
fn set(folder: &Path, dlls: u32, arch: &str) -> Vec<PathBuf> {
    let count = dlls.to_string();
    let words = ["generate", "pietrek", "--format", "pe", "--functions", "20", "--globals", "3"];
    let words = [&words[..], &["--dlls", &count, "--arch", arch, "--out", text(folder)]].concat();
    assert!(run(&words).status.success());
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), dlls as usize + 1);
    files
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn words<'a>(first: &[&'a str], files: &'a [PathBuf]) -> Vec<&'a str> {
    let files = files.iter().map(|file| text(file));
    ["pe", "rebase"].into_iter().chain(first.iter().copied()).chain(files).collect()
}

fn bases(map: &Value) -> Vec<u64> {
    let images = map["images"].as_array().unwrap().iter();
    images.map(|image| image["new_base"].as_u64().unwrap()).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn bytes(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn a_set_is_laid_out_and_written_beside_the_originals() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 4, "x86_64");
    let old = bytes(&files);
    let said = stdout(&run(&words(&["--dry-run"], &files)));
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert!(said.contains("4 images would move to 0x2000000000–0x2000040000"), "{said}");
    assert!(said.contains("LoadTimeDLL_4.dll") && said.contains("0x2000030000"), "{said}");
    assert_eq!(names(folder.path()).len(), 1, "a dry run writes nothing");
    let out = folder.path().join("out");
    let map = json(&words(&["--auto", "--json", "--out", text(&out)], &files));
    assert_eq!(map["schema"], 1);
    let slots: Vec<u64> = (0..4).map(|slot| 0x20_0000_0000 + slot * 0x1_0000).collect();
    assert_eq!(bases(&map)[..4], slots);
    let image = &map["images"][1];
    assert_eq!(image["old_base"], 0x1_8000_0000_u64);
    assert_eq!(image["relocations"], 60);
    assert_eq!(image["written"], text(&out.join("LoadTimeDLL_2.dll")));
    assert!(map["images"][4]["stays"].as_str().unwrap().contains("it is a program"), "{map}");
    assert_eq!(names(&out), names(&folder.path().join("set")));
    assert_eq!(bytes(&files), old);
    let again = run(&words(&["--auto", "--out", text(&out)], &files));
    assert!(stderr(&again).contains("exists already") && again.status.code() == Some(6));
    let moved: Vec<PathBuf> =
        files.iter().map(|file| out.join(file.file_name().unwrap())).collect();
    let said = stdout(&run(&words(&["--auto", "--dry-run"], &moved)));
    assert!(said.contains("Nothing has to move"), "{said}");
    let said = stdout(&run(&words(&["--cygwin", "--dry-run"], &files)));
    assert!(said.contains("to 0x3fffc0000–0x400000000"), "{said}");
    let avoid = text(&moved[0]);
    let map =
        json(&words(&["--base", "0x2000000000", "--json", "--dry-run", "--avoid", avoid], &files));
    assert_eq!(bases(&map)[0], 0x20_0001_0000);
}

#[test]
fn in_place_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(folder.path(), 3, "i686");
    let old = bytes(&files);
    let said = stdout(&run(&words(&["--in-place", "--base", "0x60000000"], &files)));
    assert!(said.contains("3 images moved to 0x60000000–0x60030000"), "{said}");
    assert!(said.contains("3 of 4 files were replaced (--undo restores them)"), "{said}");
    assert_ne!(bytes(&files), old);
    assert_eq!(names(folder.path()).len(), 4 + 3, "the program was not touched");
    let undone = run(&words(&["--undo"], &files[..3]));
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!(bytes(&files), old);
    assert_eq!(names(folder.path()).len(), 4);
}

#[test]
fn a_database_keeps_everyone_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 5, "x86_64");
    let database = folder.path().join("rebase.json");
    let with = |files: &[PathBuf], name: &str| {
        let out = folder.path().join(name);
        let first = ["--json", "--database", text(&database), "--out", text(&out)];
        bases(&json(&words(&first, files)))
    };
    let first = with(&files[1..3], "one");
    assert_eq!(first, [0x20_0000_0000, 0x20_0001_0000]);
    let kept: Value = serde_json::from_slice(&fs::read(&database).unwrap()).unwrap();
    let entry = &kept["images"]["set/LoadTimeDLL_2.dll"];
    assert_eq!((&entry["base"], &entry["slot_bytes"]), (&"0x2000000000".into(), &65536.into()));
    // A new one before the others, and one of them left out.
    let second = with(&[files[0].clone(), files[2].clone()], "two");
    assert_eq!(second, [0x20_0002_0000, 0x20_0001_0000]);
    let before = fs::read(&database).unwrap();
    let all = with(&files[..5], "three");
    assert_eq!(all[..3], [0x20_0002_0000, 0x20_0000_0000, 0x20_0001_0000]);
    assert_ne!(fs::read(&database).unwrap(), before);
    // One has grown beyond its slot, and moves alone.
    let grown = set(&folder.path().join("grown"), 1, "x86_64");
    let words = ["generate", "pietrek", "--format", "pe", "--functions", "900", "--dlls", "1"];
    fs::remove_dir_all(folder.path().join("grown")).unwrap();
    let large = folder.path().join("grown");
    assert!(run(&[&words[..], &["--out", text(&large)]].concat()).status.success());
    fs::copy(&grown[0], &files[1]).unwrap();
    let moved = with(&files[..5], "four");
    assert!(moved[1] >= 0x20_0005_0000, "{moved:x?}");
    let others = |bases: &[u64]| [bases[0], bases[2], bases[3], bases[4]];
    assert_eq!(others(&moved), others(&all));
    fs::write(&database, "{\"schema\":1").unwrap();
    let refused = run(&self::words(&["--dry-run", "--database", text(&database)], &files));
    assert!(stderr(&refused).contains("is damaged") && refused.status.code() == Some(6));
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 2, "i686");
    let old = bytes(&files);
    let out = folder.path().join("out");
    let refuses = |first: &[&str], files: &[PathBuf], code: i32, expected: &str| {
        let first = [first, &["--out", text(&out)]].concat();
        let output = run(&words(&first, files));
        let said = stderr(&output) + &stdout(&output);
        assert!(said.replace("\n      ", " ").contains(expected), "{first:?}: {said}");
        assert_eq!(output.status.code(), Some(code), "{first:?}: {said}");
    };
    refuses(&["--base", "0x12345"], &files, 2, "is not a multiple of 64 KiB");
    refuses(&["--base", "0xffff0000"], &files, 2, "the set is too large");
    refuses(&["--base", "xyz"], &files, 2, "an address is hexadecimal");
    refuses(&["--base", "0x10000", "--auto"], &files, 2, "cannot be used with");
    refuses(&[], &["/no/such.dll".into()], 6, "/no/such.dll");
    refuses(&[], &["/bin/sh".into()], 1, "is not a PE file");
    refuses(&[], &[files[0].clone(), files[0].clone()], 2, "is named twice; name it once");
    let link = folder.path().join("link.dll");
    std::os::unix::fs::symlink(&files[0], &link).unwrap();
    let both = run(&["pe", "rebase", "--in-place", text(&files[0]), text(&link)]);
    assert!(stderr(&both).contains("are the same file; name it once"), "{both:?}");
    assert_eq!(both.status.code(), Some(2));
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let twin = other.join("LoadTimeDLL_1.dll");
    fs::copy(&files[0], &twin).unwrap();
    refuses(&[], &[files[0].clone(), twin], 2, "would be the same file");
    let cut = folder.path().join("cut.dll");
    fs::write(&cut, &old[0][..0x90]).unwrap();
    refuses(&[], &[files[0].clone(), cut], 1, "cut short");
    assert!(!out.exists(), "nothing was written");
    // An unknown type: one file is refused, the others are moved.
    let mut unknown = old[0].clone();
    let at = relocation_entry(&unknown);
    unknown[at + 1] = 0xb0 | unknown[at + 1] & 15;
    let strange = folder.path().join("strange.dll");
    fs::write(&strange, unknown).unwrap();
    let alone = run(&["pe", "rebase", "--out", text(&out), text(&strange)]);
    assert!(stderr(&alone).contains("has type 11, which is not supported"), "{alone:?}");
    refuses(&[], &[files[0].clone(), strange.clone()], 1, "has type 11, which is not supported");
    assert_eq!(names(&out), BTreeSet::from(["LoadTimeDLL_1.dll".to_owned()]));
    assert_eq!(bytes(&files), old);
}

/// The first entry of an image's relocation table.
fn relocation_entry(bytes: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let nt = word(0x3c);
    let table = word(nt + 24 + 96 + 40);
    let sections = nt + 24 + 224;
    let section = (0..8).map(|index| sections + 40 * index);
    let section = section.into_iter().find(|at| word(at + 12) == table).unwrap();
    word(section + 20) + 8
}

#[test]
fn a_read_only_or_open_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(folder.path(), 2, "x86_64");
    let old = bytes(&files);
    let open = fs::OpenOptions::new().append(true).open(&files[1]).unwrap();
    let output = run(&words(&["--in-place"], &files));
    assert!(stderr(&output).contains("has it open for writing"), "{output:?}");
    drop(open);
    assert_eq!((bytes(&files), names(folder.path()).len()), (old, 3), "the first neither");
    let linked = folder.path().join("linked.dll");
    fs::hard_link(&files[0], &linked).unwrap();
    let output = run(&["pe", "rebase", "--in-place", text(&linked)]);
    assert!(stderr(&output).contains("2 names (hard links)"), "{output:?}");
    let nowhere = run(&["pe", "rebase", "--out", "/proc/no", text(&files[0])]);
    assert_eq!(nowhere.status.code(), Some(6), "{nowhere:?}");
}

/// With few descriptors files are examined first, and written one by one.
#[test]
fn a_set_in_one_go_is_the_same_as_step_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 5, "x86_64");
    let (out, few) = (folder.path().join("out"), folder.path().join("few"));
    let at_once = run(&words(&["--json", "--out", text(&out)], &files));
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 60; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_headstart")]);
    let limited = limited.args(words(&["--json", "--out", text(&few)], &files)).output_when_free();
    assert!(at_once.status.success() && limited.status.success(), "{limited:?}");
    let told = |output: &Output, folder: &Path| {
        String::from_utf8(output.stdout.clone()).unwrap().replace(text(folder), "OUT")
    };
    assert_eq!(told(&at_once, &out), told(&limited, &few));
    assert_eq!(names(&out).len(), files.len());
    for name in names(&out) {
        assert_eq!(fs::read(out.join(&name)).unwrap(), fs::read(few.join(&name)).unwrap());
    }
}

/// Their places are one with the files: without the one there are not the others.
#[test]
fn without_room_for_the_database_no_file_is_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 2, "x86_64");
    let before: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let out = folder.path().join("out");
    // Nobody makes files there.
    let database = Path::new("/proc/rebase.json");
    for place in [&["--in-place"][..], &["--out", text(&out)]] {
        let output = run(&words(&[place, &["--database", text(database)]].concat(), &files));
        assert_eq!(output.status.code(), Some(6), "{output:?}");
        assert!(stderr(&output).contains("nothing was changed"), "{output:?}");
        assert!(stderr(&output).contains(text(database)), "{output:?}");
        let now = files.iter().map(|file| fs::read(file).unwrap());
        assert!(now.eq(before.iter().cloned()) && !out.exists(), "{place:?}");
        assert_eq!(names(&folder.path().join("set")).len(), files.len(), "no undo file is left");
    }
}

/// Killed before each of its system calls in turn that changes files, with one thread.
#[test]
fn killed_at_any_moment_every_file_is_whole() {
    let Some(strace) = testkit::tool("strace") else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 2, "x86_64");
    let reference = folder.path().join("reference");
    let database = folder.path().join("rebase.json");
    assert!(run(&words(&["--out", text(&reference)], &files)).status.success());
    let mut kills = 0;
    for call in ["write", "fsync", "linkat", "renameat2"] {
        for time in 1.. {
            let out = folder.path().join("out");
            let moment = format!("{call}:signal=SIGKILL:when={time}");
            let mut command = Command::new(&strace);
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
            command.args(["-e", &format!("inject={moment}"), env!("CARGO_BIN_EXE_headstart")]);
            command.args(words(&["--out", text(&out), "--database", text(&database)], &files));
            let status = command.env("RAYON_NUM_THREADS", "1").output_when_free().status;
            if out.exists() {
                for name in names(&out) {
                    let written = fs::read(out.join(&name)).unwrap();
                    assert!(written == fs::read(reference.join(&name)).unwrap(), "{moment} {name}");
                }
                fs::remove_dir_all(&out).unwrap();
            }
            if let Ok(kept) = fs::read(&database) {
                serde_json::from_slice::<Value>(&kept).unwrap();
                fs::remove_file(&database).unwrap();
            }
            if status.success() {
                break;
            }
            kills += 1;
            assert!(kills < 60, "{moment} does not end");
        }
    }
    // Two images and the database; only the database replaces a file.
    assert!(kills > 3 * 3, "{kills}");
}

/// In a file system of its own.
#[test]
fn a_full_disk_leaves_whole_files_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("set"), 8, "x86_64");
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let size = fs::metadata(&files[0]).unwrap().len();
    let option = format!("size={}", 4 * size.next_multiple_of(4096));
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(&small);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        return testkit::skip("only root can mount a small file system");
    }
    let output = run(&words(&["--out", text(&small)], &files));
    let written: Vec<u64> = fs::read_dir(&small)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .collect();
    let unmounted = Command::new("umount").arg("-l").arg(&small).status().unwrap();
    assert!(unmounted.success());
    assert!(stderr(&output).contains("No space left"), "{output:?}");
    assert_eq!(output.status.code(), Some(6));
    assert!(written.iter().all(|length| *length == size), "{written:?} {size}");
}
