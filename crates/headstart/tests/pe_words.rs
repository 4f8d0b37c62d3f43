//! What the verbs of PE files say, on inputs of every kind: no sentence is false, and what is advised
//! works on the input that it is advised for.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use workload::{Bases, By, Format, Hints, PeOptions, Pietrek, pe};

/// A set of files in a folder of its own.
struct Input {
    name: &'static str,
    files: Vec<String>,
    /// How many of them are refused without further options.
    signed: usize,
}

const VERBS: [&[&str]; 7] = [
    &["pe", "rebase", "--base", "0x30000000"],
    &["pe", "bind"],
    &["pe", "unbind"],
    &["pe", "hints"],
    &["pe", "ordinal"],
    &["pe", "realign"],
    &["pe", "flags", "--set", "no-bind"],
];

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A program with three DLLs, with zero hints, at one base, with sections between pages.
fn set(folder: &Path) -> Vec<String> {
    fs::create_dir_all(folder).unwrap();
    let options = PeOptions { hints: Hints::Zero, bases: Bases::Default, ..PeOptions::default() };
    let sizes = Pietrek { dlls: 3, functions: 10, globals: 2, by: By::Name, ..Pietrek::default() };
    let asked = Pietrek { format: Format::Pe, pe: options, ..sizes };
    let write = |index| {
        let (name, bytes) = pe::pietrek::file(&asked, index).unwrap();
        fs::write(folder.join(&name), bytes).unwrap();
        text(&folder.join(name))
    };
    (0..=3).map(write).collect()
}

/// Puts something into a file that says that it is a signature.
fn sign(file: &str) {
    let mut bytes = fs::read(file).unwrap();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let nt = u32::from_le_bytes(bytes[60..64].try_into().unwrap()) as usize;
    let entry = nt + 24 + 112 + 4 * 8;
    let length = bytes.len() as u32;
    bytes[entry..entry + 4].copy_from_slice(&length.to_le_bytes());
    bytes[entry + 4..entry + 8].copy_from_slice(&64_u32.to_le_bytes());
    // Length, revision 2.0, PKCS #7.
    bytes.extend([64, 0, 0, 0, 0, 2, 2, 0]);
    bytes.extend([7; 56]);
    fs::write(file, bytes).unwrap();
}

fn testfile(name: &str, folder: &Path) -> String {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe").join(name);
    fs::create_dir_all(folder).unwrap();
    fs::copy(from, folder.join(name)).unwrap();
    text(&folder.join(name))
}

fn inputs(folder: &Path) -> Vec<Input> {
    let all = |name, signed: &[usize]| {
        let files = set(&folder.join(name));
        signed.iter().for_each(|&index| sign(&files[index]));
        Input { name, files, signed: signed.len() }
    };
    let one = |name, file: &str, signed| Input {
        name,
        files: vec![testfile(file, &folder.join(name))],
        signed,
    };
    let machines = ["x86_64.dll", "i686.dll", "arm64.dll", "mingw.dll"];
    vec![
        all("plain", &[]),
        all("all-signed", &[0, 1, 2, 3]),
        all("some-signed", &[0, 2]),
        one("one-file", "x86_64.dll", 0),
        one("strong-named", "strong-name.dll", 1),
        one("delay-signed", "delay-signed.dll", 0),
        Input {
            name: "machines",
            files: machines.map(|name| testfile(name, &folder.join("machines"))).into(),
            signed: 0,
        },
    ]
}

fn with<'a>(words: &[&'a str], files: &'a [String]) -> Vec<&'a str> {
    words.iter().copied().chain(files.iter().map(String::as_str)).collect()
}

/// Without line breaks, and both streams.
fn said(output: &Output) -> String {
    let all = format!("{} {}", String::from_utf8_lossy(&output.stdout), stderr(output));
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(name).filter(|name| name != "headstart-ordinals.json").count()
}

