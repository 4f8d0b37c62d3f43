//! Facts of the committed images of testfiles/elf.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use model::{ElfFacts, HashStyle};
use std::path::PathBuf;

fn images() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf");
    let mut images = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
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
        assert_eq!(with.initialisers, without.initialisers, "{name}");
        assert_eq!(with.build_id, without.build_id, "{name}");
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} images compared");
}
