//! Data that a program has copied from a merged library keeps that library's version for plug-ins.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use std::path::Path;
use std::process::Command;

const MAIN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
extern int level;
int main(int count, char **words) {
    level = 100;
    int (*run)(void) = dlsym(dlopen(words[1], RTLD_NOW), "run");
    int *found = dlvsym(RTLD_DEFAULT, "level", "FOO_1");
    printf("%d %d %d\n", run(), found == &level, *found);
    return 0;
}
"#;
/// Knows the variable of another version of the library.
const PLUGIN: &str =
    "extern int level; int get2(void); int run(void) { return level * 1000 + get2(); }";

fn library(cc: &Path, at: &Path, version: u32) -> String {
    let map = at.join(format!("map{version}"));
    std::fs::write(&map, format!("FOO_{version} {{ global: *; }};\n")).unwrap();
    let source = format!("int level = {version}; int get{version}(void) {{ return level; }}");
    let name = format!("libfoo.so.{version}");
    let (soname, script) =
        (format!("-Wl,-soname,{name}"), format!("-Wl,--version-script={}", map.display()));
    testkit::compile(cc, at, &name, &source, &["-shared", "-fPIC", &soname, &script]);
    at.join(name).display().to_string()
}

#[test]
fn a_plugin_for_another_version_finds_the_variable_of_its_own() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let (first, second) = (library(&cc, &at, 1), library(&cc, &at, 2));
    let rpath = format!("-Wl,-rpath,{}", at.display());
    let program = testkit::compile(&cc, &at, "main", MAIN, &[&first, &rpath]);
    let words = ["-shared", "-fPIC", &second, &rpath];
    let plugin = testkit::compile(&cc, &at, "plugin.so", PLUGIN, &words);
    let printed = |run: &Path| {
        let mut command = Command::new(run);
        let output = command.env("HEADSTART_STALE", "never").arg(&plugin).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(printed(&program), "2002 1 100\n");
    for fixed in [false, true] {
        let bundle = at.join(format!("bundle-{fixed}"));
        std::fs::create_dir(&bundle).unwrap();
        let options = BundleOptions { fixed, ..BundleOptions::default() };
        let made = bundle::make(&program, &bundle, &options).unwrap();
        assert_eq!(printed(&made.run), "2002 1 100\n", "fixed: {fixed}");
    }
}
