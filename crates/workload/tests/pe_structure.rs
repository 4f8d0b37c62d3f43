//! Emitted PE images as `llvm-readobj` reads them.

mod pe_common;

use pe_common::{ALL_SHAPES, dawson, emit, field, options, pietrek, readobj};
use std::collections::BTreeSet;
use workload::pe::{self, PeWorkloadError};
use workload::{Arch, Bases, By, Hints, PeOptions, Pietrek, WorkloadError};

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn every_table_of_a_library_has_what_was_asked_for() {
    let Some(tool) = testkit::tool("llvm-readobj-19") else { return };
    for asked in ALL_SHAPES.map(pietrek) {
        let folder = emit(&asked);
        let path = folder.path().join(format!("LoadTimeDLL_{}.dll", asked.dlls));
        let text = readobj(&tool, &["--all", "--coff-exports", "--coff-basereloc"], &path);
        let named = if asked.by == By::Ordinal { 0 } else { asked.functions as usize };
        assert_eq!(count(&text, "Export {"), asked.functions as usize, "{asked:?}");
        assert_eq!(count(&text, &format!("Name: LoadTimeDLL_{}_func_", asked.dlls)), named);
        let (kind, format) = match asked.arch {
            Arch::X86_64 => ("Type: DIR64", "COFF-x86-64"),
            Arch::I686 => ("Type: HIGHLOW", "COFF-i386"),
        };
        assert_eq!(count(&text, kind) as u32, asked.functions * asked.globals, "{asked:?}");
        assert_eq!(field(&text, "Format"), format);
        assert_eq!(field(&text, "FileAlignment"), asked.pe.file_alignment.to_string());
        assert!(field(&text, "TimeDateStamp").ends_with("(0x38F0E0C1)"), "{text}");
        assert_eq!(field(&text, "CheckSum") != "0x0", asked.pe.checksum);
        assert_eq!(text.contains("DYNAMIC_BASE"), asked.pe.dynamic_base);
    }
}

#[test]
fn the_program_imports_every_export_with_its_hint() {
    let Some(tool) = testkit::tool("llvm-readobj-19") else { return };
    for asked in ALL_SHAPES.map(pietrek) {
        let folder = emit(&asked);
        let program = folder.path().join("LoadTimeTest.exe");
        let text = readobj(&tool, &["--all", "--coff-imports"], &program);
        assert_eq!(count(&text, "Import {") as u32, asked.dlls + 1);
        let calls = (asked.dlls * asked.functions) as usize;
        assert_eq!(count(&text, "Symbol: "), calls + 3, "{asked:?}");
        for dll in 1..=asked.dlls {
            let library = folder.path().join(format!("LoadTimeDLL_{dll}.dll"));
            let exports = readobj(&tool, &["--coff-exports"], &library);
            assert_eq!(imported(&text, dll), expected(&exports, &asked), "{asked:?}");
        }
    }
}

/// What the program imports from a library: the texts behind `Symbol:`.
fn imported(text: &str, dll: u32) -> BTreeSet<String> {
    let start = text.find(&format!("Name: LoadTimeDLL_{dll}.dll")).expect("the library");
    let part = &text[start..];
    let part = &part[..part.find("\n}").expect("its end")];
    let symbols = part.lines().filter_map(|line| line.trim().strip_prefix("Symbol: "));
    symbols.map(|symbol| symbol.trim().to_owned()).collect()
}

/// What the program should import: by ordinal `(5)`, by name `NAME (HINT)`. llvm-readobj lists
/// exports by their ordinals; a hint is the place among the sorted names.
fn expected(exports: &str, asked: &Pietrek) -> BTreeSet<String> {
    let values = |key: &str| -> Vec<String> {
        let lines = exports.lines().filter_map(|line| line.trim().strip_prefix(key));
        lines.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
    };
    if asked.by == By::Ordinal {
        return values("Ordinal:").into_iter().map(|ordinal| format!("({ordinal})")).collect();
    }
    let mut names = values("Name:");
    names.sort();
    let hints = names.into_iter().enumerate().map(|(place, name)| match asked.pe.hints {
        Hints::Right => format!("{name} ({place})"),
        Hints::Zero => format!("{name} (0)"),
    });
    hints.collect()
}

