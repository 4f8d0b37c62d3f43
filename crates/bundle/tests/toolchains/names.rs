//! A tool is told the original's path of the name by which it is started.

use crate::fake::{Fake, Told};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Command;

#[test]
fn each_name_is_its_original() {
    let Some(fake) = Fake::new() else { return };
    let made = fake.make().unwrap();
    assert_eq!(made.manifest.tools.len(), 4, "{:?}", made.manifest);
    let out = fake.out();
    for name in ["gcc", "cc", "g++"] {
        let original = fake.at.join("bin").join(name);
        let expected = Told::of(&mut Command::new(&original));
        // By its path, by a name along PATH, and through a link elsewhere.
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(out.join(name), elsewhere.path().join(name)).unwrap();
        let by_path = Told::of(&mut Command::new(out.join(name)));
        let by_name = Told::of(Command::new("env").arg(name).env("PATH", path_with(&out)));
        let by_link = Told::of(&mut Command::new(elsewhere.path().join(name)));
        for told in [by_path, by_name, by_link] {
            assert_eq!(told.believed(), expected.believed());
            assert!(told.file().starts_with(out.join("bundles")), "{:?}", told.file());
        }
    }
    // The file's name in the bundle's folder is that of the tool.
    let entry = out.join("cc").canonicalize().unwrap();
    assert_eq!(entry.file_name().unwrap(), "gcc");
}

#[test]
fn another_first_argument_stays() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    for argument in ["cc", "x/g++", "other", ""] {
        let told = Told::of(Command::new(fake.out().join("gcc")).arg0(argument));
        assert_eq!(told.line("argv "), format!("{argument} -"));
        assert_eq!(told.line("execfn "), fake.at.join("bin/gcc").to_str().unwrap());
    }
    let told = Told::of(Command::new(fake.bundle("gcc").join("run")).arg0("run"));
    assert_eq!(told.line("argv "), format!("{} -", fake.at.join("bin/gcc").display()));
}

#[test]
fn a_stale_tool_starts_the_original_by_its_name() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    fake.replace("bin/gcc", "new driver");
    let told = Told::of(&mut Command::new(fake.out().join("cc")));
    assert_eq!(told.who(), "new driver");
    assert_eq!(told.file(), fake.at.join("bin/gcc"));
    assert_eq!(told.line("argv "), format!("{} -", fake.at.join("bin/cc").display()));
    let verified = bundle::verify_toolchain(&fake.out()).unwrap();
    assert!(!verified.found.current);
    let wrong: Vec<_> = verified.found.tools.iter().filter(|tool| tool.reason.is_some()).collect();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].program.ends_with("bin/gcc"));
}

fn path_with(folder: &std::path::Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap()
}
