//! Symbols of PE images and of PDB files, held against nm, llvm-pdbutil and the linker's map.
#![allow(clippy::unwrap_used)]

use image::pe::{PeSymbol, pdb_symbols, symbols};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const SOURCE: &str = "extern \"C\" int dep(int x) { return x; }
    static int local_one(int a) { return a + 1; }
    struct S { int v; S operator+(S o) { return *this; } bool operator()(int) { return v; } };
    namespace { struct Q { Q(); int a; }; Q::Q() { a = dep(2); } Q q; }
    int data = 3;
    int work(int n) { return local_one(n) + q.a; }
    extern \"C\" __declspec(dllexport) int run(int c) { S s{c}; s = s + s; return s(1) ? work(c) : 0; }";

fn run(folder: &Path, words: &[&str]) -> String {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn hexadecimal(digits: &str) -> u64 {
    u64::from_str_radix(digits, 16).unwrap()
}

#[test]
fn coff_symbols_are_those_of_nm() {
    for target in ["x86_64", "i686"] {
        let compiler = format!("{target}-w64-mingw32-g++");
        let Some(_) = testkit::tool(&compiler) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("w.cpp"), SOURCE).unwrap();
        run(folder, &[&compiler, "-shared", "w.cpp", "-o", "w.dll"]);
        let bytes = std::fs::read(folder.join("w.dll")).unwrap();
        let pe = image::pe::Pe::parse("w.dll", &bytes).unwrap();
        let found = symbols(&pe);
        let nm = run(folder, &[&format!("{target}-w64-mingw32-nm"), "w.dll"]);
        let mut functions = 0;
        for line in nm.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, kind @ ("T" | "t"), name] = words[..] else { continue };
            if name.starts_with('.') {
                continue; // a section
            }
            let rva = hexadecimal(address) - pe.headers().base.0;
            let same = |it: &&PeSymbol| it.name == name.as_bytes() && u64::from(it.rva.0) == rva;
            let symbol = found.iter().find(same).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((symbol.is_public, &symbol.section[..]), (kind == "T", &b".text"[..]));
            functions += usize::from(symbol.is_function);
        }
        assert!(functions > 10, "{functions}");
        assert!(!found.iter().any(|it| it.name.starts_with(b".text")));
    }
}

/// A DLL's PDB file and what the linker's map says of it.
fn linked() -> Option<(Vec<u8>, String)> {
    static MADE: OnceLock<Option<(Vec<u8>, String)>> = OnceLock::new();
    let make = || {
        testkit::tool("clang-19")?;
        testkit::tool("lld-link-19")?;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("w.cpp"), SOURCE).unwrap();
        let compile = ["clang-19", "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c"];
        run(folder, &[&compile[..], &["-ffunction-sections", "w.cpp", "-o", "w.obj"]].concat());
        let link =
            ["lld-link-19", "/dll", "/noentry", "/debug", "/pdb:w.pdb", "/map:w.map", "w.obj"];
        run(folder, &[&link[..], &["/out:w.dll"]].concat());
        let map = std::fs::read_to_string(folder.join("w.map")).unwrap();
        Some((std::fs::read(folder.join("w.pdb")).unwrap(), map))
    };
    MADE.get_or_init(make).clone()
}

#[test]
fn a_pdb_file_has_the_functions_of_the_linkers_map() {
    let Some((pdb, map)) = linked() else { return };
    let found = pdb_symbols("w.pdb", &pdb).unwrap();
    let statics = map.find("Static symbols").unwrap();
    let mut functions = 0;
    for (at, line) in map.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    }) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [place, name, address, _] = words[..] else { continue };
        let is_size = name.ends_with('H') || address == ".text";
        if !place.starts_with("0001:") || name.starts_with("_GLOBAL_") || is_size {
            continue;
        }
        let rva = hexadecimal(address) - 0x1_8000_0000;
        let here: Vec<_> = found.iter().filter(|it| u64::from(it.rva.0) == rva).collect();
        let [symbol] = here[..] else { panic!("{line}: {here:?}") };
        assert!(symbol.is_function && symbol.bytes.is_some_and(|bytes| bytes > 0), "{symbol:?}");
        assert_eq!(symbol.section, b".text");
        assert!(symbol.object.as_ref().unwrap().ends_with(b"w.obj"));
        let is_static = at > statics;
        assert_eq!((symbol.is_public, symbol.is_readable), (!is_static, is_static), "{line}");
        assert!(is_static || symbol.name == name.as_bytes());
        functions += 1;
    }
    assert_eq!(functions, 8);
    assert!(found.iter().any(|it| it.name == b"?data@@3HA" && !it.is_function));
    let readable = found.iter().find(|it| it.name == b"local_one").unwrap();
    assert!(!readable.is_public);
}

#[test]
fn what_is_no_pdb_file_is_refused_in_words() {
    let error = pdb_symbols("w.pdb", b"\x7fELF").unwrap_err().to_string();
    assert!(error.starts_with("w.pdb is not a PDB file: "), "{error}");
    let Some((pdb, _)) = linked() else { return };
    for length in (0..pdb.len()).step_by(4096) {
        let result = pdb_symbols("w.pdb", &pdb[..length]);
        assert!(length == pdb.len() || result.is_err(), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_pdb_files_give_symbols_or_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..4), 1..20),
    ) {
        if let Some((mut pdb, _)) = linked() {
            // Most of the file is about types: places in pages that have something count.
            let places: Vec<usize> = (0..pdb.len()).filter(|&at| pdb[at] != 0).collect();
            for (place, byte, behind) in changes {
                let at = places[place.index(places.len())] + behind;
                if let Some(there) = pdb.get_mut(at) {
                    *there = byte;
                }
            }
            let bytes = pdb.len();
            let found = pdb_symbols("w.pdb", &pdb).unwrap_or_default();
            prop_assert!(found.len() < bytes);
        }
    }
}