#[test]
fn chosen_bases_leave_every_image_its_room() {
    let Some(tool) = testkit::tool("llvm-readobj-19") else { return };
    for arch in [Arch::X86_64, Arch::I686] {
        let mut asked = pietrek((12, 300, 7, false, arch));
        for (bases, different) in [(Bases::Chosen, 12), (Bases::Default, 1)] {
            asked.pe.bases = bases;
            let folder = emit(&asked);
            let mut ranges = vec![range(&tool, &folder.path().join("LoadTimeTest.exe"))];
            for dll in 1..=asked.dlls {
                ranges.push(range(&tool, &folder.path().join(format!("LoadTimeDLL_{dll}.dll"))));
            }
            let starts: BTreeSet<u64> = ranges[1..].iter().map(|range| range.0).collect();
            assert_eq!(starts.len(), different);
            assert!(starts.iter().all(|start| start.is_multiple_of(0x1_0000)));
            ranges.sort_unstable();
            let apart = ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
            assert_eq!(apart, bases == Bases::Chosen, "{ranges:x?}");
        }
    }
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

/// Where an image begins and ends.
fn range(tool: &std::path::Path, path: &std::path::Path) -> (u64, u64) {
    let text = readobj(tool, &["--file-headers"], path);
    let base = hexadecimal(field(&text, "ImageBase"));
    (base, base + field(&text, "SizeOfImage").parse::<u64>().expect("a size"))
}

#[test]
fn the_guard_table_names_every_virtual_function_once_and_in_order() {
    let Some(tool) = testkit::tool("llvm-readobj-19") else { return };
    for (sources, classes, functions) in [(0, 5, 5), (1, 1, 0), (2, 3, 4), (4, 25, 200)] {
        for entry_bytes in [4, 5] {
            let asked = workload::Dawson {
                guard_entry_bytes: entry_bytes,
                ..dawson(sources, classes, functions)
            };
            let folder = tempfile::tempdir().expect("a folder");
            let (name, bytes) = pe::dawson::file(&asked).expect("a possible size");
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("a file");
            let text = readobj(&tool, &["--coff-load-config", "--file-headers"], &path);
            let entries = 45 + sources * classes * (functions + 1);
            assert_eq!(field(&text, "GuardCFFunctionCount"), entries.to_string());
            assert_eq!(text.contains("CF_FUNCTION_TABLE_SIZE_5BYTES"), entry_bytes == 5);
            assert!(text.contains("IMAGE_DLL_CHARACTERISTICS_GUARD_CF"));
            let table = &text[text.find("GuardFidTable [").expect("the table")..];
            let addresses: Vec<&str> =
                table.lines().skip(1).map_while(|line| line.trim().strip_prefix("0x")).collect();
            assert_eq!(addresses.len() as u32, entries);
            // Without the entry point the guard would end the process at its first instruction.
            let entry = hexadecimal(field(&text, "AddressOfEntryPoint"));
            let first = hexadecimal(addresses[0]) - hexadecimal(field(&text, "ImageBase"));
            assert_eq!(first, entry);
            assert!(addresses.is_sorted_by(|a, b| a < b), "all of one length");
            let text = readobj(&tool, &["--coff-basereloc"], &path);
            let sites = sources * classes * (functions + 1) + 5;
            assert_eq!(count(&text, "Type: DIR64") as u32, sites);
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_bytes_and_another_makes_others() {
    let asked = pietrek(ALL_SHAPES[0]);
    let other = Pietrek { pe: PeOptions { seed: 8, ..asked.pe }, ..asked.clone() };
    for index in 0..=asked.dlls {
        let bytes = |asked| pe::pietrek::file(asked, index).expect("a file");
        assert_eq!(bytes(&asked), bytes(&asked));
        assert_ne!(bytes(&asked), bytes(&other));
    }
    assert_eq!(pe::pietrek::count(&asked), u64::from(asked.dlls) + 1);
}

/// Memory is what the file takes: nothing is gathered elsewhere, and nothing grows.
#[test]
fn an_image_is_one_allocation_of_its_size() {
    for asked in ALL_SHAPES.map(pietrek) {
        for index in 0..=asked.dlls {
            let (_, bytes) = pe::pietrek::file(&asked, index).expect("a file");
            assert_eq!(bytes.capacity(), bytes.len());
            assert_eq!(bytes.len() as u32 % asked.pe.file_alignment, 0);
        }
    }
    let (_, bytes) = pe::dawson::file(&dawson(16, 50, 100)).expect("a file");
    assert_eq!(bytes.capacity(), bytes.len());
}

#[test]
fn what_no_image_can_be_is_refused() {
    let base = pietrek((10, 100, 5, false, Arch::X86_64));
    let error = |asked: &Pietrek| {
        let error = pe::pietrek::check(asked).expect_err("impossible");
        assert_eq!(
            pe::pietrek::file(asked, 0).map(drop).unwrap_err().to_string(),
            error.to_string()
        );
        let WorkloadError::Pe(error) = error else { panic!("{error}") };
        error
    };
    let functions = |functions, globals| Pietrek { functions, globals, ..base.clone() };
    assert!(pe::pietrek::check(&functions(65_535, 5)).is_ok());
    assert!(matches!(
        error(&functions(65_536, 0)),
        PeWorkloadError::Functions { limit: 65_535, .. }
    ));
    assert!(matches!(error(&functions(65_535, u32::MAX)), PeWorkloadError::Image { .. }));
    assert!(matches!(error(&functions(1, 1 << 30)), PeWorkloadError::Image { .. }));
    let dlls = |dlls, arch| Pietrek { dlls, arch, ..base.clone() };
    let file = |error| match error {
        PeWorkloadError::Image { file, .. } | PeWorkloadError::AddressSpace { file, .. } => file,
        other => panic!("{other}"),
    };
    assert_eq!(file(error(&dlls(u32::MAX, Arch::X86_64))), "LoadTimeTest.exe");
    let mut crowded = Pietrek { functions: 10, ..dlls(30_000, Arch::I686) };
    assert!(pe::pietrek::check(&crowded).is_ok());
    crowded.pe.bases = Bases::Chosen;
    assert_eq!(file(error(&crowded)), "LoadTimeDLL_30000.dll");
    let mut odd = base.clone();
    for found in [0, 256, 513, 8192] {
        odd.pe.file_alignment = found;
        assert_eq!(error(&odd), PeWorkloadError::FileAlignment { found });
    }
    let mut moving = base.clone();
    moving.pe.dynamic_base = true;
    assert_eq!(error(&moving), PeWorkloadError::DynamicBase);
    let missing = pe::pietrek::file(&base, 11).expect_err("ten libraries and a program");
    assert!(missing.to_string().contains("file 11 of a workload with 11 files"), "{missing}");
}

#[test]
fn what_no_dawson_can_be_is_refused() {
    let largest = dawson(16, 50, 1600);
    assert_eq!(pe::dawson::guard_entries(&largest), 1_280_845);
    assert!(pe::dawson::check(&largest).is_ok());
    for beyond in [dawson(u32::MAX, u32::MAX, u32::MAX), dawson(16, 50, 100_000)] {
        let error = pe::dawson::check(&beyond).expect_err("too large");
        assert!(error.to_string().contains("a PE image has at most 2 GiB"), "{error}");
    }
    let asked = workload::Dawson { guard_entry_bytes: 6, ..dawson(1, 1, 1) };
    let error = pe::dawson::check(&asked).expect_err("an unknown entry");
    assert!(error.to_string().contains("Guard CF entries of 6 bytes"), "{error}");
    let mut odd = dawson(1, 1, 1);
    odd.pe = PeOptions { file_alignment: 100, ..options() };
    assert!(pe::dawson::file(&odd).is_err());
}
