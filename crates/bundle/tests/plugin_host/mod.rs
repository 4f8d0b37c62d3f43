//! A program that opens plug-ins, for tests of bundles with these.

use bundle::{BundleOptions, Made};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Opens each file and calls its `work`, then closes all; and says how many merged files are there.
const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **files) {
    void *handles[10];
    char line[4096];
    int merged = 0;
    for (int at = 1; at < count; at++) {
        handles[at] = dlopen(files[at], RTLD_NOW);
        int (*work)(void) = handles[at] ? (int (*)(void))dlsym(handles[at], "work") : 0;
        printf("%d\n", work ? work() : -1);
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) merged |= strstr(line, "/lib-") != 0;
    fprintf(stderr, "%d", merged);
    for (int at = 1; at < count; at++) if (handles[at]) dlclose(handles[at]);
    puts("end");
    return 3;
}
"#;

/// A program that opens plug-ins.
pub struct Case {
    pub _folder: tempfile::TempDir,
    pub at: PathBuf,
    pub program: PathBuf,
}

/// A program that opens plug-ins, in a folder of its own.
pub fn case() -> Option<Case> {
    let cc = testkit::tool("gcc")?;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let program = testkit::compile(&cc, &at, "host", HOST, &["-w", "-ldl"]);
    Some(Case { _folder: folder, at, program })
}

/// A bundle of it with these plug-ins.
pub fn bundle(case: &Case, plugins: &[&Path]) -> Made {
    let folder = case.at.join("bundle");
    let _ = std::fs::create_dir(&folder);
    let include = plugins.iter().map(|path| case.at.join(path)).collect();
    let options = BundleOptions { include, ..BundleOptions::default() };
    bundle::make(&case.program, &folder, &options).unwrap()
}

/// How a program ends that opens these files, and what it prints.
pub fn told(program: &Path, files: &[&Path], at: &Path) -> (Option<i32>, String, String) {
    let files = files.iter().map(|file| at.join(file));
    let output = Command::new(program).args(files).env("HEADSTART_STALE", "z").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
