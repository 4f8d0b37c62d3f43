//! Why there is no bundle, and what helps.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleAdvice, BundleError, BundleOptions};
use std::process::Command;

/// A library that stays outside came first, and within the bundle another one does.
#[test]
fn what_would_be_bound_elsewhere_is_told_with_what_helps() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let shared = ["-shared", "-fPIC"];
    for (name, number) in [("libfirst.so", 1), ("libsecond.so", 2)] {
        let source = format!("int number(void) {{ return {number}; }}");
        std::fs::write(at.join("versions"), format!("V{number} {{ global: *; }};")).unwrap();
        let flags = [&shared[..], &["-Wl,--version-script=versions"]].concat();
        testkit::compile(&cc, &at, name, &source, &flags);
    }
    // It does not know of versions.
    let source = "int number(void); int asked(void) { return number(); }";
    testkit::compile(&cc, &at, "libuser.so", source, &shared);
    let search = format!("-Wl,-rpath,{}", at.display());
    let needs = ["-Wl,--no-as-needed", "-L.", "-luser", "-lfirst", "-lsecond", &search];
    let source = "int asked(void); int main(void) { return asked(); }";
    let program = testkit::compile(&cc, &at, "program", source, &needs);
    let out = at.join("bundle");
    std::fs::create_dir(&out).unwrap();
    let make = |outside: &[&str]| {
        let outside = outside.iter().map(|name| (*name).to_owned()).collect();
        let options = BundleOptions { outside, ..BundleOptions::default() };
        bundle::make(&program, &out, &options)
    };
    let Err(BundleError::Declined { reason, .. }) = make(&["libfirst"]) else { panic!() };
    let sentence = "the loader would bind number of libuser.so to that in libsecond.so, and not to \
                    that in libfirst.so";
    assert_eq!(reason.text, sentence);
    assert_eq!(reason.advice, Some(BundleAdvice::KeepOutside("libsecond.so".to_owned())));
    make(&["libfirst", "libsecond.so"]).unwrap();
    let status = Command::new(out.join("run")).env("HEADSTART_STALE", "never").status();
    assert_eq!(status.unwrap().code(), Some(1));
}
