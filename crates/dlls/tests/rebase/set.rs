//! Sets laid out and moved, under Wine's loader.

use crate::rebase;
use dlls::rebase::{Candidate, Mobility, Policy, RebaseOptions, examine, lay_out};
use image::pe::{Pe, PeFile};
use std::path::{Path, PathBuf};
use testkit::pe::{Image, Tools, Wine};
use workload::{PeOptions, Pietrek, pe};

/// The images of a folder, moved into another one.
fn moved(from: &Path, policy: Policy) -> (tempfile::TempDir, Vec<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let files = std::fs::read_dir(from).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| PeFile::open(path).is_ok()).collect();
    files.sort();
    let examined = files.iter().map(|path| {
        let file = PeFile::open(path).unwrap();
        let found = examine(file.name(), &file.pe(), RebaseOptions::default());
        let role = if found.program { Mobility::Stays } else { Mobility::Moves };
        Candidate::of(file.name().to_owned(), &found, role)
    });
    let examined: Vec<Candidate> = examined.collect();
    let places = lay_out(&examined, &[], policy).unwrap();
    for (path, place) in files.iter().zip(&places) {
        let name = path.file_name().unwrap();
        let bytes = std::fs::read(path).unwrap();
        let done =
            rebase(&path.display().to_string(), bytes, place.base.0, RebaseOptions::default());
        std::fs::write(folder.path().join(name), done.unwrap().bytes).unwrap();
    }
    (folder, places.iter().map(|place| place.base.0).collect())
}

#[test]
fn generated_sets_call_the_same_functions() {
    let Some(wine) = Wine::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let asked = Pietrek {
        dlls: 12,
        functions: 60,
        format: workload::Format::Pe,
        pe: PeOptions::default(),
        ..Pietrek::default()
    };
    for index in 0..=asked.dlls {
        let (name, bytes) = pe::pietrek::file(&asked, index).unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for policy in [Policy::Auto, Policy::Cygwin, Policy::From(model::Va(0x7_0000_0000))] {
        let (folder, bases) = moved(folder.path(), policy);
        let different: std::collections::BTreeSet<&u64> = bases.iter().collect();
        assert_eq!(different.len(), 13, "{policy:?}");
        let run = wine.run(folder.path(), &["LoadTimeTest.exe", "--call"]);
        assert_eq!(run.code, Some(0), "{policy:?}: {run:?}");
    }
}

/// A program that says where its DLL is loaded, by the DLL's own addresses.
#[test]
fn a_dll_is_loaded_where_it_was_put() {
    let (Some(wine), Some(tools)) = (Wine::shared(), Tools::find()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "int number; int *pointer = &number; void *where(void) { return (char *)pointer; }\n\
        int right(void) { return pointer == &number && thread_number == 5; }";
    let dll = Image::new("it.dll", source).thread_local(1).exports("where\nright").checksum();
    tools.build(folder.path(), &dll);
    let source = "__declspec(dllimport) void *where(void);\n\
        __declspec(dllimport) int right(void);\n\
        void start(void) {\n\
          unsigned long long at = (unsigned long long)where(); char text[9]; int n;\n\
          for (n = 0; n < 8; n++) text[n] = \"0123456789abcdef\"[at >> (44 - 4 * n) & 15];\n\
          text[8] = 0; say(text); leave(right() ? 0 : 1); }";
    let program = Image::new("it.exe", source).speaking().against("it.dll");
    tools.build(folder.path(), &program);
    let (moved, _) = moved(folder.path(), Policy::From(model::Va(0x3a_bcd0_0000)));
    let run = wine.run(moved.path(), &["it.exe"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "003abcd0"), "{run:?}");
}

/// A program bound to a DLL that has been moved since: the new time stamp tells the loader.
#[test]
fn a_bound_image_is_unbound_and_runs() {
    let (Some(wine), Some(tools)) = (Wine::shared(), Tools::find()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let leaf = Image::new("leaf.dll", "int leaf(void) { return 40; }").exports("leaf");
    let leaf = tools.build(folder.path(), &leaf);
    let source = "__declspec(dllimport) int leaf(void); int *self = (int *)&self;\n\
        int middle(void) { return leaf() + 2; }";
    let middle = Image::new("middle.dll", source).exports("middle").against("leaf.dll");
    let middle = tools.build(folder.path(), &middle);
    let source = "__declspec(dllimport) int middle(void);\nvoid start(void) { leave(middle()); }";
    tools.build(folder.path(), &Image::new("it.exe", source).speaking().against("middle.dll"));
    let unbound = std::fs::read(&middle).unwrap();
    let paths = [middle.clone(), leaf];
    let files = dlls::OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    let mut draft = set.draft(dlls::MemberId(0));
    dlls::bind::bind(&mut draft).unwrap();
    let bound =
        image::pe::edit::PeDraft::from(draft).finish(image::pe::edit::KeepChecksum::AsItWas);
    assert!(bound != unbound);
    let done = rebase("middle.dll", bound, 0x3a_0000_0000, RebaseOptions::default()).unwrap();
    assert!(done.unbound);
    let plain = rebase("middle.dll", unbound, 0x3a_0000_0000, RebaseOptions::default()).unwrap();
    assert!(plain.bytes == done.bytes, "as if it had never been bound");
    assert!(Pe::parse("it", &done.bytes).unwrap().directory(11).is_none());
    std::fs::write(&middle, done.bytes).unwrap();
    assert_eq!(wine.run(folder.path(), &["it.exe"]).code, Some(42));
}
