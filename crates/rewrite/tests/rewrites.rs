//! `relr` and `no-pie` on programs of every compiler and linker, before the eyes of readelf, the
//! real loader, and the tools that rewrite files after us.
#![allow(clippy::unwrap_used)] // a test that cannot build its program fails

mod common;

use common::{after_tools, open, output, silent, warnings, written};
use image::elf::Loadable;
use image::elf::spec;
use model::Va;
use rewrite::{no_pie, relr};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use testkit::WhenFree;

/// Pointers in constant, writable and thread-local data, an indirect function, COPY relocations,
/// a weak reference, constructors, calls that wait for their first time.
const PROGRAM: &str = r#"
#include <stdio.h>
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*choose(void))(void) { return two; }
int chosen(void) __attribute__((ifunc("choose")));
static int (*const table[])(void) = { one, two, chosen };
static const char *const names[] = { "zero", "one", "two" };
const char *changing[] = { "a", "b" };
__thread const char *own = "thread";
extern int missing(void) __attribute__((weak));
extern const char *library(int);
extern int library_data;
static int started;
__attribute__((constructor)) static void start(void) { started = 7; }
int main(int count, char **all) {
    (void)all;
    fprintf(stdout, "%d %d %s %s %s %d %d %s %d\n", table[count](), table[count + 1](), names[count],
        changing[count], own, missing == 0, started, library(count), library_data);
    return 0;
}
"#;
const LIBRARY: &str = r#"
#include <stdlib.h>
static const char *const words[] = { "no", "yes", "perhaps" };
static __thread const char *const *place = words;
int library_data = 42;
static int prepared;
__attribute__((constructor)) static void prepare(void) { prepared = abs(atoi(getenv("NOT-SET") ? "4" : "3")); }
const char *library(int which) { return place[which + prepared - 3]; }
"#;
const SAID: &str = "2 2 one b thread 1 7 yes 42\n";
/// Options of the linker that change what files look like, and the linkers that take them.
///
/// patchelf crashes on every program at fixed addresses that mold gave large pages.
const LAYOUTS: [(&str, &[&str]); 3] = [
    ("-Wl,-z,lazy", &["bfd", "lld", "mold"]),
    ("-Wl,-z,now,-z,max-page-size=0x200000", &["bfd", "lld"]),
    ("-Wl,-z,noseparate-code,-z,norelro", &["bfd", "lld"]),
];

/// A program and its library by one compiler and linker; the library is found beside it.
struct Built {
    folder: TempDir,
    program: PathBuf,
    library: PathBuf,
}

fn built(compiler: &str, linker: &str, layout: &str) -> Option<Built> {
    let cc = testkit::tool(compiler)?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    match linker {
        "lld" => {
            std::os::unix::fs::symlink(testkit::tool("ld.lld-19")?, path.join("ld.lld")).unwrap()
        }
        "mold" => drop(testkit::tool("mold")?),
        _ => {}
    }
    let find = format!("-B{}", path.display());
    let linker = format!("-fuse-ld={linker}");
    let common = [find.as_str(), &linker, layout, "-O1"];
    let flags = [&["-shared", "-fPIC", "-Wl,-soname,liblibrary.so"], &common[..]].concat();
    let library = testkit::compile(&cc, path, "liblibrary.so", LIBRARY, &flags);
    let flags =
        [&["-pie", "-fPIE", "-L.", "-llibrary", "-Wl,-rpath,$ORIGIN"], &common[..]].concat();
    let program = testkit::compile(&cc, path, "program", PROGRAM, &flags);
    assert_eq!(output(&program), SAID, "{compiler} {linker} {layout}");
    Some(Built { folder, program, library })
}

fn each(check: impl Fn(&Built, &str)) {
    for (layout, linkers) in LAYOUTS {
        for linker in linkers {
            for compiler in ["gcc", "clang-19"] {
                if let Some(built) = built(compiler, linker, layout) {
                    check(&built, &format!("{compiler} {linker} {layout}"));
                }
            }
        }
    }
}

/// What relative relocations write, by address.
fn pointers(image: &Loadable) -> BTreeMap<Va, u64> {
    let relative = |r: &image::elf::loadable::Relocation| r.kind == spec::R_X86_64_RELATIVE;
    let plain = image.relocations().filter(relative).map(|r| (r.offset, r.addend as u64));
    let packed = image.packed_addresses().map(|address| (address, word(image, address)));
    plain.chain(packed).collect()
}

