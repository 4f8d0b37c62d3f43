//! Writes workloads to throw-away folders and launches them.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use testkit::WhenFree;
use workload::{Dawson, Files, Kind, Pietrek, Shape, Workload};

pub fn pietrek(dlls: u32, functions: u32, globals: u32) -> Workload {
    Workload::Pietrek(Pietrek { dlls, functions, globals, ..Pietrek::default() })
}

pub fn lazy(dlls: u32, functions: u32, globals: u32) -> Workload {
    Workload::Pietrek(Pietrek { dlls, functions, globals, lazy: true, ..Pietrek::default() })
}

pub fn dawson(sources: u32, classes: u32, functions: u32) -> Workload {
    Workload::Dawson(Dawson { sources, classes, functions, ..Dawson::default() })
}

pub fn shape(kind: Kind, n: u32) -> Workload {
    Workload::Shape(Shape { kind, n })
}

/// Every kind at its smallest sizes and at one that is larger.
pub fn all() -> Vec<Workload> {
    let mut all = vec![
        pietrek(3, 7, 2),
        pietrek(1, 300, 0),
        pietrek(2, 0, 5),
        pietrek(0, 100, 5),
        lazy(2, 5, 1),
        dawson(2, 3, 4),
        dawson(1, 2, 0),
        dawson(0, 2, 2),
        dawson(2, 0, 2),
    ];
    all.extend(Kind::ALL.iter().flat_map(|&kind| [0, 1, 5].map(|n| shape(kind, n))));
    all
}

/// The files in a new folder, and the program's path.
pub fn written(files: &Files) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let written = files.write_to(folder.path()).unwrap();
    (folder, written.program)
}

pub fn emitted(workload: &Workload) -> (TempDir, PathBuf) {
    written(&workload::generate(workload).unwrap())
}

pub fn launch(program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("LD_LIBRARY_PATH");
    command.output_when_free()
}

/// The program's output with one environment variable set.
pub fn launch_with(program: &Path, name: &str, value: &str) -> Output {
    let mut command = Command::new(program);
    command.env(name, value);
    command.output_when_free()
}

/// The images among the files of a workload, in order of their paths.
pub fn images(workload: &Workload, folder: &Path) -> Vec<PathBuf> {
    let files = workload::generate(workload).unwrap();
    let mut images: Vec<_> = files.names().map(|name| folder.join(name)).collect();
    images.sort();
    images
}
