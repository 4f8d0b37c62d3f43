//! Files written whole or not at all, and restored to the byte.
#![allow(clippy::unwrap_used)]

use files::{Batch, Edited, Permit, WriteAdvice, WriteError};
use proptest::prelude::*;
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Tried again while the child of another test has the file open, until it starts its program.
fn in_place(path: &Path, edited: &Edited<'_>) -> Result<PathBuf, WriteError> {
    loop {
        match files::in_place(path, edited) {
            Err(error) if error.to_string().contains("has it open") && !is_open_here(path) => {}
            done => return done,
        }
    }
}

fn is_open_here(path: &Path) -> bool {
    let files = fs::read_dir("/proc/self/fd").unwrap().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| file == path)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn undone_is_as_before(
        old in prop::collection::vec(any::<u8>(), 1..20_000),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..50),
        length in 1..30_000_usize,
    ) {
        let mut new = old.clone();
        for (index, value) in changes {
            let at = index.index(new.len());
            new[at] = value;
        }
        new.resize(length, 7);
        prop_assume!(new != old);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, &old).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
        drop(file);
        let edited = Edited::of(&old, &new);
        prop_assert_eq!(edited.to_bytes(), new.clone());
        let undo = in_place(&path, &edited).unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), new);
        prop_assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
        prop_assert_eq!(names(folder.path()), ["file", "file.headstart-undo"]);
        files::undo(&path).unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), old);
        let data = fs::metadata(&path).unwrap();
        prop_assert_eq!((data.mode() & 0o7777, data.modified().unwrap()), (0o751, time));
        prop_assert!(!undo.exists());
    }
}

/// Root may set attributes of any file, so root runs this test once more as another user.
#[test]
fn attributes_of_a_file_that_is_not_writable_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    if is_root() {
        let Some(setpriv) = testkit::tool("setpriv") else { return };
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let copy = folder.path().join("tests");
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let mut again = Command::new(setpriv);
        again.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        again.args(["--exact", "attributes_of_a_file_that_is_not_writable_are_kept"]);
        let output = again.env("TMPDIR", folder.path()).current_dir("/").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    if let Err(error) = rustix::fs::setxattr(&path, "user.headstart", b"kept", flags) {
        return testkit::skip(&format!("{}: {error}", path.display()));
    }
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let is_kept = |content: &[u8]| {
        let mut value = [0; 16];
        let size = rustix::fs::getxattr(&path, "user.headstart", &mut value[..]).unwrap();
        assert_eq!(&value[..size], b"kept");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o444);
        assert_eq!(fs::read(&path).unwrap(), content);
    };
    in_place(&path, &Edited::of(b"old", b"new")).unwrap();
    is_kept(b"new");
    files::undo(&path).unwrap();
    is_kept(b"old");
}

#[test]
fn an_undo_file_holds_little() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let old = vec![1_u8; 1 << 20];
    fs::write(&path, &old).unwrap();
    let mut new = old.clone();
    new[77] = 2;
    let undo = in_place(&path, &Edited::of(&old, &new)).unwrap();
    assert!(fs::metadata(undo).unwrap().len() < 200);
}