fn word(image: &Loadable, address: Va) -> u64 {
    image.word(address).unwrap()
}

#[test]
fn packed_programs_and_libraries_run_as_before() {
    each(|built, name| {
        for path in [&built.program, &built.library] {
            let image = open(path);
            let packed = relr::pack(&image, None).unwrap();
            assert!(packed.counts.packed >= 4, "{name}: {}", packed.counts.packed);
            let bytes = packed.edited.to_bytes();
            let new = Loadable::from_bytes("packed", bytes.clone()).unwrap();
            assert_eq!(pointers(&new), pointers(&image), "{name}");
            assert_eq!(new.packed_relocations(), packed.counts.packed, "{name}");
            assert_eq!(
                new.relocations().filter(|r| !r.lazy).count() as u64,
                packed.counts.relocations_after
            );
            let asked = (0..0x100).filter_map(|index| new.version(index));
            let asked = asked.filter(|version| version.name == b"GLIBC_ABI_DT_RELR");
            assert_eq!(asked.count(), 1, "{name}");
            let original = std::fs::read(path).unwrap();
            check(built, path, &bytes, name);
            std::fs::remove_file(path).unwrap();
            written(path, &original);
        }
    });
}

#[test]
fn fixed_programs_run_as_before() {
    each(|built, name| {
        let image = open(&built.program);
        let base = 0x12_3460_0000;
        let fixed = no_pie::fix(&image, base, None).unwrap();
        let bytes = fixed.edited.to_bytes();
        let new = Loadable::from_bytes("fixed", bytes.clone()).unwrap();
        assert!(new.fixed && new.header.entry == image.header.entry + base, "{name}");
        let pointers = pointers(&image);
        assert_eq!(pointers.len() as u64, fixed.counts.applied, "{name}");
        assert!(
            pointers.iter().all(|(at, value)| word(&new, *at + base) == value + base),
            "{name}"
        );
        assert_eq!(self::pointers(&new).len(), 0, "{name}");
        check(built, &built.program, &bytes, name);
    });
}

#[test]
fn a_packed_program_can_be_fixed() {
    each(|built, name| {
        let image = open(&built.program);
        let packed = relr::pack(&image, None).unwrap().edited.to_bytes();
        let image = Loadable::from_bytes("packed", packed).unwrap();
        let fixed = no_pie::fix(&image, no_pie::base(&image, 12_345_678_901), None).unwrap();
        check(built, &built.program, &fixed.edited.to_bytes(), name);
    });
}

/// The new file in the place of the old one, as it is and after each tool.
fn check(built: &Built, path: &Path, bytes: &[u8], name: &str) {
    let run = || {
        silent(path);
        assert_eq!(output(&built.program), SAID, "{name}");
    };
    std::fs::remove_file(path).unwrap();
    written(path, bytes);
    run();
    after_tools(path, bytes, name, run);
    std::fs::remove_file(path).unwrap();
    written(path, bytes);
}

#[test]
fn files_without_section_headers_are_rewritten() {
    let Some(strip) = testkit::tool("llvm-strip-19") else { return };
    for linker in ["bfd", "lld", "mold"] {
        let Some(built) = built("gcc", linker, "-Wl,-z,lazy") else { return };
        for path in [&built.program, &built.library] {
            let done = Command::new(&strip).arg("--strip-sections").arg(path).status().unwrap();
            assert!(done.success());
        }
        assert_eq!(output(&built.program), SAID);
        // Without sections, readelf takes the notes of mold's files for damaged.
        let said = warnings(&built.program);
        for path in [&built.library, &built.program] {
            let image = open(path);
            let bytes = relr::pack(&image, None).unwrap().edited.to_bytes();
            std::fs::remove_file(path).unwrap();
            written(path, &bytes);
            assert!([said.as_str(), ""].contains(&warnings(path).as_str()), "{linker}");
            assert_eq!(output(&built.program), SAID, "{linker}");
        }
        let image = open(&built.program);
        let bytes = no_pie::fix(&image, 0x20_0000_0000, None).unwrap().edited.to_bytes();
        let fixed = built.folder.path().join("fixed");
        written(&fixed, &bytes);
        assert_eq!(warnings(&fixed), said, "{linker}");
        assert_eq!(output(&fixed), SAID, "{linker}");
    }
}

