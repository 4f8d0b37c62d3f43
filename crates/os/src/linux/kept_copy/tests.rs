//! A file that is lost gets its place back, as it was, whoever is killed.

use super::*;
use crate::linux::processes;
use rustix::process::Signal;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// A folder with a file of these bytes, in mode 0o750, of the year 2001.
fn world() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    (folder, path)
}

fn only_the_file(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().count() == 1
}

#[test]
fn a_copy_takes_the_place_of_a_lost_file_and_no_other() {
    let (folder, path) = world();
    let kept = KeptCopy::of(&path).unwrap();
    assert_eq!(fs::read(kept.path()).unwrap(), b"old");
    let before = path.metadata().unwrap();
    assert!(!kept.put_back().unwrap(), "the file is as it was");
    assert_eq!(path.metadata().unwrap().ino(), before.ino());
    assert!(only_the_file(folder.path()));

    for lose in [|path: &Path| fs::remove_file(path), |path: &Path| fs::write(path, "part")] {
        let kept = KeptCopy::of(&path).unwrap();
        lose(&path).unwrap();
        assert!(kept.put_back().unwrap());
        let data = path.metadata().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!((data.mode() & 0o777, data.mtime()), (0o750, 1_000_000_000));
        assert!(only_the_file(folder.path()));
    }
}

#[test]
fn the_links_to_a_file_are_put_back_with_it() {
    let (folder, path) = world();
    fs::create_dir(folder.path().join("d")).unwrap();
    let [near, far] = ["near", "d/far"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink("d/far", &near).unwrap();
    std::os::unix::fs::symlink("../file", &far).unwrap();
    let losses: [fn(&Path, &Path); 3] = [
        |near, _| fs::remove_file(near).unwrap(),
        |near, far| {
            fs::remove_file(far).unwrap();
            fs::write(far, "garbage").unwrap();
            fs::write(near, "more").unwrap();
        },
        |near, far| {
            fs::write(near, "through both").unwrap();
            fs::remove_file(near).unwrap();
            std::os::unix::fs::symlink(far, near).unwrap();
        },
    ];
    for lose in losses {
        let kept = KeptCopy::of(&near).unwrap();
        lose(&near, &far);
        assert!(kept.put_back().unwrap());
        assert_eq!(fs::read_link(&near).unwrap(), Path::new("d/far"));
        assert_eq!(fs::read_link(&far).unwrap(), Path::new("../file"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert_eq!(fs::read_dir(folder.path().join("d")).unwrap().count(), 1);
    }
    let kept = KeptCopy::of(&near).unwrap();
    fs::remove_file(&near).unwrap();
    fs::create_dir(&near).unwrap();
    let copy = kept.path().to_owned();
    assert!(kept.put_back().unwrap_err().to_string().contains("near'"));
    assert_eq!(fs::read(copy).unwrap(), b"old");
}

#[test]
fn a_copy_that_is_dropped_is_gone_and_the_new_file_stays() {
    let (folder, path) = world();
    let launcher = Launcher::start().unwrap();
    let mut kept = KeptCopy::of(&path).unwrap();
    kept.begin(&launcher).unwrap();
    fs::write(&path, "new").unwrap();
    kept.finish();
    drop(kept);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(only_the_file(folder.path()));

    let mut kept = KeptCopy::of(&path).unwrap();
    kept.begin(&launcher).unwrap();
    fs::remove_file(&path).unwrap();
    drop(kept);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(only_the_file(folder.path()));
}

/// The attribute of a file, where its file system has any.
fn attribute(path: &Path) -> Option<Vec<u8>> {
    let mut value = [0; 16];
    let size = rustix::fs::getxattr(path, ATTRIBUTE, &mut value[..]).ok()?;
    Some(value[..size].to_vec())
}

const ATTRIBUTE: &str = "user.headstart";

fn set_attribute(path: &Path, value: &[u8]) {
    let set = rustix::fs::setxattr(path, ATTRIBUTE, value, rustix::fs::XattrFlags::empty());
    if let Err(error) = set {
        testkit::skip(&format!("{}: {error}", path.display()));
    }
}

/// What a program may do to a file that has another name, and whether it is the same file then.
type Harm = (fn(&Path), bool);

const HARMS: [Harm; 6] = [
    (|path| fs::write(path, "longer than before").unwrap(), true),
    (|path| fs::write(path, "").unwrap(), true),
    (|path| set_attribute(path, b"other"), true),
    (|path| fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap(), true),
    (|path| fs::remove_file(path).unwrap(), false),
    (
        |path| {
            fs::remove_file(path).unwrap();
            // With the bytes and the mode of before, but without the attribute.
            fs::write(path, "old").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o750)).unwrap();
        },
        false,
    ),
];

#[test]
fn a_file_that_is_still_the_same_gets_its_content_back_and_so_do_its_other_names() {
    for (nth, (harm, stays)) in HARMS.into_iter().enumerate() {
        let (folder, path) = world();
        set_attribute(&path, b"kept");
        let (other, had) = (folder.path().join("other"), attribute(&path));
        fs::hard_link(&path, &other).unwrap();
        let number = path.metadata().unwrap().ino();
        let kept = KeptCopy::of(&path).unwrap();
        harm(&path);
        let was_changed = kept.put_back().unwrap();
        assert!(was_changed || had.is_none(), "{nth}");
        let data = path.metadata().unwrap();
        assert_eq!(data.ino() == number, stays, "{nth}");
        for name in [&path, &other] {
            assert_eq!(fs::read(name).unwrap(), b"old", "{nth}");
            assert_eq!(attribute(name), had, "{nth}");
        }
        assert_eq!(data.mode() & 0o777, 0o750, "{nth}");
        assert!(data.mtime() == 1_000_000_000 || !was_changed, "{nth}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{nth}");
    }
}

/// A number that is free again is soon another file's.
#[test]
fn no_other_file_is_taken_for_the_same() {
    let (folder, path) = world();
    let kept = KeptCopy::of(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let built = folder.path().join("built");
    fs::write(&built, "new").unwrap();
    fs::hard_link(&built, &path).unwrap();
    assert!(kept.put_back().unwrap());
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&built).unwrap()),
        (b"old".into(), b"new".into())
    );
}

