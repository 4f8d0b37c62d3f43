//! A disk without room: every verb that writes says which file it could not write, exits with 6,
//! leaves nothing behind, and leaves what was there as it was.
#![allow(clippy::unwrap_used)]

mod common;

use common::{stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "int f0(void) { return 1; } int f1(void) { return 2; }
    int (*own[])(void) = { f0, f1, f0, f1 };";
const PROGRAM: &str = "#include <stdio.h>
    int f0(void); int f1(void); int (*all[])(void) = { f0, f1 };
    const char *words[] = { \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\" };
    int main(void) { return printf(\"%d\\n\", all[0]() + all[1]()) < 0; }";

/// Makes a file system without room at $1, copies what stands in $2 into it first, and tells what
/// files are there before and behind.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=256k none "$1" || exit 97
cp "$2"/* "$1"/ 2>/dev/null
case $4 in
    full) dd if=/dev/zero of="$1/filler" bs=4096 2>/dev/null ;;
    read-only) mount -o remount,ro "$1" || exit 97 ;;
    limited) ulimit -f 1 ;;
esac
list() { find "$1" -mindepth 1 -exec sha256sum {} + 2>/dev/null; find "$1" -mindepth 1 -printf '%P\n' | sort; }
list "$1" > "$3/before"
place=$1 told=$3; shift 4
"$@"; code=$?
list "$place" > "$told/after"
exit $code
"#;

struct Bench {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Bench {
    fn new() -> Option<Bench> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for (name, source) in [("libidle.so", "int idle;"), ("libbusy.so", LIBRARY)] {
            let soname = format!("-Wl,-soname,{name}");
            testkit::compile(&cc, at, name, source, &["-shared", "-fPIC", &soname]);
        }
        let rpath = format!("-Wl,--no-as-needed,-rpath,{}", at.display());
        let flags = [&rpath, "-L.", "-l:libidle.so", "-l:libbusy.so"];
        let program = testkit::compile(&cc, at, "program", PROGRAM, &flags);
        for name in ["full", "told", "nothing", "within"] {
            fs::create_dir(at.join(name)).unwrap();
        }
        fs::copy(&program, at.join("within/own")).unwrap();
        Some(Bench { folder, program })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the verb with a full file system at `full`; `None`, said loudly, where none can be.
    fn fails(&self, content: &str, variables: &[(&str, &Path)], words: &[&str]) -> Option<()> {
        self.fails_for(("full", "No space left"), content, variables, words)
    }

    /// The same with a file system, or a limit, of this kind, at which the system says this.
    fn fails_for(
        &self,
        (kind, said_of_it): (&str, &str),
        content: &str,
        variables: &[(&str, &Path)],
        words: &[&str],
    ) -> Option<()> {
        let unshare = testkit::tool("unshare")?;
        let mut command = Command::new(unshare);
        command.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"]);
        command.args([self.at("full"), self.at(content), self.at("told")]).arg(kind);
        command.arg(env!("CARGO_BIN_EXE_headstart")).args(words);
        command.env("XDG_CACHE_HOME", self.at("cache")).envs(variables.iter().copied());
        let output = command.output().unwrap();
        let said = stderr(&output);
        if output.status.code() == Some(97) || said.contains("unshare:") {
            testkit::skip("file systems cannot be mounted here");
            return None;
        }
        let told = |name: &str| fs::read_to_string(self.at("told").join(name)).unwrap();
        assert_eq!(output.status.code(), Some(6), "{words:?}: {said}{}", stdout(&output));
        let full = self.at("full");
        let line = said.lines().find(|line| line.contains(said_of_it)).unwrap_or_default();
        let named = line.contains(full.to_str().unwrap());
        assert!(named, "{words:?}: the file that has no room is named: {said}");
        let original = self.program.to_str().unwrap();
        assert!(!line.contains(original), "{words:?}: the program is not at fault: {said}");
        assert_eq!(told("before"), told("after"), "{words:?}: nothing is left, nothing changed");
        Some(())
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let Some(bench) = Bench::new() else { return };
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (out, program) = (text(bench.at("full/out")), text(bench.program.clone()));
    let json = text(bench.at("full/out.json"));
    let words: [&[&str]; 12] = [
        &["bundle", "--out", &out, &program],
        &["bundle", "--fixed", "--out", &out, &program],
        &["elf", "relr", "--out", &out, &program],
        &["elf", "no-pie", "--out", &out, &program],
        &["elf", "order-needed", "--out", &out, &program],
        &["elf", "selfbind", "--out", &out, &program],
        &["generate", "pietrek", "--out", &out],
        &["generate", "pietrek", "--format", "pe", "--out", &out],
        &["measure", "-r", "2", "--warmup", "0", "--export", &json, &program],
        &["compare", "-r", "2", "--warmup", "0", "--export", &json, &program, "true"],
        &["measure", "-r", "2", "--warmup", "0", "--save", &out, &program],
        &["explain", "-r", "1", "--save", &out, &program],
    ];
    for words in words {
        if bench.fails("nothing", &[], words).is_none() {
            return;
        }
    }
    // A file of the full disk stays as it is, and so does its folder.
    let own = text(bench.at("full/own"));
    for verb in ["relr", "order-needed"] {
        bench.fails("within", &[], &["elf", verb, "--in-place", &own]);
    }
}

#[test]
fn optimize_takes_a_full_disk_for_no_answer() {
    let Some(bench) = Bench::new() else { return };
    let full = bench.at("full");
    let program = bench.program.to_str().unwrap();
    for only in ["relr", "order", "bundle", "selfbind + order"] {
        let words = ["optimize", "--runs", "3", "--only", only, "--", program];
        if bench.fails("nothing", &[("TMPDIR", &full)], &words).is_none() {
            return;
        }
    }
}

#[test]
fn windows_files_on_a_full_disk() {
    let Some(bench) = Bench::new() else { return };
    let set = bench.at("set");
    let output = common::run(&[
        "generate",
        "pietrek",
        "--format",
        "pe",
        "--dlls",
        "2",
        "--out",
        set.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let files = fs::read_dir(&set).unwrap().map(|entry| entry.unwrap().path());
    let is_pe = |path: &PathBuf| path.extension().is_some_and(|it| it == "dll" || it == "exe");
    let files: Vec<String> =
        files.filter(is_pe).map(|path| path.to_str().unwrap().to_owned()).collect();
    let out = bench.at("full/out").to_str().unwrap().to_owned();
    let flags = ["flags", "--set", "swaprun:net"];
    let others = ["rebase", "bind", "unbind", "hints", "ordinal", "realign"].map(|verb| [verb]);
    for verb in others.iter().map(<[&str; 1]>::as_slice).chain([&flags[..]]) {
        let files = files.iter().map(String::as_str);
        let words: Vec<&str> =
            ["pe"].iter().chain(verb).copied().chain(["--out", &out]).chain(files).collect();
        if bench.fails("nothing", &[], &words).is_none() {
            return;
        }
    }
}

/// A bundle at fixed addresses stays as it is where there is no room for its next one.
#[test]
fn a_bundle_on_a_full_disk_keeps_its_addresses() {
    let Some(bench) = Bench::new() else { return };
    let (made, full) = (bench.at("made"), bench.at("full"));
    let words = ["bundle", "--fixed", "--out", made.to_str().unwrap()];
    let bundled = common::run(&[&words[..], &[bench.program.to_str().unwrap()]].concat());
    assert!(bundled.status.success(), "{}", stderr(&bundled));
    let words = ["rerandomize", full.to_str().unwrap()];
    for kind in [("full", "No space left"), ("read-only", "Read-only file system")] {
        if bench.fails_for(kind, "made", &[], &words).is_none() {
            return;
        }
    }
}

/// What a limit on the size of files, or a file system that is read-only, does not let be written.
#[test]
fn other_files_that_cannot_be_written_are_named_too() {
    let Some(bench) = Bench::new() else { return };
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (out, program) = (text(bench.at("full/out")), text(bench.program.clone()));
    let words: [&[&str]; 5] = [
        &["bundle", "--out", &out, &program],
        &["elf", "relr", "--out", &out, &program],
        &["elf", "no-pie", "--out", &out, &program],
        &["elf", "order-needed", "--out", &out, &program],
        &["elf", "selfbind", "--out", &out, &program],
    ];
    for kind in [("read-only", "Read-only file system"), ("limited", "File too large")] {
        for words in words {
            if bench.fails_for(kind, "nothing", &[], words).is_none() {
                return;
            }
        }
    }
    let full = bench.at("full");
    let own = text(bench.at("full/own"));
    for kind in [("read-only", "Read-only file system"), ("limited", "File too large")] {
        bench.fails_for(kind, "within", &[], &["elf", "relr", "--in-place", &own]);
        let words = ["optimize", "--runs", "3", "--only", "relr", "--", &program];
        bench.fails_for(kind, "nothing", &[("TMPDIR", &full)], &words);
    }
}
