//! Images of real compilers and linkers, judged by llvm-readobj.

use crate::rebase;
use dlls::rebase::RebaseOptions;
use image::pe::{Pe, facts_of};
use std::path::Path;
use std::process::Command;
use testkit::pe::{Image, Machine, Tools, mingw};

const DATA: &str = "int number = 5; int *pointer = &number;\n\
    int *pointers[] = {&number, &number + 1, &number + 2};\n\
    int get(int at) { return *pointers[at] + *pointer; }\n\
    int (*const function)(int) = get; int through(void) { return function(0); }";

/// What llvm-readobj says, without the file's name.
fn said(tool: &Path, flag: &str, file: &Path) -> String {
    let output = Command::new(tool).arg(flag).arg(file).output().unwrap();
    assert!(output.status.success(), "{file:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.starts_with("File:")).collect::<Vec<_>>().join("\n")
}

fn value<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim()
}

/// Moves a file there and back; another reader finds the new base and the same relocations.
fn check(path: &Path, base: u64) {
    let Some(readobj) = testkit::tool("llvm-readobj-19") else { return };
    let name = path.display().to_string();
    let original = std::fs::read(path).unwrap();
    let moved = rebase(&name, original.clone(), base, RebaseOptions::default()).unwrap();
    assert!(moved.relocations > 0, "{name} has relocations");
    let copy = path.with_extension("moved");
    std::fs::write(&copy, &moved.bytes).unwrap();
    let headers = said(&readobj, "--file-headers", &copy);
    assert_eq!(value(&headers, "ImageBase"), format!("0x{base:X}"), "{name}");
    let relocations = |path: &Path| said(&readobj, "--coff-basereloc", path);
    assert_eq!(relocations(&copy), relocations(path), "{name}");
    // TLS, Guard CF, imports and exports are as before, but for addresses.
    let facts = |bytes: &[u8]| {
        let mut facts = facts_of(&name, bytes).unwrap();
        assert_eq!(facts.problems, Vec::<String>::new(), "{name}");
        (facts.base.0, facts.time_stamp) = (0, 0);
        (facts.checksum.stored, facts.checksum.computed) = (0, 0);
        facts
    };
    assert_eq!(facts(&moved.bytes), facts(&original));
    let old = Pe::parse(&name, &original).unwrap().headers().base;
    let back = rebase(&name, moved.bytes, old.0, RebaseOptions::default()).unwrap();
    assert!(back.bytes == original, "{name}");
}

#[test]
fn what_lld_links() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for machine in [Machine::X86_64, Machine::I686, Machine::Arm64, Machine::Arm] {
        let plain =
            Image::new("plain.dll", DATA).machine(machine).exports("get\nthrough").checksum();
        check(&tools.build(folder.path(), &plain), 0x6543_0000);
    }
    for machine in [Machine::X86_64, Machine::I686] {
        let other = Image::new("other.dll", "int one(void) { return 1; }").machine(machine);
        tools.build(folder.path(), &other.exports("one"));
        let source = format!(
            "{DATA}\n__declspec(dllimport) int one(void);\nint two(void) {{ return one() + 1; }}"
        );
        let all =
            Image::new("all.dll", &source).machine(machine).exports("get\ntwo\nthree = other.one");
        let image = all.delayed("other.dll").thread_local(2).guarded().checksum();
        check(&tools.build(folder.path(), &image), 0x6543_0000);
    }
}

#[test]
fn what_mingw_links() {
    let folder = tempfile::tempdir().unwrap();
    for machine in [Machine::X86_64, Machine::I686] {
        let Some(dll) = mingw(folder.path(), machine, "it.dll", DATA, &["-shared"]) else { return };
        check(&dll, 0x6543_0000);
    }
}
