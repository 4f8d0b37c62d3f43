//! Maps that real linkers write, held against the symbol tables of the files that they wrote.
#![allow(clippy::unwrap_used)]

use model::{Rva, Va};
use ordering::maps::{self, Linkage, LinkerMap, MapFormat, MapSymbol};
use std::path::Path;
use std::process::Command;

/// Two files with static functions of one name, C++ names, a very long name and a common symbol.
const ONE: &str = r#"
namespace { __attribute__((noinline)) int hidden(int x) { return x * 3; } }
struct S {
    int v;
    S();
    __attribute__((noinline)) S operator+(S o) { v += o.v; return *this; }
    __attribute__((noinline)) bool operator()(int a) { return a == v; }
};
S::S() : v(4) {}
__attribute__((noinline)) static int twice(int a) { return hidden(a) + 1; }
extern "C" int two(int);
extern "C" int LONG(int a) { return a; }
extern int data;
int main(int count, char **) { S s; s = s + s; return s(count) ? twice(two(count)) : LONG(data); }
"#;
const TWO: &str = r#"
int common; int data = 3;
__attribute__((noinline)) static int twice(int a) { return a * 2; }
int two(int a) { return twice(a) + common; }
"#;

fn run(folder: &Path, words: &[&str]) {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn output(folder: &Path, words: &[&str]) -> Vec<u8> {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words:?}");
    done.stdout
}

fn long_name() -> String {
    format!("long_{}", "n".repeat(3340))
}

/// Object files of both, with a section for each function.
fn objects(folder: &Path, options: &[&str]) {
    std::fs::write(folder.join("one.cpp"), ONE.replace("LONG", &long_name())).unwrap();
    std::fs::write(folder.join("two.c"), TWO).unwrap();
    for (compiler, source) in [("g++", "one.cpp"), ("gcc", "two.c")] {
        let fixed = [compiler, "-O1", "-fcommon", "-ffunction-sections", "-c", source];
        run(folder, &[&fixed, options].concat());
    }
}

fn linked(folder: &Path, options: &[&str]) -> LinkerMap {
    run(folder, &[&["g++", "one.o", "two.o", "-o", "program", "-Wl,-Map=map"], options].concat());
    let bytes = std::fs::read(folder.join("map")).unwrap();
    maps::read("map", &bytes).unwrap()
}

fn by_nm(folder: &Path) -> LinkerMap {
    maps::read("nm", &output(folder, &["nm", "-S", "program"])).unwrap()
}

/// Functions of the program that the compiler made of the two files, by nm.
fn expected(nm: &LinkerMap) -> Vec<&MapSymbol> {
    let found: Vec<_> = nm.functions().filter(|it| it.bytes.is_some()).collect();
    assert!(found.len() >= 9, "{found:?}");
    found
}

fn agrees(map: &LinkerMap, nm: &LinkerMap, same_size: bool) {
    for function in expected(nm) {
        let here = map.at(function.va);
        // A constructor has two names, which read the same.
        let same = here.functions().find(|it| it.name == function.name);
        let same = same.or_else(|| here.functions().find(|it| it.is_demangled));
        let Some(same) = same else {
            panic!("{} is missing at {}: {here:?}", &function.name, function.va);
        };
        // The start files have several functions in a section.
        let is_ours = matches!(same.object.as_deref(), Some("one.o" | "two.o"));
        if same_size && is_ours {
            assert_eq!(same.bytes, function.bytes, "{}", function.name);
        }
        assert!(same.object.is_some());
        // nm calls hidden symbols of the start files local.
        assert!(!is_ours || same.linkage.is_none_or(|it| Some(it) == function.linkage));
    }
    let others = map.functions().filter(|it| !it.is_demangled);
    for function in others.filter(|it| it.bytes.is_some()) {
        let known = nm.at(function.va).functions().any(|it| it.name == function.name);
        assert!(known, "nm does not know {function:?}");
    }
    let twice: Vec<_> = map.functions().filter(|it| it.name.contains("twice")).collect();
    assert_eq!(twice.len(), 2, "{twice:?}");
    assert!(map.symbols.iter().any(|it| it.name.len() == 3345));
    // gold does not say where it puts common symbols.
    let common = map.symbols.iter().find(|it| it.name == "common");
    assert!(common.is_none_or(|it| !it.is_function));
}

