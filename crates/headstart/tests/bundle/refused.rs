//! What is not bundled: a sentence each, and nothing left behind.

use crate::common::stderr;
use crate::stage::{Stage, command, headstart, names, outcome, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// It ends with this code and these words, and the folders that it made are gone.
fn refused(words: &[&str], program: &Path, code: i32, says: &str) {
    for fixed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/folders").display().to_string();
        let mut all = vec!["bundle", "--out", &out, program.to_str().unwrap()];
        all.extend_from_slice(words);
        all.extend(fixed.then_some("--fixed"));
        told(&run(&all), code, says);
        assert_eq!(names(folder.path()), [] as [&str; 0], "{all:?}");
    }
}

fn told(output: &Output, code: i32, says: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(says), "'{says}' is not in: {text}");
    assert!(text.starts_with("headstart: ") && text.lines().count() == 1, "{text}");
    assert!(output.stdout.is_empty());
}

struct Place {
    folder: TempDir,
    cc: PathBuf,
}

impl Place {
    fn new() -> Option<Place> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        Some(Place { folder, cc })
    }

    fn built(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        testkit::compile(&self.cc, self.folder.path(), name, source, flags)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// It is bundled, and runs as the original.
    fn same(&self, program: &Path) -> String {
        let original = outcome(&command(program).output().unwrap());
        let mut said = String::new();
        for (kind, words) in [("out", &[][..]), ("fixed", &["--fixed"])] {
            let out = self.path(kind).display().to_string();
            let made =
                run(&[&["bundle", "--out", &out, program.to_str().unwrap()], words].concat());
            assert!(made.status.success(), "{}", stderr(&made));
            said = String::from_utf8(made.stdout).unwrap();
            let bundle = command(&self.path(kind).join("run")).output().unwrap();
            assert_eq!(outcome(&bundle), original, "{kind}");
            let current = run(&["verify", &out]);
            assert!(current.status.success(), "{}", String::from_utf8_lossy(&current.stdout));
        }
        said
    }
}

const MAIN: &str = "#include <stdio.h>\nint main(void) { return puts(\"here\") < 0; }";

#[test]
fn no_program_of_this_loader() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    let bytes = fs::read(&program).unwrap();
    let changed = |name: &str, at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        place.file(name, &bytes)
    };
    refused(&[], &place.built("static", MAIN, &["-static"]), 2, "is static");
    refused(&[], &place.file("script", b"#!/bin/sh\necho here\n"), 6, "script");
    refused(&[], &place.file("text", b"echo here\n"), 6, "is not an ELF file");
    refused(&[], &place.file("empty", b""), 6, "it is empty");
    refused(&[], &changed("arm", 18, 183), 1, "it is for aarch64");
    let mut other = bytes.clone();
    (other[4], other[18]) = (1, 3);
    refused(&[], &place.file("i386", &other), 6, "is not a 64-bit");
    refused(&[], Path::new("/no/such/program"), 3, "does not exist");
    refused(&[], place.folder.path(), 3, "is a folder");
    refused(&[], Path::new("/etc/passwd"), 3, "chmod +x");
    if let Some(musl) = testkit::tool("musl-gcc") {
        let program = testkit::compile(&musl, place.folder.path(), "musl", MAIN, &[]);
        refused(&[], &program, 2, "only glibc's loader");
    }
}

#[test]
fn truncated_at_any_length() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    let bytes = fs::read(&program).unwrap();
    let lengths = (0..100).step_by(9).chain((100..bytes.len()).step_by(bytes.len() / 50));
    for length in lengths {
        let program = place.file("torn", &bytes[..length]);
        let out = place.path("out");
        let words = ["bundle", "--out", out.to_str().unwrap(), program.to_str().unwrap()];
        let output = run(&words);
        let code = output.status.code();
        if code == Some(0) {
            // What is missing is behind all that is loaded.
            let done = command(&out.join("run")).output().unwrap();
            assert_eq!(outcome(&done), outcome(&command(&program).output().unwrap()), "{length}");
            fs::remove_dir_all(&out).unwrap();
            continue;
        }
        assert!(matches!(code, Some(1 | 2 | 3 | 6)), "{length}: {}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{length}: {}", stderr(&output));
        assert!(!out.exists(), "{length}");
    }
}

