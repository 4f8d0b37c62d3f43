//! What merged libraries find by RTLD_NEXT, and the order in which all ends.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use std::path::Path;
use std::process::{Command, Output};

/// Data, thread-local data, an indirect function, two versions and a hidden one.
const BASE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int first(void) { return 1; }
int second(void) { return 2; }
__asm__(".symver first, number@V1\n.symver second, number@@V2\n");
__thread int own = 5;
int *own_here(void) { return &own; }
static int chosen(void) { return 7; }
static void *choose(void) { return (void *)chosen; }
int indirect(void) __attribute__((ifunc("choose")));
__attribute__((visibility("hidden"))) int concealed(void) { return 8; }
static void leave(void) { puts("base: atexit"); }
__attribute__((constructor)) static void begin(void) { atexit(leave); }
__attribute__((destructor)) static void end(void) { puts("base: destructor"); }
"#;

const WRAP: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
typedef int (*function)(void);
extern int *own_here(void);
int number(void) { return 100; }
__thread int own = 50;
int indirect(void) { return 70; }
int concealed(void) { return 80; }
static int call(void *found) { return found ? ((function)found)() : -1; }
void look(void) {
    int newest = call(dlsym(RTLD_NEXT, "number"));
    int v1 = call(dlvsym(RTLD_NEXT, "number", "V1")), v2 = call(dlvsym(RTLD_NEXT, "number", "V2"));
    int v3 = call(dlvsym(RTLD_NEXT, "number", "V3"));
    printf("number %d V1 %d V2 %d V3 %d error %d\n", newest, v1, v2, v3, dlerror() != 0);
    dlsym(RTLD_DEFAULT, "nothing of that name");
    int *next = dlsym(RTLD_NEXT, "own");
    printf("own %d error %d\n", next ? *next : -1, dlerror() != 0);
    printf("indirect %d\n", call(dlsym(RTLD_NEXT, "indirect")));
    int none = call(dlsym(RTLD_NEXT, "concealed"));
    printf("concealed %d error %d\n", none, dlerror() != 0);
    printf("libc %d\n", dlsym(RTLD_NEXT, "strtol") == dlsym(RTLD_DEFAULT, "strtol"));
    (void)own_here;
}
static void leave(void) { puts("wrap: atexit"); }
__attribute__((constructor)) static void begin(void) { atexit(leave); }
__attribute__((destructor)) static void end(void) { puts("wrap: destructor"); }
"#;

const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
extern void look(void);
static void leave(void) { puts("program: atexit"); }
__attribute__((destructor)) static void end(void) { puts("program: destructor"); }
int main(void) { atexit(leave); look(); return 3; }
"#;

/// What the program prints, bundled or not.
const LINES: &str = "\
number 2 V1 1 V2 2 V3 -1 error 1
own 5 error 0
indirect 7
concealed -1 error 1
libc 1
program: atexit
program: destructor
wrap: destructor
wrap: atexit
base: destructor
base: atexit
";

#[test]
fn the_next_definition_and_the_end() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::fs::write(at.join("versions"), "V1 { number; own; own_here; indirect; }; V2 { number; };")
        .unwrap();
    let search = format!("-Wl,-rpath,{}", at.display());
    let shared = ["-shared", "-fPIC", "-w"];
    let flags = [&shared[..], &["-Wl,--version-script=versions"]].concat();
    testkit::compile(&cc, &at, "libbase.so", BASE, &flags);
    let flags = [&shared[..], &["-Wl,--no-as-needed", "libbase.so", &search]].concat();
    testkit::compile(&cc, &at, "libwrap.so", WRAP, &flags);
    let program = testkit::compile(&cc, &at, "program", MAIN, &["-L.", "-lwrap", &search]);
    assert_eq!(told(&program), (Some(3), LINES.to_owned()));
    for fixed in [false, true] {
        let bundle = at.join(format!("bundle-{fixed}"));
        std::fs::create_dir(&bundle).unwrap();
        let made =
            bundle::make(&program, &bundle, &BundleOptions { fixed, ..BundleOptions::default() });
        assert_eq!(told(&made.unwrap().run), (Some(3), LINES.to_owned()), "fixed: {fixed}");
    }
}

/// Status and output; of a bundle, where it does not give way to the original.
fn told(program: &Path) -> (Option<i32>, String) {
    let output = Command::new(program).env("HEADSTART_STALE", "z").output();
    let Output { status, stdout, .. } = output.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}
