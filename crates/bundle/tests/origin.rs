//! What dlinfo tells merged code of its own folder, by whatever version it asks; and the library
//! that holds dlinfo itself where the C library is an old one.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleOptions, Made};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Asks by its own address, as alsa-lib does.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#ifdef OLD
__asm__(".symver dlinfo, dlinfo@GLIBC_2.3.3\n.symver dladdr, dladdr@GLIBC_2.2.5");
#endif
int look(void) {
    Dl_info info;
    struct link_map *links = 0;
    char origin[4096], other[4096] = "";
    memset(origin, '#', sizeof origin);
    dladdr1((void *)look, &info, (void **)&links, RTLD_DL_LINKMAP);
    dlsym(RTLD_DEFAULT, "nothing of that name");
    int given = dlinfo(links, RTLD_DI_ORIGIN, origin);
    printf("library %d %s %c error %d\n", given, origin, origin[strlen(origin) + 1], dlerror() != 0);
    given = dladdr((void *)look, &info);
    printf("library in %s\n", given ? info.dli_fname : "nothing");
    Dl_serinfo size = {0};
    size_t module = 0;
    struct link_map *map = 0;
    given = dlinfo(links, RTLD_DI_SERINFOSIZE, &size);
    printf("search %d %d\n", given, size.dls_cnt > 0);
    union { Dl_serinfo info; char room[65536]; } paths = {size};
    given = size.dls_size < sizeof paths ? dlinfo(links, RTLD_DI_SERINFO, &paths) : -1;
    printf("paths %d %d\n", given, paths.info.dls_serpath[0].dls_name[0] == '/');
    given = dlinfo(links, RTLD_DI_LINKMAP, &map);
    printf("map %d %d\n", given, map == links);
    printf("thread-local %d\n", dlinfo(links, RTLD_DI_TLS_MODID, &module));
    given = dlinfo(links, 77, &module);
    printf("unknown %d error %d\n", given, dlerror() != 0);
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    given = dlinfo(libc, RTLD_DI_ORIGIN, other);
    printf("libc %d %s\n", given, other);
    return 0;
}
"#;

/// The program's own $ORIGIN is what the original is told only where the loader has needed it.
const MAIN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
extern int look(void);
int main(void) {
    char origin[4096] = "";
    look();
    int given = dlinfo(dlopen(0, RTLD_NOW), RTLD_DI_ORIGIN, origin);
    printf("program %d %s\n", given, origin);
    return 3;
}
"#;

/// A library in `lib`, to which `link` leads, and a program that a link in `bin` leads to.
fn program(old: bool, at: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("gcc")?;
    for folder in ["lib", "files", "bin"] {
        std::fs::create_dir(at.join(folder)).unwrap();
    }
    symlink("lib", at.join("link")).unwrap();
    symlink("../files/program", at.join("bin/program")).unwrap();
    let version = if old { "-DOLD" } else { "-DNEW" };
    let flags = ["-shared", "-fPIC", "-w", version];
    testkit::compile(&cc, at, "lib/liblook.so", LIBRARY, &flags);
    let search = "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../link:$ORIGINS";
    testkit::compile(&cc, at, "files/program", MAIN, &["-Llib", "-llook", search]);
    Some(at.join("bin/program"))
}

#[test]
fn a_merged_library_is_told_its_own_folder() {
    for (old, fixed) in [(false, false), (false, true), (true, false)] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let Some(program) = program(old, &at) else { return };
        let expected = told(&program);
        let library = format!("library 0 {}/files/../link # error 0\n", at.display());
        assert!(expected.1.starts_with(&library), "{expected:?}");
        assert!(expected.1.contains("search 0 1\npaths 0 1\nmap 0 1\n"), "{expected:?}");
        assert!(expected.1.contains("libc 0 /"), "{expected:?}");
        assert!(expected.1.ends_with(&format!("program 0 {}/files\n", at.display())));
        let made = made(&at, &program, fixed);
        assert_eq!(told(&made.run), expected, "old: {old} fixed: {fixed}");
        let Some(readelf) = testkit::tool("readelf") else { return };
        let dynamic = Command::new(&readelf).arg("-d").arg(&made.run).output().unwrap();
        let search = format!("[{}/files/../link:$ORIGINS]", at.display());
        let dynamic = String::from_utf8(dynamic.stdout).unwrap();
        assert!(dynamic.contains(&search), "{dynamic}");
        let symbols = Command::new(readelf).args(["-W", "--dyn-syms"]).arg(&made.run).output();
        let symbols = String::from_utf8(symbols.unwrap().stdout).unwrap();
        for name in ["dlinfo@GLIBC_2.3.3", "dladdr@GLIBC_2.2.5"] {
            assert_eq!(symbols.contains(name), old, "{name}\n{symbols}");
        }
    }
}

#[test]
fn the_library_of_dlopen_stays_outside() {
    let Some(cc) = testkit::tool("gcc") else { return };
    for (source, merged) in [("int dlopen_placeholder;", true), ("int dlopen(void) {}", false)] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let shared = ["-shared", "-fPIC", "-w", "-Wl,-soname,libdl.so.2"];
        testkit::compile(&cc, &at, "libdl.so.2", source, &shared);
        let search = format!("-Wl,--no-as-needed,-rpath,{}", at.display());
        let main = "int main(void) { return 3; }";
        let program = testkit::compile(&cc, &at, "program", main, &[&search, "libdl.so.2"]);
        let made = made(&at, &program, false);
        let mut modules = made.manifest.modules.iter();
        let library = modules.find(|module| module.path.ends_with("libdl.so.2")).unwrap();
        let because = library.outside.as_deref();
        assert_eq!(because.is_none(), merged, "{because:?}");
        assert!(merged || because.unwrap().contains("before 2.34"), "{because:?}");
        assert_eq!(told(&made.run).0, Some(3));
    }
}

fn made(at: &Path, program: &Path, fixed: bool) -> Made {
    let bundle = at.join("bundle");
    std::fs::create_dir(&bundle).unwrap();
    bundle::make(program, &bundle, &BundleOptions { fixed, ..BundleOptions::default() }).unwrap()
}

/// Status and output; of a bundle, where it does not give way to the original.
fn told(program: &Path) -> (Option<i32>, String) {
    let output = Command::new(program).env("HEADSTART_STALE", "z").output();
    let Output { status, stdout, .. } = output.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}
