//! `headstart pe hints`, `bind`, `unbind`, `ordinal` and `verify` of ordinals, as commands.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use workload::{Bases, By, Format, Hints, PeOptions, Pietrek, pe};

/// A program with three libraries whose hints are all zero.
fn set(folder: &Path) -> Vec<String> {
    let options = PeOptions {
        hints: Hints::Zero,
        file_alignment: 4096,
        bases: Bases::Chosen,
        ..PeOptions::default()
    };
    let sizes = Pietrek { dlls: 3, functions: 40, globals: 1, by: By::Name, ..Pietrek::default() };
    let asked = Pietrek { format: Format::Pe, pe: options, ..sizes };
    fs::create_dir_all(folder).unwrap();
    (0..=3)
        .map(|index| {
            let (name, bytes) = pe::pietrek::file(&asked, index).unwrap();
            fs::write(folder.join(&name), bytes).unwrap();
            text(&folder.join(name))
        })
        .collect()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn with<'a>(words: &[&'a str], files: &'a [String]) -> Vec<&'a str> {
    words.iter().copied().chain(files.iter().map(String::as_str)).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect()
}

/// Without line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn declined(output: &Output, code: i32, told: &str) {
    let said = stderr(output);
    assert!(said.contains(told), "{said}");
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn hints_are_repaired_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let out = text(&folder.path().join("out"));
    let dry = stdout(&run(&with(&["pe", "hints", "--dry-run"], &files)));
    assert!(dry.contains("117 of 120 hints") && dry.contains("this was a dry run"), "{dry}");
    assert!(dry.lines().all(|line| line.chars().count() <= 80), "{dry}");
    let found = json(&with(&["pe", "hints", "--json", "--out", &out], &files));
    let program = &found["files"][0];
    assert_eq!((&program["repaired"], &program["right_before"]), (&117.into(), &3.into()));
    assert_eq!(program["unknown"]["KERNEL32.dll"], 3);
    assert_eq!((&found["schema"], &program["changed"]), (&1.into(), &true.into()));
    assert_eq!(names(Path::new(&out)), names(&folder.path().join("in")), "a whole set");
    let again = run(&with(&["pe", "hints", "--out", &out], &files));
    declined(&again, 6, "exists already");
    let one = run(&["pe", "hints", "--dry-run", &files[0]]);
    assert!(stdout(&one).contains("117 of 120"), "libraries of its own folder are found");
    fs::rename(folder.path().join("in"), folder.path().join("elsewhere")).unwrap();
    let moved = text(&folder.path().join("LoadTimeTest.exe"));
    fs::copy(folder.path().join("elsewhere/LoadTimeTest.exe"), &moved).unwrap();
    assert!(
        stdout(&run(&["pe", "hints", "--dry-run", &moved])).contains("no hint could be checked")
    );
    let search = text(&folder.path().join("elsewhere"));
    let found = stdout(&run(&["pe", "hints", "--dry-run", "--search", &search, &moved]));
    assert!(found.contains("117 of 120"), "{found}");
}

#[test]
fn bound_and_unbound_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let [bound, back] = ["bound", "back"].map(|name| text(&folder.path().join(name)));
    let said = stdout(&run(&with(&["pe", "bind", "--out", &bound], &files)));
    let said = flat(&said);
    assert!(said.contains("1 of 4 files is bound: 120 of 123 imports"), "{said}");
    assert!(said.contains("not found, and not bound to: KERNEL32.dll"), "{said}");
    let all: Vec<String> =
        names(Path::new(&bound)).iter().map(|name| text(&Path::new(&bound).join(name))).collect();
    let found = json(&with(&["pe", "unbind", "--json", "--out", &back], &all));
    let imports: u64 =
        found["files"].as_array().unwrap().iter().map(|one| one["imports"].as_u64().unwrap()).sum();
    assert_eq!(imports, 120);
    assert!(contents(Path::new(&back)) == contents(&folder.path().join("in")));
    declined(&run(&["pe", "bind", "--dry-run", &files[1]]), 1, "it imports from no DLL");
    fs::remove_file(&files[1]).unwrap();
    let said = flat(&stdout(&run(&["pe", "bind", "--dry-run", &files[0]])));
    assert!(said.contains("bound to: KERNEL32.dll, LoadTimeDLL_1.dll"), "{said}");
    for file in &files[2..] {
        fs::remove_file(file).unwrap();
    }
    let none = run(&["pe", "bind", "--out", &text(&folder.path().join("none")), &files[0]]);
    declined(&none, 1, "cannot be bound to KERNEL32.dll: KERNEL32.dll cannot be found");
    assert!(!folder.path().join("none").exists());
}

