//! Makes a release build of the command start faster, where this machine can run the result:
//! relative relocations are packed (DT_RELR), and the unwinder is part of the file, so that the
//! loader has one library less to load.

use std::env;
use std::path::Path;
use std::process::Command;

/// The first glibc whose loader reads DT_RELR.
const FIRST: (u32, u32) = (2, 36);
/// The unwinder of GCC as an archive, as `-static-libgcc` takes it.
const UNWINDER: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let for_this_machine = variable("TARGET") == variable("HOST");
    let gnu = variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !gnu || !for_this_machine || variable("PROFILE") != "release" {
        return;
    }
    if glibc().is_some_and(|version| version >= FIRST) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    // Before the standard library asks for libgcc_s.so.1, which is then not needed.
    if has_unwinder() {
        println!("cargo::rustc-link-lib=dylib:+verbatim={UNWINDER}");
    }
}

/// The version of this machine's glibc; `getconf` prints it as `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let printed = output("getconf", "GNU_LIBC_VERSION")?;
    let (major, minor) = printed.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The compiler prints a path where it has the file, and else its bare name.
fn has_unwinder() -> bool {
    let path = output("cc", &format!("-print-file-name={UNWINDER}"));
    path.is_some_and(|path| Path::new(&path).is_absolute())
}

fn output(program: &str, argument: &str) -> Option<String> {
    let printed = Command::new(program).arg(argument).output().ok()?.stdout;
    Some(String::from_utf8(printed).ok()?.trim().to_owned())
}
