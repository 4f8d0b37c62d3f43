//! A program with three libraries, found along its DT_RUNPATH relative to itself, so that each
//! test has a copy of its own to change.
//!
//! ```text
//! program                      DT_RUNPATH: zero, first, second, third, fourth beside it
//! second/libone.so.1 ► libone.so.1.0, second/libtwo.so.1 (needs libthree), third/libthree.so.1
//! v2/, v3/                     the same libraries, other versions; v2 of the same size
//! preload.so, audit.so         what LD_PRELOAD and LD_AUDIT bring in
//! ```

use crate::common::stderr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;
use testkit::WhenFree;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
const char *one(void), *two(void);
extern const char *three;
static const char *maps(void) {
    char line[4096];
    const char *found = "merged";
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file))
        if (strstr(line, "/libone.so") || strstr(line, "/libtwo.so") || strstr(line, "/libthree.so"))
            found = "apart";
    fclose(file);
    return found;
}
int main(int count, char **words) {
    const char *own = strrchr(words[0], '/');
    if (getenv("SHOW_MAPS"))
        return puts(maps()) < 0;
    printf("%s %s: %s %s %s\n", own ? own + 1 : words[0], VERSION, one(), two(), three);
    if (count > 1 && !strcmp(words[1], "sleep")) {
        fflush(stdout);
        getchar();
        printf("%p %s %s\n", (void *)three, one(), maps());
    }
    if (count > 1 && !strcmp(words[1], "where"))
        printf("%p %p\n", (void *)main, (void *)three);
    return 7;
}
"#;
const ONE: &str = "static const char *volatile version = \"one-\" VERSION;\n\
    const char *one(void) { return version; }";
const TWO: &str = "#include <string.h>\nextern const char *three; static char text[64];\n\
    const char *two(void) { strcpy(text, \"two-\" VERSION \"/\"); return strcat(text, three); }";
const THREE: &str = "const char *three = \"three-\" VERSION;\n\
    const char *padding(int n) { static const char zeros[PADDING] = \"x\"; return zeros + n; }";
const PRELOAD: &str = "const char *one(void) { return \"preloaded\"; }";
const AUDIT: &str = r#"
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <stdlib.h>
unsigned int la_version(unsigned int version) { return version; }
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag) {
    (void)cookie; (void)flag;
    const char *instead = getenv("TEST_INSTEAD");
    return strstr(name, "libone.so.1") && instead ? (char *)instead : (char *)name;
}
"#;

/// The libraries: name, and the folder where each is found.
pub const LIBRARIES: [(&str, &str); 3] =
    [("libone.so.1", "second"), ("libtwo.so.1", "second"), ("libthree.so.1", "third")];

fn template() -> Option<&'static Path> {
    static TEMPLATE: OnceLock<Option<TempDir>> = OnceLock::new();
    TEMPLATE.get_or_init(built).as_ref().map(TempDir::path)
}

