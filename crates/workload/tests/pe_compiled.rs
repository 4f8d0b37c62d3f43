//! Emitted PE images beside those that clang and lld build of the same program.

mod pe_common;

use pe_common::{emit, pietrek, readobj};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use workload::{Arch, By, Pietrek};

const LIBRARY: &str = "LoadTimeDLL_1.dll";
const PROGRAM: &str = "LoadTimeTest.exe";

/// The library's source: every function stores its address where it already is.
fn library_source(asked: &Pietrek) -> String {
    let mut text = String::new();
    for function in 1..=asked.functions {
        let name = format!("LoadTimeDLL_1_func_{function}");
        writeln!(text, "int {name}(void);").expect("memory");
        for global in 0..asked.globals {
            writeln!(text, "void *volatile g_{function}_{global} = (void *){name};")
                .expect("memory");
        }
        writeln!(text, "int {name}(void) {{").expect("memory");
        for global in 0..asked.globals {
            writeln!(text, "  g_{function}_{global} = (void *){name};").expect("memory");
        }
        writeln!(text, "  return {function};\n}}").expect("memory");
    }
    text
}

fn program_source(asked: &Pietrek) -> String {
    let names = || (1..=asked.functions).map(|number| format!("LoadTimeDLL_1_func_{number}"));
    let mut text = String::new();
    names().for_each(|name| {
        writeln!(text, "__declspec(dllimport) int {name}(void);").expect("memory")
    });
    text.push_str("int mainCRTStartup(void) {\n  int sum = 0;\n");
    names().for_each(|name| writeln!(text, "  sum += {name}();").expect("memory"));
    text + "  return sum;\n}\n"
}

fn definition(asked: &Pietrek) -> String {
    let suffix = if asked.by == By::Ordinal { " NONAME" } else { "" };
    let exports = (1..=asked.functions)
        .map(|number| format!("LoadTimeDLL_1_func_{number} @{number}{suffix}\n"));
    format!("LIBRARY {LIBRARY}\nEXPORTS\n{}", exports.collect::<String>())
}

fn build(clang: &Path, lld: &Path, folder: &Path, asked: &Pietrek) {
    let flags = ["--target=x86_64-pc-windows-msvc", "-O1", "-ffreestanding", "-c"];
    let library = testkit::compile(clang, folder, "library.obj", &library_source(asked), &flags);
    let program = testkit::compile(clang, folder, "program.obj", &program_source(asked), &flags);
    std::fs::write(folder.join("library.def"), definition(asked)).expect("a file");
    let link = |words: &[&str], object: &Path| {
        let mut command = Command::new(lld);
        command.args(["/nodefaultlib", "/dynamicbase:no"]).args(words).arg(object);
        let output = command.current_dir(folder).output().expect("the linker runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let out = format!("/out:{LIBRARY}");
    link(
        &["/dll", "/noentry", "/fixed:no", "/def:library.def", "/implib:library.lib", &out],
        &library,
    );
    let out = format!("/out:{PROGRAM}");
    link(&["/entry:mainCRTStartup", "/subsystem:console", "library.lib", &out], &program);
}

/// Lines of a dump that name what is exported, relocated or imported, without addresses.
fn facts(text: &str, keys: &[&str]) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let mut facts: Vec<String> = lines
        .filter(|line| keys.iter().any(|key| line.starts_with(key)))
        .map(str::to_owned)
        .collect();
    facts.sort();
    facts
}

/// The part of a program's imports that is the library's.
fn imports(text: &str) -> &str {
    let start = text.find(&format!("Name: {LIBRARY}")).expect("the library");
    let part = &text[start..];
    part.split("\n}").next().unwrap_or(part)
}

#[test]
fn compiled_and_emitted_libraries_and_programs_have_the_same_tables() {
    let Some(readobj_path) = testkit::tool("llvm-readobj-19") else { return };
    let Some(clang) = testkit::tool("clang-19") else { return };
    let Some(lld) = testkit::tool("lld-link-19") else { return };
    for by_ordinal in [false, true] {
        let asked = pietrek((1, 60, 4, by_ordinal, Arch::X86_64));
        let emitted = emit(&asked);
        let compiled = tempfile::tempdir().expect("a folder");
        build(&clang, &lld, compiled.path(), &asked);
        let read = |folder: &Path, flags: &[&str], file: &str| {
            readobj(&readobj_path, flags, &folder.join(file))
        };
        let tables = |folder: &Path| {
            // lld ends its section in front of an empty name table, where llvm-readobj looks.
            let exports = if by_ordinal {
                Vec::new()
            } else {
                facts(&read(folder, &["--coff-exports"], LIBRARY), &["Name:", "Ordinal:"])
            };
            let sites =
                facts(&read(folder, &["--coff-basereloc"], LIBRARY), &["Type: DIR64"]).len();
            let imported = read(folder, &["--coff-imports"], PROGRAM);
            let mut symbols = facts(imports(&imported), &["Symbol:"]);
            if !by_ordinal {
                // lld writes ordinals where hints belong.
                symbols.iter_mut().for_each(|text| text.truncate(text.find('(').unwrap_or(0)));
            }
            (exports, sites, symbols)
        };
        let (ours, theirs) = (tables(emitted.path()), tables(compiled.path()));
        assert_eq!(ours, theirs, "by ordinal: {by_ordinal}");
        assert_eq!((ours.1, ours.2.len()), (240, 60));
    }
}