#[test]
fn ordinals_are_kept_in_step() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let out = folder.path().join("out");
    let said = stdout(&run(&with(&["pe", "ordinal", "--out", &text(&out)], &files)));
    assert!(said.contains("120 imports are now by ordinal"), "{said}");
    let record = out.join("headstart-ordinals.json");
    assert!(record.is_file() && names(&out).len() == 5);
    let good = run(&["verify", &text(&out)]);
    assert_eq!((good.status.code(), stdout(&good).contains("120 imports")), (Some(0), true));
    assert_eq!(json(&["verify", "--json", &text(&out)])["functions"], 120);
    // Another library of that name: its functions are others'.
    let other = fs::read(out.join("LoadTimeDLL_1.dll")).unwrap();
    fs::write(out.join("LoadTimeDLL_2.dll"), other).unwrap();
    let bad = run(&["verify", &text(&out)]);
    assert_eq!(bad.status.code(), Some(1));
    let said = stdout(&bad);
    let sentence = "LoadTimeTest.exe imports LoadTimeDLL_2_func_1 as ordinal 1 of \
                    LoadTimeDLL_2.dll, and LoadTimeDLL_2_func_1 is no longer exported there";
    assert!(said.starts_with("stale") && flat(&said).contains(sentence), "{said}");
    fs::remove_file(out.join("LoadTimeDLL_2.dll")).unwrap();
    let bad = run(&["verify", &text(&out)]);
    assert!(bad.status.code() == Some(1) && stdout(&bad).contains("LoadTimeDLL_2.dll is missing"));
    fs::write(&record, "{").unwrap();
    declined(&run(&["verify", &text(&out)]), 6, "not a record of ordinals");
    declined(&run(&["verify", &text(&folder.path().join("in"))]), 6, "");
}

#[test]
fn in_place_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(folder.path());
    let before = contents(folder.path());
    for verb in ["hints", "bind", "ordinal"] {
        let said = stdout(&run(&with(&["pe", verb, "--in-place"], &files)));
        assert!(said.contains("(--undo restores it)"), "{said}");
        assert!(contents(folder.path()) != before);
        let record = folder.path().join("headstart-ordinals.json");
        assert_eq!(record.exists(), verb == "ordinal");
        // Only what changed has something to be restored.
        let undone = run(&with(&["pe", verb, "--undo"], &files));
        assert!(stdout(&undone).lines().count() == 1, "{}", stderr(&undone));
        assert!(contents(folder.path()) == before, "{verb}");
        declined(&run(&with(&["pe", verb, "--undo"], &files)), 6, "undo file");
    }
}

#[test]
fn what_is_wrong_with_the_input_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let twin = text(&folder.path().join("LoadTimeDLL_1.DLL"));
    fs::copy(&files[1], &twin).unwrap();
    let cut = text(&folder.path().join("cut.exe"));
    let bytes = fs::read(&files[0]).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let gone = text(&folder.path().join("gone.exe"));
    for verb in ["hints", "bind", "ordinal"] {
        let out = text(&folder.path().join("out").join(verb));
        let both = [files.as_slice(), std::slice::from_ref(&twin)].concat();
        declined(
            &run(&with(&["pe", verb, "--out", &out], &both)),
            1,
            "has the same name and machine",
        );
        declined(&run(&["pe", verb, "--out", &out, &gone]), 6, "gone.exe");
        declined(&run(&["pe", verb, "--out", &out, "/etc/passwd"]), 1, "not a PE file");
        declined(&run(&["pe", verb, "--out", &out, &cut]), 1, "its imports cannot be read");
        assert_eq!(run(&["pe", verb, &files[0]]).status.code(), Some(2), "nowhere to write to");
        assert!(!Path::new(&out).exists() || names(Path::new(&out)).is_empty(), "{verb}");
    }
    declined(&run(&["pe", "unbind", "--dry-run", &cut]), 1, "its imports cannot be read");
    let open = fs::OpenOptions::new().append(true).open(&files[0]).unwrap();
    declined(&run(&["pe", "hints", "--in-place", &files[0]]), 6, "open for writing");
    drop(open);
    let apart = [files[0].clone(), twin];
    declined(&run(&with(&["pe", "ordinal", "--in-place"], &apart)), 2, "several folders");
}

