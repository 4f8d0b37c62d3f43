//! What the loader reads first is where Linux reads ahead by itself, at the beginning of the file.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use image::elf::Loadable;
use image::elf::spec;
use std::path::Path;
use std::process::Command;

const PAGE: u64 = 4096;
/// Libraries, pages of program headers then, and the pages at which the dynamic table and the table of versions
/// that are needed begin.
const PROGRAMS: [(usize, u64, u64, Option<u64>); 3] =
    [(2, 1, 1, None), (30, 2, 4, Some(20)), (90, 6, 20, Some(80))];

#[test]
fn what_is_touched_first_begins_a_portion_of_read_ahead() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    for (libraries, headers, dynamic, versions) in PROGRAMS {
        let program = program(&cc, &at, libraries);
        for fixed in [false, true] {
            let bundle = at.join(format!("bundle-{libraries}-{fixed}"));
            std::fs::create_dir(&bundle).unwrap();
            let options = BundleOptions { fixed, ..BundleOptions::default() };
            let made = bundle::make(&program, &bundle, &options).unwrap();
            // It does not give way to the original.
            let status = Command::new(&made.run).env("HEADSTART_STALE", "z").status();
            assert_eq!(status.unwrap().code(), Some(libraries as i32), "fixed: {fixed}");
            let image = Loadable::open(&made.run).unwrap();
            let table = image.segment(spec::PT_PHDR).unwrap();
            assert_eq!((table.offset.0 + table.file_size).div_ceil(PAGE), headers);
            let begins = image.segment(spec::PT_DYNAMIC).unwrap().offset.0;
            assert_eq!(begins / PAGE, dynamic, "{libraries} libraries, fixed: {fixed}");
            let sections = image.sections();
            let of =
                |name: &str| sections.iter().find(|one| one.name == name).unwrap().header.offset.0;
            if let Some(page) = versions {
                assert_eq!(of(".gnu.version_r"), page * PAGE);
            }
            for name in [".gnu.hash", ".rela.dyn", ".gnu.version", ".dynsym"] {
                let page = of(name) / PAGE;
                assert!(
                    page < 320 && !(20..24).contains(&page) && !(80..96).contains(&page),
                    "{name} {page}"
                );
            }
            parts_do_not_overlap(&image);
        }
    }
}

/// Each with what is said of its place in the file by gABI, chapter 5.
fn parts_do_not_overlap(image: &Loadable) {
    let mut parts: Vec<_> = image.segments().iter().filter(|part| part.loads()).copied().collect();
    assert!(parts.windows(2).all(|two| two[0].address < two[1].address), "by address");
    assert!(parts.iter().all(|part| part.offset.0 % PAGE == part.address.0 % PAGE));
    parts.sort_by_key(|part| part.offset);
    let ends = |at: usize| parts[at].offset.0 + parts[at].file_size;
    assert!((1..parts.len()).all(|at| ends(at - 1) <= parts[at].offset.0), "{parts:#?}");
}

/// A program that adds up what its libraries answer, each one.
fn program(cc: &Path, at: &Path, libraries: usize) -> std::path::PathBuf {
    let mut flags = vec!["-L.".to_owned(), format!("-Wl,-rpath,{}", at.display())];
    let (mut declared, mut sum) = (String::new(), "0".to_owned());
    for number in 0..libraries {
        let name = format!("lib{libraries}of{number}.so");
        let source = format!(
            "static int one = 1, *place = &one;\nint of{number}(void) {{ return *place; }}"
        );
        testkit::compile(cc, at, &name, &source, &["-shared", "-fPIC", "-nostdlib"]);
        flags.push(format!("-l{libraries}of{number}"));
        declared += &format!("int of{number}(void);\n");
        sum += &format!(" + of{number}()");
    }
    let source = format!("{declared}int main(void) {{ return {sum}; }}");
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    testkit::compile(cc, at, &format!("program{libraries}"), &source, &flags)
}