#[test]
fn libraries_that_are_not_what_they_should_be() {
    let Some(stage) = Stage::bare() else { return };
    let library = stage.path("third/libthree.so.1");
    let bytes = fs::read(&library).unwrap();
    fs::remove_file(&library).unwrap();
    refused(&[], &stage.path("program"), 6, "libthree.so.1 is not found");
    fs::write(&library, b"a text").unwrap();
    refused(&[], &stage.path("program"), 6, "libthree.so.1");
    // Its tables are gone: what others need of it cannot be found.
    fs::write(&library, &bytes[..bytes.len() / 3]).unwrap();
    refused(&[], &stage.path("program"), 1, "which neither it nor any library defines");
}

#[test]
fn privileges_would_be_lost() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    for (mode, says) in [(0o4755, "set-user-ID"), (0o2755, "set-group-ID")] {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        refused(&[], &program, 1, says);
        let link = place.path(says);
        symlink(&program, &link).unwrap();
        refused(&[], &link, 1, says);
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let Some(setcap) = testkit::tool("setcap") else { return };
    let set = Command::new(setcap).arg("cap_net_raw+ep").arg(&program).output().unwrap();
    if !set.status.success() {
        testkit::skip("capabilities are only given by root");
        return;
    }
    refused(&[], &program, 1, "file capabilities");
}

#[test]
fn what_a_bundle_cannot_follow() {
    let Some(stage) = Stage::bare() else { return };
    let (out, program) = (stage.text("made/out"), stage.text("program"));
    let mut made = headstart(&["bundle", "--out", &out, &program]);
    told(
        &made.env("LD_PRELOAD", stage.path("preload.so")).output().unwrap(),
        1,
        "LD_PRELOAD is set",
    );
    assert!(names(&stage.path("made")).is_empty());
    let Some(place) = Place::new() else { return };
    let folder = format!("-Wl,-rpath,{}", place.folder.path().display());
    place.built(
        "libu.so",
        "void nowhere(void); void u(int n) { if (n) nowhere(); }",
        &["-shared", "-fPIC"],
    );
    let flags = ["-L.", "-lu", &folder, "-Wl,--unresolved-symbols=ignore-all"];
    let program = place.built("program", "void u(int); int main(void) { u(0); return 3; }", &flags);
    refused(&[], &program, 1, "refers to nowhere, which neither it nor any library defines");
}

#[test]
fn where_nothing_can_be_written() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    let file = stage.path("a-file");
    fs::write(&file, "mine").unwrap();
    for out in [stage.text("a-file"), stage.text("a-file/below"), "/proc/nothing".to_owned()] {
        told(&run(&["bundle", "--out", &out, &program]), 6, &out);
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let (read, closed) = (fs::Permissions::from_mode(0o755), stage.path("closed"));
    fs::set_permissions(stage.folder.path(), read.clone()).unwrap();
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, read).unwrap();
    let mut nobody = command(&setpriv);
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    nobody.arg(env!("CARGO_BIN_EXE_headstart")).arg("bundle").arg("--out").arg(&closed);
    let output = nobody.arg(&program).output().unwrap();
    if stderr(&output).starts_with("setpriv") {
        testkit::skip("another user can only be taken on by root, and must reach headstart");
        return;
    }
    told(&output, 6, "Permission denied");
    assert!(names(&closed).is_empty());
}