/// The program signed by osslsigncode, in a folder with its libraries.
fn signed(folder: &Path) -> Option<Vec<String>> {
    let (openssl, sign) = (testkit::tool("openssl")?, testkit::tool("osslsigncode")?);
    let mut files = set(folder);
    let at = |name: &str| text(&folder.join(name));
    let succeeds = |tool: &PathBuf, words: &[&str]| {
        let output = Command::new(tool).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    };
    let (key, certificate, out) = (at("key.pem"), at("cert.pem"), at("signed.exe"));
    let words =
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test", "-days", "2"];
    succeeds(&openssl, &[&words[..], &["-keyout", &key, "-out", &certificate]].concat());
    succeeds(
        &sign,
        &["sign", "-certs", &certificate, "-key", &key, "-in", &files[0], "-out", &out],
    );
    files[0] = out;
    Some(files)
}

#[test]
fn signed_files_stay_or_lose_their_signature() {
    let folder = tempfile::tempdir().unwrap();
    let Some(files) = signed(folder.path()) else { return };
    let out = text(&folder.path().join("out"));
    declined(&run(&with(&["pe", "hints", "--out", &out], &files)), 1, "--strip-signature");
    assert!(!Path::new(&out).exists(), "nothing was written");
    let found = json(&with(&["pe", "hints", "--json", "--strip-signature", "--out", &out], &files));
    assert_eq!(found["files"][0]["signature_removed"], true);
    // What stays the same keeps it.
    let mut alone = files.clone();
    fs::create_dir(folder.path().join("alone")).unwrap();
    alone.truncate(1);
    let signed = folder.path().join("alone/signed.exe");
    fs::copy(&files[0], &signed).unwrap();
    let kept = folder.path().join("kept");
    for verb in ["hints", "unbind"] {
        let done = run(&["pe", verb, "--out", &text(&kept.join(verb)), &text(&signed)]);
        assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
        let new = fs::read(kept.join(verb).join("signed.exe")).unwrap();
        assert!(new == fs::read(&signed).unwrap(), "{verb}");
    }
}

/// Killed before each of its system calls in turn that changes files, with one thread.
#[test]
fn converted_files_are_never_without_their_record() {
    let Some(strace) = testkit::tool("strace") else { return };
    let mut kills = 0;
    for call in ["write", "fsync", "linkat", "unlinkat", "renameat2"] {
        for time in 1.. {
            let folder = tempfile::tempdir().unwrap();
            let files = set(folder.path());
            let before = contents(folder.path());
            // What an earlier run left that was killed.
            for (name, bytes) in &before {
                fs::write(folder.path().join(format!(".{name}.headstart-new")), bytes).unwrap();
            }
            let mut command = Command::new(&strace);
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
            command.args(["-e", &format!("inject={call}:signal=SIGKILL:when={time}")]);
            command
                .arg(env!("CARGO_BIN_EXE_headstart"))
                .args(with(&["pe", "ordinal", "--in-place"], &files));
            let status = command.env("RAYON_NUM_THREADS", "1").output().unwrap().status;
            let moment = format!("{call} {time}");
            let same = |(name, bytes): &(String, Vec<u8>)| {
                fs::read(folder.path().join(name)).unwrap() == *bytes
            };
            let record = folder.path().join("headstart-ordinals.json").exists();
            assert!(record || before.iter().all(same), "{moment}: ordinals without a record");
            if status.success() {
                assert!(record && !before.iter().all(same));
                break;
            }
            kills += 1;
            assert!(kills < 60, "{moment} does not end");
            if !before.iter().all(same) {
                stdout(&run(&with(&["pe", "ordinal", "--undo"], &files)));
                assert!(before.iter().all(same), "{moment}");
                assert!(!folder.path().join("headstart-ordinals.json").exists(), "{moment}");
            }
        }
    }
    // One program changes, with its undo file, and the record. strace counts the calls of each
    // thread.
    assert!(kills >= 9, "{kills}");
}

#[test]
fn a_dry_run_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(&folder.path().join("in"));
    let out = folder.path().join("out");
    for verb in ["rebase", "hints", "bind", "unbind", "ordinal", "realign"] {
        let dry = run(&with(&["pe", verb, "--dry-run", "--out", &text(&out)], &files));
        assert!(dry.status.success(), "{verb}: {}", stderr(&dry));
        assert_eq!(names(folder.path()), ["in"], "{verb}");
    }
    let set = ["pe", "flags", "--set", "tsaware", "--dry-run", "--out"];
    assert!(run(&with(&[&set[..], &[&text(&out)]].concat(), &files)).status.success());
    assert_eq!(names(folder.path()), ["in"]);
}

