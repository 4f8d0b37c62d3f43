//! A toolchain is made again in its folder. What headstart did not make stays.

use crate::fake::{Fake, Told};
use bundle::BundleError;
use model::toolchain::Toolchain;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn a_new_program_gets_a_new_bundle_and_old_ones_go() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    let (out, old) = (fake.out(), fake.bundle("gcc"));
    fs::write(out.join("README"), "mine").unwrap();
    fs::remove_file(fake.at.join("bin/cc")).unwrap();
    symlink("gcc", fake.at.join("bin/fresh")).unwrap();
    fake.replace("libexec/cc1", "new compiler");
    let again = fake.make().unwrap();
    assert_eq!(again.manifest.left, Vec::<String>::new());
    assert!(!old.exists() && !out.join("cc").exists());
    assert_eq!(fs::read_to_string(out.join("README")).unwrap(), "mine");
    let told = Told::of(Command::new(out.join("fresh")).args(["execv", "cc1"]));
    assert_eq!((told.who(), told.file()), ("new compiler", &*fake.bundle("cc1").join("run")));
    assert!(bundle::verify_toolchain(&out).unwrap().found.current);
    // Nothing is left of what was written on the way.
    let names = fs::read_dir(&out).unwrap().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    let expected = ["README", "as", "bundles", "fresh", "g++", "gcc", "headstart-toolchain.json"];
    assert_eq!(names, expected);
}

#[test]
fn files_and_links_of_others_are_refused() {
    let Some(fake) = Fake::new() else { return };
    let out = fake.out();
    fs::create_dir(&out).unwrap();
    let refused = |path: &str| match fake.make() {
        Err(BundleError::Occupied { path: found, .. }) => assert_eq!(found, out.join(path)),
        other => panic!("{path}: {other:?}"),
    };
    fs::write(out.join("cc"), "mine").unwrap();
    refused("cc");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing was made");
    fs::remove_file(out.join("cc")).unwrap();
    fs::write(out.join("bundles"), "mine").unwrap();
    refused("bundles");
    fs::remove_file(out.join("bundles")).unwrap();
    fake.make().unwrap();
    // A link that the user has changed.
    fs::remove_file(out.join("cc")).unwrap();
    symlink("bundles/mine/cc", out.join("cc")).unwrap();
    refused("cc");
    assert_eq!(fs::read_link(out.join("cc")).unwrap().to_str(), Some("bundles/mine/cc"));
    let found = bundle::verify_toolchain(&out).unwrap().found;
    assert!(!found.current && found.tools.iter().any(|tool| tool.links.contains_key("cc")));
    fs::remove_file(out.join("cc")).unwrap();
    // Another toolchain has another folder.
    let other = fake.make_as(Toolchain::Clang, "bin/gcc").unwrap_err();
    assert!(other.to_string().contains("has the toolchain gcc"), "{other}");
    // A tool is made by its toolchain alone.
    let (program, options) = (fake.at.join("bin/gcc"), bundle::BundleOptions::default());
    let alone = bundle::make(&program, &fake.bundle("gcc"), &options).unwrap_err();
    assert!(alone.to_string().contains("a tool of a toolchain"), "{alone}");
    let whole = bundle::make(&program, &out, &options).unwrap_err();
    assert!(whole.to_string().contains("the tools of a compiler"), "{whole}");
    for inside in ["bundles", "bundles/mine"] {
        let folder = out.join(inside);
        fs::create_dir_all(&folder).unwrap();
        let inside = bundle::make(&program, &folder, &options).unwrap_err();
        assert!(inside.to_string().contains("a tool of a toolchain"), "{inside}");
        assert!(!folder.join("run").exists());
    }
    fs::remove_dir(out.join("bundles/mine")).unwrap();
    fake.make().unwrap();
}

#[test]
fn a_bundle_that_was_changed_stays() {
    let Some(fake) = Fake::new() else { return };
    fake.make().unwrap();
    let (changed, with_more) = (fake.bundle("g++"), fake.bundle("gcc"));
    fs::write(changed.join("run"), "mine").unwrap();
    fs::write(with_more.join("notes"), "mine").unwrap();
    fs::remove_file(fake.at.join("bin/g++")).unwrap();
    fs::remove_file(fake.at.join("bin/cc")).unwrap();
    let again = fake.make().unwrap();
    assert_eq!(again.manifest.left.len(), 2, "{:?}", again.manifest.left);
    assert_eq!(fs::read_to_string(changed.join("run")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(with_more.join("notes")).unwrap(), "mine");
    assert!(!with_more.join("run").exists());
    // A link in the place of a bundle's folder is not followed.
    let elsewhere = fake.at.join("elsewhere");
    fs::rename(&changed, &elsewhere).unwrap();
    symlink(&elsewhere, &changed).unwrap();
    fake.make().unwrap();
    assert!(elsewhere.join("run").exists() && changed.is_symlink());
}

#[test]
fn a_toolchain_that_fails_leaves_nothing() {
    let Some(fake) = Fake::new() else { return };
    fake.program("bin/gcc", "int main(void) { return 1; }", "driver");
    fs::write(fake.at.join("bin/gcc"), "#!/bin/sh\n").unwrap();
    assert!(fake.make().is_err());
    assert_eq!(fs::read_dir(fake.out()).unwrap().count(), 0);
}
