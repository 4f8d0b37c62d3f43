//! Functions of PE images: held against nm, llvm-readobj, the linker's map, and damage.
#![allow(clippy::unwrap_used)]

use image::{FunctionStarts, FunctionTable, function_starts, function_table};
use model::{Rva, Va};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::pe::{Image, Machine, Tools, mingw};

fn run(folder: &Path, words: &[&str]) -> String {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn hexadecimal(digits: &str) -> u64 {
    u64::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap()
}

fn has(starts: &FunctionStarts, rva: u64) -> bool {
    starts.starts.binary_search(&Rva(u32::try_from(rva).unwrap())).is_ok()
}

const MINGW: &str = "#include <stdio.h>
    __declspec(dllexport) int number = 3;
    __attribute__((noinline)) static int hidden(int n) { return n + puts(\"\"); }
    static __thread int own = 3;
    __declspec(dllexport) int leaf(int n) { return n * 3; }
    __declspec(dllexport) int shown(int n) { return hidden(n) + own + number; }";

#[test]
fn mingws_functions_are_those_of_nm() {
    for (machine, target) in [(Machine::X86_64, "x86_64"), (Machine::I686, "i686")] {
        let folder = tempfile::tempdir().unwrap();
        let Some(dll) = mingw(folder.path(), machine, "m.dll", MINGW, &["-O1", "-shared"]) else {
            return;
        };
        let (starts, table) = (function_starts(&dll).unwrap(), function_table(&dll).unwrap());
        assert_eq!(starts.starts.len(), starts.bytes.len());
        assert!(starts.starts.is_sorted_by(|one, next| one < next) && starts.starts.len() > 30);
        let mut known = 0;
        for line in run(folder.path(), &[&format!("{target}-w64-mingw32-nm"), "m.dll"]).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, "T" | "t", name] = words[..] else { continue };
            let rva = hexadecimal(address) - starts.preferred_base.0;
            // The C library's lists of constructors are in .text, too, and are no functions.
            if has(&starts, rva) && !name.starts_with('.') {
                assert!(!name.contains("_LIST__"), "{line}");
                let at = starts.preferred_base + rva;
                let found = table.functions.iter().find(|function| function.address == at);
                assert!(found.unwrap().names.iter().any(|known| known == name), "{line}");
                known += 1;
            }
        }
        assert!(known > 30, "{known}");
        let symbol = |name: &str| {
            let prefix = if machine == Machine::I686 { "_" } else { "" };
            let named = format!("{prefix}{name}");
            table.functions.iter().find(|f| f.names.contains(&named)).cloned()
        };
        assert!(["hidden", "leaf", "shown"].iter().all(|name| symbol(name).is_some()));
        assert!(symbol("number").is_none());
        let stripped = folder.path().join("stripped.dll");
        run(
            folder.path(),
            &[&format!("{target}-w64-mingw32-strip"), "-o", "stripped.dll", "m.dll"],
        );
        let stripped = function_starts(&stripped).unwrap();
        let rva = |name: &str| symbol(name).unwrap().address - starts.preferred_base;
        assert!(has(&stripped, rva("leaf")) && has(&stripped, u64::from(starts.entry.0)));
        // Who has neither symbols nor an exception table has lost what is not exported.
        assert_eq!(has(&stripped, rva("hidden")), machine == Machine::X86_64);
        assert_eq!(starts.build_id, stripped.build_id.map(|_| starts.build_id.clone().unwrap()));
    }
}

const CPP: &str = "extern \"C\" int dep(int x);
    struct Noisy { int n; ~Noisy(); };
    static int local(int n) { Noisy noisy{n}; return dep(n) + 1; }
    namespace { int unnamed(int n) { return dep(n) + 2; } }
    int large(int n) { Noisy noisy{n}; try { return dep(local(n)); } catch (int code) { return code; } }
    extern \"C\" __declspec(dllexport) int run(int n) { return large(n) + unnamed(n); }";
const REST: &str = "extern \"C\" int dep(int x) { return x; } struct Noisy { int n; ~Noisy(); };
    Noisy::~Noisy() { dep(n); }
    extern \"C\" int __CxxFrameHandler3() { return 1; }";

/// A DLL by clang and lld-link with its map and its PDB file.
fn linked(folder: &Path) -> Option<PathBuf> {
    testkit::tool("clang-19")?;
    testkit::tool("lld-link-19")?;
    std::fs::write(folder.join("a.cpp"), CPP).unwrap();
    std::fs::write(folder.join("b.cpp"), REST).unwrap();
    for (source, object) in [("a.cpp", "a.obj"), ("b.cpp", "b.obj")] {
        let flags = ["-O1", "-fno-inline", "-ffunction-sections", "-g", "-gcodeview"];
        let cpp = ["-fexceptions", "-fcxx-exceptions", "-c", source, "-o", object];
        run(folder, &[&["clang-19", "--target=x86_64-pc-windows-msvc"], &flags[..], &cpp].concat());
    }
    let link = ["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/debug", "/pdb:w.pdb"];
    let rest = ["/map:w.map", "/out:w.dll", "/force:unresolved", "a.obj", "b.obj"];
    run(folder, &[&link[..], &rest].concat());
    Some(folder.join("w.dll"))
}

/// Names of functions in `.text` by the linker's map, with their RVAs.
fn map(folder: &Path) -> Vec<(u64, String)> {
    let map = std::fs::read_to_string(folder.join("w.map")).unwrap();
    let lines = map.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_section = words.get(1).is_some_and(|name| name.ends_with('H') || *name == ".text");
        let (name, address) = (words.get(1)?, words.get(2)?);
        let is_it = words[0].starts_with("0001:") && !is_section && address.len() == 16;
        is_it.then(|| (hexadecimal(address) - 0x1_8000_0000, (*name).to_owned()))
    });
    lines.collect()
}

