//! What is on disk decides whether the bundle or the original runs.

use crate::bench::Bench;
use startup::{Expected, FileIdentity, FileRecord, Tables};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Which program runs, once `change` has been made to the files of a bundle that must find
/// `library`, `link` (to `library`) and nothing at `absent`.
fn after(change: impl Fn(&Bench)) -> Option<&'static str> {
    let bench = Bench::new()?;
    bench.write("library", "one");
    bench.write("other", "one");
    fs::create_dir(bench.path("folder")).unwrap();
    symlink("library", bench.path("link")).unwrap();
    let must = ["library", "link", "absent", "folder/absent", "library/absent"];
    let must = must.map(|name| bench.record(name)).to_vec();
    let tables = Tables { must, ..bench.tables() };
    assert!(bench.launch_with(&tables).is_bundle());
    change(&bench);
    let launched = bench.launch();
    match (launched.is_bundle(), launched.is_original()) {
        (true, false) => Some("bundle"),
        (false, true) => Some("original"),
        _ => panic!("{launched:?}"),
    }
}

#[track_caller]
fn is_stale_after(change: impl Fn(&Bench)) {
    if let Some(which) = after(change) {
        assert_eq!(which, "original");
    }
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

fn set_modified(path: &Path, time: SystemTime) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn nothing_changed() {
    assert!(matches!(after(|_| ()), None | Some("bundle")));
    // Reading is no change, nor is another file beside.
    let beside = |bench: &Bench| {
        fs::read(bench.path("library")).unwrap();
        bench.write("beside", "two");
    };
    assert!(matches!(after(beside), None | Some("bundle")));
}

#[test]
fn a_library_replaced_by_rename() {
    is_stale_after(|bench| fs::rename(bench.write("new", "one"), bench.path("library")).unwrap());
}

#[test]
fn a_library_replaced_by_one_of_the_same_size_and_time() {
    is_stale_after(|bench| {
        let new = bench.write("new", "two");
        set_modified(&new, modified(&bench.path("library")));
        fs::rename(new, bench.path("library")).unwrap();
    });
}

#[test]
fn a_library_rewritten_in_place() {
    is_stale_after(|bench| drop(bench.write("library", "two")));
    is_stale_after(|bench| drop(bench.write("library", "three")));
}

#[test]
fn a_library_rewritten_in_place_with_its_old_time() {
    is_stale_after(|bench| {
        let path = bench.path("library");
        let time = modified(&path);
        bench.write("library", "two");
        set_modified(&path, time);
    });
}

#[test]
fn a_library_touched() {
    is_stale_after(|bench| {
        set_modified(&bench.path("library"), SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    });
}

#[test]
fn a_library_moved_away() {
    is_stale_after(|bench| fs::rename(bench.path("library"), bench.path("away")).unwrap());
    is_stale_after(|bench| fs::remove_file(bench.path("library")).unwrap());
}

#[test]
fn a_link_that_leads_elsewhere() {
    is_stale_after(|bench| {
        fs::remove_file(bench.path("link")).unwrap();
        symlink("other", bench.path("link")).unwrap();
    });
    is_stale_after(|bench| fs::remove_file(bench.path("link")).unwrap());
}

#[test]
fn something_where_nothing_was() {
    is_stale_after(|bench| drop(bench.write("absent", "")));
    is_stale_after(|bench| fs::create_dir(bench.path("absent")).unwrap());
    is_stale_after(|bench| drop(bench.write("folder/absent", "")));
    is_stale_after(|bench| symlink("library", bench.path("absent")).unwrap());
    // A loop of links is nothing that the loader passes over.
    is_stale_after(|bench| symlink("absent", bench.path("absent")).unwrap());
    let dangling = |bench: &Bench| symlink("nowhere", bench.path("absent")).unwrap();
    assert!(matches!(after(dangling), None | Some("bundle")));
}

type Change = fn(&mut FileIdentity);

#[test]
fn every_field_of_an_identity_counts() {
    let Some(bench) = Bench::new() else { return };
    bench.write("library", "one");
    let record = bench.record("library");
    let Expected::File(identity) = record.expected else { panic!("{record:?}") };
    let changed: [(&str, Change); 6] = [
        ("inode", |it| it.inode ^= 1 << 32),
        ("size", |it| it.size += 1 << 32),
        ("modified seconds", |it| it.modified.0 -= 1 << 32),
        ("modified nanoseconds", |it| it.modified.1 ^= 1),
        ("changed seconds", |it| it.changed.0 ^= 1),
        ("changed nanoseconds", |it| it.changed.1 ^= 1 << 24),
    ];
    for (field, change) in changed {
        let mut other = identity;
        change(&mut other);
        for (expected, is_folder) in
            [(Expected::File(other), false), (Expected::Folder(other), true)]
        {
            let must = vec![FileRecord { path: record.path.clone(), expected }];
            let launched = bench.launch_with(&Tables { must, ..bench.tables() });
            let passes = is_folder && field == "size";
            let seen = (launched.is_bundle(), launched.is_original());
            assert_eq!(seen, (passes, !passes), "{field}, as a folder: {is_folder}");
        }
    }
}

/// A bundle with a folder as its hint and a library in it among `all`.
fn hinted() -> Option<Bench> {
    let bench = Bench::new()?;
    fs::create_dir(bench.path("lib")).unwrap();
    bench.write("lib/one", "one");
    bench.write("lib/two", "two");
    let all = ["lib/one", "lib/two"].map(|name| bench.record(name)).to_vec();
    let tables = Tables { hints: vec![bench.record("lib")], all, ..bench.tables() };
    assert!(bench.launch_with(&tables).is_bundle());
    Some(bench)
}

#[test]
fn a_folder_that_changed_around_unchanged_files() {
    let Some(bench) = hinted() else { return };
    bench.write("lib/three", "three");
    assert!(bench.launch().is_bundle());
    fs::remove_file(bench.path("lib/two")).unwrap();
    assert!(bench.launch().is_original());
}

#[test]
fn a_folder_that_changed_with_a_file() {
    let Some(bench) = hinted() else { return };
    let new = bench.write("lib/new", "two");
    fs::rename(new, bench.path("lib/two")).unwrap();
    assert!(bench.launch().is_original());
}

#[test]
fn files_under_an_unchanged_hint_are_not_examined() {
    let Some(bench) = hinted() else { return };
    // In place: the folder does not change, which is why private libraries belong to `must`.
    bench.write("lib/two", "changed");
    assert!(bench.launch().is_bundle());
}

#[test]
fn five_hundred_libraries_of_one_folder() {
    let Some(bench) = Bench::new() else { return };
    fs::create_dir(bench.path("lib")).unwrap();
    let names: Vec<String> = (0..500).map(|number| format!("lib/library{number}")).collect();
    names.iter().for_each(|name| drop(bench.write(name, name)));
    let mut must: Vec<FileRecord> = names.iter().map(|name| bench.record(name)).collect();
    must.extend([bench.record("lib/absent"), bench.record("original")]);
    assert!(bench.launch_with(&Tables { must, ..bench.tables() }).is_bundle());
    bench.write("lib/library499", "changed");
    assert!(bench.launch().is_original());
    // The message has the whole path, wherever the folder was opened.
    fs::remove_file(bench.path("original")).unwrap();
    let named = format!("{} is not what it was", bench.path("original").display());
    assert!(bench.launch().refusal().contains(&named));
    bench.install(&Tables {
        must: names.iter().map(|name| FileRecord::of(&bench.path(name)).unwrap()).collect(),
        ..bench.tables()
    });
    fs::remove_file(bench.path("lib/library77")).unwrap();
    let named = format!("{} is not what it was", bench.path("lib/library77").display());
    assert!(bench.launch().refusal().contains(&named));
}

#[test]
fn absent_files_of_an_absent_folder() {
    let Some(bench) = Bench::new() else { return };
    fs::create_dir(bench.path("lib")).unwrap();
    let absent = |folder: &str| (0..8).map(|n| bench.record(&format!("{folder}/{n}"))).collect();
    let [gone, file, there]: [Vec<FileRecord>; 3] = ["gone", "original", "lib"].map(absent);
    let must = [gone, file, there].concat();
    assert!(bench.launch_with(&Tables { must, ..bench.tables() }).is_bundle());
    fs::create_dir(bench.path("gone")).unwrap();
    assert!(bench.launch().is_bundle());
    bench.write("gone/5", "");
    assert!(bench.launch().is_original());
    // No folder stays open for the program.
    fs::remove_file(bench.path("gone/5")).unwrap();
    let launched = bench.launch();
    assert!(launched.is_bundle());
    assert_eq!(launched.line("open files"), "3");
}

#[test]
fn a_folder_of_libraries_that_leads_elsewhere() {
    let Some(bench) = Bench::new() else { return };
    for folder in ["one", "two"] {
        fs::create_dir(bench.path(folder)).unwrap();
        (0..8).for_each(|n| drop(bench.write(&format!("{folder}/{n}"), "library")));
    }
    symlink("one", bench.path("lib")).unwrap();
    let all: Vec<FileRecord> = (0..8).map(|n| bench.record(&format!("lib/{n}"))).collect();
    let must = all.clone();
    assert!(bench.launch_with(&Tables { must, ..bench.tables() }).is_bundle());
    fs::remove_file(bench.path("lib")).unwrap();
    symlink("two", bench.path("lib")).unwrap();
    assert!(bench.launch().is_original());
    fs::remove_file(bench.path("lib")).unwrap();
    assert!(bench.launch().is_original());
    // A hint whose files are compared in an open folder leaves it too.
    symlink("one", bench.path("lib")).unwrap();
    let mut hints = all.clone();
    hints[7].expected = Expected::Absent;
    let launched = bench.launch_with(&Tables { hints, all, ..bench.tables() });
    assert!(launched.is_bundle(), "{launched:?}");
    assert_eq!(launched.line("open files"), "3");
}

#[test]
fn memory_that_is_protected_and_memory_that_cannot_be() {
    let Some(bench) = Bench::new() else { return };
    assert_eq!(bench.launch_with(&bench.tables()).line("constants"), "rwxp");
    let constants = bench.constants();
    let launched = bench.launch_with(&Tables { relro: vec![constants], ..bench.tables() });
    assert!(launched.is_bundle(), "{launched:?}");
    assert_eq!(launched.line("constants"), "r--p");
    let mut unmapped = constants;
    unmapped.offset -= 1 << 40;
    let relro = vec![constants, unmapped];
    assert!(bench.launch_with(&Tables { relro, ..bench.tables() }).is_original());
}