#[test]
fn maps_of_gnu_ld_agree_with_nm() {
    let Some(_) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    objects(folder.path(), &[]);
    for options in [&["-Wl,--no-demangle"][..], &[], &["-no-pie"]] {
        let map = linked(folder.path(), options);
        assert_eq!((map.format, map.notes.len()), (MapFormat::Gnu, 0));
        let base = if options == ["-no-pie"] { Va(0x40_0000) } else { Va(0) };
        assert_eq!(map.preferred_base, Some(base));
        agrees(&map, &by_nm(folder.path()), true);
    }
}

#[test]
fn maps_of_ld_lld_mold_and_gold_agree_with_nm() {
    let Some(_) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    objects(folder.path(), &[]);
    for (tool, linker, format) in [
        ("ld.lld-19", "lld", MapFormat::Lld),
        ("mold", "mold", MapFormat::Lld),
        ("ld.gold", "gold", MapFormat::Gnu),
    ] {
        let Some(path) = testkit::tool(tool) else { continue };
        // gcc looks for ld.lld, ld.mold and ld.gold.
        let link = folder.path().join(format!("ld.{linker}"));
        std::os::unix::fs::symlink(path, link).unwrap();
        let by = format!("-fuse-ld={linker}");
        for options in [&["-Wl,--no-demangle"][..], &[], &["-no-pie"]] {
            let map = linked(folder.path(), &[&["-B.", &by], options].concat());
            assert_eq!(map.format, format, "{linker}");
            let pie = options != ["-no-pie"];
            assert_eq!(map.preferred_base == Some(Va(0)), pie, "{linker} {:?}", map.preferred_base);
            agrees(&map, &by_nm(folder.path()), linker != "mold");
            let sections: Vec<_> = map.functions().filter_map(|it| it.section_alignment).collect();
            assert_eq!(sections.is_empty(), format == MapFormat::Gnu);
            assert!(sections.iter().all(|it| it.is_power_of_two()));
        }
    }
}

#[test]
fn symbol_tables_agree_with_nm() {
    let Some(_) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    objects(folder.path(), &[]);
    linked(folder.path(), &["-no-pie"]);
    let table = image::function_table(&folder.path().join("program")).unwrap();
    let map = LinkerMap::of_functions(&table);
    assert_eq!(map.preferred_base, Some(Va(0x40_0000)));
    for function in expected(&by_nm(folder.path())) {
        let same = map.at(function.va).functions().find(|it| it.name == function.name);
        assert_eq!(same.unwrap().bytes, function.bytes);
    }
}

/// The same image by the linker's map and by its PDB file.
#[test]
fn a_pdb_file_agrees_with_the_map() {
    if ["clang-19", "lld-link-19"].iter().any(|name| testkit::tool(name).is_none()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("two.c"), TWO).unwrap();
    let compile = ["clang-19", "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c"];
    run(folder, &[&compile[..], &["two.c", "-o", "w.obj"]].concat());
    let link = ["lld-link-19", "/dll", "/noentry", "/debug", "/pdb:w.pdb", "/map:w.map", "w.obj"];
    run(folder, &[&link[..], &["/out:w.dll"]].concat());
    let map = maps::read("w.map", &std::fs::read(folder.join("w.map")).unwrap()).unwrap();
    let symbols = image::pe::symbols_of_pdb(&folder.join("w.pdb")).unwrap();
    let pdb = LinkerMap::of_pe_symbols(map.preferred_base.unwrap(), &symbols);
    assert_eq!(map.functions().count(), 2);
    for function in map.functions() {
        let same: Vec<_> = pdb.at(function.va).functions().collect();
        assert_eq!((same[0].linkage, &same[0].name), (function.linkage, &function.name));
        assert!(same[0].bytes.is_some());
    }
}