/// In a process that is killed: keeps a copy, and loses the file.
fn keep_and_be_killed(path: &Path, finish: bool) {
    let life = |_, _| {
        let launcher = Launcher::start().unwrap();
        let mut kept = KeptCopy::of(path).unwrap();
        kept.begin(&launcher).unwrap();
        fs::write(path, "new").unwrap();
        if finish {
            kept.finish();
        }
        processes::signal(processes::own_pid(), Signal::KILL);
    };
    let (_stream, pid) = crate::linux::launcher::leave::fork(life).unwrap();
    processes::wait_for(pid, rustix::process::WaitOptions::empty());
}

#[test]
fn the_guardian_does_it_where_headstart_is_killed() {
    for (finish, wanted) in [(false, "old"), (true, "new")] {
        let (folder, path) = world();
        set_attribute(&path, b"kept");
        let (number, had) = (path.metadata().unwrap().ino(), attribute(&path));
        keep_and_be_killed(&path, finish);
        let began = Instant::now();
        while fs::read(&path).unwrap() != wanted.as_bytes() || !only_the_file(folder.path()) {
            assert!(began.elapsed() < Duration::from_secs(60), "{wanted}");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((path.metadata().unwrap().ino(), attribute(&path)), (number, had));
    }
}

#[test]
fn a_copy_that_has_no_guardian_yet_is_not_left() {
    let (folder, path) = world();
    let at_work = Draft::create(&path).unwrap();
    let life = |_, _| {
        let _ = KeptCopy::of_when(&path, || processes::signal(processes::own_pid(), Signal::KILL));
    };
    let (_stream, pid) = crate::linux::launcher::leave::fork(life).unwrap();
    processes::wait_for(pid, rustix::process::WaitOptions::empty());
    let began = Instant::now();
    while fs::read_dir(folder.path()).unwrap().count() > 2 {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(at_work.path().exists(), "that of another run stays");
    assert_eq!(fs::read(&path).unwrap(), b"old");
}