/// Self-extracting programs look for their data at an offset of their own file.
#[test]
fn what_follows_the_image_stays_where_it_is() {
    for linker in ["bfd", "lld"] {
        let Some(built) = built("gcc", linker, "-Wl,-z,lazy") else { return };
        let mut bytes = std::fs::read(&built.program).unwrap();
        let end = bytes.len();
        bytes.extend(b"data behind the image");
        let image = Loadable::from_bytes("program", bytes.clone()).unwrap();
        // It would move the end of the file; a fixed program is as long as before.
        let refused = relr::pack(&image, None).err().unwrap().to_string();
        assert!(refused.contains("data at offset"), "{refused}");
        let new = no_pie::fix(&image, 0x20_0000_0000, None).unwrap().edited.to_bytes();
        assert!(new.len() == bytes.len() && new[end..] == bytes[end..]);
        check(&built, &built.program, &new, linker);
    }
}

#[test]
fn exceptions_find_their_handlers_at_new_addresses() {
    let Some(cc) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("throws.cc");
    let text = "#include <stdexcept>\n#include <iostream>\n\
        struct Base { virtual ~Base() {} virtual const char *name() const { return \"base\"; } };\n\
        struct More : Base { const char *name() const override { return \"more\"; } };\n\
        int main() { Base *base = new More;\n\
        try { if (dynamic_cast<More *>(base)) throw std::runtime_error(base->name()); }\n\
        catch (const std::exception &e) { std::cout << e.what() << std::endl; }\n\
        delete base; return 0; }";
    std::fs::write(&source, text).unwrap();
    let program = folder.path().join("throws");
    let done = Command::new(cc).arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(done.success());
    let image = open(&program);
    let packed = relr::pack(&image, None).unwrap().edited.to_bytes();
    let fixed = no_pie::fix(&image, 0x20_0000_0000, None).unwrap().edited.to_bytes();
    for (name, bytes) in [("packed", packed), ("fixed", fixed)] {
        let path = folder.path().join(name);
        written(&path, &bytes);
        silent(&path);
        assert_eq!(output(&path), "more\n");
    }
}

#[test]
fn real_programs_say_the_same() {
    for (tool, words) in
        [("git", &["--version"][..]), ("emacs", &["--batch", "--eval", "(princ (emacs-version))"])]
    {
        let Some(program) = testkit::tool(tool) else { continue };
        let program = program.canonicalize().unwrap();
        let image = open(&program);
        let folder = tempfile::tempdir().unwrap();
        let packed = relr::pack(&image, None).map(|packed| packed.edited.to_bytes());
        let fixed = no_pie::fix(&image, no_pie::base(&image, 77), None)
            .map(|fixed| fixed.edited.to_bytes());
        // The name by which a program was started tells some where their files are.
        let run = |file: &Path| {
            use std::os::unix::process::CommandExt;
            let output = Command::new(file).arg0(&program).args(words).output_when_free();
            assert!(output.status.success(), "{tool}: {output:?}");
            output.stdout
        };
        let expected = run(&program);
        for (name, bytes) in [("packed", packed), ("fixed", fixed)] {
            let Ok(bytes) = bytes else { panic!("{tool} {name}: {:?}", bytes.err()) };
            let path = folder.path().join(name);
            written(&path, &bytes);
            silent(&path);
            assert_eq!(run(&path), expected, "{tool} {name}");
        }
    }
}

#[test]
fn the_debugger_finds_functions_at_their_new_addresses() {
    let Some(gdb) = testkit::tool("gdb") else { return };
    let Some(built) = built("gcc", "bfd", "-Wl,-z,lazy") else { return };
    let image = open(&built.program);
    let bytes = no_pie::fix(&image, 0x20_0000_0000, None).unwrap().edited.to_bytes();
    std::fs::remove_file(&built.program).unwrap();
    written(&built.program, &bytes);
    let words = ["-batch", "-ex", "info files", "-ex", "break main", "-ex", "run"];
    let said = Command::new(gdb).args(words).arg(&built.program).output_when_free();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("Breakpoint 1, 0x00000020000"), "{text}");
    assert!(text.contains("is .text") && text.contains(".interp"), "{text}");
}

