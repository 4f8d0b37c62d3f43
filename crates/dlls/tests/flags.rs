//! Flags of images that compilers and linkers have made, as llvm-readobj reads them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{library, output};
use dlls::flags::{self, Change, Changed, Flag};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, facts_of, spec};
use std::path::Path;
use testkit::pe::{Image, Machine, Tools, Wine};
use workload::Arch;

/// As llvm-readobj names those that can be changed.
const NAMES: [(Flag, &str); 8] = [
    (Flag::DynamicBase, "IMAGE_DLL_CHARACTERISTICS_DYNAMIC_BASE"),
    (Flag::HighEntropyVa, "IMAGE_DLL_CHARACTERISTICS_HIGH_ENTROPY_VA"),
    (Flag::LargeAddressAware, "IMAGE_FILE_LARGE_ADDRESS_AWARE"),
    (Flag::SwapRunNet, "IMAGE_FILE_NET_RUN_FROM_SWAP"),
    (Flag::SwapRunCd, "IMAGE_FILE_REMOVABLE_RUN_FROM_SWAP"),
    (Flag::NxCompat, "IMAGE_DLL_CHARACTERISTICS_NX_COMPAT"),
    (Flag::TsAware, "IMAGE_DLL_CHARACTERISTICS_TERMINAL_SERVER_AWARE"),
    (Flag::NoBind, "IMAGE_DLL_CHARACTERISTICS_NO_BIND"),
];

fn change(bytes: &[u8], asked: &Change) -> Result<(Changed, Vec<u8>), String> {
    let mut draft = PeDraft::of(&Pe::parse("it", bytes).unwrap());
    let changed = flags::change(&mut draft, "it", asked).map_err(|no| no.to_string())?;
    Ok((changed, draft.finish(KeepChecksum::AsItWas)))
}

fn set(flags: &[Flag]) -> Change {
    Change { set: flags.to_vec(), clear: Vec::new() }
}

fn clear(flags: &[Flag]) -> Change {
    Change { set: Vec::new(), clear: flags.to_vec() }
}

/// The flags that llvm-readobj finds, in the order of [`NAMES`].
fn read(readobj: &Path, folder: &Path, bytes: &[u8]) -> Vec<Flag> {
    let path = folder.join("read.dll");
    std::fs::write(&path, bytes).unwrap();
    let text = output(readobj, &["--file-headers", path.to_str().unwrap()]);
    let has = |name: &str| text.lines().any(|line| line.trim().starts_with(&format!("{name} (")));
    NAMES.iter().filter(|(_, name)| has(name)).map(|(flag, _)| *flag).collect()
}

#[test]
fn every_flag_is_set_and_cleared_as_llvm_readobj_reads_it() {
    let Some(readobj) = testkit::tool("llvm-readobj-19") else { return };
    let folder = tempfile::tempdir().unwrap();
    for arch in [Arch::X86_64, Arch::I686] {
        let bytes = library(arch);
        let own = read(&readobj, folder.path(), &bytes);
        for (flag, _) in NAMES {
            if flag == Flag::HighEntropyVa && arch == Arch::I686 {
                continue;
            }
            let (_, without) = change(&bytes, &clear(&[flag])).unwrap();
            let (changed, with) = change(&without, &set(&[flag])).unwrap();
            assert_eq!((changed.set, changed.cleared), (vec![flag], Vec::new()));
            let mut expected: Vec<Flag> = own.clone();
            expected.retain(|other| *other != flag);
            assert_eq!(read(&readobj, folder.path(), &without), expected, "{flag:?}");
            expected.push(flag);
            expected.sort();
            assert_eq!(read(&readobj, folder.path(), &with), expected, "{flag:?}");
            for new in [&without, &with] {
                let checksum = facts_of("", new).unwrap().checksum;
                assert!(checksum.stored == checksum.computed && checksum.stored != 0);
            }
            let back = if own.contains(&flag) { with } else { without };
            assert!(back == bytes, "{flag:?}");
        }
    }
}