/// The set with its first library under the name of one of the Visual C++ runtime.
fn with_runtime(folder: &Path) -> Vec<String> {
    let mut files = set(folder);
    let program = fs::read(&files[0]).unwrap();
    let runtime = program.windows(16).position(|name| name == b"LoadTimeDLL_1.dl").unwrap();
    let mut renamed = program;
    renamed[runtime..runtime + 17].copy_from_slice(b"msvcp140_long.dll");
    fs::write(&files[0], renamed).unwrap();
    let to = folder.join("msvcp140_long.dll");
    fs::rename(&files[1], &to).unwrap();
    files[1] = text(&to);
    files
}

#[test]
fn runtimes_stay_by_name_and_so_does_what_is_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let files = with_runtime(&folder.path().join("in"));
    let out = folder.path().join("out");
    let said = flat(&stdout(&run(&with(&["pe", "ordinal", "--out", &text(&out)], &files))));
    assert!(said.contains("80 imports are now by ordinal"), "{said}");
    let why = "imports from msvcp140_long.dll stay by name: many products ship their own version";
    assert!(said.contains(why), "{said}");
    assert_eq!(json(&["verify", "--json", &text(&out)])["functions"], 80);
    let dry = ["pe", "ordinal", "--dry-run", "--json", "--exclude", "loadtimedll_2*"];
    let found = json(&with(&dry, &files));
    let program = &found["files"][0];
    assert_eq!((&program["converted"], &found["record"]), (&40.into(), &serde_json::Value::Null));
    assert_eq!(program["excluded"]["msvcp140_long.dll"], 40);
    assert_eq!(program["excluded"]["LoadTimeDLL_2.dll"], 40);
    let all = ["pe", "ordinal", "--dry-run", "--exclude", "*"];
    let said = flat(&stdout(&run(&with(&all, &files))));
    assert!(said.contains("4 files: nothing to convert: all DLLs of this set"), "{said}");
    declined(&run(&with(&["pe", "ordinal", "--dry-run", "--exclude", "["], &files)), 2, "'['");
}

#[test]
fn a_record_stays_while_a_file_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = set(folder.path());
    let second = folder.path().join("Second.exe");
    fs::copy(&files[0], &second).unwrap();
    let before = contents(folder.path());
    let all = [files.clone(), vec![text(&second)]].concat();
    stdout(&run(&with(&["pe", "ordinal", "--in-place"], &all)));
    let record = folder.path().join("headstart-ordinals.json");
    let said = flat(&stdout(&run(&["pe", "ordinal", "--undo", &files[0]])));
    assert!(said.contains("stays: files beside it import 120 functions by ordinal"), "{said}");
    assert!(record.exists());
    assert_eq!(json(&["verify", "--json", &text(folder.path())])["functions"], 120);
    // Loaders do not regard letter case.
    let (named, lower) =
        (folder.path().join("LoadTimeDLL_1.dll"), folder.path().join("loadtimedll_1.dll"));
    fs::rename(&named, &lower).unwrap();
    assert_eq!(run(&["verify", &text(folder.path())]).status.code(), Some(0));
    fs::rename(&lower, &named).unwrap();
    // Another importer by ordinal keeps the record, though that does not list it.
    let stranger = folder.path().join("Stranger.exe");
    fs::copy(&second, &stranger).unwrap();
    stdout(&run(&["pe", "ordinal", "--undo", &text(&second)]));
    assert!(record.exists());
    fs::remove_file(&stranger).unwrap();
    fs::remove_file(&record).unwrap();
    stdout(&run(&with(&["pe", "ordinal", "--in-place"], &all)));
    stdout(&run(&["pe", "ordinal", "--undo", &files[0]]));
    // A DLL that is away for a while takes nothing from what its importer means.
    let (library, away) = (folder.path().join("LoadTimeDLL_2.dll"), folder.path().join("away"));
    fs::rename(&library, &away).unwrap();
    stdout(&run(&["pe", "flags", "--set", "tsaware", "--in-place", &text(&second)]));
    stdout(&run(&["pe", "flags", "--undo", &text(&second)]));
    assert!(record.exists());
    fs::rename(&away, &library).unwrap();
    stdout(&run(&["pe", "ordinal", "--undo", &text(&second)]));
    assert!(contents(folder.path()) == before);
}
