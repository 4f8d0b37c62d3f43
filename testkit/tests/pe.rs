//! The builders of PE images build what they say, and Wine runs it.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::path::Path;
use std::process::Command;
use testkit::pe::{Image, Machine, Tools, Wine, mingw};

const LIBRARY: &str = "int number = 4; int *where = &number; int one(void) { return 1; } \
                       int two(void) { return *where - 2; }";

fn readobj(path: &Path, flags: &[&str]) -> Option<String> {
    let tool = testkit::tool("llvm-readobj-19")?;
    let output = Command::new(tool).args(flags).arg(path).output().unwrap();
    assert!(output.status.success(), "{flags:?} {path:?}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn programs_call_their_dlls_under_wine() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let exports = "one\ntwo @7 NONAME\nnumber DATA\naway = kernel32.GetTickCount";
    tools.build(folder.path(), &Image::new("a.dll", LIBRARY).exports(exports));
    let source = "__declspec(dllimport) int one(void), two(void);\n\
                  __declspec(dllimport) int number;\n\
                  void start(void) { say(\"hello\\n\"); leave(one() * 100 + two() * 10 + number); }";
    let program = Image::new("p.exe", source).against("a.dll").speaking();
    tools.build(folder.path(), &program);
    let Some(wine) = Wine::shared() else { return };
    let run = wine.run(folder.path(), &["p.exe"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(124), "hello\n"));
}

#[test]
fn everything_that_can_be_asked_for_is_in_the_image() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for machine in [Machine::X86_64, Machine::I686, Machine::Arm64, Machine::Arm] {
        let dll = Image::new("a.dll", LIBRARY).machine(machine).exports("one\ntwo");
        tools.build(folder.path(), &dll);
        let source = "extern __declspec(dllimport) int two(void); int data; void *at = &data;\n\
                      int (*table[])(void) = {two}; int call(void) { return two() + table[0](); }";
        let image = Image::new("b.dll", source).machine(machine).exports("call");
        let image = image.delayed("a.dll").thread_local(2).base(0x6000_0000).file_alignment(4096);
        let image = image.guarded().time_stamp(7).checksum();
        let path = tools.build(folder.path(), &image);
        let Some(text) = readobj(&path, &["--file-headers", "--coff-basereloc"]) else { return };
        for expected in [
            "ImageBase: 0x60000000",
            "FileAlignment: 4096",
            "(0x7)",
            "IMAGE_DLL_CHARACTERISTICS_GUARD_CF",
            "DelayImportDescriptorRVA: 0x",
        ] {
            assert!(text.contains(expected), "{machine:?}: {expected} in\n{text}");
        }
        for absent in ["TLSTableRVA: 0x0\n", "LoadConfigTableRVA: 0x0\n", "CheckSum: 0x0\n"] {
            assert!(!text.contains(absent), "{machine:?}: {absent} in\n{text}");
        }
        let kind = if image_is_wide(machine) { "DIR64" } else { "HIGHLOW" };
        assert!(text.contains(&format!("Type: {kind}")), "{machine:?}\n{text}");
        assert_eq!(
            text.contains("Type: ARM_MOV32(T)"),
            machine == Machine::Arm,
            "{machine:?}\n{text}"
        );
    }
}

fn image_is_wide(machine: Machine) -> bool {
    matches!(machine, Machine::X86_64 | Machine::Arm64)
}

#[test]
fn mingw_builds_for_both_machines_and_wine_runs_the_wide_one() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdio.h>\nint main(void) { puts(\"from C\"); return 3; }";
    for machine in [Machine::X86_64, Machine::I686] {
        let name = format!("{machine:?}.exe");
        let Some(_) = mingw(folder.path(), machine, &name, source, &["-O1"]) else { return };
    }
    let Some(wine) = Wine::shared() else { return };
    let run = wine.run(folder.path(), &["X86_64.exe"]);
    assert_eq!((run.code, run.stdout.trim_end()), (Some(3), "from C"));
}
