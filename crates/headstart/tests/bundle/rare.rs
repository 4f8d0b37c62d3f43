//! Programs that are bundled although something about them is rare.

use crate::place::Place;
use crate::refused::{MAIN, refused};
use crate::stage::command;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use testkit::WhenFree;

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
    assert_eq!(command(&program).output_when_free().stdout, b"aba\n");
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
    // It would be initialized after libraries that come before it in the bundle.
    let first = "static int at; __attribute__((constructor)) static void c(void) { at = 6; }\n\
        int f(void) { return at; }";
    let said = place.same(&with("first", first, &["-Wl,-z,initfirst"]));
    assert!(said.contains("(DF_1_INITFIRST)"), "{said}");
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
    assert!(said.contains("One file can have only 1,170 segments"), "{said}");
    let done = command(&place.path("out/run")).output_when_free();
    assert_eq!(done.stdout, b"300\n");
}

#[test]
fn far_too_many_libraries() {
    let Some(place) = Place::new() else { return };
    let program = crowd(&place, 700);
    refused(&[], &program, 1, "leave libraries out with --outside");
}
