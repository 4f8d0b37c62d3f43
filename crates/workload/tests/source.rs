//! What gcc makes of the sources is what is emitted.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod common;

use common::{dawson, emitted, images, launch, lazy, pietrek, shape, written};
use model::ElfFacts;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use workload::{Kind, Workload};

/// Builds the sources; gcc has nothing to warn of.
fn compiled(workload: &Workload) -> TempDir {
    let (folder, script) = written(&workload::source(workload).unwrap());
    let mut command = Command::new("sh");
    command.arg(&script).env("CC", "gcc -Wall -Wextra").env_remove("LIBRARY_PATH");
    let output = command.output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.is_empty(), "{workload:?}: {messages}");
    folder
}

/// What must be the same.
#[derive(Debug, PartialEq)]
struct Facts {
    relocations: BTreeMap<String, u64>,
    counts: [u64; 3],
    names: (Option<String>, Vec<String>, Vec<String>),
    forms: String,
}

fn facts(path: &Path) -> Facts {
    let facts: ElfFacts = image::elf::facts(path).unwrap();
    let search = facts.search_paths.iter().flat_map(|path| path.folders.clone()).collect();
    Facts {
        relocations: facts.relocations,
        counts: [facts.imports, facts.exports, facts.tls_relocations],
        names: (facts.soname, facts.needed, search),
        forms: format!(
            "{:?} {:?} {:?} now {} symbolic {} {:?}",
            facts.kind,
            facts.hash_style,
            facts.relro,
            facts.bind_now,
            facts.symbolic,
            facts.interpreter
        ),
    }
}

fn assert_same(workload: &Workload) {
    if testkit::tool("gcc").is_none() {
        return;
    }
    let (folder, _) = emitted(workload);
    let built = compiled(workload);
    for emitted in images(workload, folder.path()) {
        let name = emitted.strip_prefix(folder.path()).unwrap();
        assert_eq!(facts(&emitted), facts(&built.path().join(name)), "{workload:?}: {name:?}");
    }
    let program = built.path().join(workload::generate(workload).unwrap().program());
    for arguments in [&[][..], &["--call"]] {
        assert_eq!(launch(&program, arguments).status.code(), Some(0), "{workload:?}");
    }
}

#[test]
fn pietrek_compiled_is_pietrek_emitted() {
    for workload in
        [pietrek(3, 20, 5), pietrek(1, 2, 0), pietrek(2, 0, 5), pietrek(0, 9, 9), lazy(2, 5, 1)]
    {
        assert_same(&workload);
    }
}

#[test]
fn dawson_compiled_is_dawson_emitted() {
    for workload in [dawson(3, 5, 7), dawson(2, 3, 0), dawson(0, 2, 2), dawson(2, 0, 2)] {
        assert_same(&workload);
    }
}

#[test]
fn shapes_compiled_are_shapes_emitted() {
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Dlopen) {
        for n in [0, 1, 4] {
            assert_same(&shape(kind, n));
        }
    }
}

#[test]
fn dlopen_compiled_is_dlopen_emitted() {
    for n in [0, 1, 4] {
        assert_same(&shape(Kind::Dlopen, n));
    }
}

/// GNU ld's numbers of buckets and sizes of Bloom filters make look-ups cost the same.
#[test]
fn hash_tables_have_the_sizes_that_the_linker_chooses() {
    let (Some(_), Some(readelf)) = (testkit::tool("gcc"), testkit::tool("readelf")) else { return };
    let histogram = |path: &Path| {
        let output = Command::new(&readelf).arg("-I").arg(path).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for functions in [1, 2, 3, 40, 100, 600] {
        let workload = pietrek(1, functions, 0);
        let (folder, _) = emitted(&workload);
        let built = compiled(&workload);
        for name in ["libLoadTimeDLL_1.so", "LoadTimeTest"] {
            let emitted = histogram(&folder.path().join(name));
            assert_eq!(emitted, histogram(&built.path().join(name)), "{functions}: {name}");
            assert!(emitted.contains("bucket list length"), "{emitted}");
        }
    }
}
