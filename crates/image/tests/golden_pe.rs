//! Facts of the committed images of testfiles/pe.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use model::PeFacts;
use std::path::{Path, PathBuf};
use testkit::oracles::pe::{compare, readobj};

fn images() -> Vec<(PathBuf, PeFacts)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let images = paths.filter(|path| !path.ends_with("README.md"));
    let facts = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        image::pe::facts_of(&name, &std::fs::read(path).unwrap()).unwrap()
    };
    let images: Vec<(PathBuf, PeFacts)> = images.map(|path| (path.clone(), facts(&path))).collect();
    assert!(images.len() >= 15, "testfiles/pe is incomplete");
    images
}

#[test]
fn facts_are_as_reviewed() {
    for (_, facts) in images() {
        let json = serde_json::to_string_pretty(&facts).unwrap();
        insta::assert_snapshot!(facts.path, json);
    }
}

#[test]
fn llvm_readobj_states_the_same_facts() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let (mut relocations, mut imports, mut texts) = (0, 0, Vec::new());
    for (path, facts) in images() {
        let theirs = readobj::read(path.to_str().unwrap()).unwrap();
        texts.extend(compare(&facts, &theirs).iter().map(ToString::to_string));
        relocations += theirs.relocations.iter().flat_map(|counts| counts.values()).sum::<u64>();
        imports += theirs.imports.iter().flatten().map(|(_, functions, _)| functions).sum::<u64>();
    }
    assert!(texts.is_empty(), "{}", texts.join("\n"));
    assert!(relocations > 100 && imports > 20, "{relocations} relocations, {imports} imports");
}
