//! Images of real compilers and linkers, laid out anew: what other readers say of them, and what
//! Wine runs.
#![allow(clippy::unwrap_used)]

mod common;

use common::memory::memory;
use common::{library, output, realigned, realigned_by, workload};
use dlls::realign::RealignOptions;
use image::pe::{Pe, facts_of};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::pe::{Image, Machine, Tools, Wine, mingw};
use workload::{Arch, Bases, PeOptions};

const LIBRARY: &str = "int number = 4; int *where = &number; static int many[3000]; \
    int one(void) { return ++many[2999]; } int two(void) { return *where - 2; }";
const MACHINES: [Machine; 4] = [Machine::X86_64, Machine::I686, Machine::Arm64, Machine::Arm];

/// DLLs with everything that clang and lld can put into one.
fn linked(tools: &Tools, folder: &Path) -> Vec<PathBuf> {
    let mut built = Vec::new();
    for machine in MACHINES {
        let (a, b) = (format!("{machine:?}-a.dll"), format!("{machine:?}-b.dll"));
        let dll = Image::new(&a, LIBRARY).machine(machine).exports("one\ntwo @7 NONAME");
        built.push(tools.build(folder, &dll.checksum()));
        let source = "extern __declspec(dllimport) int two(void); int data; void *at = &data;\n\
                      int call(void) { return two(); }";
        let image = Image::new(&b, source).machine(machine).exports("call").delayed(&a);
        let image = image.thread_local(2).guarded().checksum().link("/debug");
        built.push(tools.build(folder, &image));
    }
    built
}

/// Programs and DLLs of gcc and GNU ld, with symbols behind the image.
fn by_gnu(folder: &Path) -> Option<Vec<PathBuf>> {
    let program = "#include <stdio.h>\nint main(void) { puts(\"from C\"); return 3; }";
    let mut built = Vec::new();
    for machine in [Machine::X86_64, Machine::I686] {
        let name = |kind: &str| format!("{machine:?}-{kind}");
        built.push(mingw(folder, machine, &name("c.exe"), program, &["-O1", "-g"])?);
        built.push(mingw(folder, machine, &name("s.exe"), program, &["-O1", "-s"])?);
        built.push(mingw(folder, machine, &name("c.dll"), LIBRARY, &["-shared", "-g"])?);
    }
    Some(built)
}

/// What a reader says, without the places in the file.
fn told(tool: &Path, words: &[&str], file: &Path) -> String {
    let text = output(tool, &[words, &[file.to_str().unwrap()]].concat());
    let changed = [
        "PointerToRawData:",
        "RawDataSize:",
        "PointerToSymbolTable:",
        "FileAlignment:",
        "SizeOfHeaders:",
        "CheckSum:",
        "SizeOfCode:",
        "SizeOfInitializedData:",
        "File:",
        "at file",
    ];
    let same = |line: &&str| !changed.iter().any(|word| line.contains(word));
    let lines = text.lines().filter(same).filter(|line| !line.contains("file format"));
    lines.map(|line| format!("{line}\n")).collect()
}

const TABLES: [&str; 10] = [
    "--file-headers",
    "--sections",
    "--coff-imports",
    "--coff-exports",
    "--coff-basereloc",
    "--coff-debug-directory",
    "--coff-tls-directory",
    "--coff-load-config",
    "--coff-resources",
    "--symbols",
];

#[test]
fn other_readers_find_everything_where_it_was_in_memory() {
    let Some(tools) = Tools::find() else { return };
    let Some(readobj) = testkit::tool("llvm-readobj-19") else { return };
    let Some(objdump) = testkit::tool("objdump") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut files = linked(&tools, folder.path());
    files.extend(by_gnu(folder.path()).unwrap_or_default());
    for path in files {
        let bytes = fs::read(&path).unwrap();
        let (done, new) = realigned(&bytes, 4096).unwrap();
        assert!(done.off_page_before > 0 && done.off_page == 0, "{path:?}: {done:?}");
        assert!(memory(&new) == memory(&bytes), "{path:?}");
        let moved = folder.path().join("moved");
        fs::write(&moved, &new).unwrap();
        assert_eq!(told(&readobj, &TABLES, &path), told(&readobj, &TABLES, &moved), "{path:?}");
        assert!(
            output(&readobj, &["--file-headers", moved.to_str().unwrap()])
                .contains("FileAlignment: 4096")
        );
        places_of_gnu(&objdump, &path, &moved);
        let checksum = facts_of("", &new).unwrap().checksum;
        let was = facts_of("", &bytes).unwrap().checksum;
        assert_eq!(checksum.stored == checksum.computed, was.stored == was.computed);
        assert!(realigned(&new, 512).unwrap().1 == bytes, "{path:?} is not as the linker made it");
    }
}

