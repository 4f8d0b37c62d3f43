//! Files with holes: what is rewritten takes memory for what has changed, and has holes too.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::WhenFree;

const SOURCE: &str = "#include <stdio.h>\nconst char *words[] = {\"here\", \"there\", \"where\"};\n\
    int main(int count, char **all) { (void)all; return puts(words[count - 1]) < 0; }";
const GIB: u64 = 1 << 30;
/// More than the program itself and a few buffers take; far less than the holes.
const MOST_KIB: u64 = 160 << 10;

/// A program whose last section, for debuggers, is mostly a hole.
fn sparse(folder: &Path, size: u64) -> Option<PathBuf> {
    let (cc, objcopy) = (testkit::tool("cc")?, testkit::tool("objcopy")?);
    let program = testkit::compile(&cc, folder, "program", SOURCE, &["-pie", "-fPIE"]);
    fs::write(folder.join("data"), [0; 5]).unwrap();
    let mut command = Command::new(objcopy);
    command.args(["--add-section", ".debug_sparse=data", "program"]).current_dir(folder);
    assert!(command.status().unwrap().success());
    let file = OpenOptions::new().read(true).write(true).open(&program).unwrap();
    let length = file.metadata().unwrap().len();
    let read = |at: u64, size: usize| {
        let mut bytes = vec![0; size];
        file.read_exact_at(&mut bytes, at).unwrap();
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    };
    let (table, count) = (read(0x28, 8), read(0x3c, 2));
    let section = |index: u64| table + 64 * index;
    let is_last = |&index: &u64| read(section(index) + 32, 8) == 5;
    let own = (0..count).find(is_last).unwrap();
    let was = read(section(own) + 24, 8);
    assert_eq!(read(was, 5), 0, "the section's old bytes are padding now");
    let start = length.next_multiple_of(4096);
    file.set_len(size).unwrap();
    file.write_all_at(&start.to_le_bytes(), section(own) + 24).unwrap();
    file.write_all_at(&(size - start).to_le_bytes(), section(own) + 32).unwrap();
    file.write_all_at(b"far behind", size - 10).unwrap();
    Some(program)
}

/// Runs the command and gives the most memory that was seen, in KiB.
fn run(folder: &Path, words: &[&str]) -> u64 {
    let mut command = headstart(folder, words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.split_whitespace().next()?.parse().ok());
        most = most.max(peak.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    most
}

fn tail(path: &Path, size: u64) -> Vec<u8> {
    let mut bytes = vec![0; 10];
    File::open(path).unwrap().read_exact_at(&mut bytes, size - 10).unwrap();
    bytes
}

/// Bytes on the disk.
fn taken(path: &Path) -> u64 {
    path.metadata().unwrap().blocks() * 512
}

fn says_here(path: &Path) -> bool {
    Command::new(path).output_when_free().stdout == b"here\n"
}

#[test]
fn a_hole_of_20_gib_is_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = sparse(folder.path(), 20 * GIB) else { return };
    for verb in ["relr", "no-pie"] {
        let out = folder.path().join(verb);
        let [file, out_text] = [&program, &out].map(|path| path.to_str().unwrap());
        let most = run(folder.path(), &["elf", verb, "--out", out_text, file]);
        assert!(most > 0 && most < MOST_KIB, "{verb}: {most} KiB of memory");
        assert!(out.metadata().unwrap().len() >= 20 * GIB && taken(&out) < 1 << 20, "{verb}");
        assert_eq!(tail(&out, 20 * GIB), b"far behind", "{verb}");
        assert!(says_here(&out), "{verb}");
        fs::remove_file(out).unwrap();
    }
}

#[test]
fn in_place_and_back_the_hole_stays() {
    const SIZE: u64 = GIB / 2;
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = sparse(folder.path(), SIZE) else { return };
    let file = program.to_str().unwrap();
    let most = run(folder.path(), &["elf", "relr", "--in-place", file]);
    assert!(most > 0 && most < MOST_KIB, "{most} KiB of memory");
    assert!(taken(&program) < 1 << 20 && says_here(&program));
    let undo = files::undo_file(&program);
    assert!(undo.metadata().unwrap().len() < 1 << 20, "what was replaced, and no more");
    let most = run(folder.path(), &["elf", "relr", "--undo", file]);
    assert!(most > 0 && most < MOST_KIB, "{most} KiB of memory");
    assert!(taken(&program) < 1 << 20 && says_here(&program));
    assert_eq!((program.metadata().unwrap().len(), undo.exists()), (SIZE, false));
    assert_eq!(tail(&program, SIZE), b"far behind");
}
