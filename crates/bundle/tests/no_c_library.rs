//! Programs that need no C library.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use std::process::Command;

const LIBRARY: &str = "static int value = 42; static int *place = &value;\n\
    int *answer(void) { return place; }";
const MAIN: &str = "int *answer(void);\n\
    void _start(void) { __asm__ volatile(\"andq $-16, %rsp\");\n\
    __asm__ volatile(\"syscall\" :: \"a\"(231), \"D\"(*answer())); }";

#[test]
fn a_program_without_a_c_library_is_bundled() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let search = format!("-Wl,-rpath,{}", at.display());
    testkit::compile(&cc, &at, "libanswer.so", LIBRARY, &["-shared", "-fPIC", "-nostdlib"]);
    let flags = ["-nostdlib", "-fPIE", "-pie", "-L.", "-lanswer", &search];
    let program = testkit::compile(&cc, &at, "program", MAIN, &flags);
    assert_eq!(Command::new(&program).status().unwrap().code(), Some(42));
    for fixed in [false, true] {
        let bundle = at.join(format!("bundle-{fixed}"));
        std::fs::create_dir(&bundle).unwrap();
        let options = BundleOptions { fixed, ..BundleOptions::default() };
        let made = bundle::make(&program, &bundle, &options).unwrap();
        // It does not give way to the original.
        let status = Command::new(&made.run).env("HEADSTART_STALE", "z").status();
        assert_eq!(status.unwrap().code(), Some(42), "fixed: {fixed}");
    }
}
