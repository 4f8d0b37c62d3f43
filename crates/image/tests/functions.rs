//! Functions by address: against nm and readelf, stripped, and from damaged bytes.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod binutils;

use binutils::{binutils, run};
use std::path::{Path, PathBuf};

const SOURCE: &str = r#"
#include <stdio.h>
__attribute__((noinline)) int exported(int x) { return x * 3 + puts("x"); }
__attribute__((noinline)) static int hidden(int x) { return x * 5 + puts("y"); }
int main(int count, char **arguments) { (void)arguments; return exported(count) + hidden(count); }
"#;

/// Address, size and name of the functions in `.text`, by nm.
fn nm(path: &Path) -> Option<Vec<(u64, u64, String)>> {
    let text = run(&binutils("nm")?, &["-S", "--defined-only", path.to_str().unwrap()]);
    let hex = |word: &str| u64::from_str_radix(word, 16).unwrap();
    let functions = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, size, "t" | "T", name] = words[..] else { return None };
        Some((hex(address), hex(size), name.to_owned()))
    });
    Some(functions.collect())
}

/// Offset of a virtual address in `.text`, by readelf.
fn text_shift(path: &Path) -> Option<u64> {
    let text = run(&testkit::tool("readelf")?, &["-SW", path.to_str().unwrap()]);
    let line = text.lines().find(|line| line.contains(" .text ")).unwrap();
    let words: Vec<&str> = line.split("PROGBITS").nth(1).unwrap().split_whitespace().collect();
    let hex = |word: &str| u64::from_str_radix(word, 16).unwrap();
    Some(hex(words[0]) - hex(words[1]))
}

struct Built {
    folder: tempfile::TempDir,
    program: PathBuf,
    functions: Vec<(u64, u64, String)>,
    shift: u64,
}

fn built(flags: &[&str]) -> Option<Built> {
    let cc = testkit::tool("cc")?;
    let folder = tempfile::tempdir().unwrap();
    let flags: Vec<&str> = [&["-O1", "-Wl,--build-id"], flags].concat();
    let program = testkit::compile(&cc, folder.path(), "program", SOURCE, &flags);
    let functions = nm(&program)?;
    let shift = text_shift(&program)?;
    Some(Built { folder, program, functions, shift })
}

/// The function found at each end and in the middle of each that nm lists.
fn check(built: &Built, path: &Path, debug: &Path, named: impl Fn(&str) -> bool) {
    for (address, size, name) in &built.functions {
        for within in [0, size / 2, size - 1] {
            let offset = address + within - built.shift;
            let placed = image::functions(path, debug, &[offset]).unwrap().remove(0).unwrap();
            assert_eq!(placed.address, address + within);
            let function = placed.function.unwrap();
            let expected = named(name).then_some(name.as_str());
            assert_eq!(function.name.as_deref(), expected, "{name}+{within:#x}");
            assert_eq!((function.address, function.bytes), (*address, *size), "{name}");
        }
    }
}

#[test]
fn symbols_agree_with_nm() {
    for flags in [&["-fPIE", "-pie"][..], &["-fno-pie", "-no-pie"], &["-static"]] {
        let Some(mut built) = built(flags) else { return };
        // The C library's own functions have aliases.
        let ours = |name: &str| ["main", "exported", "hidden", "_start"].contains(&name);
        built.functions.retain(|(_, _, name)| ours(name));
        assert_eq!(built.functions.len(), 4);
        check(&built, &built.program, Path::new("/nowhere"), |_| true);
    }
}

#[test]
fn stripped_of_its_symbols_a_function_keeps_its_bounds() {
    let Some(mut built) = built(&["-fPIE", "-pie", "-rdynamic"]) else { return };
    let Some(strip) = binutils("strip") else { return };
    let Some(objcopy) = binutils("objcopy") else { return };
    built.functions.retain(|(_, _, name)| ["main", "exported", "hidden"].contains(&name.as_str()));
    let stripped = built.folder.path().join("stripped");
    run(&strip, &["-o", stripped.to_str().unwrap(), built.program.to_str().unwrap()]);
    check(&built, &stripped, Path::new("/nowhere"), |name| name != "hidden");
    // A debug file brings the names back.
    let id = image::elf::facts(&stripped).unwrap().build_id.unwrap();
    let debug = built.folder.path().join("debug");
    let folder = debug.join(".build-id").join(&id[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.debug", &id[2..]));
    let arguments = [built.program.to_str().unwrap(), file.to_str().unwrap()];
    run(&objcopy, &["--only-keep-debug", arguments[0], arguments[1]]);
    check(&built, &stripped, &debug, |_| true);
}

#[test]
fn stubs_are_recognized_and_data_is_no_code() {
    let Some(built) = built(&["-fPIE", "-pie"]) else { return };
    let Some(readelf) = testkit::tool("readelf") else { return };
    let text = run(&readelf, &["-SW", built.program.to_str().unwrap()]);
    let line = text.lines().find(|line| line.contains(" .plt ")).unwrap();
    let offset = line.split("PROGBITS").nth(1).unwrap().split_whitespace().nth(1).unwrap();
    let offset = u64::from_str_radix(offset, 16).unwrap();
    let found = image::functions(&built.program, Path::new("/"), &[offset, 0, u64::MAX]).unwrap();
    let stub = found[0].clone().unwrap().function.unwrap();
    assert_eq!(stub.name.as_deref(), Some("[plt]"));
    assert_eq!(found[1..], [None, None]);
}

#[test]
fn damaged_bytes_are_survived() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf");
    for name in ["pie", "static", "i386.so", "s390x.so", "pie.no-sections"] {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let offsets: Vec<u64> = (0..whole.len() as u64).step_by(61).collect();
        for length in (0..whole.len()).step_by(97) {
            let _ = image::functions_of(name, &whole[..length], None, &offsets);
        }
        let mut bytes = whole.clone();
        for index in (0..bytes.len()).step_by(7) {
            bytes[index] = !whole[index];
            let debug = Some(&whole[..]);
            let _ = image::functions_of(name, &bytes, debug, &offsets[..4.min(offsets.len())]);
            bytes[index] = whole[index];
        }
    }
    assert!(image::functions_of("text", b"#!/bin/sh", None, &[0]).is_err());
    assert!(image::functions_of("class", b"\x7fELF\x09\x01", None, &[0]).is_err());
}
