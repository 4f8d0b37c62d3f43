//! PE images by other linkers: a program of Cygwin whose imports lie far behind its headers.

use image::identify::identify;
use model::{FileKind, Identity, Role, Runtime, Subsystem};
use std::path::Path;
use std::process::Command;

fn runs(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{said}");
}

/// A program that calls `function` of `library`, behind a table of as many bytes.
fn program(folder: &Path, library: &str, table_bytes: usize, machine: &str) -> Option<Identity> {
    let [clang, dlltool, link] = ["clang-19", "llvm-dlltool-19", "lld-link-19"].map(testkit::tool);
    let (clang, dlltool, link) = (clang?, dlltool?, link?);
    let file = |name: &str| folder.join(name);
    std::fs::write(file("a.def"), format!("LIBRARY {library}\nEXPORTS\nfunction\n")).unwrap();
    let machine_option = if machine == "x86_64" { "i386:x86-64" } else { "arm64" };
    runs(
        Command::new(dlltool)
            .args(["-m", machine_option, "-d"])
            .arg(file("a.def"))
            .arg("-l")
            .arg(file("a.lib")),
    );
    let source = format!(
        "__declspec(dllimport) int function(const char *);\n\
         const char table[{table_bytes}] = {{1}};\n\
         int start(void) {{ return function(table); }}\n"
    );
    std::fs::write(file("a.c"), source).unwrap();
    let target = format!("--target={machine}-pc-windows-msvc");
    runs(Command::new(clang).args([&target, "-c", "-o"]).arg(file("a.obj")).arg(file("a.c")));
    let mut command = Command::new(link);
    command.args(["/entry:start", "/subsystem:console", "/nodefaultlib"]);
    command.arg(format!("/out:{}", file("a.exe").display()));
    runs(command.arg(file("a.obj")).arg(file("a.lib")));
    Some(identify(&file("a.exe")).unwrap())
}

#[test]
fn a_program_of_cygwin_behind_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    for (library, runtime) in [
        ("cygwin1.dll", Some(Runtime::Cygwin)),
        ("msys-2.0.dll", Some(Runtime::Msys)),
        ("other.dll", None),
    ] {
        for (table_bytes, machine) in [(64, "x86_64"), (8_000_000, "x86_64"), (64, "aarch64")] {
            let found = program(folder.path(), library, table_bytes, machine);
            let Some(found) = found else { return };
            assert_eq!(found.runtimes, Vec::from_iter(runtime), "{found:?}");
            assert_eq!((found.unknown, found.role), (None, Some(Role::Executable)));
            assert_eq!(found.subsystem, Some(Subsystem::Console));
            assert_eq!(found.machine.as_deref(), Some(machine));
            let least = if table_bytes > 4096 { 4097 } else { 0 };
            assert!((least..8192).contains(&found.bytes_read), "{}", found.bytes_read);
            let object = identify(&folder.path().join("a.obj")).unwrap();
            assert_eq!((object.kind, object.role), (FileKind::Coff, Some(Role::Object)));
            assert_eq!(object.machine, found.machine);
            let imports = identify(&folder.path().join("a.lib")).unwrap();
            assert_eq!(imports.detail, "Windows static or import library");
        }
    }
}

#[test]
fn debug_information_is_no_program() {
    let tools = ["cc", "objcopy"].map(testkit::tool);
    let [Some(cc), Some(objcopy)] = tools else { return };
    let folder = tempfile::tempdir().unwrap();
    for option in ["-pie", "-no-pie", "-static", "-shared"] {
        let source = "int main(void) { return 0; }";
        let program = testkit::compile(&cc, folder.path(), "a", source, &["-g", "-fPIC", option]);
        assert!(identify(&program).unwrap().role.is_some());
        runs(Command::new(&objcopy).arg("--only-keep-debug").arg(&program));
        let found = identify(&program).unwrap();
        assert_eq!(found.role, None, "{option}: {found:?}");
        assert!(found.detail.starts_with("debug information of an image, "), "{found:?}");
    }
}