#[test]
fn what_is_said_of_written_files_is_so() {
    let folder = tempfile::tempdir().unwrap();
    for input in inputs(folder.path()) {
        for verb in VERBS {
            let out = folder.path().join("out").join(input.name).join(verb[1]);
            let done = run(&with(&[verb, &["--out", &text(&out)]].concat(), &input.files));
            let (said, case) = (said(&done), format!("{} of {}", verb[1], input.name));
            let good = done.status.success();
            assert!(matches!(done.status.code(), Some(0 | 1)), "{case}: {said}");
            let all = input.files.len();
            let written = match said.split("Written to ").nth(1) {
                None => 0,
                Some(rest) => {
                    let of = format!(" of {all} file");
                    let part = rest.find(&of).map(|end| rest[..end].rsplit(' ').next().unwrap());
                    part.map_or(all, |part| part.parse().unwrap())
                }
            };
            assert_eq!(count(&out), written, "{case}: {said}");
            assert_eq!(out.exists(), written > 0, "{case}: {said}");
            assert!(written > 0 || !good, "{case}: {said}");
            assert!(!said.contains("Nothing has to move") || good, "{case}: {said}");
            let claims =
                ["moved to", " now", "are bound:", "is bound:", "are correct", "looked up again"];
            assert!(written > 0 || !claims.iter().any(|claim| said.contains(claim)), "{said}");
        }
    }
}

#[test]
fn a_dry_run_says_what_would_be_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    for input in inputs(folder.path()) {
        for verb in VERBS {
            let dry = run(&with(&[verb, &["--dry-run"]].concat(), &input.files));
            let (said, case) = (said(&dry), format!("{} of {}", verb[1], input.name));
            for claim in [" now", " was ", " were ", "moved to", "Written", "Replaced"] {
                let told = said.replace("Nothing was written: this was a dry run.", "");
                let told = told.replace("Nothing was written", "");
                // What would be lost is told as it would be told afterwards.
                let told = told.replace("signature was removed", "");
                let told = told.replace("strong name was cleared", "");
                assert!(!told.contains(claim), "{case}: '{claim}' in: {said}");
            }
            if dry.status.success() && verb[1] != "rebase" {
                assert!(
                    said.contains("Nothing was written: this was a dry run."),
                    "{case}: {said}"
                );
            }
        }
    }
}

/// `--strip-signature` is named where it helps, and helps where it is named.
#[test]
fn what_is_advised_for_signed_files_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut advised = 0;
    for input in inputs(folder.path()) {
        for verb in VERBS {
            let refused = said(&run(&with(&[verb, &["--dry-run"]].concat(), &input.files)));
            let case = format!("{} of {}: {refused}", verb[1], input.name);
            if input.signed == 0 {
                assert!(!refused.contains("signature"), "{case}");
            }
            if refused.contains("--strip-signature") {
                let words = [verb, &["--dry-run", "--strip-signature"]].concat();
                let again = run(&with(&words, &input.files));
                assert!(again.status.success(), "{case}: {}", said(&again));
                assert!(!said(&again).contains("refused"), "{case}: {}", said(&again));
                advised += 1;
            }
        }
    }
    assert!(advised >= 12, "{advised}");
    // A signature that cannot be removed, and an image that cannot be moved.
    let followed = testfile("x86_64.dll", &folder.path().join("followed"));
    sign(&followed);
    let bytes = [fs::read(&followed).unwrap(), vec![1; 64]].concat();
    fs::write(&followed, bytes).unwrap();
    for verb in
        VERBS.iter().filter(|verb| !matches!(verb[1], "unbind" | "hints" | "bind" | "ordinal"))
    {
        let said = said(&run(&with(
            &[verb, &["--dry-run"][..]].concat(),
            std::slice::from_ref(&followed),
        )));
        assert!(said.contains("cannot be removed safely"), "{said}");
        assert!(!said.contains("--strip-signature"), "{said}");
    }
}

