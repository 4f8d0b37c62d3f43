//! `headstart verify` after changes.

use crate::common::{stderr, stdout};
use crate::stage::{FIXED, KINDS, OUT, Stage, headstart, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use testkit::WhenFree;

/// The changes that are told of `library`, and that the words name them.
fn changes(stage: &Stage, library: &str, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for kind in KINDS {
        let out = stage.text(kind);
        let output = run(&["verify", "--json", &out]);
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["current"], false);
        let told = run(&["verify", &out]);
        assert_eq!(told.status.code(), Some(1));
        let text = stdout(&told);
        assert!(text.contains(words) && text.contains(library), "{text}");
        let list = found["changes"].as_array().unwrap().iter();
        let mut list: Vec<String> = list
            .filter(|change| change["path"].as_str().unwrap().contains(library))
            .map(|change| change["what"].as_str().unwrap().to_owned())
            .collect();
        list.sort();
        all.push(list);
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

#[test]
fn content() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("second/libtwo.so.1");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::copy(stage.path("v2/libtwo.so.1"), &path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(changes(&stage, "libtwo.so.1", "SHA-256"), ["changed"]);
}

#[test]
fn the_same_content_in_another_file_is_not_used() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("second/libtwo.so.1");
    fs::copy(&path, stage.path("copy")).unwrap();
    fs::rename(stage.path("copy"), &path).unwrap();
    for kind in KINDS {
        let told = run(&["verify", "--json", &stage.text(kind)]);
        assert_eq!(told.status.code(), Some(1));
        let found: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!((&found["current"], &found["used"]), (&true.into(), &false.into()), "{found}");
        let reason = format!("{} is not what it was when the bundle was made", path.display());
        assert_eq!(found["reason"], reason);
    }
}

/// Nothing has changed in the files, and yet nothing starts.
#[test]
fn a_bundle_on_a_file_system_without_programs_is_not_current() {
    let Some(stage) = Stage::bundled() else { return };
    let Some(unshare) = testkit::tool("unshare") else { return };
    let script = "mount -t tmpfs none \"$1\" && \"$2\" bundle --out \"$1/out\" \"$3\" >/dev/null &&
        mount -o remount,noexec \"$1\" && \"$2\" verify \"$1/out\"";
    fs::create_dir(stage.path("mounted")).unwrap();
    let output = Command::new(unshare)
        .args(["-m", "sh", "-c", script, "sh", &stage.text("mounted")])
        .args([env!("CARGO_BIN_EXE_headstart"), &stage.text("program")])
        .output_when_free();
    if stderr(&output).contains("not permitted") {
        testkit::skip("needs root: mounting");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output) + &stderr(&output));
    assert!(stdout(&output).contains("noexec"), "{}", stdout(&output));
}

#[test]
fn missing() {
    let Some(stage) = Stage::bundled() else { return };
    fs::remove_file(stage.path("third/libthree.so.1")).unwrap();
    let found = changes(&stage, "libthree.so.1", "No such file");
    assert!(found.contains(&"missing".to_owned()), "{found:?}");
}

#[test]
fn replaced_by_another_path() {
    let Some(stage) = Stage::bundled() else { return };
    fs::copy(stage.path("second/libone.so.1"), stage.path("first/libone.so.1")).unwrap();
    assert_eq!(changes(&stage, "libone.so.1", "the loader takes"), ["replaced"]);
}

#[test]
fn a_need_that_is_added_and_one_that_is_gone() {
    let Some(patchelf) = testkit::tool("patchelf") else { return };
    let Some(stage) = Stage::bundled() else { return };
    let library = stage.path("second/libtwo.so.1");
    let patch = |words: &[&str]| {
        assert!(Command::new(&patchelf).args(words).arg(&library).status().unwrap().success());
    };
    patch(&["--add-needed", "libm.so.6"]);
    assert_eq!(changes(&stage, "libtwo.so.1", "SHA-256"), ["changed"]);
    assert_eq!(changes(&stage, "libm.so.6", "the program needs libm.so.6 now"), ["added"]);
}

