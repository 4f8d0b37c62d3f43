//! Data that programs carry in their own files is found, and nothing else is taken for it.
#![allow(clippy::unwrap_used)]

use image::elf::{Loadable, Payload, PayloadPlace, trailing_data};
use model::FileOffset;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "#include <stdio.h>\nint main(void) { return puts(\"here\") < 0; }";

fn found(bytes: Vec<u8>) -> Option<Payload> {
    trailing_data(&Loadable::from_bytes("program", bytes).unwrap())
}

fn built(folder: &Path, name: &str, flags: &[&str]) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    Some(testkit::compile(&cc, folder, name, SOURCE, flags))
}

fn program() -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    Some(std::fs::read(built(folder.path(), "program", &["-g"])?).unwrap())
}

#[test]
fn what_compilers_and_linkers_write_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let kinds: [&[&str]; 10] = [
        &[],
        &["-g3", "-O2", "-ffunction-sections"],
        &["-gz", "-g"],
        &["-static"],
        &["-shared", "-fPIC"],
        &["-Wl,--emit-relocs", "-g"],
        &["-Wl,-z,max-page-size=2097152"],
        &["-flto", "-ffat-lto-objects", "-frecord-gcc-switches"],
        &["-s"],
        &["-Wl,-z,separate-code"],
    ];
    let compilers = [("cc", "bfd"), ("cc", "gold"), ("clang-19", "lld")];
    for (compiler, linker) in compilers {
        let Some(cc) = testkit::tool(compiler) else { continue };
        if linker == "gold" && !Path::new("/usr/bin/ld.gold").exists() {
            continue;
        }
        for (index, flags) in kinds.iter().enumerate() {
            // Clang has no such objects, and gold no such layout.
            let unknown = [("lld", "-ffat-lto-objects"), ("gold", "-Wl,-z,separate-code")];
            if unknown.iter().any(|(of, flag)| *of == linker && flags.contains(flag)) {
                continue;
            }
            let linker = format!("-fuse-ld={linker}");
            let flags = [flags, &[linker.as_str()][..]].concat();
            let path = testkit::compile(&cc, folder.path(), &index.to_string(), SOURCE, &flags);
            assert_eq!(found(std::fs::read(&path).unwrap()), None, "{flags:?}");
        }
    }
}

#[test]
fn what_strip_and_objcopy_leave_is_none() {
    let (Some(strip), Some(objcopy)) = (testkit::tool("strip"), testkit::tool("objcopy")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = built(folder.path(), "program", &["-g"]) else { return };
    let debug = folder.path().join("program.debug");
    let link = format!("--add-gnu-debuglink={}", debug.display());
    let run = |tool: &Path, words: &[&str], last: Option<&Path>| {
        let done = Command::new(tool).args(words).arg(&path).args(last).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
        assert_eq!(found(std::fs::read(&path).unwrap()), None, "{words:?}");
    };
    run(&objcopy, &["--only-keep-debug"], Some(&debug));
    run(&objcopy, &["--compress-debug-sections"], None);
    run(&strip, &["-g"], None);
    run(&objcopy, &[&link], None);
    run(&strip, &[], None);
}

#[test]
fn appended_bytes_are_found_but_for_padding() {
    let Some(program) = program() else { return };
    let with = |more: &[u8]| found([&program, more].concat());
    let appended = |bytes| {
        let offset = FileOffset::at(program.len());
        Some(Payload { offset, bytes, place: PayloadPlace::Appended })
    };
    assert_eq!(with(&[]), None);
    assert_eq!(with(&[0; 1]), None);
    assert_eq!(with(&vec![0; 2 << 20]), None);
    assert_eq!(with(b"x"), appended(1));
    assert_eq!(with(b"PK\x03\x04 a zip"), appended(10));
    assert_eq!(with(&[&[0; 4096][..], b"script"].concat()), appended(4102));
    assert_eq!(with(&vec![0; (2 << 20) + 1]), appended((2 << 20) + 1));
}

/// As when the table of section headers is written anew behind a payload.
#[test]
fn bytes_before_the_section_headers_are_found() {
    let Some(program) = program() else { return };
    let old = Loadable::from_bytes("program", program.clone()).unwrap().header.sections_at;
    let (before, headers) = program.split_at(old.index());
    let mut moved = [before, b"payload!", headers].concat();
    moved[40..48].copy_from_slice(&(old + 8).0.to_le_bytes());
    let found = found(moved).unwrap();
    // Zeros that align the headers may stand before them.
    assert_eq!((found.place, found.offset + found.bytes), (PayloadPlace::Between, old + 8));
    assert!((8..16).contains(&found.bytes), "{}", found.bytes);
}

/// As PyInstaller and Godot do.
#[test]
fn a_section_that_nobody_knows_is_found() {
    let Some(objcopy) = testkit::tool("objcopy") else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = built(folder.path(), "program", &[]) else { return };
    let data = folder.path().join("data");
    std::fs::write(&data, "an archive").unwrap();
    let section = format!("pydata={}", data.display());
    let mut command = Command::new(objcopy);
    assert!(command.arg("--add-section").arg(section).arg(&path).status().unwrap().success());
    let found = found(std::fs::read(&path).unwrap()).unwrap();
    assert!(matches!(found.place, PayloadPlace::Section(_)));
    let text = found.to_string();
    assert!(text.starts_with("10 bytes of data at offset "), "{text}");
    assert!(text.ends_with(" in the section 'pydata', which is not loaded"), "{text}");
}

/// Headers that lie neither panic nor hide what is appended.
#[test]
fn damaged_headers_do_not_panic() {
    let Some(program) = program() else { return };
    for at in 0..64.min(program.len()) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = [&program[..], b"data"].concat();
            bytes[at] = value;
            if let Ok(image) = Loadable::from_bytes("program", bytes) {
                let _ = trailing_data(&image);
            }
        }
    }
}