/// `objdump -h` gives every section's place in the file, `-t` the symbols behind the image.
fn places_of_gnu(objdump: &Path, before: &Path, after: &Path) {
    let x86 = before.file_name().unwrap().to_str().unwrap();
    if x86.contains("Arm") {
        return;
    }
    let headers = output(objdump, &["-h", after.to_str().unwrap()]);
    let sections = headers.lines().filter(|line| line.contains("2**"));
    let mut with_data = 0;
    for line in sections {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = u32::from_str_radix(words[5], 16).unwrap();
        assert!(place.is_multiple_of(4096), "{before:?}: {line}");
        with_data += u32::from(place != 0);
    }
    assert!(with_data > 1, "{headers}");
    for words in [&["-t"][..], &["-d", "-w"]] {
        assert_eq!(told(objdump, words, before), told(objdump, words, after), "{words:?}");
    }
}

#[test]
fn wine_runs_what_was_laid_out_anew() {
    let folder = tempfile::tempdir().unwrap();
    let Some(built) = by_gnu(folder.path()) else { return };
    let Some(wine) = Wine::shared() else { return };
    for (path, alignment) in built
        .iter()
        .zip([4096, 4096, 4096])
        .filter(|(path, _)| path.extension().is_some_and(|ending| ending == "exe"))
    {
        let (_, new) = realigned(&fs::read(path).unwrap(), alignment).unwrap();
        fs::write(folder.path().join("moved.exe"), new).unwrap();
        let run = |name: &str| wine.run(folder.path(), &[name]);
        let before = run(path.file_name().unwrap().to_str().unwrap());
        assert_eq!((before.code, before.stdout.trim_end()), (Some(3), "from C"));
        assert_eq!(run("moved.exe"), before);
    }
    for file_alignment in [512, 4096] {
        let other = 4096 + 512 - file_alignment;
        let options = PeOptions { file_alignment, ..PeOptions::default() };
        let files = workload(Arch::X86_64, 4, options);
        let set = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            fs::write(set.path().join(name), realigned(bytes, other).unwrap().1).unwrap();
        }
        let program = &files[0].0;
        let named = files.iter().map(|(name, _)| name).find(|name| name.ends_with(".exe"));
        let run = wine.run(set.path(), &[named.unwrap_or(program), "--call"]);
        assert_eq!(run.code, Some(0), "from {file_alignment} to {other}");
    }
}

/// Reads and mappings of a program's DLLs behind their headers, by strace.
fn reads_and_mappings(wine: &Wine, strace: &Path, folder: &Path, program: &str) -> (usize, usize) {
    let log = folder.join("log");
    let (loader, mut command) = wine.beneath(strace);
    command.args(["-f", "-y", "-qq", "-e", "trace=pread64,mmap", "-o"]).arg(&log).arg(loader);
    let status = command.arg(program).arg("--call").current_dir(folder).status().unwrap();
    assert!(status.success(), "{status:?}");
    let text = fs::read_to_string(log).unwrap();
    let of_dlls = |call: &str| {
        let lines = text.lines().filter(|line| line.contains(call) && line.contains(".dll>"));
        let own = lines.filter(|line| line.contains(folder.to_str().unwrap()));
        // The place in the file is the last argument; the server reads headers one by one.
        let place = |line: &str| -> Option<u64> {
            let text = line.split(") = ").next()?.rsplit(", ").next()?;
            match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            }
        };
        own.filter(|line| place(line).is_some_and(|place| place >= 512)).count()
    };
    (of_dlls("pread64("), of_dlls("mmap("))
}