/// `verify` says no, of this file of the folder, and nothing of what is started.
fn not_as_made(stage: &Stage, kind: &str, file: &str, what: &str) {
    let (out, path) = (stage.text(kind), stage.text(&format!("{kind}/{file}")));
    let output = run(&["verify", "--json", &out]);
    assert_eq!(output.status.code(), Some(1), "{what}: {}{}", stdout(&output), stderr(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["current"], false, "{what}");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.starts_with(&format!("{path}: ")), "{what}: {reason}");
    assert_eq!(found["starts"], if file == "run" { "unknown" } else { "bundle" }, "{what}");
    let text = stdout(&run(&["verify", &out])).replace("\n  ", " ");
    assert!(text.contains(&path), "{what}: {text}");
    assert!(!text.contains("starts the original") && !text.contains("current"), "{what}: {text}");
}

fn is_current(stage: &Stage, kind: &str) {
    let output = run(&["verify", &stage.text(kind)]);
    assert!(output.status.success(), "{kind}: {}{}", stdout(&output), stderr(&output));
}

/// No file has changed: what another environment brings is that of the environment.
#[test]
fn a_variable_is_named_and_nothing_is_blamed_for_it() {
    let Some(stage) = Stage::bundled() else { return };
    for (name, value) in
        [("LD_PRELOAD", "/lib/x86_64-linux-gnu/libm.so.6"), ("LD_LIBRARY_PATH", "/usr/lib/gcc")]
    {
        let mut verify = Command::new(env!("CARGO_BIN_EXE_headstart"));
        verify.env_remove("LD_LIBRARY_PATH").env(name, value);
        let output = verify.args(["verify", &stage.text(OUT)]).output_when_free();
        let said = stdout(&output);
        assert!(said.contains(name) && said.contains("Set or unset"), "{said}");
        assert!(!said.contains("libm.so.6") && !said.contains("Make the bundle"), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
}

/// Whoever times a bundle is told if that is not what was timed.
#[test]
fn a_measurement_of_a_bundle_that_starts_the_original_says_so() {
    let Some(stage) = Stage::bundled() else { return };
    let run = stage.text("made/out/run");
    let notes = |words: &[&str]| {
        let words = [&["measure", "--json", "--runs", "2", "--warmup", "0", "-i"], words].concat();
        let output = headstart(&words).env_remove("LD_LIBRARY_PATH").output_when_free();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        found["notes"].to_string()
    };
    assert!(!notes(&["--", &run]).contains("starts the original"));
    fs::rename(stage.path("v2/libthree.so.1"), stage.path("third/libthree.so.1")).unwrap();
    let told = notes(&["--", &run]);
    assert!(
        told.contains("starts the original") && told.contains("libthree.so.1 is not"),
        "{told}"
    );
}

#[test]
fn what_was_made_is_looked_at_too() {
    let Some(stage) = Stage::bundled() else { return };
    for kind in KINDS {
        let file = stage.path(kind).join("run");
        let kept = stage.path("kept");
        let whole = fs::read(&file).unwrap();
        fs::rename(&file, &kept).unwrap();
        not_as_made(&stage, kind, "run", "missing");
        let mode = fs::Permissions::from_mode(0o755);
        let with = |bytes: &[u8], what: &str| {
            fs::write(&file, bytes).unwrap();
            fs::set_permissions(&file, mode.clone()).unwrap();
            not_as_made(&stage, kind, "run", what);
            fs::remove_file(&file).unwrap();
        };
        for length in [0, 1, 4096, whole.len() / 2, whole.len() - 1] {
            with(&whole[..length], &format!("truncated to {length}"));
        }
        with(&[&whole[..], b"x"].concat(), "longer");
        for at in (0..whole.len()).step_by(whole.len() / 23).chain([whole.len() - 1]) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            with(&flipped, &format!("a bit flipped at {at}"));
        }
        with(&fs::read(stage.path("program")).unwrap(), "the program in its place");
        with(b"#!/bin/sh\n", "a script in its place");
        symlink(&kept, &file).unwrap();
        not_as_made(&stage, kind, "run", "a link to it");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        not_as_made(&stage, kind, "run", "a folder");
        fs::remove_dir(&file).unwrap();
        fs::rename(&kept, &file).unwrap();
        is_current(&stage, kind);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        not_as_made(&stage, kind, "run", "not executable");
        fs::set_permissions(&file, mode.clone()).unwrap();
        is_current(&stage, kind);
    }
}

#[test]
fn the_spare_is_looked_at_too_and_is_used_only_as_it_was_left() {
    let Some(stage) = Stage::bundled() else { return };
    let rerandomize = || assert!(run(&["rerandomize", &stage.text(FIXED)]).status.success());
    let spare = stage.path(FIXED).join(".spare");
    for _ in 0..3 {
        rerandomize();
        is_current(&stage, FIXED);
        let made = fs::metadata(&spare).unwrap().modified().unwrap();
        let whole = fs::read(&spare).unwrap();
        let text = whole.windows(6).position(|word| word == b"two-v1").unwrap();
        let mut flipped = whole.clone();
        flipped[text] ^= 1;
        for bytes in [&whole[..whole.len() - 1], &flipped[..], b"mine"] {
            fs::write(&spare, bytes).unwrap();
            not_as_made(&stage, FIXED, ".spare", "the spare");
        }
        // Nor is its time believed.
        fs::write(&spare, &flipped).unwrap();
        fs::File::options().write(true).open(&spare).unwrap().set_modified(made).unwrap();
        // Nor that of the manifest.
        let manifest = stage.path(FIXED).join("headstart.json");
        let manifest = fs::File::options().write(true).open(manifest).unwrap();
        manifest.set_modified(std::time::SystemTime::now()).unwrap();
        // What would be wrong is made anew from what is right, once it is out of the way.
        assert_eq!(run(&["rerandomize", &stage.text(FIXED)]).status.code(), Some(6));
        assert!(fs::read(&spare).unwrap() == flipped);
        fs::remove_file(&spare).unwrap();
        rerandomize();
        is_current(&stage, FIXED);
        let said = stdout(&stage.start("made/fixed/run").output_when_free());
        assert_eq!(said, "program v1: one-v1 two-v1/three-v1 three-v1\n");
    }
}

/// Whatever is in the manifest, the answer is a sentence, and nothing outside is touched.
#[test]
fn a_manifest_is_not_trusted() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path(OUT).join("headstart.json");
    let text = fs::read_to_string(&path).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = manifest.clone();
        change(&mut changed);
        fs::write(&path, changed.to_string()).unwrap();
        let answer = run(&["verify", "--json", &stage.text(OUT)]);
        let said = stdout(&answer) + &stderr(&answer);
        assert!(matches!(answer.status.code(), Some(1 | 6)), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        // Nor is a bundle replaced for it, but where it still tells what run is.
        let made = run(&["rerandomize", &stage.text(OUT)]);
        assert!(matches!(made.status.code(), Some(1 | 2 | 6)), "{}", stderr(&made));
        said
    };
    let said = with(&|manifest| manifest["schema"] = 7.into());
    assert!(said.contains("layout 7") && said.contains("make it again"), "{said}");
    let said = with(&|manifest| drop(manifest.as_object_mut().unwrap().remove("schema")));
    assert!(said.contains("no schema number"), "{said}");
    let said = with(&|manifest| drop(manifest.as_object_mut().unwrap().remove("product")));
    assert!(said.contains("did not record its content"), "{said}");
    for name in
        ["", "relative", "../../etc/passwd", "\0", "/dev/zero", "/proc/self/mem", "/dev/tty"]
    {
        with(&|manifest| manifest["program"] = name.into());
        with(&|manifest| manifest["modules"][1]["path"] = name.into());
    }
    let most = serde_json::json!(u64::MAX);
    for key in ["bytes", "inode", "piece_bytes"] {
        for value in [0.into(), most.clone()] {
            if key != "inode" {
                with(&|manifest| manifest["product"][key] = value.clone());
            }
        }
    }
    for hashes in ["", "x", "é", "not a digit"] {
        with(&|manifest| manifest["product"]["sha256"] = hashes.into());
        with(&|manifest| manifest["product"]["sha256"] = hashes.repeat(64).into());
    }
    with(&|manifest| manifest["product"]["sha256"] = serde_json::json!([]));
    with(&|manifest| manifest["modules"] = serde_json::json!([{}]));
    for length in [0, 1, text.len() / 3, text.len() - 3] {
        fs::write(&path, &text[..length]).unwrap();
        assert_eq!(run(&["verify", &stage.text(OUT)]).status.code(), Some(6), "{length}");
    }
    fs::write(&path, "[".repeat(1 << 20)).unwrap();
    assert_eq!(run(&["verify", &stage.text(OUT)]).status.code(), Some(6));
    fs::remove_file(&path).unwrap();
    let pipe = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let _ = Command::new("mkfifo").arg(pipe.to_str().unwrap()).status();
    assert_eq!(run(&["verify", &stage.text(OUT)]).status.code(), Some(6));
    fs::remove_file(&path).unwrap();
    fs::write(&path, &text).unwrap();
    is_current(&stage, OUT);
}