/// At most addresses such a program does not start: "unexpected memory mapping".
#[test]
fn a_program_with_a_sanitizer_is_not_fixed() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "int number; int main(void) { return number++; }";
    for (option, name) in [("thread", "ThreadSanitizer"), ("address", "AddressSanitizer")] {
        let option = format!("-fsanitize={option}");
        let image = open(&testkit::compile(&cc, folder.path(), name, source, &[&option]));
        let reason = no_pie::fix(&image, 0x20_0000_0000, None).err().unwrap().0;
        assert!(reason.contains(&format!("it is built with {name} ({option})")), "{reason}");
        assert!(relr::pack(&image, None).is_ok());
    }
    let option = "-fsanitize=undefined";
    let image = open(&testkit::compile(&cc, folder.path(), "undefined", source, &[option]));
    assert!(no_pie::fix(&image, 0x20_0000_0000, None).is_ok());
}

#[test]
fn what_is_not_rewritten_says_why() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "const char *word = \"word\"; int main(void) { return word[0] == 0; }";
    let build = |name: &str, flags: &[&str]| {
        open(&testkit::compile(&cc, folder.path(), name, source, flags))
    };
    let static_pie = build("static-pie", &["-static-pie"]);
    let no_pie = build("no-pie", &["-no-pie"]);
    let alone = build("alone.so", &["-shared", "-fPIC", "-nostdlib"]);
    let plain = build("plain", &[]);
    let text = build("text", &["-static", "-no-pie"]);
    let packed = relr::pack(&plain, None).unwrap().edited.to_bytes();
    let packed = Loadable::from_bytes("packed", packed).unwrap();
    let reason = |image: &Loadable| relr::pack(image, None).err().unwrap().0;
    assert!(reason(&packed).contains("already"));
    assert!(reason(&alone).contains("libc.so.6"));
    assert!(reason(&text).contains("static"));
    assert!(reason(&no_pie).contains("no relative relocations"));
    let reason = |image: &Loadable| no_pie::fix(image, 0x20_0000_0000, None).err().unwrap().0;
    assert!(reason(&static_pie).contains("relocates itself"));
    assert!(reason(&no_pie).contains("already"));
    assert!(reason(&alone).contains("library"));
    assert!(no_pie::fix(&plain, 0x20_0000_0001, None).err().unwrap().0.contains("multiple"));
    assert!(no_pie::fix(&plain, 0xffff_ffff_ffff_f000, None).err().unwrap().0.contains("base"));
    if let Some(cc) = testkit::tool("musl-gcc") {
        let musl = open(&testkit::compile(&cc, folder.path(), "musl", source, &["-fPIE", "-pie"]));
        assert!(relr::pack(&musl, None).err().unwrap().0.contains("musl"));
    }
}

#[test]
fn bases_are_aligned_and_in_range() {
    let Some(built) = built("gcc", "bfd", "-Wl,-z,max-page-size=0x200000") else { return };
    let image = open(&built.program);
    for random in [0, 1, 12_345, u64::MAX / 3, u64::MAX] {
        let base = no_pie::base(&image, random);
        assert_eq!(base % 0x20_0000, 0, "{base:#x}");
        assert!((0x10_0000_0000..0x5000_0020_0000).contains(&base), "{base:#x}");
    }
    assert_ne!(no_pie::base(&image, 1), no_pie::base(&image, 2));
}

/// A library of a hundred megabytes, in memory only.
#[test]
fn a_very_large_library_is_packed() {
    let path = Path::new("/usr/lib/llvm-19/lib/libLLVM.so.19.1");
    if testkit::tool("clang-19").is_none() || !path.exists() {
        return;
    }
    let image = open(path);
    let packed = relr::pack(&image, None).unwrap();
    let new = Loadable::from_bytes("packed", packed.edited.to_bytes()).unwrap();
    assert!(packed.counts.packed > 100_000);
    assert_eq!(new.packed_relocations(), packed.counts.packed);
    assert_eq!(pointers(&new), pointers(&image));
}
