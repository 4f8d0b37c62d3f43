//! The tables that a library begins with stand with those of others, where no instruction knows them.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use image::elf::{Loadable, spec};
use std::path::Path;
use std::process::Command;

const PLAIN: &str = "int plain(void) { return 1; }";
/// Reads its file header through an instruction.
const READS: &str = r#"
#include <string.h>
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
int reads(void) { return memcmp(__ehdr_start, "\177ELF", 4) ? 100 : 2; }
"#;
/// Reads its program headers through a pointer, which is relocated.
const POINTS: &str = r#"
#include <link.h>
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
const ElfW(Ehdr) *const volatile header = &__ehdr_start;
int points(void) {
    const ElfW(Phdr) *first = (const void *)((const char *)header + header->e_phoff);
    return first->p_type == PT_LOAD && first->p_offset == 0 ? 4 : 200;
}
"#;
/// Has constants before its code, as lld and mold link.
const CONSTANTS: &str = r#"
#include <stdio.h>
static const char text[] = "first";
int constants(void) { volatile char c = text[3]; return c == 's' ? 8 : 300; }
"#;
/// Looks all of them up, also in their own tables.
const MAIN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int call(const char *library, const char *name) {
    Dl_info info;
    int (*function)(void) = dlsym(dlopen(library, RTLD_NOW), name);
    if (!function || !dladdr(function, &info) || strcmp(info.dli_sname, name)) return 1000;
    return function() + (dlsym(RTLD_DEFAULT, name) == function ? 0 : 2000);
}
int plain(void), reads(void), points(void), constants(void);
int main(void) {
    int direct = plain() + reads() + points() + constants();
    int found = call("libplain.so", "plain") + call("libreads.so", "reads")
        + call("libpoints.so", "points") + call("libconstants.so", "constants");
    printf("%d %d\n", direct, found);
    return 0;
}
"#;

fn output(program: &Path) -> String {
    let out = Command::new(program).env("HEADSTART_STALE", "never").output().unwrap();
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// Whether the first part of the library is in the section for such tables.
fn is_apart(run: &Path, library: &Path) -> bool {
    let (bundle, original) = (Loadable::open(run).unwrap(), Loadable::open(library).unwrap());
    let sections = bundle.sections();
    let section = sections.iter().find(|it| it.name == ".rodata.headstart.libraries").unwrap();
    let range = section.header.offset.index()..section.header.extent().end.index();
    let first = original.segments().iter().find(|part| part.loads()).unwrap();
    let first = original.segment_bytes(first);
    bundle.bytes()[range].windows(first.len()).any(|bytes| bytes == first)
}

/// How many parts of the bundle have no other right than to be read.
fn constant_parts(run: &Path) -> usize {
    let image = Loadable::open(run).unwrap();
    image.segments().iter().filter(|part| part.loads() && part.flags == spec::PF_R).count()
}

#[test]
fn tables_stand_together_where_no_instruction_knows_them() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let compile = |name: &str, source: &str, words: &[&str]| {
        testkit::compile(&cc, &at, name, source, &[&["-O2"], words].concat())
    };
    let shared = ["-shared", "-fPIC", "-Wl,-z,separate-code"];
    let library = |name: &str, source: &str, more: &[&str]| {
        let soname = format!("-Wl,-soname,lib{name}.so");
        compile(&format!("lib{name}.so"), source, &[&shared[..], &[&soname], more].concat())
    };
    let plain = library("plain", PLAIN, &[]);
    let kept = [
        library("reads", READS, &[]),
        library("points", POINTS, &[]),
        library("constants", CONSTANTS, &["-Wl,-z,noseparate-code"]),
    ];
    let here = format!("-L{}", at.display());
    let libraries = ["-lplain", "-lreads", "-lpoints", "-lconstants", "-Wl,-rpath,$ORIGIN"];
    let program = compile("main", MAIN, &[&[&here[..]], &libraries[..]].concat());
    assert_eq!(output(&program), "15 15\n");
    for fixed in [false, true] {
        let bundle = at.join(format!("bundle-{fixed}"));
        std::fs::create_dir(&bundle).unwrap();
        let options = BundleOptions { fixed, ..BundleOptions::default() };
        let made = bundle::make(&program, &bundle, &options).unwrap();
        assert!(is_apart(&made.run, &plain));
        for library in &kept {
            assert!(!is_apart(&made.run, library), "{}", library.display());
        }
        assert_eq!(output(&made.run), "15 15\n");
    }
}

#[test]
fn tables_of_many_libraries_are_one_part() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let shared = ["-shared", "-fPIC", "-Wl,-z,separate-code"];
    let mut words = vec![format!("-L{}", at.display()), "-Wl,-rpath,$ORIGIN".to_owned()];
    let mut parts = Vec::new();
    for number in 0..6 {
        let source = format!("int f{number}(void) {{ return {number}; }}");
        testkit::compile(&cc, &at, &format!("lib{number}.so"), &source, &shared);
        words.push(format!("-l{number}"));
        let declared: Vec<String> = (0..=number).map(|n| format!("int f{n}(void);")).collect();
        let called: Vec<String> = (0..=number).map(|n| format!("f{n}()")).collect();
        let source =
            format!("{} int main(void) {{ return {}; }}", declared.join(" "), called.join(" + "));
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = testkit::compile(&cc, &at, &format!("main{number}"), &source, &arguments);
        let bundle = at.join(format!("bundle{number}"));
        std::fs::create_dir(&bundle).unwrap();
        let options = BundleOptions { fixed: true, ..BundleOptions::default() };
        parts.push(constant_parts(&bundle::make(&program, &bundle, &options).unwrap().run));
    }
    // Each library has one constant part more, what comes behind its code, and not two.
    let more: Vec<usize> = parts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(more, [1; 5], "{parts:?}");
}

/// The tables are larger than the program: in front of the library's code they would lie over the program.
#[test]
fn debuggers_know_the_program_beside_a_library_with_large_tables() {
    let (Some(cc), Some(gdb)) = (testkit::tool("gcc"), testkit::tool("gdb")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let functions =
        (0..2000).map(|n| format!("int a_name_that_takes_room_{n}(void) {{ return {n}; }}\n"));
    let shared = ["-shared", "-fPIC", "-Wl,-z,separate-code", "-Wl,-soname,liblarge.so"];
    testkit::compile(&cc, &at, "liblarge.so", &functions.collect::<String>(), &shared);
    let here = format!("-L{}", at.display());
    let source = "int a_name_that_takes_room_7(void);\n\
                  int main(void) { return a_name_that_takes_room_7() - 7; }";
    let words = [&here[..], "-g", "-llarge", "-Wl,-rpath,$ORIGIN"];
    let program = testkit::compile(&cc, &at, "main", source, &words);
    let bundle = at.join("bundle");
    std::fs::create_dir(&bundle).unwrap();
    let made = bundle::make(&program, &bundle, &BundleOptions::default()).unwrap();
    let commands = ["-ex", "break a_name_that_takes_room_7", "-ex", "continue", "-ex", "backtrace"];
    let mut command = Command::new(gdb);
    command.env("HEADSTART_STALE", "never").args(["-q", "-nx", "-batch", "-x"]);
    command.arg(bundle.join("symbols.gdb")).args(commands).arg("--args").arg(&made.run);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("in a_name_that_takes_room_7 ()"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("#1") && line.contains("in main () at")),
        "{text}"
    );
}