#[test]
fn a_folder_that_was_moved_or_copied_and_one_that_cannot_be_written() {
    let Some(stage) = Stage::bundled() else { return };
    for kind in KINDS {
        // Modes of libraries have been changed meanwhile.
        stage.bundle_one(kind);
        let (from, to) = (stage.path(kind), stage.path("moved"));
        fs::rename(&from, &to).unwrap();
        is_current(&stage, "moved");
        fs::rename(&to, &from).unwrap();
        let copied = Command::new("cp").arg("-r").arg(&from).arg(&to).status().unwrap();
        assert!(copied.success());
        is_current(&stage, "moved");
        if kind == FIXED {
            assert!(run(&["rerandomize", &stage.text("moved")]).status.success());
            is_current(&stage, "moved");
        }
        fs::set_permissions(&to, fs::Permissions::from_mode(0o555)).unwrap();
        is_current(&stage, "moved");
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
        as_another_user(&stage, &to);
        fs::remove_dir_all(&to).unwrap();
    }
}

/// Somebody else may look, if the files may be read, and is told where one may not.
fn as_another_user(stage: &Stage, folder: &Path) {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    fs::set_permissions(stage.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let verify = || {
        let mut nobody = crate::stage::command(&setpriv);
        nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        nobody.arg(env!("CARGO_BIN_EXE_headstart")).args(["verify", "--json"]).arg(folder);
        nobody.output_when_free()
    };
    let output = verify();
    if stderr(&output).starts_with("setpriv") {
        return testkit::skip(
            "another user can only be taken on by root, and must reach headstart",
        );
    }
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
    let output = verify();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(found["changes"][0]["what"], "unreadable", "{found}");
    assert!(found["reason"].as_str().unwrap().contains("may not be read (mode 700"), "{found}");
    // A library that may not be read is there, and the loader passes it over.
    let library = stage.path("third/libthree.so.1");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = verify();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &found["starts"]), (Some(1), &"nothing".into()), "{found}");
    let words = format!("{}: it may not be read (mode 600, owner user 0)", library.display());
    assert!(found["instead"].as_str().unwrap().contains(&words), "{found}");
    assert!(found["changes"][0]["found"].as_str().unwrap().contains("mode 600"), "{found}");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.join("headstart.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(6));
    let words = "headstart.json: it may not be read (mode 600, owner user 0); run as its owner";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    fs::set_permissions(folder.join("headstart.json"), fs::Permissions::from_mode(0o644)).unwrap();
}

