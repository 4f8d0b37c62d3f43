//! `headstart io`, against the kernel's own count and against what is known by construction.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Touches every sixteenth page of the file that is named, without read-ahead.
const TOUCH: &str = r#"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **arguments) {
    int fd = open(arguments[1], O_RDONLY);
    long bytes = lseek(fd, 0, SEEK_END), sum = 0;
    volatile char *file = mmap(0, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED || madvise((void *)file, bytes, MADV_RANDOM)) return 1;
    for (long at = 0; at < bytes; at += 16 * 4096) sum += file[at];
    return sum == 0;
}"#;

const TOUCHED: u64 = 20;

struct World {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let program = testkit::compile(&cc, folder.path(), "touch", TOUCH, &["-O1"]);
        Some(World { folder, program })
    }

    fn data(&self, at: &Path) -> String {
        let path = at.join("data");
        std::fs::write(&path, vec![1; TOUCHED as usize * 16 * 4096]).unwrap();
        path.canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn io(&self, options: &[&str], data: &str) -> Vec<String> {
        let words = ["io"].iter().chain(options).chain(&["--"]).map(|word| (*word).to_owned());
        words.chain([self.program.to_str().unwrap().to_owned(), data.to_owned()]).collect()
    }
}

fn words(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

/// Whether every read can be recorded here.
fn is_permitted() -> bool {
    let permitted = os::file_reads::permitted();
    if let Err(error) = &permitted {
        testkit::skip(&error.to_string());
    }
    permitted.is_ok()
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> u64 {
    values.map(|value| value.as_u64().unwrap()).sum()
}

/// Sections are the file; files, metadata and the rest are the total.
fn adds_up(found: &Value) {
    let files = found["files"].as_array().unwrap();
    for file in files {
        let sections = file["sections"].as_array().unwrap();
        let sections = sum(sections.iter().map(|section| &section["bytes"]));
        assert_eq!(sections, file["reads"]["bytes"], "{file}");
    }
    let others = &found["others"];
    let named = others["files"].as_array().unwrap();
    let parts = files
        .iter()
        .map(|file| &file["reads"]["bytes"])
        .chain(named.iter().map(|file| &file[1]["bytes"]))
        .chain([&others["metadata"]["bytes"], &others["unassigned"]["bytes"]]);
    assert_eq!(sum(parts), found["total"]["bytes"], "{found}");
}

#[test]
fn every_read_is_listed_with_its_distance_and_the_kernel_counts_the_same() {
    let Some(world) = World::new() else { return };
    if !is_permitted() {
        return;
    }
    let data = world.data(world.folder.path());
    let csv = world.folder.path().join("reads.csv");
    let found =
        json(&words(&world.io(&["--json", "--all", "--csv", csv.to_str().unwrap()], &data)));
    adds_up(&found);
    if found["total"]["bytes"] == 0 {
        return testkit::skip("tracepoints tell nothing: temporary files are on no block device");
    }
    assert_eq!(found["kernel_bytes"], found["total"]["bytes"], "{found}");
    let files = found["files"].as_array().unwrap();
    let at = files.iter().position(|file| file["path"] == data.as_str()).unwrap();
    let reads = &files[at]["reads"];
    assert_eq!((&reads["reads"], &reads["bytes"]), (&TOUCHED.into(), &(TOUCHED * 4096).into()));
    assert_eq!(files[at]["small_reads"], *reads);
    assert_eq!(files[at]["distance_bytes"], (TOUCHED - 1) * 15 * 4096);
    let advice = found["advice"].as_array().unwrap();
    let is_of_data = |one: &&Value| one["path"] == data.as_str();
    assert_eq!(advice.iter().find(is_of_data).unwrap()["advice"], "scattered", "{advice:?}");
    let sequence = found["sequence"].as_array().unwrap();
    let own: Vec<&Value> = sequence.iter().filter(|read| read["file"] == at).collect();
    let offsets: Vec<u64> = own.iter().map(|read| read["offset"].as_u64().unwrap()).collect();
    assert_eq!(offsets, (0..TOUCHED).map(|at| at * 16 * 4096).collect::<Vec<_>>());
    assert!(own[0]["distance_bytes"].is_null() && own[1]["distance_bytes"] == 15 * 4096);
    let csv = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(csv.lines().count(), sequence.len() + 1);
    assert!(csv.starts_with("sequence,file,at_us,duration_us,offset,bytes,distance,section\n"));
}

#[test]
fn a_warm_launch_reads_nothing() {
    let Some(world) = World::new() else { return };
    if !is_permitted() {
        return;
    }
    let data = world.data(world.folder.path());
    let output = run(&words(&world.io(&["--warm"], &data)));
    assert!(stdout(&output).contains("read nothing from a block device"), "{output:?}");
}

#[test]
fn children_are_followed_and_the_sums_hold() {
    if !is_permitted() {
        return;
    }
    let found = json(&["io", "--json", "--", "sh", "-c", "ls / | wc -l; exit 0"]);
    adds_up(&found);
    let paths: Vec<&str> = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    if paths.is_empty() {
        return testkit::skip("tracepoints tell nothing: programs are on no block device");
    }
    assert!(paths.iter().any(|path| path.ends_with("/wc")), "{paths:?}");
    let kinds = found["kinds"].as_array().unwrap();
    let shares: f64 = kinds.iter().map(|kind| kind["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{kinds:?}");
}

#[test]
fn files_in_memory_are_said_to_be_there() {
    let Some(world) = World::new() else { return };
    if !is_permitted() {
        return;
    }
    let point = world.folder.path().join("memory");
    std::fs::create_dir(&point).unwrap();
    let path = point.to_str().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "memory", path]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return testkit::skip("tmpfs cannot be mounted here");
    }
    let data = world.data(&point);
    let output = run(&words(&world.io(&[], &data)));
    Command::new("umount").arg(path).status().unwrap();
    let shown = stdout(&output).replace("\n      ", " ");
    assert!(shown.contains("is on tmpfs: tmpfs keeps its files in memory"), "{shown}");
}

#[test]
fn without_root_it_is_said_what_is_not_known() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("headstart");
    std::fs::copy(env!("CARGO_BIN_EXE_headstart"), &program).unwrap();
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everyone).unwrap();
    let as_stranger = |words: &[&str]| {
        let mut command = Command::new(&setpriv);
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
        command.current_dir("/").env("HOME", "/").args(words).output().unwrap()
    };
    let output = as_stranger(&["io", "--json", "--", "ls", "/"]);
    if stderr(&output).starts_with("setpriv") || output.status.code() == Some(7) {
        return testkit::skip("perf events are refused here, or only root can become another user");
    }
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["source"], "major_faults", "{found}");
    assert!(found["total"]["unavailable"].is_string() && found["kernel_bytes"].is_u64(), "{found}");
    let output = as_stranger(&["io", "--csv", "/tmp/none.csv", "--", "ls", "/"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}

#[test]
fn a_program_that_fails_is_told() {
    let failing = ["--", "sh", "-c", "exit 3"];
    let output = run(&[&["io"], &failing[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stdout(&output).contains("launch of"), "what it read is printed: {output:?}");
    assert!(run(&[&["io", "-i"], &failing[..]].concat()).status.success());
}