#[test]
fn what_somebody_has_changed_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, b"old").unwrap();
    assert!(files::undo(&path).unwrap_err().to_string().contains("headstart-undo"));
    let undo = in_place(&path, &Edited::of(b"old", b"new!")).unwrap();
    let twice = in_place(&path, &Edited::of(b"new!", b"newer")).unwrap_err();
    assert_eq!(twice.advice(), Some(WriteAdvice::UndoFirst), "{twice}");
    fs::write(&path, b"other").unwrap();
    let error = files::undo(&path).unwrap_err().to_string();
    assert!(error.contains("somebody has changed it"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"other");
    fs::write(&path, b"new!").unwrap();
    let mut bytes = fs::read(&undo).unwrap();
    for at in 0..bytes.len() {
        bytes[at] ^= 4;
        fs::write(&undo, &bytes).unwrap();
        assert!(files::undo(&path).unwrap_err().to_string().contains("damaged"));
        bytes[at] ^= 4;
    }
    fs::write(&undo, &bytes).unwrap();
    files::undo(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn files_of_others_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path, word: &str| {
        let old = fs::read(path).unwrap_or_default();
        let error = in_place(path, &Edited::of(&old, b"new")).expect_err(word).to_string();
        assert!(error.contains(word), "{path:?}: {error}");
        assert!(!files::undo_file(path).exists());
        assert_eq!(fs::read(path).unwrap_or_default(), old);
    };
    refused(Path::new("/usr/bin/env"), if is_root() { "/usr belong" } else { "/usr" });
    refused(folder.path(), "not a regular file");
    refused(Path::new("/no/such/file"), "/no/such/file");
    let path = folder.path().join("file");
    fs::write(&path, b"old").unwrap();
    for (mode, word) in [(0o4755, "set-user-ID"), (0o2755, "set-group-ID")] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused(&path, word);
    }
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let open = fs::File::options().append(true).open(&path).unwrap();
    refused(&path, "open for writing");
    drop(open);
    fs::hard_link(&path, folder.path().join("other")).unwrap();
    refused(&path, "2 names");
    fs::remove_file(folder.path().join("other")).unwrap();
    let changed = Edited::of(b"another file", b"new");
    assert!(in_place(&path, &changed).unwrap_err().to_string().contains("was changed"));
    if let Some(setcap) = testkit::find("setcap").filter(|_| is_root()) {
        let done = Command::new(setcap).arg("cap_net_raw+ep").arg(&path).status().unwrap();
        if done.success() {
            refused(&path, "capabilities");
        }
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let permit = Permit::Exactly(0o750);
    files::write_new(&path, b"one two", permit).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one two");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
    let error = files::write_new(&path, b"one two", permit).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
    let nowhere = folder.path().join("nowhere/file");
    assert!(files::write_new(&nowhere, b"", permit).is_err());
    assert_eq!(names(folder.path()), ["file"]);
}

/// In a user and mount namespace of its own where the test is not run by root.
#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    if !is_root() {
        return testkit::skip("only root can mount a file system of one megabyte");
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = |words: &[&str]| {
        let done = Command::new("mount").args(words).arg(folder.path()).output().unwrap();
        done.status.success()
    };
    if !mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
        return testkit::skip("this container may not mount file systems");
    }
    let path = folder.path().join("file");
    let old = vec![1_u8; 700_000];
    fs::write(&path, &old).unwrap();
    let new = vec![2_u8; 700_000];
    let in_place = in_place(&path, &Edited::of(&old, &new)).err();
    let out = files::write_new(&folder.path().join("out"), &new, Permit::Exactly(0o755)).err();
    let (left, kept) = (names(folder.path()), fs::read(&path).unwrap());
    assert!(mount(&["-o", "remount,ro"]), "a mount of our own");
    let read_only =
        files::write_new(&folder.path().join("out"), b"x", Permit::Exactly(0o755)).err();
    let unmounted = Command::new("umount").arg("-l").arg(folder.path()).status().unwrap();
    assert!(unmounted.success());
    for error in [in_place, out] {
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            error.contains("No space left") && error.contains("nothing was changed"),
            "{error}"
        );
    }
    assert!(read_only.is_some_and(|error| error.to_string().contains("Read-only")));
    assert_eq!((left, kept), (vec!["file".to_owned()], old));
}

/// Of more files than a process may have open, some have hidden names meanwhile.
#[test]
fn files_of_a_set_get_their_names_together() {
    for files in [200, usize::MAX / 2] {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..200).map(|n| folder.path().join(format!("{n}"))).collect();
        let written = || {
            let batch = Batch::for_files(files);
            for (n, path) in paths.iter().enumerate() {
                batch.write_new(path, std::iter::once(&[n as u8; 5000][..]), 0o640).unwrap();
            }
            assert!(names(folder.path()).iter().all(|name| name.starts_with('.')));
            batch
        };
        drop(written());
        assert!(names(folder.path()).is_empty(), "nothing has a name, and nothing is left");
        written().finish().unwrap();
        for (n, path) in paths.iter().enumerate() {
            assert_eq!(fs::read(path).unwrap(), [n as u8; 5000]);
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o7777, 0o640);
        }
        let again = Batch::for_files(1);
        again.write_new(&paths[0], std::iter::once(&b"another"[..]), 0o644).unwrap();
        let error = again.finish().unwrap_err().to_string();
        assert!(error.contains("exists already"), "{error}");
        assert_eq!(fs::read(&paths[0]).unwrap(), [0; 5000]);
        assert_eq!(names(folder.path()).len(), 200);
    }
}

#[test]
fn a_folder_that_takes_the_place_of_another_gets_none_of_its_files() {
    for files in [3, usize::MAX / 2] {
        let above = tempfile::tempdir().unwrap();
        let (folder, moved) = (above.path().join("folder"), above.path().join("moved"));
        fs::create_dir(&folder).unwrap();
        let batch = Batch::for_files(files);
        let new = |name: &str| {
            batch.write_new(&folder.join(name), std::iter::once(&b"new"[..]), 0o644).unwrap();
        };
        new("first");
        fs::rename(&folder, &moved).unwrap();
        fs::create_dir(&folder).unwrap();
        new("second");
        batch.finish().unwrap();
        assert_eq!(
            (names(&moved), names(&folder)),
            (vec!["first".into(), "second".into()], vec![])
        );
    }
}

