//! The loader's cache and its configuration change whenever packages come and go. A bundle is used as long as
//! the names for which the cache was asked lead to the same files.

use crate::common::stderr;
use crate::place::Place;
use std::path::Path;
use std::process::{Command, Output};
use testkit::WhenFree;
use testkit::cases::in_parallel;

/// In a mount namespace with an /etc of its own; `$1` is the folder of the test, `$2` is headstart, `$3` the check,
/// `$4` what happens.
const SCRIPT: &str = r#"
set -e
cd "$1"
etc=$(mktemp -d "$1/etc.XXXXXX")
cp -a /etc/ld.so.conf /etc/ld.so.conf.d /etc/passwd "$etc/"
mount --bind "$etc" /etc
copy=$(mktemp -d "$1/scene.XXXXXX")
cp -a lib later other "$copy/"
printf '%s\n' "$copy/lib" "$copy/later" > /etc/ld.so.conf.d/middle.conf
ldconfig
unset LD_LIBRARY_PATH
"$2" bundle --check "$3" --out "$copy/out" "$1/program" >/dev/null
HEADSTART_TRACE=1 "$copy/out/run" 2>&1 | grep -q 'the bundle is used'
cd "$copy"
eval "$4"
"$1/program" > original
HEADSTART_TRACE=1 out/run > bundle 2> trace
cmp original bundle
"$2" verify --json out > verified || true
cat trace verified
"#;

/// What happens, and whether the bundle is used afterwards.
const SCENES: [(&str, &str, bool); 11] = [
    ("nothing", ":", true),
    ("the cache is made again", "rm /etc/ld.so.cache; ldconfig", true),
    ("configuration is added, not yet used", "echo /usr/games > /etc/ld.so.conf.d/new.conf", true),
    (
        "a package with libraries and configuration of its own",
        "mkdir more; cp other/libother.so.1 more; echo $PWD/more > /etc/ld.so.conf.d/a.conf; ldconfig",
        true,
    ),
    (
        "such a package comes and goes",
        "mkdir more; cp other/libother.so.1 more; echo $PWD/more > /etc/ld.so.conf.d/a.conf; ldconfig;
         rm -r /etc/ld.so.conf.d/a.conf more; ldconfig",
        true,
    ),
    (
        "the same name in a folder that comes later",
        "cp other/libown.so.1 later; ldconfig",
        true,
    ),
    (
        "the same name in a folder that comes first",
        "mkdir first; cp other/libown.so.1 first; echo $PWD/first > /etc/ld.so.conf.d/a.conf; ldconfig",
        false,
    ),
    (
        "the same name for newer processors",
        "mkdir -p lib/glibc-hwcaps/x86-64-v2; cp other/libown.so.1 lib/glibc-hwcaps/x86-64-v2; ldconfig",
        false,
    ),
    (
        "the folder is no longer in the cache",
        "mkdir first; cp other/libown.so.1 first; echo $PWD/first > /etc/ld.so.conf.d/middle.conf; ldconfig",
        false,
    ),
    (
        "the library is replaced",
        "cp other/libown.so.1 lib/new; mv lib/new lib/libown.so.1; ldconfig",
        false,
    ),
    ("a library for all programs", "echo $PWD/other/libother.so.1 > /etc/ld.so.preload", false),
];

#[test]
fn only_what_the_loader_would_load_matters() {
    let Some(place) = Place::new() else { return };
    let (Some(unshare), Some(_)) = (testkit::tool("unshare"), testkit::tool("ldconfig")) else {
        return;
    };
    for folder in ["lib", "later", "other"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libown.so.1"];
    place.built("lib/libown.so.1", "const char *own(void) { return \"first\"; }", &flags);
    place.built("other/libown.so.1", "const char *own(void) { return \"other version\"; }", &flags);
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libother.so.1"];
    place.built("other/libother.so.1", "int other(void) { return 0; }", &flags);
    let source =
        "#include <stdio.h>\nconst char *own(void); int main(void) { return puts(own()) < 0; }";
    place.built("program", source, &["lib/libown.so.1"]);
    let checks = ["host", "image"];
    let all: Vec<_> = SCENES.iter().flat_map(|scene| checks.map(|check| (scene, check))).collect();
    let faults = in_parallel(&all, |((name, change, used), check)| {
        let root = place.folder.path();
        let output = scene(&unshare, root, check, change);
        if stderr(&output).contains("not permitted") {
            testkit::skip("needs root: mounting");
            return None;
        }
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let right = output.status.success()
            && told.contains("the bundle is used") == *used
            && told.contains("; starting the original: ") != *used
            && told.contains(&format!("\"used\": {used}"));
        (!right).then(|| format!("{name} ({check}): {told}{}", stderr(&output)))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.join("\n"));
}

fn scene(unshare: &Path, root: &Path, check: &str, change: &str) -> Output {
    let mut command = Command::new(unshare);
    command.args(["-m", "sh", "-c", SCRIPT, "sh"]).arg(root);
    command.args([env!("CARGO_BIN_EXE_headstart"), check, change]).output_when_free()
}