#[test]
fn both_forms_of_nm_give_the_same_places() {
    let Some(_) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    objects(folder.path(), &[]);
    linked(folder.path(), &[]);
    let with_sizes = by_nm(folder.path());
    let plain = maps::read("nm", &output(folder.path(), &["nm", "program"])).unwrap();
    let readable = maps::read("nm", &output(folder.path(), &["nm", "-C", "program"])).unwrap();
    assert_eq!(plain.symbols.len(), with_sizes.symbols.len());
    assert_eq!(readable.symbols.len(), with_sizes.symbols.len());
    for (one, other) in plain.symbols.iter().zip(&with_sizes.symbols) {
        assert_eq!((&one.name, one.va, one.linkage), (&other.name, other.va, other.linkage));
        assert_eq!(one.bytes, None);
    }
    let readable = readable.symbols.iter().find(|it| it.name == "S::operator+(S)").unwrap();
    assert!(readable.is_demangled && readable.is_function);
}

/// What llvm-pdbutil says of the linked file is compared in crate image; here, the addresses of
/// the map are those of the section table and of the exports.
#[test]
fn maps_of_lld_link_agree_with_exports_and_sections() {
    let tools = ["clang-19", "lld-link-19", "llvm-readobj-19"];
    if tools.iter().any(|name| testkit::tool(name).is_none()) {
        return;
    }
    let source = r#"
        static int local(int a) { return a + 1; }
        int data = 3;
        __declspec(dllexport) int first(int a) { return local(a); }
        __declspec(dllexport) int second(int a) { return first(a) + data; }"#;
    for (target, base, mark) in [("x86_64", 0x1_8000_0000, ""), ("i686", 0x1000_0000, "_")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("w.c"), source).unwrap();
        let target = format!("--target={target}-pc-windows-msvc");
        run(
            folder.path(),
            &["clang-19", &target, "-ffunction-sections", "-c", "w.c", "-o", "w.obj"],
        );
        let link = ["lld-link-19", "/dll", "/noentry", "/map:w.map", "/out:w.dll", "w.obj"];
        run(folder.path(), &link);
        let map = std::fs::read(folder.path().join("w.map")).unwrap();
        let map = maps::read("w.map", &map).unwrap();
        assert_eq!((map.format, map.preferred_base), (MapFormat::Msvc, Some(Va(base))));
        let exports = output(folder.path(), &["llvm-readobj-19", "--coff-exports", "w.dll"]);
        let exports = String::from_utf8(exports).unwrap();
        for name in ["first", "second"] {
            let behind = exports.split(&format!("Name: {name}\n")).nth(1).unwrap();
            let rva = behind.trim_start().strip_prefix("RVA: 0x").unwrap();
            let rva = u32::from_str_radix(rva.lines().next().unwrap(), 16).unwrap();
            let here = map.at_rva(Rva(rva));
            let names: Vec<&str> = here.functions().map(|it| it.name.as_str()).collect();
            assert_eq!(names, [format!("{mark}{name}")]);
            assert!(!here.is_static());
        }
        let local = map.functions().find(|it| it.name.ends_with("local")).unwrap();
        assert_eq!((local.linkage, &*local.section), (Some(Linkage::Static), ".text"));
        assert_eq!(local.object.as_deref(), Some("w.obj"));
        assert!(map.symbols.iter().any(|it| it.name.ends_with("data") && !it.is_function));
    }
}

#[test]
fn maps_of_gnu_ld_for_pe_agree_with_nm() {
    let Some(_) = testkit::tool("x86_64-w64-mingw32-gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two.c"), TWO).unwrap();
    let compile = ["x86_64-w64-mingw32-gcc", "-O1", "-ffunction-sections", "two.c"];
    run(folder.path(), &[&compile[..], &["-shared", "-o", "w.dll", "-Wl,-Map=map"]].concat());
    let map = std::fs::read(folder.path().join("map")).unwrap();
    let map = maps::read("map", &map).unwrap();
    let nm = maps::read("nm", &output(folder.path(), &["nm", "w.dll"])).unwrap();
    let model::ImageFacts::Pe(facts) = image::facts(&folder.path().join("w.dll")).unwrap() else {
        panic!()
    };
    assert_eq!(map.preferred_base, Some(facts.base));
    for name in ["two", "twice"] {
        let place = nm.symbols.iter().find(|it| it.name == name).unwrap();
        let here = map.at(place.va);
        let symbol = here.functions().find(|it| it.name == name).unwrap();
        assert_eq!(symbol.linkage, place.linkage);
    }
}
