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

/// What the installed tools build.
#[test]
fn built_images_have_llvm_readobjs_facts() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(built) = testkit::pe::samples(folder.path()) else { return };
    assert_eq!(assert_agrees(&facts(&built)).files, 15);
}

/// Of every choice that a generated workload has.
#[test]
fn generated_images_have_llvm_readobjs_facts() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let tally = assert_agrees(&facts(&generated::generated(folder.path()).unwrap()));
    assert!(tally.files > 10 && tally.relocations > 100, "{tally:?}");
}

/// A load configuration of 32 bits has its last count elsewhere than one of 64.
#[test]
fn exception_continuations_are_counted_for_32_and_64_bits() {
    if testkit::tool("llvm-readobj-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, wide) in [("i686-guarded.exe", false), ("x86_64-guarded.exe", true)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testfiles/pe").join(name);
        let mut bytes = std::fs::read(path).unwrap();
        let file = image::pe::Pe::parse(name, &bytes).unwrap();
        let directory = file.directory(image::pe::spec::LOAD_CONFIG).unwrap();
        // GuardEHContinuationCount of IMAGE_LOAD_CONFIG_DIRECTORY32 and 64.
        let at = file.offset(directory.rva + if wide { 0x110 } else { 0xa8 }).unwrap().index();
        bytes[at] = 77;
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let facts = facts(&[path]);
        assert_eq!(facts[0].guard.as_ref().unwrap().exception_continuations, 77);
        assert_agrees(&facts);
    }
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