fn built() -> Option<TempDir> {
    let cc = testkit::tool("cc")?;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["first", "second", "third", "fourth", "v2", "v3", "made"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    for version in ["v1", "v2", "v3"] {
        let place = |name: &str, of_first: &str| match version {
            "v1" => format!("{of_first}/{name}"),
            _ => format!("{version}/{name}"),
        };
        let define = format!("-DVERSION=\"{version}\"");
        let padding = if version == "v3" { "-DPADDING=70000" } else { "-DPADDING=100" };
        let library = |source: &str, output: &str, more: &[&str]| {
            let name = Path::new(output).file_name().unwrap().to_str().unwrap();
            let soname = format!("-Wl,-soname,{}", name.trim_end_matches(".0"));
            let flags = ["-shared", "-fPIC", "-O1", "-g", &define, padding, &soname];
            testkit::compile(&cc, root, output, source, &[&flags[..], more].concat());
        };
        let three = place("libthree.so.1", "third");
        library(THREE, &three, &[]);
        library(TWO, &place("libtwo.so.1", "second"), &[&three, "-Wl,-rpath,$ORIGIN/../third"]);
        library(
            ONE,
            &place(if version == "v1" { "libone.so.1.0" } else { "libone.so.1" }, "second"),
            &[],
        );
        let output =
            if version == "v1" { "program".to_owned() } else { format!("{version}/program") };
        let origin = if version == "v1" { "$ORIGIN" } else { "$ORIGIN/.." };
        let folders = ["zero", "first", "second", "third", "fourth"];
        let folders = folders.map(|name| format!("{origin}/{name}")).join(":");
        let search = format!("-Wl,-rpath,{folders}");
        let (one, two) = ("second/libone.so.1.0", "second/libtwo.so.1");
        let flags = ["-pie", "-fPIE", "-O1", "-g", &define, one, two, &three, &search];
        testkit::compile(&cc, root, &output, PROGRAM, &flags);
        if version == "v1" {
            std::os::unix::fs::symlink("libone.so.1.0", root.join("second/libone.so.1")).unwrap();
        }
    }
    testkit::compile(&cc, root, "preload.so", PRELOAD, &["-shared", "-fPIC"]);
    testkit::compile(&cc, root, "audit.so", AUDIT, &["-shared", "-fPIC"]);
    Some(folder)
}

/// A copy of everything, with a bundle in `made/out` and one at fixed addresses in `made/fixed`: folders
/// that the preamble looks at stay as they are.
pub struct Stage {
    pub folder: TempDir,
}

/// Both kinds of bundles.
pub const KINDS: [&str; 2] = [OUT, FIXED];
pub const OUT: &str = "made/out";
pub const FIXED: &str = "made/fixed";

impl Stage {
    /// Nothing bundled yet; `None`, said loudly, without a compiler.
    pub fn bare() -> Option<Stage> {
        let folder = tempfile::tempdir().unwrap();
        let from = format!("{}/.", template()?.display());
        let status = Command::new("cp").args(["-a", &from]).arg(folder.path()).status().unwrap();
        assert!(status.success());
        Some(Stage { folder })
    }

    /// With both bundles.
    pub fn bundled() -> Option<Stage> {
        let stage = Stage::bare()?;
        stage.bundle();
        Some(stage)
    }

    pub fn bundle(&self) {
        for kind in KINDS {
            self.bundle_one(kind);
        }
        // Older kernels tell times of files apart by a few milliseconds only.
        std::thread::sleep(Duration::from_millis(12));
    }

    pub fn bundle_one(&self, kind: &str) {
        let (out, program) = (self.text(kind), self.text("program"));
        let mut words = vec!["bundle", "--out", &out];
        words.extend((kind == FIXED).then_some("--fixed"));
        words.push(&program);
        let output = run(&words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Starts one of its files.
    pub fn start(&self, name: &str) -> Command {
        command(&self.path(name))
    }

    /// Whether a bundle runs as itself: no merged library is mapped from its own file.
    pub fn runs_merged(&self, kind: &str) -> bool {
        let output = self.start(&format!("{kind}/run")).env("SHOW_MAPS", "1").output_when_free();
        output.stdout == b"merged\n"
    }
}

/// A command without what the loader reads from the environment.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").stdin(std::process::Stdio::null());
    command
}

/// The command itself, without what `cargo test` tells the loader: a bundle is for the
/// environment that it was made in.
pub fn headstart(arguments: &[&str]) -> Command {
    let mut headstart = command(Path::new(env!("CARGO_BIN_EXE_headstart")));
    headstart.args(arguments);
    headstart
}

pub fn run(arguments: &[&str]) -> Output {
    headstart(arguments).output_when_free()
}

/// Runs it, expects success, and reads the JSON object that it prints.
pub fn json(arguments: &[&str]) -> serde_json::Value {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Status and both outputs, to be compared.
pub fn outcome(output: &Output) -> String {
    format!("{}\n{}\n{}", output.status, crate::common::stdout(output), stderr(output))
}
