//! New bases of bundles at fixed addresses.

use crate::common::{stderr, stdout};
use crate::killed::{self, Moment};
use crate::stage::{FIXED, OUT, Stage, names, outcome, run};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use testkit::WhenFree;

/// Where the program and a library are, after the line that tells what they are.
fn addresses(stage: &Stage) -> (String, String) {
    let text = stdout(&stage.start("made/fixed/run").arg("where").output_when_free());
    let (first, second) = text.split_once('\n').unwrap();
    assert_eq!(first, "program v1: one-v1 two-v1/three-v1 three-v1");
    let (program, library) = second.trim().split_once(' ').unwrap();
    (program.to_owned(), library.to_owned())
}

#[test]
fn five_times_in_a_row() {
    let Some(stage) = Stage::bundled() else { return };
    let original = outcome(&stage.start("program").output_when_free());
    let mut seen = BTreeSet::from([addresses(&stage)]);
    assert_eq!(addresses(&stage), addresses(&stage));
    for round in 1..=5 {
        let done = run(&["rerandomize", &stage.text(FIXED)]);
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(stdout(&done).contains("addresses changed"), "{}", stdout(&done));
        assert_eq!(outcome(&stage.start("made/fixed/run").output_when_free()), original);
        assert!(stage.runs_merged(FIXED));
        assert!(seen.insert(addresses(&stage)), "{round}: {seen:?}");
    }
    let current = run(&["verify", &stage.text(FIXED)]);
    assert!(current.status.success(), "{}", stdout(&current));
    assert_eq!(names(&stage.path(FIXED)), [".spare", "headstart.json", "run", "symbols.gdb"]);
}

#[test]
fn a_process_goes_on_at_its_addresses() {
    let Some(stage) = Stage::bundled() else { return };
    let mut command = stage.start("made/fixed/run");
    command.arg("sleep").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let (_, library) = addresses(&stage);
    for _ in 0..2 {
        assert!(run(&["rerandomize", &stage.text(FIXED)]).status.success());
        assert_ne!(addresses(&stage).1, library);
    }
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), format!("{library} one-v1 merged"));
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

/// What was the bundle becomes the next spare, unless somebody would see that change.
#[test]
fn who_has_the_former_bundle_keeps_it_as_it_was() {
    let Some(stage) = Stage::bundled() else { return };
    let rerandomize = || assert!(run(&["rerandomize", &stage.text(FIXED)]).status.success());
    let (bundle, link) = (stage.path("made/fixed/run"), stage.path("backup"));
    let read = || fs::read(&bundle).unwrap();
    let linked = read();
    fs::hard_link(&bundle, &link).unwrap();
    rerandomize();
    // As a debugger has it, or a copy under way.
    let opened = read();
    let mut reader = fs::File::open(&bundle).unwrap();
    rerandomize();
    assert!(fs::read(&link).unwrap() == linked, "a hard link of the user's has changed");
    rerandomize();
    let mut still = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut still).unwrap();
    assert!(still == opened, "a file that is open has changed");
    assert!(stage.runs_merged(FIXED));
    assert!(run(&["verify", &stage.text(FIXED)]).status.success());
}

/// Puts a copy of `library` in its place, changed by `change`.
fn renew(stage: &Stage, library: &str, change: &dyn Fn(&mut [u8])) {
    let mut bytes = fs::read(stage.path(library)).unwrap();
    change(&mut bytes);
    fs::write(stage.path("copy"), bytes).unwrap();
    fs::rename(stage.path("copy"), stage.path(library)).unwrap();
}

/// Another word of the same length; everything else, the build-id too, stays.
fn another_word(bytes: &mut [u8]) {
    let at = bytes.windows(6).position(|word| word == b"two-v1").unwrap();
    bytes[at..at + 6].copy_from_slice(b"two-xx");
}

#[test]
fn the_spare_of_a_former_bundle_is_not_used() {
    let Some(stage) = Stage::bundled() else { return };
    let rerandomize = || assert!(run(&["rerandomize", &stage.text(FIXED)]).status.success());
    let starts = || stdout(&stage.start("made/fixed/run").output_when_free());
    rerandomize();
    // The preamble takes the same content in another file for a change.
    renew(&stage, "second/libtwo.so.1", &|_| {});
    assert!(!stage.runs_merged(FIXED));
    stage.bundle_one(FIXED);
    assert_eq!(names(&stage.path(FIXED)), ["headstart.json", "run", "symbols.gdb"]);
    rerandomize();
    assert!(stage.runs_merged(FIXED));
    renew(&stage, "second/libtwo.so.1", &another_word);
    stage.bundle_one(FIXED);
    for _ in 0..2 {
        rerandomize();
        assert!(stage.runs_merged(FIXED));
        assert_eq!(starts(), "program v1: one-v1 two-xx/three-v1 three-v1\n");
    }
    stage.bundle_one(FIXED);
    rerandomize();
    // One that moves needs none either.
    let (out, program) = (stage.text(FIXED), stage.text("program"));
    assert!(run(&["bundle", "--out", &out, &program]).status.success());
    assert_eq!(names(&stage.path(FIXED)), ["headstart.json", "run", "symbols.gdb"]);
}