/// Windows loads it only with a valid signature, so that removing it would not help.
#[test]
fn a_signature_that_windows_enforces_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let files = [testfile("strong-name.dll", &folder.path().join("in"))];
    let mut bytes = fs::read(&files[0]).unwrap();
    let nt = u32::from_le_bytes(bytes[60..64].try_into().unwrap()) as usize;
    // DllCharacteristics: FORCE_INTEGRITY.
    bytes[nt + 24 + 70] |= 0x80;
    fs::write(&files[0], &bytes).unwrap();
    let mut refused = 0;
    for verb in VERBS {
        for strip in [&[][..], &["--strip-signature"]] {
            let out = folder.path().join(format!("{}-{}", verb[1], strip.len()));
            let done = run(&with(&[verb, &["--out", &text(&out)], strip].concat(), &files));
            let said = said(&done);
            if done.status.success() {
                assert!(
                    fs::read(out.join("strong-name.dll")).unwrap() == bytes,
                    "{verb:?}: {said}"
                );
                continue;
            }
            refused += 1;
            assert_eq!(done.status.code(), Some(1), "{verb:?}: {said}");
            assert!(!said.contains("--strip-signature") && !out.exists(), "{verb:?}: {said}");
            if !matches!(verb[1], "bind" | "rebase") {
                assert!(said.contains("FORCE_INTEGRITY"), "{verb:?}: {said}");
            }
        }
    }
    assert!(refused >= 6, "{refused}");
}

/// How many images are refused, and why, is said once.
#[test]
fn refused_sets_are_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in")).split_off(1);
    files.iter().for_each(|file| sign(file));
    let out = text(&folder.path().join("out"));
    let rebase = ["pe", "rebase", "--base", "0x30000000", "--out", &out];
    let refused = run(&with(&rebase, &files));
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("Nothing is moved: all 3 are refused."), "{said}");
    assert!(said.contains("and 2 more: not rewritten: it is signed"), "{said}");
    assert!(said.ends_with("Nothing was written"), "{said}");
    for verb in &VERBS[5..] {
        let refused = self::said(&run(&with(&[verb, &["--out", &out][..]].concat(), &files)));
        assert!(
            refused.contains("Nothing was written; 2 other files are refused too"),
            "{refused}"
        );
    }
}

#[test]
fn what_is_done_already_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let again = |verb: &[&str], expected: &str| {
        let to = folder.path().join(verb[1]);
        let done = run(&with(&[verb, &["--out", &text(&to)]].concat(), &files));
        assert!(done.status.success(), "{}", said(&done));
        let name = |file: &String| text(&to.join(Path::new(file).file_name().unwrap()));
        let files: Vec<String> = files.iter().map(name).collect();
        let twice = run(&with(&[verb, &["--in-place"]].concat(), &files));
        let said = said(&twice);
        assert!(said.contains(expected), "{verb:?}: {said}");
        assert!(said.ends_with("Nothing was changed"), "{verb:?}: {said}");
    };
    again(&["pe", "rebase", "--base", "0x30000000"], "Nothing has to move.");
    again(&["pe", "hints"], "all 30 hints that could be checked are correct.");
    again(&["pe", "unbind"], "4 files: nothing to undo, no import is bound.");
    again(&["pe", "realign"], "unchanged.");
    again(&["pe", "flags", "--set", "no-bind"], "unchanged");
}

