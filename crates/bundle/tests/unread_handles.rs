//! The handle of a module (`__dso_handle`) is relocated only where something reads it.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use image::elf::records::{ProgramHeader, SectionHeader};
use image::elf::{Loadable, relr, spec};
use model::Va;
use std::path::Path;
use std::process::Command;

/// Of this library nothing is registered with its handle.
const PLAIN: &str = "int plain(void) { return 40; }";
/// This one registers a function, which ends the process with another code.
const REGISTERS: &str = r#"
#include <unistd.h>
extern void *__dso_handle;
int __cxa_atexit(void (*)(void *), void *, void *);
static void end(void *code) { _exit(*(char *)code); }
int registers(void) {
    static char code = 7;
    return __cxa_atexit(end, &code, &__dso_handle);
}
"#;
const MAIN: &str = r"
int plain(void);
int registers(void);
int main(void) { return plain() + registers(); }
";

/// The header of a section.
fn section(image: &Loadable, name: &str) -> SectionHeader {
    image.sections().iter().find(|section| section.name == name).unwrap().header
}

/// Whether the first word of the module's data, which is its handle, is relocated at a start.
fn is_relocated(run: &Path, module: &Path) -> bool {
    let (image, original) = (Loadable::open(run).unwrap(), Loadable::open(module).unwrap());
    let written = |segment: &&ProgramHeader| segment.loads() && segment.flags & spec::PF_W != 0;
    let part = original.segments().iter().find(written).unwrap();
    let name = module.file_name().unwrap().to_string_lossy();
    let start = section(&image, &format!(".data.{name}")).address;
    let handle = start + (section(&original, ".data").address - part.address);
    let packed = section(&image, ".relr.dyn");
    let start = packed.offset.index();
    let bytes = &image.bytes()[start..start + packed.size as usize];
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(*word.first_chunk().unwrap()));
    let relocated: Vec<Va> = relr::decode(words).collect();
    assert!(!relocated.is_empty());
    relocated.contains(&handle)
}

#[test]
fn a_handle_that_nothing_reads_is_left_and_others_work() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let compile =
        |name: &str, source: &str, words: &[&str]| testkit::compile(&cc, &at, name, source, words);
    let plain = compile("libplain.so", PLAIN, &["-shared", "-fPIC"]);
    let registers = compile("libregisters.so", REGISTERS, &["-shared", "-fPIC"]);
    let here = format!("-L{}", at.display());
    let words = [&here, "-lplain", "-lregisters", "-Wl,-rpath,$ORIGIN"];
    let program = compile("main", MAIN, &words);
    let bundle = at.join("bundle");
    std::fs::create_dir(&bundle).unwrap();
    let made = bundle::make(&program, &bundle, &BundleOptions::default()).unwrap();
    assert!(!is_relocated(&made.run, &plain));
    assert!(is_relocated(&made.run, &registers));
    for start in [&program, &made.run] {
        let status = Command::new(start).env("HEADSTART_STALE", "never").status().unwrap();
        assert_eq!(status.code(), Some(7), "{}", start.display());
    }
}

/// A static object, and a function that runs when the library is finalized.
const OBJECT: &str = r#"
#include <cstdio>
struct Object { ~Object() { std::puts("object"); } };
static Object object;
extern "C" __attribute__((destructor)) void last() { std::puts("library"); }
"#;

/// In the large model code finds the handle by a distance of 64 bits.
#[test]
fn objects_are_finalized_in_their_order_however_code_finds_the_handle() {
    let Some(cc) = testkit::tool("g++") else { return };
    for model in ["small", "large"] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let (object, main) = (at.join("object.cc"), at.join("main.cc"));
        std::fs::write(&object, OBJECT).unwrap();
        std::fs::write(
            &main,
            "extern \"C\" void last(); int main(int count, char **) { if (count > 9) last(); }",
        )
        .unwrap();
        let compile = |words: &[&str]| {
            let status = Command::new(&cc).current_dir(&at).args(words).status().unwrap();
            assert!(status.success(), "{words:?}");
        };
        let model = format!("-mcmodel={model}");
        compile(&["-O2", "-shared", "-fPIC", &model, "-o", "libobject.so", "object.cc"]);
        compile(&["-o", "main", "main.cc", "-L.", "-lobject", "-Wl,-rpath,$ORIGIN"]);
        let bundle = at.join("bundle");
        std::fs::create_dir(&bundle).unwrap();
        let made = bundle::make(&at.join("main"), &bundle, &BundleOptions::default()).unwrap();
        let printed = |start: &Path| {
            let mut command = Command::new(start);
            let output = command.env("HEADSTART_STALE", "never").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let original = printed(&at.join("main"));
        assert_eq!(original.lines().count(), 2, "{original}");
        assert_eq!(printed(&made.run), original, "{model}");
    }
}
