//! Names of files that are not UTF-8, from one end to the other: what every verb is given, what it
//! writes, and what it keeps.
#![allow(clippy::unwrap_used)]

mod common;

use common::{stderr, stdout};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::WhenFree;

const LIBRARY: &str = "static int n; int *p[] = {&n, &n, &n};
    int own(int x) { return x + n; } int greet(int x) { return own(x) + own(x); }";
const PROGRAM: &str = "#include <stdio.h>
    int greet(int); int unused(void); static int n; int *q[] = {&n, &n, &n, &n, &n, &n, &n, &n};
    int main(void) { printf(\"%d\\n\", greet(21)); return *q[0]; }";

/// A folder, a program in it and the program's library, each with a byte that is not UTF-8.
struct Bench {
    folder: tempfile::TempDir,
    own: PathBuf,
    program: PathBuf,
}

fn odd(name: &str) -> OsString {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0xe9);
    OsStr::from_bytes(&bytes).to_owned()
}

impl Bench {
    fn new() -> Option<Bench> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(odd("d"));
        fs::create_dir(&own).unwrap();
        fs::write(own.join("l.c"), LIBRARY).unwrap();
        fs::write(own.join("p.c"), PROGRAM).unwrap();
        let build = |words: &[&str]| {
            let made = Command::new(&cc).args(words).current_dir(&own).status().unwrap();
            assert!(made.success(), "{words:?}");
        };
        build(&["-shared", "-fPIC", "-o", "libl.so", "l.c"]);
        build(&["-o", "p", "p.c", "-L.", "-ll", "-lm", "-Wl,--no-as-needed,-rpath,$ORIGIN"]);
        let program = own.join(odd("p"));
        fs::rename(own.join("p"), &program).unwrap();
        Some(Bench { folder, own, program })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(odd(name))
    }

    fn run(&self, words: &[&OsStr]) -> Output {
        let mut command = common::headstart(self.folder.path(), &[]);
        command.args(words).output_when_free()
    }

    /// The words before, the program, and the words behind; all is to go well, with JSON or without.
    fn works(&self, before: &[&str], more: &[&OsStr]) -> Value {
        let words: Vec<&OsStr> =
            before.iter().map(OsStr::new).chain(more.iter().copied()).collect();
        let output = self.run(&words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }
}

fn prints_42(program: &Path) {
    let output = Command::new(program).output_when_free();
    assert_eq!(stdout(&output), "42\n", "{program:?}: {}", stderr(&output));
}

#[test]
fn launched_looked_at_and_kept() {
    let Some(bench) = Bench::new() else { return };
    let program = bench.program.as_os_str();
    for verb in [&["inspect"][..], &["identify"], &["simulate"], &["measure", "-r", "3"]] {
        bench.works(verb, &[program]);
        let words = [&verb[..1], &["--json"], &verb[1..]].concat();
        let json = bench.works(&words, &[program]);
        assert!(!json.is_null(), "{verb:?}");
    }
    let explained = bench.works(&["explain", "-r", "1", "--json"], &[program]);
    // Its image was found by its path.
    let modules = explained["modules"].as_array().unwrap();
    let own = modules.iter().find(|one| one["path"].as_str().unwrap().contains("/p"));
    let facts = &own.unwrap_or_else(|| panic!("{explained:#}"))["facts"];
    assert!(facts["relative_relocations"].as_u64().unwrap() >= 8, "{facts}");
    let (run, again) = (bench.path("run"), bench.path("exported").join("x.json"));
    fs::create_dir(bench.path("exported")).unwrap();
    let save = saving(&bench);
    bench.works(&["compare", "-r", "3", &save], &[run.as_os_str(), program, OsStr::new("true")]);
    let export = [OsStr::new("-r"), OsStr::new("4"), OsStr::new("--export"), again.as_os_str()];
    bench.works(&["compare", "--resume"], &[&[run.as_os_str()][..], &export].concat());
    let exported: Value = serde_json::from_str(&fs::read_to_string(again).unwrap()).unwrap();
    assert_eq!(exported["variants"].as_array().unwrap().len(), 2, "{exported:#}");
}

/// The option that keeps a run, by its present name.
fn saving(bench: &Bench) -> String {
    let help = stdout(&bench.run(&[OsStr::new("compare"), OsStr::new("--help")]));
    if help.contains("--save") { "--save" } else { "--run" }.to_owned()
}

#[test]
fn bundled_verified_and_bundled_again() {
    let Some(bench) = Bench::new() else { return };
    let (out, program) = (bench.path("bundle"), bench.program.as_os_str());
    bench.works(&["bundle", "--fixed", "--out"], &[out.as_os_str(), program]);
    prints_42(&out.join("run"));
    let verified = bench.works(&["verify", "--json"], &[out.as_os_str()]);
    assert_eq!(verified["current"], true, "{verified:#}");
    bench.works(&["rerandomize"], &[out.as_os_str()]);
    prints_42(&out.join("run"));
    // The library is left outside by a path with such bytes, and found again.
    let (other, library) = (bench.path("other"), bench.own.join("libl.so"));
    let words = [other.as_os_str(), OsStr::new("--outside"), library.as_os_str(), program];
    bench.works(&["bundle", "--out"], &words);
    prints_42(&other.join("run"));
    let verified = bench.works(&["verify", "--json"], &[other.as_os_str()]);
    assert_eq!(verified["current"], true, "{verified:#}");
}

#[test]
fn rewritten_and_taken_back() {
    let Some(bench) = Bench::new() else { return };
    let before = fs::read(&bench.program).unwrap();
    for verb in ["relr", "no-pie", "selfbind"] {
        let out = bench.path(verb);
        let words = [out.as_os_str(), bench.program.as_os_str()];
        let json = bench.works(&["elf", verb, "--json", "--out"], &words);
        assert_eq!(json["schema"], 1, "{verb}: {json}");
        let run = if verb == "selfbind" { out.join("run") } else { out };
        // $ORIGIN of another folder is another one.
        let library_path =
            |command: &mut Command| command.env("LD_LIBRARY_PATH", &bench.own).output_when_free();
        let output = match verb {
            "selfbind" => Command::new(&run).output_when_free(),
            _ => library_path(&mut Command::new(&run)),
        };
        assert_eq!(stdout(&output), "42\n", "{verb}: {}", stderr(&output));
    }
    for words in [&["elf", "relr", "--in-place"][..], &["elf", "relr", "--undo", "--json"]] {
        bench.works(words, &[bench.program.as_os_str()]);
        prints_42(&bench.program);
    }
    assert_eq!(fs::read(&bench.program).unwrap(), before);
}

#[test]
fn optimized_and_left_in_a_folder() {
    let Some(bench) = Bench::new() else { return };
    let out = bench.path("optimized");
    let words = [out.as_os_str(), bench.program.as_os_str()];
    bench.works(&["optimize", "--runs", "5", "--only", "bundle", "--out"], &words);
    prints_42(&out.join("run"));
}

#[test]
fn windows_files() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.path("pe");
    let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "2", "--json", "--out"];
    bench.works(&generate, &[folder.as_os_str()]);
    let files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).filter(|path| is_pe(path)).collect();
    assert!(files.len() > 1, "{files:?}");
    let names: Vec<&OsStr> = files.iter().map(|file| file.as_os_str()).collect();
    for (index, verb) in ["hints", "bind", "rebase", "realign"].into_iter().enumerate() {
        for mode in ["--dry-run", "--out"] {
            let out = bench.path(&format!("pe-{index}"));
            let mode = [OsStr::new(mode), out.as_os_str()];
            let mode = if mode[0] == "--out" { &mode[..] } else { &mode[..1] };
            let output =
                bench.run(&[&["pe", verb, "--json"].map(OsStr::new)[..], mode, &names].concat());
            // What has nothing to do says so, with 1; a name is no reason to fail.
            let code = output.status.code().unwrap();
            assert!(code <= 1, "{verb}: {code} {}", stderr(&output));
        }
    }
    bench.works(&["pe", "survey", "--json"], &names);
}

fn is_pe(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "dll" || extension == "exe")
}
