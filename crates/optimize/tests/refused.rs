//! Programs that nothing is built for, and the sentence for each.
#![allow(clippy::unwrap_used)]

mod bench;

use bench::{Bench, copy, terms};
use optimize::{OptimizeError, Terms};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

fn refused(bench: &'static Bench, name: &str, terms: &Terms) -> OptimizeError {
    let made = [("copy", copy as bench::Build)];
    bench.outcomes_of(bench.command(name), terms, &made).err().unwrap()
}

#[test]
fn programs_of_other_kinds() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.path("");
    bench.cc(&folder, "static", "int main(void) { return 0; }", &["-static"]);
    let said = refused(bench, "static", &terms()).to_string();
    assert!(said.contains("is static"), "{said}");
    let set_user = bench.cc(&folder, "set-user", "int main(void) { return 0; }", &[]);
    fs::set_permissions(&set_user, fs::Permissions::from_mode(0o4755)).unwrap();
    let said = refused(bench, "set-user", &terms()).to_string();
    assert!(said.contains("is set-user-ID"), "{said}");
    bench.cc(&folder, "libgone.so", "int gone;", &["-shared"]);
    bench.program(&folder, "lacking", "int main(void) { return 0; }", &["libgone.so"]);
    fs::remove_file(bench.path("libgone.so")).unwrap();
    let said = refused(bench, "lacking", &terms()).to_string();
    assert!(said.contains("needs a library: libgone.so"), "{said}");
    // For another processor: EM_AARCH64.
    let mut bytes = fs::read(bench.path("program")).unwrap();
    bytes[18] = 183;
    fs::write(bench.path("foreign"), bytes).unwrap();
    fs::set_permissions(bench.path("foreign"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = refused(bench, "foreign", &terms()).to_string();
    assert!(said.contains("AArch64"), "{said}");
    if let Some(musl) = testkit::tool("musl-gcc") {
        testkit::compile(&musl, &folder, "musl", "int main(void) { return 0; }", &[]);
        let said = refused(bench, "musl", &terms()).to_string();
        assert!(said.contains("only glibc's loader"), "{said}");
    }
}

#[test]
fn programs_that_fail() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.path("");
    let source = "#include <stdio.h>\nint main(void) { fputs(\"no\\n\", stderr); return 3; }";
    bench.program(&folder, "fails", source, &[]);
    let said = refused(bench, "fails", &terms()).to_string();
    assert!(said.contains("exit code 3") && said.contains("| no"), "{said}");
    let lenient = Terms { ignore_failure: true, ..terms() };
    let made = [("copy", copy as bench::Build)];
    let (outcomes, _) = bench.outcomes_of(bench.command("fails"), &lenient, &made).unwrap();
    assert!(matches!(outcomes[0], optimize::TrialOutcome::Verified(_)), "{outcomes:?}");
    bench.program(&folder, "hangs", "int main(void) { for (;;); }", &[]);
    let short = Terms { timeout: Duration::from_millis(300), ..terms() };
    let said = refused(bench, "hangs", &short).to_string();
    assert!(said.contains("did not finish within 0.3 s"), "{said}");
    // Now so, now otherwise.
    let source = format!(
        "#include <unistd.h>\nint main(void) {{ return unlink(\"{0}\") ? !symlink(\"x\", \"{0}\") : 0; }}",
        bench.path("turn").display()
    );
    bench.program(&folder, "turns", &source, &[]);
    let said = refused(bench, "turns", &lenient).to_string();
    assert!(said.contains("with exit code 1 once and ended with exit code 0"), "{said}");
}
