//! What plug-ins and their libraries are bound to: versions, and definitions that depend on who is opened first.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleOptions, Learnt, Made};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Opens each file and prints what its `work` returns; and says how many merged files are there.
const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef ASKS
extern int number(void);
int (*volatile asked)(void);
#endif
int main(int count, char **files) {
    char line[4096];
    int merged = 0;
    for (int at = 1; at < count; at++) {
        void *handle = dlopen(files[at], RTLD_NOW);
        int (*work)(void) = handle ? (int (*)(void))dlsym(handle, "work") : 0;
        printf("%d\n", work ? work() : -1);
    }
#ifdef ASKS
    asked = number;
    printf("number %d %d\n", asked(), dlsym(RTLD_DEFAULT, "number") == (void *)asked);
#endif
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) merged |= strstr(line, "/lib-") != 0;
    fprintf(stderr, "%d", merged);
    return 0;
}
"#;

struct Folder {
    _own: tempfile::TempDir,
    at: PathBuf,
    cc: PathBuf,
}

impl Folder {
    fn new() -> Option<Folder> {
        let cc = testkit::tool("gcc")?;
        let own = tempfile::tempdir().unwrap();
        let at = own.path().canonicalize().unwrap();
        Some(Folder { _own: own, at, cc })
    }

    fn compile(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        testkit::compile(&self.cc, &self.at, name, source, &[&["-w", "-L."], flags].concat())
    }

    /// A shared library that needs these, in this order.
    fn library(&self, name: &str, source: &str, needs: &[&str]) -> PathBuf {
        let soname = format!("-Wl,-soname,{name}");
        let needs = needs.iter().map(|need| format!("-l:{need}"));
        let flags = ["-shared", "-fPIC", "-Wl,--no-as-needed"].map(str::to_owned);
        let flags: Vec<String> = flags.into_iter().chain([soname]).chain(needs).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.compile(name, source, &[&flags[..], &["-Wl,-rpath,$ORIGIN"]].concat())
    }

    fn bundle(&self, program: &Path, options: &BundleOptions) -> Made {
        let folder = self.at.join("bundle");
        let _ = std::fs::create_dir(&folder);
        bundle::make(program, &folder, options).unwrap()
    }
}

