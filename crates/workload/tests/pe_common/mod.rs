//! What the tests of PE images share. Each of them uses a part.
#![allow(dead_code)]

use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use workload::{Arch, Bases, By, Dawson, Format, Hints, PeOptions, Pietrek, pe};

/// Libraries, functions, globals, by ordinal, machine.
pub type Shape = (u32, u32, u32, bool, Arch);

/// Sizes around the edges: none, one, page breaks of the relocations, names of many lengths.
pub const ALL_SHAPES: [Shape; 9] = [
    (10, 100, 5, false, Arch::X86_64),
    (10, 100, 5, true, Arch::X86_64),
    (3, 1025, 1, false, Arch::X86_64),
    (1, 1, 1, false, Arch::X86_64),
    (2, 7, 0, true, Arch::X86_64),
    (1, 0, 5, false, Arch::X86_64),
    (10, 100, 5, false, Arch::I686),
    (2, 100, 11, true, Arch::I686),
    (1, 1, 0, false, Arch::I686),
];

pub fn options() -> PeOptions {
    PeOptions { seed: 7, ..PeOptions::default() }
}

/// A workload of that shape; its other choices differ from one shape to the next.
pub fn pietrek((dlls, functions, globals, by_ordinal, arch): Shape) -> Pietrek {
    let odd = functions % 2 == 1;
    let pe = PeOptions {
        hints: if odd { Hints::Zero } else { Hints::Right },
        bases: if odd { Bases::Chosen } else { Bases::Default },
        checksum: !odd,
        file_alignment: if odd { 4096 } else { 512 },
        dynamic_base: odd,
        ..options()
    };
    let by = if by_ordinal { By::Ordinal } else { By::Name };
    Pietrek { dlls, functions, globals, by, format: Format::Pe, arch, lazy: false, pe }
}

pub fn dawson(sources: u32, classes: u32, functions: u32) -> Dawson {
    let sizes = Dawson { sources, classes, functions, ..Dawson::default() };
    Dawson { format: Format::Pe, pe: options(), ..sizes }
}

/// All files of a workload in a folder of their own.
pub fn emit(asked: &Pietrek) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for index in 0..=asked.dlls {
        let (name, bytes) = pe::pietrek::file(asked, index).expect("a possible size");
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    }
    folder
}

/// What the tool says of a file; it has to be content with all of it.
pub fn readobj(tool: &Path, flags: &[&str], path: &Path) -> String {
    let output = Command::new(tool).args(flags).arg(path).output().expect("the tool runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{flags:?} {path:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The value behind the first `NAME: `.
pub fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let key = format!("{name}: ");
    text.lines().find_map(|line| line.trim().strip_prefix(&key)).expect("the field").trim()
}
