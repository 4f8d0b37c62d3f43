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
# Links are left as they are: those that lead to /etc/alternatives lead nowhere here, and would be removed.
ldconfig() { command ldconfig -X "$@"; }
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
# Of a copy only whole seconds are compared, and caches of other contents can be of one size.
if [ "$3" = image ]; then sleep 1.1; fi
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
        let output = scene((&unshare, SCRIPT), root, check, change);
        if stderr(&output).contains("not permitted") {
            testkit::skip("needs root: mounting");
            return None;
        }
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let right = output.status.success()
            && told.contains("build-ids at every start)") == *used
            && told.contains("; starting the original: ") != *used
            && told.contains(&format!("\"used\": {used}"));
        (!right).then(|| format!("{name} ({check}): {told}{}", stderr(&output)))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.join("\n"));
}

fn scene((unshare, script): (&Path, &str), root: &Path, check: &str, change: &str) -> Output {
    let mut command = Command::new(unshare);
    command.args(["-m", "sh", "-c", script, "sh"]).arg(root);
    command.args([env!("CARGO_BIN_EXE_headstart"), check, change]).output_when_free()
}

/// As ldconfig writes it, but for what is wrong: the names of libraries with offsets of their texts, behind the
/// last entry. `count` is what the header says.
fn cache(count: u32, names: &[(u32, u32)], texts: &[u8]) -> Vec<u8> {
    let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
    bytes.extend(count.to_le_bytes());
    bytes.extend((texts.len() as u32).to_le_bytes());
    bytes.extend([2, 0, 0, 0]); // little-endian
    bytes.resize(48, 0);
    for (name, path) in names {
        let entry = [0x303, *name, *path, 0, 0, 0];
        bytes.extend(entry.iter().flat_map(|word: &u32| word.to_le_bytes()));
    }
    bytes.extend(texts);
    bytes
}

/// A page that ends in the middle of a text.
fn unended(text: &[u8]) -> Vec<u8> {
    let at = 4096 - text.len() as u32;
    let mut bytes = cache(1, &[(at, at)], b"");
    bytes.resize(at as usize, 0);
    bytes.extend(text);
    bytes
}

/// Before the bundle's check, memory is filled up from above: behind the cache there is nothing to be read then.
const FILLED: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
const char *own(void);
static int done(void) { return 0; }
static int (*fill(void))(void) {
    for (int i = 0; i < 99; i++) {
        register long flags __asm__("r10") = 0x22, file __asm__("r8") = -1, at __asm__("r9") = 0;
        long result = 9; /* mmap of a page that nobody may read */
        __asm__ volatile("syscall" : "+a"(result)
                         : "D"(0L), "S"(4096L), "d"(0L), "r"(flags), "r"(file), "r"(at) : "rcx", "r11", "memory");
    }
    return done;
}
int filled(void) __attribute__((ifunc("fill")));
int main(void) { return filled() || puts(own()) < 0; }
"#;

/// The bundle or the original starts; what that makes of such a cache is its own affair.
#[test]
fn a_damaged_cache_ends_no_start() {
    let Some(place) = Place::new() else { return };
    let (Some(unshare), Some(_)) = (testkit::tool("unshare"), testkit::tool("ldconfig")) else {
        return;
    };
    for folder in ["lib", "later", "other", "damaged"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libown.so.1"];
    place.built("lib/libown.so.1", "const char *own(void) { return \"first\"; }", &flags);
    // So the loader finds libc.so.6 without the cache, and leaves no gap where it was.
    let cc = Command::new(testkit::tool("cc").unwrap()).arg("-print-file-name=libc.so.6").output();
    let libc = String::from_utf8(cc.unwrap().stdout).unwrap();
    let libc = Path::new(libc.trim()).canonicalize().unwrap();
    let search = format!("export LD_LIBRARY_PATH='{}'", libc.parent().unwrap().display());
    place.built("program", FILLED, &["lib/libown.so.1"]);
    let text = b"libown.so.1\0/lib/libown.so.1\0";
    let damaged = [
        ("nothing", Vec::new()),
        ("cut short", cache(1, &[(72, 84)], text)[..60].to_vec()),
        ("too many", cache(u32::MAX, &[(72, 84)], text)),
        ("outside", cache(1, &[(1 << 31, u32::MAX)], text)),
        ("behind", cache(2, &[(72, 84), (4096, 4096)], text)),
        ("no end", cache(1, &[(72, 84)], b"libown.so.1")),
        ("name at the end of a page", unended(b"libown.so")),
        ("number at the end of a page", unended(b"libown.so.1")),
    ];
    for (name, bytes) in &damaged {
        place.file(&format!("damaged/{name}"), bytes);
    }
    let original = "\"$1/program\" > original\n";
    let script =
        SCRIPT.replace(original, "").replace("trace\ncmp original bundle", "trace || true");
    let script = script.replace("unset LD_LIBRARY_PATH", &search);
    let faults = in_parallel(&damaged, |(name, _)| {
        let change = format!("cp \"$1/damaged/{name}\" /etc/ld.so.cache");
        let output = scene((&unshare, &script), place.folder.path(), "host", &change);
        if stderr(&output).contains("not permitted") {
            testkit::skip("needs root: mounting");
            return None;
        }
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let cause = "libown.so.1 is not what it was in the loader's cache, /etc/ld.so.cache, when the bundle was \
                     made; starting the original: ";
        let right = output.status.success() && told.contains(cause);
        (!right).then(|| format!("{name}: {told}{}", stderr(&output)))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