/// What it prints and whether merged files are there.
fn told(program: &Path, files: &[PathBuf]) -> (String, String) {
    let output =
        Command::new(program).args(files).env("HEADSTART_STALE", "never").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// A program at fixed addresses that takes a function's address has a stub of it, which is the function of one
/// version. A plug-in that asks for another version must not be bound to it.
#[test]
fn a_stub_of_the_program_is_the_function_of_one_version() {
    let Some(folder) = Folder::new() else { return };
    std::fs::write(folder.at.join("versions"), "V1 { number; }; V2 { number; };").unwrap();
    let library = "
        __asm__(\".symver first, number@V1\\n.symver second, number@@V2\\n\");
        int first(void) { return 1; } int second(void) { return 2; }";
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libnumber.so", "-Wl,--version-script=versions"];
    folder.compile("libnumber.so", library, &shared);
    let plugin = "
        __asm__(\".symver number, number@V1\"); int number(void);
        int (*taken)(void) = number; int work(void) { return taken() * 10 + number(); }";
    let needs = ["-shared", "-fPIC", "-l:libnumber.so", "-Wl,-rpath,$ORIGIN"];
    let plugin = folder.compile("plugin.so", plugin, &needs);
    let fixed = ["-DASKS", "-no-pie", "-fno-pie", "-l:libnumber.so", "-Wl,-rpath,$ORIGIN", "-ldl"];
    let program = folder.compile("host", HOST, &fixed);
    let include = [plugin.clone()].into();
    let made = folder
        .bundle(&program, &BundleOptions { fixed: true, include, ..BundleOptions::default() });
    assert_eq!(made.manifest.warnings, [""; 0]);
    let files = [plugin];
    let found = told(&made.run, &files);
    assert_eq!((found.0.as_str(), found.1.as_str()), ("11\nnumber 2 1\n", "1"));
    assert_eq!(told(&program, &files).0, found.0);
}

/// Which of two definitions is found depends on who is opened first, and the plug-ins search the libraries in
/// different orders: no order of files that are divided by users would do.
#[test]
fn each_plugin_finds_definitions_in_its_own_order() {
    let Some(folder) = Folder::new() else { return };
    let program = folder.compile("host", HOST, &["-ldl"]);
    folder.library(
        "libpart.so",
        "int one(void) { return 1; } int part(void) { return one(); }",
        &[],
    );
    let middle = "int one(void) { return 2; } int two(void) { return 3; } int middle(void) { return one(); }";
    folder.library("libmiddle.so", middle, &[]);
    folder.library(
        "libcore.so",
        "int two(void) { return 4; } int core(void) { return two(); }",
        &[],
    );
    let all = "int part(void); int middle(void); int core(void);
        int work(void) { return part() * 100 + middle() * 10 + core(); }";
    let wide = folder.library("wide.so", all, &["libpart.so", "libmiddle.so", "libcore.so"]);
    let view = folder.library("view.so", all, &["libmiddle.so", "libpart.so", "libcore.so"]);
    let some = "int part(void); int core(void); int work(void) { return part() * 100 + core(); }";
    let small = folder.library("small.so", some, &["libpart.so", "libcore.so"]);
    let include = [&wide, &view, &small].map(PathBuf::clone).into();
    let made = folder.bundle(&program, &BundleOptions { include, ..BundleOptions::default() });
    assert_eq!(made.manifest.warnings, [""; 0]);
    let orders = [[&wide, &view, &small], [&view, &small, &wide], [&small, &wide, &view]];
    let mut answers = Vec::new();
    for order in orders {
        let files = order.map(PathBuf::clone);
        let found = told(&made.run, &files);
        assert_eq!(found.1, "1");
        assert_eq!(told(&program, &files).0, found.0);
        answers.push(found.0);
    }
    answers.dedup();
    assert_eq!(answers.len(), 3, "{answers:?}");
}

/// Here the files of libraries cannot be divided, because they would need each other: another order of them does it.
#[test]
fn files_of_libraries_are_searched_in_an_order_in_which_all_is_found() {
    let Some(folder) = Folder::new() else { return };
    let program = folder.compile("host", HOST, &["-ldl"]);
    folder.library("libtail.so", "int tail(void) { return 5; }", &[]);
    let late = "int tail(void); int one(void) { return 1; } int late(void) { return tail(); }";
    folder.library("liblate.so", late, &["libtail.so"]);
    let asks = "int one(void); int late(void); int asks(void) { return one() * 10 + late(); }";
    folder.library("libasks.so", asks, &["liblate.so"]);
    folder.library(
        "libwide.so",
        "int one(void) { return 2; } int wide(void) { return one(); }",
        &[],
    );
    let all = "int asks(void); int tail(void); int wide(void);
        int work(void) { return asks() * 100 + tail() * 10 + wide(); }";
    let wide = folder.library("wide.so", all, &["libasks.so", "libtail.so", "libwide.so"]);
    let some = "int asks(void); int tail(void); int work(void) { return asks() * 10 + tail(); }";
    let small = folder.library("small.so", some, &["libasks.so", "libtail.so"]);
    let include = [&wide, &small].map(PathBuf::clone).into();
    let made = folder.bundle(&program, &BundleOptions { include, ..BundleOptions::default() });
    assert_eq!(made.manifest.warnings, [""; 0]);
    for (order, answer) in [([&wide, &small], "2552\n255\n"), ([&small, &wide], "155\n1552\n")] {
        let files = order.map(PathBuf::clone);
        assert_eq!(told(&program, &files).0, answer);
        assert_eq!(told(&made.run, &files), (answer.to_owned(), "1".to_owned()));
    }
}

/// A reference that is bound to another library's definition, if that is there, asks for a version. The library that is
/// asked must be there in any case.
#[test]
fn versions_are_asked_of_what_is_always_there() {
    let Some(folder) = Folder::new() else { return };
    let program = folder.compile("host", HOST, &["-ldl"]);
    std::fs::write(folder.at.join("versions"), "V1 { *; };\n").unwrap();
    let versions = "-Wl,--version-script=versions";
    let shared = ["-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"];
    let parts = [
        ("libother.so", "int two(void) { return 3; } int other(void) { return 5; }"),
        ("libcore.so", "int two(void) { return 4; } int core(void) { return two(); }"),
    ];
    for (name, source) in parts {
        let soname = format!("-Wl,-soname,{name}");
        folder.compile(name, source, &[&shared[..], &[versions, &soname]].concat());
    }
    let all = "int other(void); int core(void); int work(void) { return other() * 10 + core(); }";
    let all = folder.library("all.so", all, &["libother.so", "libcore.so"]);
    let small = "int core(void); int work(void) { return core(); }";
    let small = folder.library("small.so", small, &["libcore.so"]);
    let include = [&all, &small].map(PathBuf::clone).into();
    let made = folder.bundle(&program, &BundleOptions { include, ..BundleOptions::default() });
    assert_eq!(made.manifest.warnings, [""; 0]);
    let orders = [(vec![&small, &all], "4\n54\n"), (vec![&all, &small], "53\n3\n")];
    for (files, expected) in orders {
        let files: Vec<PathBuf> = files.into_iter().cloned().collect();
        let found = told(&made.run, &files);
        assert_eq!((found.0.as_str(), found.1.as_str()), (expected, "1"));
        assert_eq!(told(&program, &files).0, found.0);
    }
}

/// Without the plug-in that needs it, the library cannot be opened: what it needs is found through the plug-in.
#[test]
fn a_library_that_was_opened_for_a_plugin_is_not_tried_alone() {
    let Some(folder) = Folder::new() else { return };
    let program = folder.compile("host", HOST, &["-ldl"]);
    let deep = folder.at.join("deep");
    std::fs::create_dir(&deep).unwrap();
    let shared = ["-shared", "-fPIC", "-Wl,--no-as-needed"];
    let last = [&shared[..], &["-Wl,-soname,liblast.so", "-odeep/liblast.so"]].concat();
    folder.compile("liblast.so", "int last(void) { return 5; }", &last);
    let next = [
        &shared[..],
        &["-Wl,-soname,libinner.so", "-odeep/libinner.so", "-Ldeep", "-l:liblast.so"],
    ]
    .concat();
    folder.compile("libinner.so", "int last(void); int next(void) { return last(); }", &next);
    let path = [
        "-Ldeep",
        "-l:libinner.so",
        "-Wl,--disable-new-dtags,-rpath,$ORIGIN/deep",
        "-Wl,-rpath-link,deep",
    ];
    let source = "int next(void); int work(void) { return next(); }";
    let plugin = folder.compile("plugin.so", source, &[&shared[..], &path].concat());
    let libraries = [plugin.clone(), deep.join("libinner.so"), deep.join("liblast.so")].into();
    let learnt = Some(Learnt { libraries, ..Learnt::default() });
    let made = folder.bundle(&program, &BundleOptions { learnt, ..BundleOptions::default() });
    assert_eq!(made.manifest.warnings, [""; 0]);
    let files = [plugin];
    let found = told(&made.run, &files);
    assert_eq!((found.0.as_str(), found.1.as_str()), ("5\n", "1"));
    assert_eq!(told(&program, &files).0, found.0);
}
