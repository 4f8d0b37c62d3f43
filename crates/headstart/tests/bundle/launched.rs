//! What `headstart verify` says that `run` starts is what a launch of it does.

use crate::common::{stderr, stdout};
use crate::stage::{KINDS, Stage, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use testkit::WhenFree;

/// What `verify --json` tells, once it is known that its exit code fits, and the words.
fn verified(stage: &Stage, kind: &str) -> (serde_json::Value, String) {
    let output = run(&["verify", "--json", &stage.text(kind)]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let current = found["current"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!current)), "{}", stderr(&output));
    (found, stdout(&run(&["verify", &stage.text(kind)])).replace("\n  ", " ").replace('\n', " "))
}

fn launched(stage: &Stage, kind: &str) -> Option<i32> {
    stage.start(&format!("{kind}/run")).output_when_free().status.code()
}

/// A launch ends with 127, and `verify` says that nothing is started and why.
fn nothing(stage: &Stage, what: &str, words: &str) {
    for kind in KINDS {
        assert_eq!(launched(stage, kind), Some(127), "{what}");
        let (found, text) = verified(stage, kind);
        assert_eq!(
            (&found["starts"], &found["current"]),
            (&"nothing".into(), &false.into()),
            "{what}: {found}"
        );
        assert!(text.contains("the original, which cannot be started: "), "{what}: {text}");
        assert!(text.contains(words), "{what}: {text}");
    }
}

/// A launch ends with this code, and `verify` says what is there.
fn original(stage: &Stage, code: i32, words: &str) {
    for kind in KINDS {
        assert_eq!(launched(stage, kind), Some(code), "{words}");
        let (found, text) = verified(stage, kind);
        assert_eq!(found["starts"], "original", "{words}: {found}");
        assert!(text.contains("run starts the original") && text.contains(words), "{text}");
    }
}

/// Puts this file, made executable, in the place of the program.
fn put(stage: &Stage, bytes: &[u8]) {
    let (path, fresh) = (stage.path("program"), stage.path("fresh"));
    fs::write(stage.path("written"), bytes).unwrap();
    fs::set_permissions(stage.path("written"), Permissions::from_mode(0o755)).unwrap();
    let copied = Command::new("cp").arg("-p").args([stage.path("written"), fresh.clone()]).status();
    assert!(copied.unwrap().success());
    if path.is_dir() {
        fs::remove_dir(&path).unwrap();
    }
    fs::rename(fresh, path).unwrap();
}

#[test]
fn an_original_that_cannot_be_started() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("program");
    let whole = fs::read(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    nothing(&stage, "mode 644", "chmod +x");
    fs::remove_file(&path).unwrap();
    nothing(&stage, "missing", "does not exist");
    fs::create_dir(&path).unwrap();
    nothing(&stage, "a folder", "is a folder");
    for (bytes, words) in [
        (&b""[..], "the file is empty"),
        (b"\x00\x01garbage\xff\xfe", "its format is unknown"),
        (b"no program", "without a '#!' line"),
        (b"#!/nonexistent/interpreter\n", "'/nonexistent/interpreter', which does not exist"),
        (b"#!/etc/passwd\n", "'/etc/passwd' is not executable"),
        (&whole[..40], "damaged"),
    ] {
        put(&stage, bytes);
        nothing(&stage, words, words);
    }
    put(&stage, &whole);
    fs::rename(stage.path("second"), stage.path("gone")).unwrap();
    nothing(&stage, "a library is missing", "libone.so.1 is not found");
}

#[test]
fn the_bundle_in_the_place_of_its_original() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("program");
    for kind in KINDS {
        let bundle = stage.path(&format!("{kind}/run"));
        for make in [copied, linked] {
            fs::remove_file(&path).unwrap();
            make(&bundle, &path);
            nothing(
                &stage,
                "the bundle",
                "the bundle itself stands in the original program's place",
            );
        }
    }
}

fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-p").args([from, to]).status().unwrap().success());
}

fn linked(from: &Path, to: &Path) {
    symlink(from, to).unwrap();
}

#[test]
fn another_file_in_the_place_of_the_original() {
    let Some(stage) = Stage::bundled() else { return };
    put(&stage, b"#!/bin/sh\nexit 9\n");
    original(&stage, 9, "which is a script now");
    put(&stage, &fs::read("/bin/true").unwrap());
    original(&stage, 0, "whose content is different now");
    let other = stage.text("other");
    assert!(run(&["bundle", "--out", &other, "/bin/true"]).status.success());
    put(&stage, &fs::read(stage.path("other/run")).unwrap());
    original(&stage, 0, "which is a bundle of /bin/true now");
    // Nobody can tell from outside what a script does.
    put(
        &stage,
        format!("#!/bin/sh\nexec {}/made/out/run\n", stage.folder.path().display()).as_bytes(),
    );
    original(
        &stage,
        127,
        "if that starts this bundle again and again, run ends with exit code 127",
    );
}

/// What stays outside is loaded before anything of the bundle runs.
#[test]
fn a_library_outside_that_is_missing() {
    let Some(stage) = Stage::bare() else { return };
    let (out, program) = (stage.text("made/out"), stage.text("program"));
    let made =
        run(&["bundle", "--outside", "libthree", "--outside", "libtwo", "--out", &out, &program]);
    assert!(made.status.success(), "{}", stderr(&made));
    let remedy = |folder: &str| {
        fs::rename(stage.path("third/libthree.so.1"), stage.path(folder).join("libthree.so.1"))
            .unwrap();
        assert_eq!(launched(&stage, "made/out"), Some(127));
        let (found, text) = verified(&stage, "made/out");
        assert_eq!(found["starts"], "nothing", "{found}");
        assert!(text.contains("libthree.so.1 is not found"), "{text}");
        fs::rename(stage.path(folder).join("libthree.so.1"), stage.path("third/libthree.so.1"))
            .unwrap();
        found["remedy"].as_str().unwrap().to_owned()
    };
    let again = remedy("fourth");
    assert!(again.starts_with("Make the bundle again: headstart bundle "), "{again}");
    let install = remedy("made");
    assert!(install.starts_with("Fix that, or install "), "{install}");
}