#[test]
fn nothing_to_do_is_no_wrong_advice() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    // A DLL without imports, and a program with none of its DLLs but those of Windows.
    let said = said(&run(&["pe", "hints", "--dry-run", &files[1]]));
    assert!(said.contains("1 file: nothing is imported by name."), "{said}");
    let one = testfile("x86_64-guarded.exe", &folder.path().join("one"));
    let said = self::said(&run(&["pe", "ordinal", "--dry-run", &one]));
    assert!(said.contains("1 file: nothing to convert: no import by name leads to"), "{said}");
    for wrong in [vec![], vec!["/etc/passwd".to_owned()], vec![text(folder.path())]] {
        for verb in VERBS {
            let out = text(&folder.path().join("none"));
            let done = run(&with(&[verb, &["--out", &out]].concat(), &wrong));
            assert!(
                matches!(done.status.code(), Some(1 | 2 | 6)),
                "{verb:?}: {}",
                self::said(&done)
            );
            assert!(done.stdout.is_empty() && !Path::new(&out).exists(), "{verb:?}");
        }
    }
}

/// Where the folder cannot be written to, that is said, and nothing else.
#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    for verb in VERBS {
        let out = format!("{}/below", files[0]);
        let done = run(&with(&[verb, &["--out", &out]].concat(), &files));
        assert!(!done.status.success() && done.stdout.is_empty(), "{verb:?}");
        assert!(stderr(&done).contains("LoadTimeTest.exe/below"), "{verb:?}: {}", stderr(&done));
    }
}

/// Every command that the survey advises does what it is advised for.
#[test]
fn what_the_survey_advises_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for input in inputs(folder.path()) {
        let before = json(&with(&["pe", "survey", "--json"], &input.files));
        for finding in before["findings"].as_array().unwrap() {
            let (id, remedy) =
                (finding["id"].as_str().unwrap(), finding["remedy"].as_str().unwrap());
            let Some(start) = remedy.find("headstart pe ") else { continue };
            let words = remedy[start..].split(" --out DIR").next().unwrap();
            let mut words: Vec<&str> = words.split(' ').skip(1).collect();
            let strips = remedy.contains("--strip-signature");
            words.extend(strips.then_some("--strip-signature"));
            let out = folder.path().join("cured").join(input.name).join(id);
            let to = text(&out);
            words.extend(["--out", &to]);
            let done = run(&with(&words, &input.files));
            let case = format!("{id} of {}: {remedy}: {}", input.name, said(&done));
            // One of several at a place may stay there.
            assert!(done.status.success() || id == "collisions", "{case}");
            for file in &input.files {
                let new = out.join(Path::new(file).file_name().unwrap());
                assert!(new.exists() || fs::copy(file, new).is_ok(), "{case}");
            }
            let cured: Vec<PathBuf> =
                fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
            let cured: Vec<String> = cured.iter().map(|path| text(path)).collect();
            let after = json(&with(&["pe", "survey", "--json"], &cured));
            let left = after["findings"].as_array().unwrap();
            let same = left.iter().find(|other| other["id"] == id);
            assert!(same.is_none(), "{case}: still {same:?}");
            ran += 1;
        }
    }
    assert!(ran >= 10, "{ran}");
}

/// What somebody appended stays where it is, but where the user says that it may move.
#[test]
fn appended_data_stays_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let length = fs::metadata(&files[0]).unwrap().len() as usize;
    let payload = b"an archive that the program looks for at a fixed place".repeat(9);
    let with_payload = [fs::read(&files[0]).unwrap(), payload.clone()].concat();
    fs::write(&files[0], with_payload).unwrap();
    let found = json(&["inspect", "--json", &files[0]]);
    assert_eq!(found[0]["overlay_bytes"], payload.len());
    assert!(stdout(&run(&["inspect", &files[0]])).contains("486 B appended to the image"));
    for verb in VERBS {
        let out = folder.path().join(verb[1]);
        let done = run(&with(&[verb, &["--out", &text(&out)]].concat(), &files));
        if verb[1] == "realign" {
            let said = said(&done);
            assert!(!done.status.success() && said.contains("--keep-overlay"), "{said}");
            continue;
        }
        assert!(done.status.success(), "{}", said(&done));
        let new = fs::read(out.join("LoadTimeTest.exe")).unwrap();
        assert!(new[length..] == payload, "{verb:?}");
    }
}
