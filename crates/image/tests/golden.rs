//! Facts of the committed images of testfiles/elf.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use model::{ElfFacts, HashStyle};
use std::path::{Path, PathBuf};
use testkit::oracles::Difference;
use testkit::oracles::elf::{compare, readelf, readobj};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf")
}

fn images() -> Vec<(String, Vec<u8>)> {
    let mut images = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && name != "README.md" {
            images.push((name, std::fs::read(path).unwrap()));
        }
    }
    images.sort();
    assert!(images.len() >= 20, "testfiles/elf is incomplete");
    images
}

fn facts(name: &str, bytes: &[u8]) -> ElfFacts {
    image::elf::facts_of(name, bytes).unwrap()
}

#[test]
fn facts_are_as_reviewed() {
    for (name, bytes) in images() {
        let json = serde_json::to_string_pretty(&facts(&name, &bytes)).unwrap();
        insta::assert_snapshot!(name.clone(), json);
    }
}

fn assert_none(differences: &[Difference]) {
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
}

#[test]
fn readelf_states_the_same_facts() {
    if testkit::tool("readelf").is_none() {
        return;
    }
    let (mut files, mut relocations, mut differences) = (0, 0, Vec::new());
    // Without section headers readelf needs other arguments and shows less.
    for (name, bytes) in images().into_iter().filter(|(name, _)| !name.contains("no-sections")) {
        let readelf = readelf::read(&folder().join(&name)).unwrap().facts;
        differences.extend(compare(&facts(&name, &bytes), &readelf));
        relocations += readelf.relocations.values().sum::<u64>();
        files += 1;
    }
    assert_none(&differences);
    assert!(files >= 20 && relocations > 300, "{files} files, {relocations} relocations");
}

/// Also of files without section headers.
#[test]
fn llvm_readobj_states_the_same_tables_of_a_loader() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let all = images().into_iter().map(|(name, bytes)| {
        readobj::differences(&facts(&name, &bytes), &folder().join(&name)).unwrap()
    });
    let differences: Vec<Difference> = all.flatten().collect();
    assert_none(&differences);
    let (name, bytes) = images().swap_remove(0);
    let mut wrong = facts(&name, &bytes);
    wrong.load_segments += 1;
    assert_eq!(readobj::differences(&wrong, &folder().join(&name)).unwrap().len(), 1, "{name}");
}

/// A loader ignores section headers: without them the same must be found by the dynamic table.
#[test]
fn a_loader_finds_the_same_without_section_headers() {
    let mut compared = 0;
    for (name, mut bytes) in images() {
        let with = facts(&name, &bytes);
        if with.needed.is_empty() && with.soname.is_none() && with.hash_style == HashStyle::None {
            continue; // an object file, or a static program: nothing for a loader
        }
        let offset_of_shoff = if with.bits == 64 { 40..48 } else { 32..36 };
        bytes[offset_of_shoff].fill(0);
        let without = facts(&name, &bytes);
        if name == "emit-relocs" {
            assert!(with.link_time_relocations > 0);
            assert_eq!(
                with.relocation_count() - with.link_time_relocations,
                without.relocation_count()
            );
        } else {
            assert_eq!(with.relocations, without.relocations, "{name}");
            assert_eq!(with.relocated_pages, without.relocated_pages, "{name}");
        }
        assert_eq!(with.relative_relocations, without.relative_relocations, "{name}");
        assert_eq!(with.imports, without.imports, "{name}");
        assert_eq!(with.exports, without.exports, "{name}");
        assert_eq!(with.initializers, without.initializers, "{name}");
        assert_eq!(with.build_id, without.build_id, "{name}");
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} images compared");
}