/// What is looked at belongs together, whenever that is.
#[test]
fn while_the_bundle_is_made_again_or_moved() {
    let Some(stage) = Stage::bundled() else { return };
    let (out, fixed, program) = (stage.text(OUT), stage.text(FIXED), stage.text("program"));
    let meanwhile = |kind: &str, arguments: &[&str]| {
        std::thread::scope(|scope| {
            let maker = scope.spawn(|| {
                for _ in 0..40 {
                    assert!(run(arguments).status.success());
                }
            });
            while !maker.is_finished() {
                is_current(&stage, kind);
            }
        });
    };
    meanwhile(OUT, &["bundle", "--out", &out, &program]);
    meanwhile(FIXED, &["rerandomize", &fixed]);
}

#[test]
fn what_no_launch_uses_makes_no_bundle_stale() {
    let Some(stage) = Stage::bundled() else { return };
    fs::write(stage.path(OUT).join("symbols.gdb"), "mine").unwrap();
    let told = run(&["verify", &stage.text(OUT)]);
    let text = stdout(&told).replace('\n', " ");
    assert_eq!(told.status.code(), Some(1), "{text}");
    assert!(text.starts_with("changed: run and all files of "), "{text}");
    assert!(!text.contains("merged code"), "{text}");
    let found = run(&["verify", "--json", &stage.text(OUT)]);
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["changes"][0]["what"], "unused", "{found}");
    assert_eq!((&found["starts"], &found["current"]), (&"bundle".into(), &false.into()));
}

