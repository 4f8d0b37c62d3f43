//! The loader knows the bundle by the names of what was merged.

use crate::bench::{Bench, VERSION_FLAG, launch};
use startup::Addresses;
use std::fs;

const MERGED: &str = "int merged(void) { return 7; }";
const PLUGIN: &str = "
extern int merged(void);
int ask(void) { return merged(); }";

/// A plug-in that needs a function of a version of a library which is gone.
fn with_plugin(bench: Option<Bench>) -> Option<(Bench, String)> {
    let bench = bench?;
    let cc = testkit::tool("gcc")?;
    let at = bench.path("");
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libmerged.so.1", VERSION_FLAG];
    testkit::compile(&cc, &at, "libmerged.so.1", MERGED, &flags);
    let flags = ["-shared", "-fPIC", "-Wl,--no-as-needed", "libmerged.so.1"];
    let search = format!("-Wl,--enable-new-dtags,-rpath,{}", at.to_str().unwrap());
    let flags = [flags.as_slice(), &[&search]].concat();
    let plugin = testkit::compile(&cc, &at, "plugin.so", PLUGIN, &flags);
    fs::remove_file(bench.path("libmerged.so.1")).unwrap();
    Some((bench, plugin.to_str().unwrap().to_owned()))
}

#[test]
fn a_merged_library_is_the_program() {
    for bench in [Bench::new(), Bench::fixed()] {
        let Some((bench, plugin)) = with_plugin(bench) else { return };
        bench.install_at(&bench.tables(), &bench.with_names());
        for bind in ["", "1"] {
            let launched = launch(bench.command(&["names", &plugin]).env("LD_BIND_NOW", bind));
            assert_eq!(launched.status.code(), Some(0), "{launched:?}");
            let expected =
                "same 1 symbol 1\n".repeat(4) + "plugin 42\nclosed 0\nagain 1\nunknown 0\n";
            assert_eq!(launched.stdout, expected);
        }
    }
}

#[test]
fn without_names_the_library_is_missing() {
    let Some((bench, plugin)) = with_plugin(Bench::new()) else { return };
    bench.install(&bench.tables());
    let launched = launch(&mut bench.command(&["names", &plugin]));
    assert!(launched.stdout.starts_with(&"same 0 symbol 0\n".repeat(4)), "{launched:?}");
    assert!(launched.stdout.contains("plugin -1\nlibmerged.so.1: cannot open"), "{launched:?}");
}

/// As patchelf moves it: where the program headers have it counts.
#[test]
fn a_dynamic_table_that_was_moved_is_found() {
    let Some(bench) = Bench::new() else { return };
    let named = bench.with_names();
    let moved = [named.dynamic + 16, bench.constants().offset];
    for dynamic in moved {
        bench.install_at(&bench.tables(), &Addresses { dynamic, ..named });
        let launched = bench.launch();
        assert!(!launched.is_original(), "{launched:?}");
    }
}