/// Mounts a file system on the stage's folder `full`, and bundles there; what is left is listed.
fn in_a_mount(stage: &Stage, options: &str) -> Option<Output> {
    let unshare = testkit::tool("unshare")?;
    let folder = stage.text("full");
    fs::create_dir_all(&folder).unwrap();
    let script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 99\n\
        \"$3\" bundle --out \"$2/new\" \"$4\"; code=$?; ls -A \"$2\"; exit $code";
    let mut command = command(&unshare);
    command.args(["-m", "sh", "-c", script, "sh", options, &folder]);
    let output =
        command.arg(env!("CARGO_BIN_EXE_headstart")).arg(stage.path("program")).output().unwrap();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare") {
        testkit::skip("file systems are only mounted by root");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_file_system_and_one_where_nothing_is_executed() {
    let Some(stage) = Stage::bare() else { return };
    for size in ["4k", "40k", "100k"] {
        let Some(output) = in_a_mount(&stage, &format!("size={size}")) else { return };
        told(&output, 6, "No space left on device");
    }
    if let Some(output) = in_a_mount(&stage, "noexec") {
        told(&output, 6, "mounted with noexec");
    }
}

/// They fail as a bundle as they do without.
#[test]
fn programs_that_fail_at_once() {
    let Some(place) = Place::new() else { return };
    let crash = "__attribute__((constructor)) void c(void) { *(volatile int *)8 = 1; }";
    place.same(&place.built("crash", &format!("{crash}\n{MAIN}"), &[]));
    place.same(&place.built("fails", "int main(void) { return 77; }", &[]));
}

/// As the loader does: two files are two libraries.
#[test]
fn two_libraries_of_one_name() {
    let Some(patchelf) = testkit::tool("patchelf") else { return };
    let Some(place) = Place::new() else { return };
    for name in ["a", "b"] {
        fs::create_dir(place.path(name)).unwrap();
        let source = format!(
            "int {name}(void) {{ return '{name}'; }} int both(void) {{ return '{name}'; }}"
        );
        place.built(&format!("{name}/libx.so"), &source, &["-shared", "-fPIC"]);
    }
    let (a, b) = (place.path("a/libx.so"), place.path("b/libx.so"));
    let source = "#include <stdio.h>\nint a(void), b(void), both(void);\n\
        int main(void) { printf(\"%c%c%c\\n\", a(), b(), both()); return 0; }";
    let program = place.built("program", source, &[a.to_str().unwrap(), b.to_str().unwrap()]);
    for library in [&a, &b] {
        let set = Command::new(&patchelf).args(["--set-soname", "libx.so"]).arg(library).status();
        assert!(set.unwrap().success());
    }
    assert_eq!(command(&program).output().unwrap().stdout, b"aba\n");
    place.same(&program);
}

#[test]
fn rare_libraries() {
    let Some(place) = Place::new() else { return };
    let own = format!("-Wl,-rpath,{}", place.folder.path().display());
    let with = |name: &str, source: &str, flags: &[&str]| {
        place.built(&format!("lib{name}.so"), source, &[&["-shared", "-fPIC"], flags].concat());
        let library = format!("-l{name}");
        let main =
            "#include <stdio.h>\nint f(void); int main(void) { printf(\"%d\\n\", f()); return 0; }";
        place.built(name, main, &["-L.", &library, &own])
    };
    // Its code is relocated: it stays outside.
    let code = "int f(void); __asm__(\".globl f\\n.type f,@function\\nf: mov $9, %eax\\nret\\n.quad f\\n\");";
    let said = place.same(&with("textrel", code, &["-Wl,-z,notext"]));
    assert!(said.contains("its code is relocated (DT_TEXTREL)"), "{said}");
    let mut many = "int f(void) { return 5; }\n".to_owned();
    for index in 0..4000 {
        many += &format!("__asm__(\".section s{index},\\\"a\\\"; .long {index}; .text\");\n");
    }
    place.same(&with("sections", &many, &[]));
}

/// A program with as many libraries, of four segments each; each counts itself.
fn crowd(place: &Place, count: usize) -> PathBuf {
    let source = "extern void count(void);\n\
        __attribute__((constructor)) static void c(void) { count(); }";
    let flags = ["-shared", "-fPIC", "-O1", "-Wl,-z,separate-code", "-Wl,-soname,lib0000.so"];
    let bytes = fs::read(place.built("lib0000.so", source, &flags)).unwrap();
    let at = bytes.windows(10).position(|name| name == b"lib0000.so").unwrap();
    let own = format!("-Wl,-rpath,{}", place.folder.path().display());
    let mut flags = vec!["-rdynamic".to_owned(), own, "-Wl,--no-as-needed".to_owned()];
    for index in 0..count {
        let name = format!("lib{index:04}.so");
        let mut copy = bytes.clone();
        copy[at..at + 10].copy_from_slice(name.as_bytes());
        fs::write(place.path(&name), copy).unwrap();
        flags.push(name);
    }
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let main = "#include <stdio.h>\nint n; void count(void) { n++; }\n\
        int main(void) { printf(\"%d\\n\", n); return 0; }";
    place.built("program", main, &flags)
}

#[test]
fn more_segments_than_kernels_take() {
    let Some(place) = Place::new() else { return };
    let said = place.same(&crowd(&place, 300));
    assert!(said.contains("One file can have 1,170 parts"), "{said}");
    let done = command(&place.path("out/run")).output().unwrap();
    assert_eq!(done.stdout, b"300\n");
}

#[test]
fn far_too_many_libraries() {
    let Some(place) = Place::new() else { return };
    let program = crowd(&place, 700);
    refused(&[], &program, 1, "leave libraries out with --outside");
}
