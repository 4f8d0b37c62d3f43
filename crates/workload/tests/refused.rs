//! What is not generated, and what that leaves behind.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod common;

use common::{dawson, pietrek, shape};
use workload::{
    Arch, By, Format, Kind, Pietrek, Size, Unsupported, Workload, WorkloadError, generate, source,
};

fn refusal(workload: &Workload) -> String {
    generate(workload).err().map(|error| error.to_string()).unwrap_or_default()
}

fn smaller_sizes(workload: &Workload) -> &'static [Size] {
    match generate(workload) {
        Err(WorkloadError::TooLarge { sizes, .. }) => sizes,
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn sizes_beyond_the_format_are_refused_before_anything_is_made() {
    use Size::{Classes, Dlls, Functions, Globals, N, Sources};
    const MOST: u32 = u32::MAX;
    for (workload, words, smaller) in [
        (pietrek(65_536, 1, 1), ["65536 libraries", "65535"], &[Dlls][..]),
        (pietrek(1, MOST, 1), ["each library", "2 GiB"], &[Functions, Globals]),
        (pietrek(1, 1, MOST), ["each library", "2 GiB"], &[Functions, Globals]),
        (pietrek(65_535, 1000, 0), ["the program", "2 GiB"], &[Dlls, Functions]),
        (dawson(MOST, 1, 1), ["4294967295 source files", "65535"], &[Sources]),
        (dawson(1, MOST, 1), ["classes", "65535"], &[Classes]),
        (dawson(65_535, 65_535, MOST), ["the program", "2 GiB"], &[Sources, Classes, Functions]),
        (shape(Kind::Symbols, MOST), ["the images", "2 GiB"], &[N]),
        (shape(Kind::SearchPath, 65_536), ["65536 folders", "65535"], &[N]),
    ] {
        assert_eq!(smaller_sizes(&workload), smaller, "{workload:?}");
        let refusal = refusal(&workload);
        assert!(words.iter().all(|word| refusal.contains(word)), "{workload:?}: {refusal:?}");
    }
    for kind in Kind::ALL {
        assert_eq!(smaller_sizes(&shape(kind, MOST)), [N], "{kind:?}");
        assert!(generate(&shape(kind, 65_535)).is_ok(), "{kind:?}");
    }
}

/// The limit is not far below what the format holds: planned only, as files are made when
/// written.
#[test]
fn large_sizes_are_not_refused() {
    for workload in [pietrek(1000, 1000, 5), pietrek(1, 1_000_000, 5), dawson(16, 50, 40_000)] {
        assert_eq!(refusal(&workload), "");
    }
}

#[test]
fn ordinals_and_processors_are_of_pe() {
    let by_ordinal = Pietrek { by: By::Ordinal, ..Pietrek::default() };
    let i686 = Pietrek { arch: Arch::I686, ..Pietrek::default() };
    for (workload, word, kind) in [
        (by_ordinal, "ordinals", Unsupported::OrdinalsInElf),
        (i686, "x86_64", Unsupported::ElfProcessor),
    ] {
        let workload = Workload::Pietrek(workload);
        assert!(refusal(&workload).contains(word), "{workload:?}");
        let error = generate(&workload).err();
        assert!(matches!(error, Some(WorkloadError::Unsupported(found)) if found == kind));
    }
    let pe = Workload::Pietrek(Pietrek { format: Format::Pe, ..Pietrek::default() });
    let refusal = source(&pe).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refusal.contains("ELF only"), "{refusal}");
}

#[test]
fn a_folder_that_is_not_empty_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("precious"), "text").unwrap();
    let error = generate(&pietrek(2, 2, 2)).unwrap().write_to(folder.path()).unwrap_err();
    assert!(matches!(&error, WorkloadError::NotEmpty { found, .. } if found == "precious"));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read_to_string(names[0].path()).unwrap(), "text");
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = generate(&pietrek(1, 1, 1)).unwrap().write_to(&path).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&*path.to_string_lossy()) && text.contains("choose a folder"),
            "{text}"
        );
    }
}

#[test]
fn what_was_written_is_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let files = generate(&shape(Kind::SearchPath, 3)).unwrap();
    let written = files.write_to(folder.path()).unwrap();
    assert_eq!(written.files, files.names().count() as u64);
    let sizes = files.names().map(|name| folder.path().join(name).metadata().unwrap().len());
    assert_eq!(written.bytes, sizes.sum::<u64>());
}

#[test]
fn of_two_that_write_to_one_folder_one_is_complete_and_the_other_refused() {
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        // A folder that is there already, and one that is not.
        let out = if round % 2 == 0 { folder.path().to_owned() } else { folder.path().join("new") };
        let write = || {
            let files = generate(&pietrek(20, 20, 5)).unwrap();
            files.write_to(&out).map(|_| ()).map_err(|error| error.to_string())
        };
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let fine = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(fine, 1, "{results:?}");
        let there = std::fs::read_dir(&out).unwrap().count();
        assert_eq!(there, generate(&pietrek(20, 20, 5)).unwrap().names().count(), "{results:?}");
        let refusal = |result: Result<(), String>| result.err().unwrap_or_default();
        let refusals = results.into_iter().map(refusal).filter(|text| !text.is_empty());
        for text in refusals {
            let said = ["another process is writing", "is not empty"];
            assert!(said.iter().any(|part| text.contains(part)), "{text}");
        }
    }
}

#[test]
fn what_somebody_else_wrote_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let files = generate(&shape(Kind::SearchPath, 3)).unwrap();
    let program = files.names().last().unwrap().to_owned();
    // It appears after the folder was found empty: as a name that cannot be created twice.
    let late = folder.path().join(&program);
    let waiting = std::thread::spawn({
        let (folder, late) = (folder.path().to_owned(), late.clone());
        move || {
            while std::fs::read_dir(&folder).unwrap().next().is_none() {}
            let _ = std::fs::OpenOptions::new().write(true).create_new(true).open(late);
        }
    });
    let written = files.write_to(folder.path());
    waiting.join().unwrap();
    assert!(late.exists(), "{written:?}");
}
