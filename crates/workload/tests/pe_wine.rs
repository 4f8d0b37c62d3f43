//! Emitted PE images under Wine's loader.

mod pe_common;

use pe_common::{dawson, emit, options, pietrek};
use tempfile::TempDir;
use testkit::pe::Wine;
use workload::{Arch, Bases, Dawson, Hints, PeOptions, Pietrek, pe};

#[test]
fn images_load_and_every_call_arrives() {
    let Some(wine) = Wine::shared() else { return };
    every_choice_of_pietrek_loads(&wine);
    a_wrong_function_is_noticed(&wine);
    a_library_that_was_not_relocated_is_noticed(&wine);
    sizes_at_the_edges_load(&wine);
    every_virtual_function_is_reached(&wine);
}

/// Exit code of a program in its folder.
fn code(wine: &Wine, folder: &TempDir, words: &[&str]) -> Option<i32> {
    wine.run(folder.path(), words).code
}

const PROGRAM: &str = "LoadTimeTest.exe";

fn every_choice_of_pietrek_loads(wine: &Wine) {
    for bases in [Bases::Default, Bases::Chosen] {
        for by_ordinal in [false, true] {
            for (hints, file_alignment) in [(Hints::Right, 512), (Hints::Zero, 4096)] {
                let pe = PeOptions { bases, hints, file_alignment, ..options() };
                let asked = Pietrek { pe, ..pietrek((10, 100, 5, by_ordinal, Arch::X86_64)) };
                let folder = emit(&asked);
                assert_eq!(code(wine, &folder, &[PROGRAM]), Some(0), "{asked:?}");
                assert_eq!(code(wine, &folder, &[PROGRAM, "--call"]), Some(0), "{asked:?}");
            }
        }
    }
}

/// The calls can fail: libraries of another seed have other identities, and a program that is not
/// asked to call them does not notice.
fn a_wrong_function_is_noticed(wine: &Wine) {
    let asked = pietrek((4, 10, 2, false, Arch::X86_64));
    let folder = emit(&asked);
    let other = Pietrek { pe: PeOptions { seed: asked.pe.seed + 1, ..asked.pe }, ..asked };
    let (name, bytes) = pe::pietrek::file(&other, 4).expect("a library");
    std::fs::write(folder.path().join(&name), bytes).expect("a file");
    assert_eq!(code(wine, &folder, &[PROGRAM]), Some(0));
    assert_eq!(code(wine, &folder, &[PROGRAM, "--call"]), Some(1));
    std::fs::remove_file(folder.path().join(&name)).expect("it was there");
    assert_ne!(code(wine, &folder, &[PROGRAM]), Some(0), "it is really loaded");
}

/// Libraries do collide, and functions see it where relocations are not applied.
fn a_library_that_was_not_relocated_is_noticed(wine: &Wine) {
    for (bases, expected) in [(Bases::Default, 1), (Bases::Chosen, 0)] {
        let mut asked = pietrek((2, 10, 2, false, Arch::X86_64));
        asked.pe.bases = bases;
        let folder = emit(&asked);
        for dll in 1..=2 {
            let path = folder.path().join(format!("LoadTimeDLL_{dll}.dll"));
            let mut bytes = std::fs::read(&path).expect("a library");
            // Data directory 5 of a PE32+ file whose PE header is at 64: no relocations.
            let directory = 64 + 24 + 112 + 5 * 8;
            bytes[directory..directory + 8].fill(0);
            std::fs::write(&path, bytes).expect("a file");
        }
        assert_eq!(code(wine, &folder, &[PROGRAM, "--call"]), Some(expected), "{bases:?}");
    }
}

fn sizes_at_the_edges_load(wine: &Wine) {
    let shapes = [(0, 100, 5), (1, 1, 1), (1, 0, 5), (3, 7, 0), (2, 3000, 1), (120, 3, 2)];
    for (dlls, functions, globals) in shapes {
        let folder = emit(&pietrek((dlls, functions, globals, false, Arch::X86_64)));
        for words in [&[PROGRAM][..], &[PROGRAM, "--call"]] {
            let shape = (dlls, functions, globals);
            assert_eq!(code(wine, &folder, words), Some(0), "{shape:?}");
        }
    }
}

fn every_virtual_function_is_reached(wine: &Wine) {
    for asked in [dawson(0, 0, 0), dawson(1, 1, 0), dawson(4, 25, 200)] {
        for guard_entry_bytes in [4, 5] {
            let asked = Dawson { guard_entry_bytes, ..asked.clone() };
            let folder = tempfile::tempdir().expect("a folder");
            let (name, mut bytes) = pe::dawson::file(&asked).expect("a possible size");
            let path = folder.path().join(&name);
            std::fs::write(&path, &bytes).expect("a file");
            assert_eq!(code(wine, &folder, &[&name]), Some(0), "{asked:?}");
            assert_eq!(code(wine, &folder, &[&name, "--call"]), Some(0), "{asked:?}");
            if asked.sources == 0 {
                continue;
            }
            // A bit of the last function's identity: `mov dword [sink], identity; ret`.
            let pattern = [0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc];
            let last = bytes.windows(6).rposition(|part| part == pattern).expect("a function");
            bytes[last - 1] ^= 1;
            std::fs::write(&path, &bytes).expect("a file");
            assert_eq!(code(wine, &folder, &[&name, "--call"]), Some(1), "{asked:?}");
        }
    }
}