#[test]
fn a_spare_of_other_content_is_not_used() {
    let Some(stage) = Stage::bundled() else { return };
    let rerandomize = || assert!(run(&["rerandomize", &stage.text(FIXED)]).status.success());
    rerandomize();
    fs::rename(stage.path("made/fixed/.spare"), stage.path("former")).unwrap();
    renew(&stage, "second/libtwo.so.1", &another_word);
    stage.bundle_one(FIXED);
    let size = |name: &str| fs::metadata(stage.path(name)).unwrap().len();
    assert_eq!(size("former"), size("made/fixed/run"));
    let spare = stage.path("made/fixed/.spare");
    fs::rename(stage.path("former"), &spare).unwrap();
    let before = fs::read(&spare).unwrap();
    let out = stage.text(FIXED);
    let program = stage.text("program");
    // It may be somebody's file by now.
    for words in [&["rerandomize", &out][..], &["bundle", "--fixed", "--out", &out, &program]] {
        let told = run(words);
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
        assert!(stderr(&told).contains(".spare"), "{}", stderr(&told));
        assert!(fs::read(&spare).unwrap() == before, "{words:?}");
    }
    fs::remove_file(&spare).unwrap();
    rerandomize();
    assert!(stage.runs_merged(FIXED));
    // Nor is one replaced beside a bundle that has none.
    fs::remove_file(&spare).unwrap();
    stage.bundle_one(FIXED);
    fs::write(&spare, "mine").unwrap();
    assert_eq!(run(&["rerandomize", &out]).status.code(), Some(6));
    assert_eq!(fs::read(&spare).unwrap(), b"mine");
}

#[test]
fn a_bundle_that_moves_anyway_is_refused() {
    let Some(stage) = Stage::bundled() else { return };
    let before = fs::read(stage.path("made/out/run")).unwrap();
    let output = run(&["rerandomize", &stage.text(OUT)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("keeps address-space layout randomization"));
    assert_eq!(fs::read(stage.path("made/out/run")).unwrap(), before);
    assert_eq!(names(&stage.path(OUT)), ["headstart.json", "run", "symbols.gdb"]);
}

/// Its own addresses stay; those of its libraries change.
#[test]
fn around_a_program_that_is_fixed_itself() {
    let Some(stage) = Stage::bare() else { return };
    let cc = testkit::tool("cc").unwrap();
    let source = fs::read_to_string(stage.path("program.c")).unwrap();
    let search = "-Wl,-rpath,$ORIGIN/first:$ORIGIN/second:$ORIGIN/third";
    let libraries = ["second/libone.so.1.0", "second/libtwo.so.1", "third/libthree.so.1"];
    let flags = ["-no-pie", "-fno-pie", "-O1", "-DVERSION=\"v1\"", search];
    let flags = [&flags[..2], &libraries[..], &flags[2..]].concat();
    testkit::compile(&cc, stage.folder.path(), "program", &source, &flags);
    let (program, out) = (stage.text("program"), stage.text(OUT));
    let refused = run(&["bundle", "--out", &out, &program]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("with --fixed its libraries"), "{}", stderr(&refused));
    stage.bundle_one(FIXED);
    let mut seen = BTreeSet::new();
    for _ in 0..4 {
        assert!(stage.runs_merged(FIXED));
        seen.insert(addresses(&stage));
        let done = run(&["rerandomize", &stage.text(FIXED)]);
        assert!(stdout(&done).contains("made again around its program"), "{}", stderr(&done));
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(seen.iter().map(|(program, _)| program).collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn killed_at_any_moment_there_is_a_bundle() {
    let Some(stage) = Stage::bundled() else { return };
    let out = stage.text(FIXED);
    // Once without a spare, and ever after with one.
    killed::at_every_call(&["rerandomize", &out], &|moment: &Moment<'_>| {
        addresses(&stage);
        assert!(stage.runs_merged(FIXED), "{moment:?}");
        let verified = run(&["verify", &out]);
        assert!(verified.status.success(), "{moment:?}: {}", stdout(&verified));
        if moment.last {
            assert!(run(&["rerandomize", &out]).status.success(), "{moment:?}");
            assert!(stage.runs_merged(FIXED), "{moment:?}");
            assert_eq!(
                names(&stage.path(FIXED)),
                [".spare", "headstart.json", "run", "symbols.gdb"]
            );
            fs::remove_file(stage.path("made/fixed/.spare")).unwrap();
        }
    });
}
