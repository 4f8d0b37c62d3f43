//! The folder that a result is left in: all of it, or nothing called run.
#![allow(clippy::unwrap_used)]

mod bench;

use bench::{Bench, copy, terms};
use model::optimization::Manifest;
use optimize::{Baseline, BindingProof, Built, Launches, OptimizeError, ResultFolder, Verifier};
use os::launcher::Launcher;
use std::fs;
use std::path::Path;
use std::process::Command;

fn manifest(variant: &str, baseline: &Baseline) -> Manifest {
    Manifest {
        schema: 1,
        headstart: String::new(),
        variant: variant.to_owned(),
        starts: String::new(),
        command: String::new(),
        original: optimize::keep::original(baseline),
        figures: Vec::new(),
        replaced: Vec::new(),
        parts: Vec::new(),
        notes: Vec::new(),
        undo: String::new(),
        kept: Default::default(),
    }
}

/// Builds a variant in `folder` and leaves it there.
fn left(bench: &'static Bench, folder: &Path, build: bench::Build) -> Result<Built, OptimizeError> {
    let terms = terms();
    let mut place = ResultFolder::claim(folder)?;
    let mut launches = Launches::new(Launcher::start()?, None)?;
    let baseline = Baseline::new(bench.command("program"), &terms, &mut launches)?;
    let mut verifier = Verifier::new(&baseline, &terms, &mut launches);
    let made = bench.made("copy", build);
    let built = place.build(&baseline, &mut verifier, made, &mut |_| ())?;
    place.keep(&manifest("copy", &baseline))?;
    Ok(built)
}