#[test]
fn new_files_have_the_permissions_asked_for_and_replaced_ones_keep_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    let (own, like_any) = (folder.path().join("own"), folder.path().join("like any"));
    let any = folder.path().join("any");
    fs::write(&any, "").unwrap();
    files::write_over(&own, b"old", Permit::Exactly(0o606)).unwrap();
    files::write_over(&like_any, b"old", Permit::Created(0o666)).unwrap();
    assert_eq!((mode(&own), mode(&like_any)), (0o606, mode(&any)));
    files::write_over(&own, b"new", Permit::Created(0o666)).unwrap();
    assert_eq!((mode(&own), fs::read(&own).unwrap()), (0o606, b"new".to_vec()));
    assert_eq!(names(folder.path()), ["any", "like any", "own"]);
}

/// Numbers of files that are gone are given to new ones, which nobody else has open then.
#[test]
fn what_was_replaced_is_restored_though_others_had_files_open() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..9).map(|n| folder.path().join(format!("{n}"))).collect();
    paths.iter().for_each(|path| fs::write(path, b"old").unwrap());
    let batch = Batch::for_files(paths.len());
    let writing: Vec<PathBuf> = (0..99).map(|n| folder.path().join(format!("open{n}"))).collect();
    let open: Vec<fs::File> = writing.iter().map(|path| fs::File::create(path).unwrap()).collect();
    // The child of another test may have them open a moment longer.
    let replace = |path: &Path| {
        while let Err(error) = batch.replace(path, &Edited::of(b"old", b"new")) {
            assert!(error.to_string().contains("has it open") && !is_open_here(path), "{error}");
        }
    };
    replace(&paths[0]);
    drop(open);
    writing.iter().for_each(|path| fs::remove_file(path).unwrap());
    paths[1..].iter().for_each(|path| replace(path));
    // The last one cannot be replaced.
    fs::remove_file(&paths[8]).unwrap();
    fs::create_dir(&paths[8]).unwrap();
    let error = batch.finish().unwrap_err().to_string();
    assert!(
        error.contains("/8: it was changed") && error.contains("nothing was changed"),
        "{error}"
    );
    for path in &paths[..8] {
        assert_eq!(fs::read(path).unwrap(), b"old");
    }
    assert_eq!(names(folder.path()).len(), 9);
}

#[test]
fn what_could_not_be_restored_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..3).map(|n| folder.path().join(format!("{n}"))).collect();
    paths.iter().for_each(|path| fs::write(path, b"old").unwrap());
    let batch = Batch::for_files(paths.len());
    for path in &paths {
        // The child of another test may have it open a moment longer.
        while let Err(error) = batch.replace(path, &Edited::of(b"old", b"new")) {
            assert!(error.to_string().contains("has it open"), "{error}");
        }
    }
    let undo = files::undo_file(&paths[0]);
    let kept = fs::read(&undo).unwrap();
    fs::write(&undo, b"damaged").unwrap();
    fs::remove_file(&paths[2]).unwrap();
    fs::create_dir(&paths[2]).unwrap();
    let error = batch.finish().unwrap_err().to_string();
    assert!(error.contains("/2: it was changed while headstart read it"), "{error}");
    assert!(error.contains("1 file was replaced before that"), "{error}");
    assert!(error.contains("/0.headstart-undo: it is no undo file"), "{error}");
    assert_eq!(fs::read(&paths[1]).unwrap(), b"old", "the other one is restored");
    // What is advised works.
    fs::write(&undo, kept).unwrap();
    while let Err(error) = files::undo(&paths[0]) {
        assert!(error.to_string().contains("has it open"), "{error}");
    }
    assert_eq!(fs::read(&paths[0]).unwrap(), b"old");
}

#[test]
fn what_a_killed_run_has_left_is_removed_and_what_another_run_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (path, left) = (folder.path().join("own"), folder.path().join(".own.headstart-new"));
    fs::write(&left, "left").unwrap();
    files::write_over(&path, b"1", Permit::Exactly(0o600)).unwrap();
    assert_eq!(names(folder.path()), ["own"]);
    let at_work = fs::File::create(&left).unwrap();
    at_work.lock().unwrap();
    files::write_over(&path, b"2", Permit::Exactly(0o600)).unwrap();
    assert_eq!(names(folder.path()), [".own.headstart-new", "own"]);
    assert_eq!(fs::read(&path).unwrap(), b"2");
}

#[test]
fn a_name_may_be_as_long_as_the_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n".repeat(255));
    for content in [b"1", b"2"] {
        files::write_over(&path, content, Permit::Exactly(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    assert_eq!(names(folder.path()).len(), 1);
}

#[test]
fn a_name_of_a_folder_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["new/", "new/.", "new//"] {
        let error = files::write_new(&folder.path().join(name), b"1", Permit::Exactly(0o600));
        assert!(error.unwrap_err().to_string().contains("the name of a folder"), "{name}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_pipe_is_no_undo_file_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let made = Command::new("mkfifo").arg(files::undo_file(&path)).status().unwrap();
    assert!(made.success());
    let error = files::undo(&path).unwrap_err().to_string();
    assert!(error.contains("it is no undo file"), "{error}");
    let error = in_place(&path, &Edited::of(b"old", b"new")).unwrap_err().to_string();
    assert!(error.contains("it is no undo file"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
}