fn at(table: &FunctionTable, rva: u64) -> &image::TableFunction {
    let address = Va(table.preferred_base.0 + rva);
    table.functions.iter().find(|function| function.address == address).unwrap()
}

#[test]
fn functions_of_lld_link_have_the_names_of_its_map() {
    let folder = tempfile::tempdir().unwrap();
    let Some(dll) = linked(folder.path()) else { return };
    let (starts, table) = (function_starts(&dll).unwrap(), function_table(&dll).unwrap());
    let map = map(folder.path());
    let statics = ["?local@@YAHH@Z", "?unnamed@"];
    let (mut public, mut hidden) = (0, 0);
    for (rva, name) in map.iter().filter(|(_, name)| !name.starts_with('$')) {
        assert!(has(&starts, *rva), "{name}");
        let found = at(&table, *rva);
        assert!(found.bytes > 0);
        if statics.iter().any(|part| name.starts_with(part)) {
            // The PDB file has readable names only, and that of the unnamed namespace is none.
            assert!(!found.names.contains(name), "{found:?}");
            hidden += 1;
        } else if name.starts_with("?catch$") || name.starts_with("?dtor$") {
            continue;
        } else {
            assert!(found.names.contains(name), "{name}: {found:?}");
            public += 1;
        }
    }
    assert!(public >= 4 && hidden == 2, "{public} {hidden} {map:?}");
    // The GUID and the age, as llvm-readobj prints them.
    let facts = run(folder.path(), &["llvm-readobj-19", "--coff-debug-directory", "w.dll"]);
    let value = |key: &str| {
        let line = facts.lines().find(|line| line.trim_start().starts_with(key)).unwrap();
        line.split(':').nth(1).unwrap().trim().to_owned()
    };
    let guid = value("PDBGUID").trim_matches(['{', '}']).replace('-', "");
    assert_eq!(table.build_id, Some(format!("{guid}{}", value("PDBAge"))));
    // Without the PDB file what is exported has a name, and what changes the stack has a start.
    std::fs::remove_file(folder.path().join("w.pdb")).unwrap();
    let bare = function_table(&dll).unwrap();
    let large = map.iter().find(|(_, name)| name.starts_with("?large@")).unwrap().0;
    assert!(at(&bare, large).bytes > 10 && bare.functions.len() < table.functions.len());
    let names: Vec<&String> = bare.functions.iter().flat_map(|one| &one.names).collect();
    assert_eq!(names, ["run"]);
}

#[test]
fn another_builds_pdb_file_is_not_taken() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(dll) = linked(folder.path()) else { return };
    linked(other.path()).unwrap();
    std::fs::copy(other.path().join("w.pdb"), folder.path().join("w.pdb")).unwrap();
    let id = |path: &Path| function_starts(path).unwrap().build_id;
    if id(&dll) != id(&other.path().join("w.dll")) {
        let names = function_table(&dll).unwrap().functions.into_iter().flat_map(|one| one.names);
        assert_eq!(names.collect::<Vec<_>>(), ["run"]);
    }
}

