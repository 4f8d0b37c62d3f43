//! Constants that are mapped together with code, where that is asked for.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use image::elf::{Loadable, spec};
use std::path::Path;
use std::process::Command;

/// Flags of the parts that are loaded.
fn parts(run: &Path) -> Vec<u32> {
    let image = Loadable::open(run).unwrap();
    image.segments().iter().filter(|part| part.loads()).map(|part| part.flags).collect()
}

#[test]
fn joined_parts_are_fewer_and_nothing_is_both_written_and_executed() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let compile =
        |name: &str, source: &str, words: &[&str]| testkit::compile(&cc, &at, name, source, words);
    let library = "static const int table[] = {1, 2, 3}; int three(int at) { return table[at]; }";
    compile("libthree.so", library, &["-shared", "-fPIC"]);
    let main = "int three(int); int main(int count, char **words) { return 40 + three(count); }";
    let here = format!("-L{}", at.display());
    let program = compile("main", main, &[&here, "-lthree", "-Wl,-rpath,$ORIGIN"]);
    for fixed in [false, true] {
        let make = |join: bool| {
            let bundle = at.join(format!("bundle-{fixed}-{join}"));
            std::fs::create_dir(&bundle).unwrap();
            let options = BundleOptions { fixed, join, ..BundleOptions::default() };
            let made = bundle::make(&program, &bundle, &options).unwrap();
            assert_eq!(made.manifest.join, join);
            let status = Command::new(&made.run).env("HEADSTART_STALE", "never").status();
            assert_eq!(status.unwrap().code(), Some(42), "fixed {fixed}, join {join}");
            assert!(bundle::verify(&bundle).unwrap().found.current);
            parts(&made.run)
        };
        let (apart, joined) = (make(false), make(true));
        assert!(joined.len() < apart.len(), "fixed {fixed}: {joined:?} {apart:?}");
        let both = |flags: &u32| flags & spec::PF_W != 0 && flags & spec::PF_X != 0;
        assert!(!joined.iter().any(both), "{joined:?}");
        assert_eq!(
            joined.iter().filter(|flags| *flags & spec::PF_W != 0).count(),
            apart.iter().filter(|flags| *flags & spec::PF_W != 0).count()
        );
    }
}
