//! `CheckSum` as a linker computes it.
#![allow(clippy::unwrap_used)]

use image::pe;

#[test]
fn the_linker_computes_the_same() {
    let Some(clang) = testkit::tool("clang-19") else { return };
    let Some(lld) = testkit::tool("lld-link-19") else { return };
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--target=x86_64-pc-windows-msvc", "-ffreestanding", "-c"];
    for numbers in [1, 5000] {
        let source = format!("int numbers[{numbers}] = {{7}}; int f(void) {{ return 1; }}");
        let object = testkit::compile(&clang, folder.path(), "x.obj", &source, &flags);
        let output = folder.path().join("x.dll");
        let mut link = std::process::Command::new(&lld);
        link.args(["/dll", "/noentry", "/release"]).arg(object);
        let status = link.arg(format!("/out:{}", output.display())).status();
        assert!(status.unwrap().success());
        let facts = pe::facts(&output).unwrap();
        assert_ne!(facts.checksum.stored, 0);
        assert_eq!(facts.checksum.stored, facts.checksum.computed, "{numbers}");
        let mut odd = std::fs::read(&output).unwrap();
        odd.push(1);
        let changed = pe::facts_of("odd", &odd).unwrap().checksum;
        assert_eq!(changed.stored, facts.checksum.stored);
        assert_ne!(changed.computed, changed.stored);
    }
}