#[test]
fn flags_that_an_image_cannot_have_are_refused() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "int number; int *where = &number; int one(void) { return *where; }";
    let built = |name: &str, machine: Machine, option: &str| {
        let image = Image::new(name, source).machine(machine).exports("one");
        let image = if option.is_empty() { image } else { image.link(option) };
        std::fs::read(tools.build(folder.path(), &image)).unwrap()
    };
    let refused = |bytes: &[u8], asked: &Change, words: &str| {
        let said = change(bytes, asked).unwrap_err();
        assert!(said.contains(words), "{words:?} in {said}");
    };
    for machine in [Machine::X86_64, Machine::I686] {
        let fixed = built("fixed.dll", machine, "/fixed");
        refused(&fixed, &set(&[Flag::DynamicBase]), "they were removed");
        // Half of a change is none.
        refused(&fixed, &set(&[Flag::NxCompat, Flag::DynamicBase]), "they were removed");
    }
    let narrow = built("narrow.dll", Machine::I686, "");
    refused(&narrow, &set(&[Flag::HighEntropyVa]), "PE32");
    let arm = built("arm.dll", Machine::Arm64, "");
    refused(&arm, &clear(&[Flag::DynamicBase]), "ARM");
    refused(&arm, &clear(&[Flag::LargeAddressAware]), "ARM64");
    let arm = built("arm32.dll", Machine::Arm, "");
    refused(&arm, &clear(&[Flag::DynamicBase]), "ARM");
}

#[test]
fn what_does_nothing_is_noted() {
    let bytes = library(Arch::X86_64);
    let noted = |asked: &Change, words: &str| {
        let (changed, _) = change(&bytes, asked).unwrap();
        assert!(
            changed.notes.iter().any(|note| note.text.contains(words)),
            "{asked:?}: {changed:?}"
        );
    };
    let both = Change { set: vec![Flag::HighEntropyVa], clear: vec![Flag::DynamicBase] };
    noted(&both, "no effect without dynamicbase");
    noted(&set(&[Flag::TsAware]), "programs only");
    let change_of = |flag| {
        if Flag::is_set(flag, Pe::parse("", &bytes).unwrap().headers()) {
            clear(&[flag])
        } else {
            set(&[flag])
        }
    };
    noted(&change_of(Flag::LargeAddressAware), "programs only");
    noted(&change_of(Flag::NxCompat), "64-bit");
    let (changed, new) = change(&bytes, &set(&[Flag::SwapRunNet])).unwrap();
    assert!(changed.notes.is_empty(), "{changed:?}");
    // Nothing to change: nothing is changed or noted.
    let (again, same) = change(&new, &set(&[Flag::SwapRunNet])).unwrap();
    assert!(again == Changed { set: vec![], cleared: vec![], notes: vec![] } && same == new);
}

#[test]
fn an_image_without_a_relocation_table_is_noted_or_refused() {
    for (arch, refused) in [(Arch::X86_64, false), (Arch::I686, true)] {
        let mut bytes = library(arch);
        let at = Pe::parse("", &bytes).unwrap().headers().directory_offset(spec::BASERELOC).index();
        bytes[at..at + 8].fill(0);
        match change(&bytes, &set(&[Flag::DynamicBase])) {
            Err(said) => assert!(refused && said.contains("they were removed"), "{said}"),
            Ok((changed, _)) => {
                assert!(
                    !refused && changed.notes[0].text.contains("no relocation table"),
                    "{changed:?}"
                );
            }
        }
    }
}

#[test]
fn names_are_those_of_the_linker() {
    for (flag, _) in NAMES {
        for name in [flag.name().to_owned(), format!("/{}", flag.name().to_uppercase())] {
            assert_eq!(Flag::parse(&name), Ok(flag));
        }
    }
    assert_eq!(Flag::parse("ALLOWBIND:NO"), Ok(Flag::NoBind));
    let said = Flag::parse("aslr").unwrap_err();
    assert!(said.contains("dynamicbase") && said.contains("swaprun:net"), "{said}");
    for name in ["force-integrity", "integritycheck", "guard:cf", "appcontainer", "fixed"] {
        let said = Flag::parse(name).unwrap_err();
        assert!(said.contains("cannot be changed"), "{said}");
    }
}

#[test]
fn wine_runs_a_program_with_other_flags() {
    let Some(tools) = Tools::find() else { return };
    let Some(wine) = Wine::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let image = Image::new("p.exe", "void start(void) { say(\"here\"); leave(7); }").speaking();
    let bytes = std::fs::read(tools.build(folder.path(), &image)).unwrap();
    let all = [Flag::SwapRunNet, Flag::SwapRunCd, Flag::NoBind, Flag::TsAware];
    let asked = Change { set: all.to_vec(), clear: vec![Flag::DynamicBase, Flag::HighEntropyVa] };
    let (changed, new) = change(&bytes, &asked).unwrap();
    assert!(changed.cleared.contains(&Flag::DynamicBase), "{changed:?}");
    std::fs::write(folder.path().join("q.exe"), new).unwrap();
    assert_eq!(wine.run(folder.path(), &["q.exe"]), wine.run(folder.path(), &["p.exe"]));
}

#[test]
fn every_flag_is_in_its_row() {
    for (row, flag) in Flag::all().enumerate() {
        assert_eq!(flag as usize, row, "{}", flag.name());
    }
}
