//! What a merged plug-in finds by name where the bundle has stubs for functions of the C library.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use std::path::Path;
use std::process::Command;

const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int of_program(void) { return 5; }
int main(int count, char **words) {
    int (*run)(void) = dlsym(dlopen(words[1], RTLD_NOW), "run");
    return run ? run() : 99;
}
"#;
const LIBRARY: &str = "int needed(void) { return 44; }";
const PLUGIN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int needed(void);
int mine(void) { return 33; }
static int call(void *found) { return found ? ((int (*)(void))found)() : -1; }
int run(void) {
    printf("default %d %d %d\n", call(dlsym(RTLD_DEFAULT, "mine")),
        call(dlsym(RTLD_DEFAULT, "needed")), call(dlsym(RTLD_DEFAULT, "of_program")));
    printf("next %d\n", call(dlsym(RTLD_NEXT, "needed")));
    void *own = dlsym(RTLD_DEFAULT, "puts"), *version = dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5");
    printf("puts %d %d %d\n", own == (void *)puts, version == own,
        dlvsym(RTLD_DEFAULT, "mine", "NO_SUCH_VERSION") == 0);
    return needed() - 44;
}
"#;
const LINES: &str = "default 33 44 5\nnext 44\nputs 1 1 1\n";

#[test]
fn a_merged_plugin_finds_its_own_names_and_those_of_what_it_needs() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let program = testkit::compile(&cc, &at, "host", HOST, &["-rdynamic"]);
    let library = ["-shared", "-fPIC", "-Wl,-soname,libneeded.so"];
    testkit::compile(&cc, &at, "libneeded.so", LIBRARY, &library);
    let words = ["-shared", "-fPIC", "-L.", "-lneeded", "-Wl,-rpath,$ORIGIN"];
    let plugin = testkit::compile(&cc, &at, "plugin.so", PLUGIN, &words);
    let printed = |run: &Path| {
        let mut command = Command::new(run);
        let output = command.env("HEADSTART_STALE", "never").arg(&plugin).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(printed(&program), (Some(0), LINES.to_owned()));
    for (fixed, merged) in [(false, false), (false, true), (true, false), (true, true)] {
        let bundle = at.join(format!("bundle-{fixed}-{merged}"));
        std::fs::create_dir(&bundle).unwrap();
        let include = merged.then(|| plugin.clone()).into_iter().collect();
        let options = BundleOptions { fixed, include, ..BundleOptions::default() };
        let made = bundle::make(&program, &bundle, &options).unwrap();
        assert_eq!(
            printed(&made.run),
            (Some(0), LINES.to_owned()),
            "fixed: {fixed}, merged: {merged}"
        );
    }
}