/// As the start itself would: the variable forbids the original.
#[test]
fn what_the_environment_forbids_is_not_started() {
    let Some(stage) = Stage::bundled() else { return };
    let library = stage.path("second/libtwo.so.1");
    fs::copy(&library, stage.path("copy")).unwrap();
    fs::rename(stage.path("copy"), &library).unwrap();
    for (value, starts) in
        [("never", "nothing"), ("", "nothing"), ("1", "nothing"), ("001", "original")]
    {
        let told = headstart(&["verify", "--json", &stage.text(OUT)])
            .env("HEADSTART_STALE", value)
            .output_when_free();
        let found: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!(found["starts"], starts, "{value}: {found}");
        let mut start = stage.start("made/out/run");
        let code = start.env("HEADSTART_STALE", value).output_when_free().status.code();
        assert_eq!(code, Some(if starts == "nothing" { 127 } else { 7 }), "{value}");
        let told = headstart(&["verify", &stage.text(OUT)])
            .env("HEADSTART_STALE", value)
            .output_when_free();
        let told = stdout(&told).split_whitespace().collect::<Vec<_>>().join(" ");
        let forbidden =
            "cannot be started: HEADSTART_STALE is set to something other than a number";
        assert_eq!(told.contains(forbidden), starts == "nothing", "{told}");
        assert_eq!(told.contains("run starts the original"), starts == "original", "{told}");
    }
}

/// Root does not execute what another user may have written.
#[test]
fn root_does_not_start_what_belongs_to_another_user() {
    let Some(stage) = Stage::bundled() else { return };
    let run_file = stage.path("made/out/run");
    if std::os::unix::fs::chown(&run_file, Some(65534), None).is_err() {
        return testkit::skip("needs root: chown");
    }
    let told = run(&["verify", "--json", &stage.text(OUT)]);
    assert_eq!(told.status.code(), Some(1), "{}", stdout(&told));
    let found: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&found["starts"], &found["used"]), (&"unknown".into(), &false.into()), "{found}");
    assert_eq!(found["current"], true, "{found}");
    let told = stdout(&run(&["verify", &stage.text(OUT)]));
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("run belongs to another user (user id 65534)"), "{words}");
    assert!(words.contains("Verify it as the user to whom it belongs."), "{words}");
    std::os::unix::fs::chown(&run_file, Some(0), None).unwrap();
    assert!(run(&["verify", &stage.text(OUT)]).status.success());
}
