//! Where rustup chooses among compilers, the bundle is used where it chooses that one.

use crate::fake::{Fake, Told};
use model::toolchain::Toolchain;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// rustup: by its own name it tells, by another it executes a compiler.
const RUSTUP: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    const char *chosen = getenv("RUSTUP_TOOLCHAIN");
    const char *name = strrchr(argv[0], '/');
    char path[4096];
    if (argc > 1 && argv[1][0] == '+') chosen = argv[1] + 1;
    snprintf(path, sizeof path, FOLDER "/toolchains/%s/bin/rustc", chosen ? chosen : "");
    if (access(path, X_OK)) chosen = "stable";
    if (!strcmp(name, "/rustup")) {
        if (argc > 2 && !strcmp(argv[2], "home")) puts(FOLDER);
        else printf("%s (default)\n", chosen);
        return 0;
    }
    if (argc > 2 && !strcmp(argv[2], "sysroot")) {
        printf(FOLDER "/toolchains/%s\n", chosen);
        return 0;
    }
    snprintf(path, sizeof path, FOLDER "/toolchains/%s/bin/rustc", chosen);
    execv(path, argv);
    return 1;
}
"#;

const COMPILER: &str = r#"
#include <stdio.h>
#include <string.h>
extern void tell(const char *, char **);
int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[2], "sysroot")) {
        puts(FOLDER "/toolchains/" WHO);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "-vV")) {
        puts("rustc 1.0 (" WHO ")");
        return 0;
    }
    tell(WHO, argv);
    return 7;
}
"#;

struct Rust {
    fake: Fake,
    stable: PathBuf,
    other: PathBuf,
}

impl Rust {
    fn new() -> Option<Rust> {
        let fake = Fake::new()?;
        for name in ["stable", "other"] {
            fs::create_dir_all(fake.at.join(format!("toolchains/{name}/bin"))).unwrap();
            fake.program(&format!("toolchains/{name}/bin/rustc"), COMPILER, name);
        }
        fake.program("bin/rustup", RUSTUP, "rustup");
        symlink("rustup", fake.at.join("bin/rustc")).unwrap();
        let compiler = |name: &str| fake.at.join(format!("toolchains/{name}/bin/rustc"));
        let (stable, other) = (compiler("stable"), compiler("other"));
        Some(Rust { fake, stable, other })
    }

    /// A launch of the toolchain's rustc with these variables.
    fn launch(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Told {
        let mut command = Command::new(self.fake.out().join("rustc"));
        for name in ["RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
            command.env_remove(name);
        }
        Told::of(command.envs(variables.iter().copied()).args(arguments))
    }
}

#[test]
fn what_is_no_such_compiler_is_declined() {
    let Some(fake) = Fake::new() else { return };
    for (toolchain, word) in [(Toolchain::Rustc, "rustc"), (Toolchain::Clang, "clang")] {
        let declined = fake.make_as(toolchain, "bin/gcc").unwrap_err();
        assert!(declined.to_string().contains(&format!("it is no {word}")), "{declined}");
        assert!(!fake.out().join(word).exists());
    }
}

#[test]
fn the_bundle_is_used_where_it_is_chosen() {
    let Some(rust) = Rust::new() else { return };
    rust.fake.make_as(Toolchain::Rustc, "bin/rustc").unwrap();
    let run = rust.fake.bundle("rustc").join("rustc");
    let home = rust.fake.at.to_str().unwrap();
    let chosen = [("RUSTUP_HOME", home), ("RUSTUP_TOOLCHAIN", "stable")];
    let told = rust.launch(&chosen, &[]);
    assert_eq!(told.file(), run);
    assert_eq!(told.line("argv "), format!("{} -", rust.stable.display()));
    let none = rust.launch(&[], &[]);
    assert_eq!(none.file(), rust.stable, "rustup decides");
    let (home_only, other_home) = ([chosen[0]], [("RUSTUP_HOME", "/no"), chosen[1]]);
    for variables in [&home_only[..], &other_home] {
        assert_eq!(rust.launch(variables, &[]).file(), rust.stable);
    }
    let other = [chosen[0], ("RUSTUP_TOOLCHAIN", "other")];
    assert_eq!(rust.launch(&other, &[]).file(), rust.other);
    assert_eq!(rust.launch(&chosen, &["+other"]).file(), rust.other);
    assert_eq!(rust.launch(&chosen, &["-O", "+other"]).file(), run);
    assert!(bundle::verify_toolchain(&rust.fake.out()).unwrap().found.current);
}

#[test]
fn ld_library_path_may_be_anything_that_leads_to_the_same_libraries() {
    let Some(rust) = Rust::new() else { return };
    rust.fake.make_as(Toolchain::Rustc, "bin/rustc").unwrap();
    let run = rust.fake.bundle("rustc").join("rustc");
    let at = rust.fake.at.clone();
    let home = at.to_str().unwrap().to_owned();
    let file = |path: &str| {
        let variables =
            [("RUSTUP_HOME", &*home), ("RUSTUP_TOOLCHAIN", "stable"), ("LD_LIBRARY_PATH", path)];
        rust.launch(&variables, &[]).file().to_owned()
    };
    let folder = |name: &str| {
        fs::create_dir_all(at.join(name)).unwrap();
        at.join(name).to_str().unwrap().to_owned()
    };
    let (empty, same) = (folder("empty"), folder("lib"));
    let long = format!("/{}", "x".repeat(4200));
    let used = ["", ":", &*empty, &same, &format!("{empty}:/nothing:{same}"), &format!("{empty}:")];
    for path in used {
        assert_eq!(file(path), run, "{path}");
    }
    let copy = folder("copy");
    fs::copy(at.join("lib/libtell.so"), Path::new(&copy).join("libtell.so")).unwrap();
    let first = folder("first");
    folder("first/glibc-hwcaps");
    let last = format!("{empty}:{copy}");
    for path in [&*copy, &last, &first, "$ORIGIN", &format!("{empty};{same}"), &long] {
        assert_eq!(file(path), rust.stable, "{path}");
    }
}

#[test]
fn a_compiler_that_is_named_is_always_used() {
    let Some(rust) = Rust::new() else { return };
    rust.fake.make_as(Toolchain::Rustc, "toolchains/other/bin/rustc").unwrap();
    let told = rust.launch(&[], &["+stable"]);
    assert_eq!(told.file(), rust.fake.bundle("rustc").join("rustc"));
    assert_eq!(told.who(), "other");
}
