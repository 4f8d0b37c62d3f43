//! A driver starts the bundles of its programs where they are as they were made, else the programs.

use crate::fake::{Fake, Told, WAYS, bundle_in};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

/// What the compiler tells that the driver has started, the original's in all but the file.
fn started(fake: &Fake, out: &Path, way: &str) -> Told {
    let arguments = [way, "cc1"];
    let expected = Told::of(Command::new(fake.at.join("bin/gcc")).args(arguments));
    let told = Told::of(Command::new(out.join("gcc")).args(arguments));
    assert_eq!(told.believed(), expected.believed(), "{way}");
    told
}

fn all_start(fake: &Fake, out: &Path, file: &Path) {
    for way in WAYS {
        assert_eq!(started(fake, out, way).file(), file, "{way}");
    }
}

#[test]
fn all_ways_start_the_bundle_wherever_the_folder_is() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    all_start(&fake, &fake.out(), &fake.bundle("cc1").join("run"));
    let moved = fake.at.join("moved");
    fs::rename(fake.out(), &moved).unwrap();
    all_start(&fake, &moved, &bundle_in(&moved, "cc1").join("run"));
    // What is not recorded is started as it is.
    fake.program("libexec/other", "int main(void) { return 7; }", "other");
    let told = Command::new(moved.join("gcc")).args(["execv", "other"]).output().unwrap();
    assert_eq!(told.status.code(), Some(7));
}

#[test]
fn what_is_not_the_bundle_that_was_made_is_not_started() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    let (out, original) = (fake.out(), fake.at.join("libexec/cc1"));
    let bundle = fake.bundle("cc1");
    let (run, kept) = (bundle.join("run"), fake.at.join("kept"));
    fs::rename(&run, &kept).unwrap();
    all_start(&fake, &out, &original);
    symlink(&kept, &run).unwrap();
    all_start(&fake, &out, &original);
    fs::remove_file(&run).unwrap();
    fs::create_dir(&run).unwrap();
    all_start(&fake, &out, &original);
    fs::remove_dir(&run).unwrap();
    fs::rename(&kept, &run).unwrap();
    let mode = |mode| fs::set_permissions(&run, fs::Permissions::from_mode(mode)).unwrap();
    for unfit in [0o644, 0o4755, 0o2755] {
        mode(unfit);
        all_start(&fake, &out, &original);
    }
    mode(0o755);
    all_start(&fake, &out, &run);
    if fs::metadata(&run).unwrap().uid() == 0 {
        chown(&run, Some(1), None).unwrap();
        all_start(&fake, &out, &original);
        chown(&run, Some(0), None).unwrap();
    }
    all_start(&fake, &out, &run);
}

#[test]
fn another_program_at_the_path_is_started() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    fake.replace("libexec/cc1", "new compiler");
    all_start(&fake, &fake.out(), &fake.at.join("libexec/cc1"));
    let missing = fake.at.join("libexec/as");
    fs::remove_file(missing).unwrap();
    let gone = Command::new(fake.out().join("gcc")).args(["spawn", "as"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(1), "as posix_spawn says of the original");
}