fn output(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_best_is_left_and_can_be_started() {
    let Some(bench) = Bench::new() else { return };
    let out = bench.path("new/below");
    let before = fs::read(bench.path("program")).unwrap();
    left(bench, &out, copy).unwrap();
    assert_eq!(fs::read_link(out.join("run")).unwrap(), Path::new("files/run"));
    assert_eq!(output(&out.join("run")), "1 2\n");
    let text = fs::read_to_string(out.join("headstart.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest.original.file, bench.path("program").display().to_string());
    assert_eq!(manifest.original.bytes, before.len() as u64);
    assert_eq!(fs::read(bench.path("program")).unwrap(), before);
    let said = left(bench, &out, copy).err().unwrap().to_string();
    assert!(said.contains("is not empty"), "{said}");
    assert_eq!(output(&out.join("run")), "1 2\n", "what was there stays");
}

/// Says whether a library is beside the name that it is called by, and its arguments.
const BESIDE: &str = "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n\
    int main(int argc, char **argv) { char path[4096]; strcpy(path, argv[0]);\n\
    strcpy(strrchr(path, '/'), \"/libone.so\"); puts(access(path, F_OK) ? \"lost\" : \"found\");\n\
    for (int i = 1; i < argc; i++) puts(argv[i]); return 0; }";

#[test]
fn without_a_better_one_the_original_is_started_by_its_own_name() {
    let Some(bench) = Bench::new() else { return };
    let (name, out) = ("it's beside", bench.path("scripted"));
    bench.program(&bench.path(""), name, BESIDE, &["libone.so"]);
    let terms = terms();
    let mut launches = Launches::new(Launcher::start().unwrap(), None).unwrap();
    let baseline = Baseline::new(bench.command(name), &terms, &mut launches).unwrap();
    let mut place = ResultFolder::claim(&out).unwrap();
    place.start_original(&baseline);
    place.keep(&manifest("default", &baseline)).unwrap();
    let output = Command::new(out.join("run")).args(["a b", "$HOME"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "found\na b\n$HOME\n");
    let text = fs::read_to_string(out.join("run")).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    let mut left: Vec<_> = fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["headstart.json", "run"]);
}

#[test]
fn what_has_come_into_the_folder_meanwhile_stays() {
    let Some(bench) = Bench::new() else { return };
    let terms = terms();
    let mut launches = Launches::new(Launcher::start().unwrap(), None).unwrap();
    let baseline = Baseline::new(bench.command("program"), &terms, &mut launches).unwrap();
    for name in ["run", "headstart.json"] {
        for scripted in [false, true] {
            let out = bench.path(&format!("meanwhile-{name}-{scripted}"));
            let mut verifier = Verifier::new(&baseline, &terms, &mut launches);
            let mut place = ResultFolder::claim(&out).unwrap();
            match scripted {
                true => place.start_original(&baseline),
                false => {
                    let made = bench.made("copy", copy);
                    drop(place.build(&baseline, &mut verifier, made, &mut |_| ()).unwrap());
                }
            }
            fs::write(out.join(name), "mine").unwrap();
            let said = place.keep(&manifest("copy", &baseline)).unwrap_err().to_string();
            assert!(said.contains("exists"), "{said}");
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
            let left: Vec<_> =
                fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(left, [name], "{scripted}");
        }
    }
}

/// Right only where it is called `run`, as what is left will be.
const CALLED_RUN: &str = "#include <stdio.h>\n#include <string.h>\n\
    int main(int argc, char **argv) { puts(strcmp(strrchr(argv[0], '/'), \"/run\") ? \
    \"1 2 3\" : \"1 2\"); return 0; }";

#[test]
fn what_is_left_is_tried_by_the_name_that_it_gets() {
    let Some(bench) = Bench::new() else { return };
    let build: bench::Build = |bench, _, folder| {
        let run = bench.cc(folder, "run", CALLED_RUN, &[]);
        Ok(Built { run, bindings: BindingProof::ByBuilder, ..Built::default() })
    };
    let out = bench.path("by-name");
    left(bench, &out, build).unwrap();
    assert_eq!(output(&out.join("run")), "1 2\n");
}

#[test]
fn nothing_is_left_of_a_failure() {
    let Some(bench) = Bench::new() else { return };
    let wrong: bench::Build = |bench, _, folder| {
        let source = "int main(void) { return 1; }";
        Ok(Built { run: bench.cc(folder, "run", source, &[]), ..Built::default() })
    };
    let said = left(bench, &bench.path("gone/with/it"), wrong).err().unwrap().to_string();
    assert!(
        said.contains("could not be verified again in") && said.contains("gone/with/it"),
        "{said}"
    );
    assert!(!bench.path("gone").exists());
    // A folder that was there stays, and is empty.
    fs::create_dir(bench.path("there")).unwrap();
    left(bench, &bench.path("there"), wrong).err().unwrap();
    assert_eq!(fs::read_dir(bench.path("there")).unwrap().count(), 0);
    // Files of others are not touched.
    fs::create_dir(bench.path("other")).unwrap();
    fs::write(bench.path("other/files"), "mine").unwrap();
    let said = left(bench, &bench.path("other"), copy).err().unwrap().to_string();
    assert!(said.contains("is not empty"), "{said}");
    assert_eq!(fs::read_to_string(bench.path("other/files")).unwrap(), "mine");
    fs::write(bench.path("file"), "mine").unwrap();
    let said = left(bench, &bench.path("file"), copy).err().unwrap().to_string();
    assert!(
        said.contains("use a new or an empty folder") && bench.path("file").is_file(),
        "{said}"
    );
}

/// Two at work in one folder: the one that is later fails, and takes nothing away.
#[test]
fn what_another_has_left_meanwhile_stays() {
    let Some(bench) = Bench::new() else { return };
    let out = bench.path("shared");
    let late = ResultFolder::claim(&out).unwrap();
    let early = left(bench, &out, copy);
    assert!(early.is_ok());
    let terms = terms();
    let mut launches = Launches::new(Launcher::start().unwrap(), None).unwrap();
    let baseline = Baseline::new(bench.command("program"), &terms, &mut launches).unwrap();
    let mut late = late;
    late.start_original(&baseline);
    let said = late.keep(&manifest("default", &baseline)).err().unwrap().to_string();
    assert!(said.contains("a file of another process exists in it now"), "{said}");
    assert_eq!(output(&out.join("run")), "1 2\n");
    assert!(out.join("files/run").is_file());
}
