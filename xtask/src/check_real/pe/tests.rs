//! The sweep in small, with what every machine has that tests run on.

use super::*;

fn facts(files: &[PathBuf]) -> Vec<PeFacts> {
    files.iter().map(|path| image::pe::facts(path).unwrap()).collect()
}

fn assert_agrees(images: &[PeFacts]) -> Tally {
    let tally = sweep(images, None).unwrap();
    let differences: Vec<String> = tally.differences.iter().map(|d| d.to_string()).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    tally
}

/// Sixty of Wine's files, evenly spread.
#[test]
fn wines_dlls_have_llvm_readobjs_facts() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let Some(set) = pe_files::wine().unwrap() else { return };
    let step = set.files.len().div_ceil(60);
    let files: Vec<PathBuf> = set.files.into_iter().step_by(step).collect();
    let tally = assert_agrees(&facts(&files));
    assert!(tally.files >= 50 && tally.relocations > 1000 && tally.imports > 1000);
}

#[test]
fn a_wrong_count_is_a_difference() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let Some(set) = pe_files::wine().unwrap() else { return };
    let mut images = facts(&set.files[..1]);
    images[0].imports += 1;
    images[0].exports += 1;
    images[0].imported.pop();
    let tally = sweep(&images, None).unwrap();
    assert_eq!(tally.differences.len(), 2, "{:?}", tally.differences);
}