/// Parts of a function behind the first are in the exception table, too, and nobody calls them.
#[test]
fn wines_own_libraries_have_the_starts_of_llvm_readobj() {
    let Some(folder) = testkit::pe::libraries() else { return };
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    for name in ["ntdll.dll", "kernel32.dll", "ucrtbase.dll"] {
        let starts = function_starts(&folder.join(name)).unwrap();
        let text = run(&folder, &["llvm-readobj-19", "--unwind", name]);
        let mut start = 0;
        let mut known = 0;
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("StartAddress:") {
                let digits = rest.split(['(', ')']).nth(1).unwrap_or(rest).trim();
                start = hexadecimal(digits) - starts.preferred_base.0;
            } else if let Some(flags) = line.strip_prefix("Flags [") {
                let is_part = flags.contains("0x4");
                assert_eq!(has(&starts, start), !is_part, "{name} {start:#x}");
                known += 1;
            }
        }
        assert!(known > 400, "{name}: {known}");
        let exports = run(&folder, &["llvm-readobj-19", "--coff-exports", name]);
        for line in exports.lines().filter_map(|line| line.trim().strip_prefix("RVA: ")) {
            assert!(hexadecimal(line) <= starts.image_bytes);
        }
    }
}

#[test]
fn no_start_is_in_a_field_that_is_relocated() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tools) = Tools::find() else { return };
    let source = "int one(void) { return 1; }
        __attribute__((section(\".text\"))) void *where = (void *)one;
        __attribute__((section(\".text\"))) long data = 3;";
    let dll = Image::new("a.dll", source).exports("one\nwhere DATA\ndata DATA");
    let dll = tools.build(folder.path(), &dll);
    let starts = function_starts(&dll).unwrap();
    let bytes = std::fs::read(&dll).unwrap();
    let pe = image::pe::Pe::parse("a.dll", &bytes).unwrap();
    let fields: Vec<u32> = pe
        .relocation_blocks()
        .flat_map(|block| block.unwrap().relocations().map(|field| field.unwrap()))
        .filter(|field| field.kind == image::pe::spec::IMAGE_REL_BASED_DIR64)
        .map(|field| field.rva.0)
        .collect();
    assert!(!fields.is_empty());
    let within = |start: &Rva| fields.iter().any(|field| (*field..field + 8).contains(&start.0));
    assert!(!starts.starts.iter().any(within), "{starts:?}");
    assert!(!starts.starts.is_empty());
}

#[test]
fn damaged_images_give_functions_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let Some(dll) = mingw(folder.path(), Machine::X86_64, "m.dll", MINGW, &["-O1", "-shared"])
    else {
        return;
    };
    let bytes = std::fs::read(&dll).unwrap();
    for length in (0..bytes.len()).step_by(1500) {
        let found = image::function_starts_of("cut", &bytes[..length]);
        assert!(found.is_ok_and(|found| found.starts.len() < 200) || length < 4096, "{length}");
        let _ = image::function_table_of("cut", &bytes[..length]);
    }
    // Every place of the headers and of the tables behind them, with numbers that hurt.
    for at in (0x80..0x400).chain((0x400..bytes.len()).step_by(97)) {
        for byte in [0, 0x7f, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            if let Ok(found) = image::function_starts_of("changed", &bytes) {
                assert!(found.starts.len() < bytes.len() && found.starts.is_sorted());
            }
            if at < 0x400 {
                let _ = image::function_table_of("changed", &bytes);
            }
        }
    }
}

/// Read-only data that a linker has put into the section of the code must not get breakpoints.
#[test]
fn exports_among_data_are_functions_only_where_another_table_says_so() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "const int numbers[16] = {1, 2, 3};\n\
                  int leaf(int n) { return n * 3; }\n\
                  int shown(int n) { volatile int room[40]; room[n] = n; return room[n] + leaf(n); }";
    let image = |name: &str| {
        let image = Image::new(name, source).compile("-funwind-tables");
        image.exports("numbers DATA\nleaf\nshown")
    };
    let merged = tools.build(folder.path(), &image("m.dll").link("/merge:.rdata=.text"));
    let apart = tools.build(folder.path(), &image("a.dll"));
    let known = |path: &Path| {
        let starts = function_starts(path).unwrap();
        ["numbers", "leaf", "shown"].map(|name| {
            let path = path.to_str().unwrap();
            let words = ["llvm-readobj-19", "--coff-exports", path];
            let text = run(folder.path(), &words);
            let export = text.split("Export {").find(|it| it.contains(&format!("Name: {name}\n")));
            let rva = export.unwrap().split("RVA: ").nth(1).unwrap().split_whitespace().next();
            has(&starts, hexadecimal(rva.unwrap()))
        })
    };
    assert_eq!(known(&apart), [false, true, true]);
    // The unwind table has the one that uses the stack.
    assert_eq!(known(&merged), [false, false, true]);
}