#[test]
fn wine_maps_what_it_read_before() {
    let Some(strace) = testkit::tool("strace") else { return };
    let Some(wine) = Wine::shared() else { return };
    let files = workload(Arch::X86_64, 3, PeOptions::default());
    let program = files.iter().map(|(name, _)| name).find(|name| name.ends_with(".exe")).unwrap();
    let counted = [512, 4096].map(|file_alignment| {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            let new = realigned(bytes, file_alignment).unwrap().1;
            fs::write(folder.path().join(name), new).unwrap();
        }
        reads_and_mappings(&wine, &strace, folder.path(), program)
    });
    let dlls = files.iter().filter(|(name, _)| name.ends_with(".dll"));
    let sections = dlls.map(|(_, bytes)| Pe::parse("", bytes).unwrap().headers().sections.len());
    let sections = sections.sum();
    assert_eq!(counted, [(sections, 0), (0, sections)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Emitted files are laid out as linkers do it, so that there and back is the same file.
    #[test]
    fn there_and_back_is_the_same_file(
        dlls in 1_u32..4,
        wide in any::<bool>(),
        chosen in any::<bool>(),
        file_alignment in prop::sample::select(vec![512_u32, 1024, 2048, 4096]),
        between in prop::sample::select(vec![512_u32, 1024, 2048, 4096]),
    ) {
        let arch = if wide { Arch::X86_64 } else { Arch::I686 };
        let bases = if chosen { Bases::Chosen } else { Bases::Default };
        let options = PeOptions { file_alignment, bases, ..PeOptions::default() };
        for (name, bytes) in workload(arch, dlls, options) {
            let (_, other) = realigned(&bytes, between).unwrap();
            prop_assert!(memory(&other) == memory(&bytes), "{name}");
            let headers = Pe::parse("", &other).unwrap().headers().clone();
            let places = headers.sections.iter().flat_map(|section| [section.offset.0 as u32, section.file_bytes]);
            for place in places.chain([headers.header_bytes, headers.file_alignment]) {
                prop_assert!(place.is_multiple_of(between), "{name}");
            }
            prop_assert!(realigned(&other, between).unwrap().1 == other, "{name}");
            let (_, back) = realigned(&other, file_alignment).unwrap();
            prop_assert!(memory(&back) == memory(&bytes), "{name}");
            // Programs may have room for bound imports in their headers, which nobody has used.
            let old = Pe::parse("", &bytes).unwrap().headers().clone();
            let table_end = old.section_offset(old.sections.len()).0 as u32;
            let has_room = old.header_bytes > table_end.next_multiple_of(file_alignment);
            prop_assert!(has_room || back == bytes, "{name}");
            prop_assert!(!has_room || name.ends_with(".exe"), "{name}");
        }
    }
}

#[test]
fn what_was_appended_stays_at_the_end_or_the_file_is_refused() {
    let plain = library(Arch::X86_64);
    let archive = b"PK\x03\x04 and what an installer has there";
    let with = [&plain[..], archive].concat();
    let refused = realigned(&with, 4096).unwrap_err();
    assert!(refused.contains("36 B are appended to it"), "{refused}");
    let options = RealignOptions { file_alignment: 4096, keep_overlay: true };
    let (done, new) = realigned_by(&with, options).unwrap();
    assert_eq!(done.overlay_bytes, archive.len() as u64);
    assert!(new.ends_with(archive));
    assert_eq!(new[..new.len() - archive.len()].len(), realigned(&plain, 4096).unwrap().1.len());
    let back = realigned_by(&new, RealignOptions { file_alignment: 512, keep_overlay: true });
    assert!(back.unwrap().1 == with);
    // Zeros alone are no overlay.
    let filled = [&plain[..], &[0; 7]].concat();
    assert_eq!(realigned(&filled, 4096).unwrap().0.overlay_bytes, 0);
}

#[test]
fn what_lies_between_sections_is_kept() {
    let mut bytes = library(Arch::X86_64);
    // A sector of somebody's own between the headers and the first section.
    let first = Pe::parse("", &bytes).unwrap().headers().sections[0].offset.index();
    let count = Pe::parse("", &bytes).unwrap().headers().sections.len();
    bytes.splice(first..first, [7; 512]);
    for index in 0..count {
        let at = Pe::parse("", &bytes).unwrap().headers().section_data_offset(index).index() + 4;
        let moved = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) + 512;
        bytes[at..at + 4].copy_from_slice(&moved.to_le_bytes());
    }
    for file_alignment in [512, 4096] {
        let (_, new) = realigned(&bytes, file_alignment).unwrap();
        assert!(memory(&new) == memory(&bytes));
        assert!(new.windows(512).any(|part| part == [7; 512]), "{file_alignment}");
        assert!(realigned(&new, file_alignment).unwrap().1 == new);
    }
}
