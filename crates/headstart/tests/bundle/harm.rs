//! `--out` replaces what headstart made there, and nothing else: a sentence, and no byte changed.

use crate::common::stderr;
use crate::stage::{KINDS, OUT, Stage, command, names, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use testkit::WhenFree;

/// Everything in a folder: names, kinds, modes and bytes.
fn everything(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all = Vec::new();
    for name in names(folder) {
        let path = folder.join(name);
        let data = fs::symlink_metadata(&path).unwrap();
        let bytes = if data.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if data.is_dir() {
            all.extend(everything(&path));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.push((path, data.permissions().mode(), bytes));
    }
    all
}

/// One sentence that says all this, exit code 6 or 1, and nothing on stdout.
fn says(output: &Output, parts: &[&str]) {
    let said = stderr(output);
    assert!(matches!(output.status.code(), Some(1 | 6)), "{said}");
    assert!(said.starts_with("headstart: ") && said.lines().count() == 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
    assert!(output.stdout.is_empty());
}

/// The bundle of either kind is refused, and the stage is as it was.
fn refused(stage: &Stage, out: &str, program: &str, parts: &[&str]) {
    let before = everything(stage.folder.path());
    for fixed in [&[][..], &["--fixed"]] {
        let words = [&["bundle", "--out", out, program], fixed].concat();
        says(&run(&words), parts);
        assert!(everything(stage.folder.path()) == before, "{words:?} changed something");
    }
}

#[test]
fn the_program_itself_however_it_is_spelled() {
    let Some(stage) = Stage::bare() else { return };
    fs::copy(stage.path("program"), stage.path("run")).unwrap();
    fs::create_dir(stage.path("links")).unwrap();
    symlink("..", stage.path("links/up")).unwrap();
    symlink("../run", stage.path("links/other-name")).unwrap();
    let root = stage.folder.path().to_str().unwrap();
    for out in [root.to_owned(), format!("{root}/first/.."), format!("{root}/links/up")] {
        for program in ["run", "./run", "second/../run", "links/up/run", "links/other-name"] {
            refused(&stage, &out, &stage.text(program), &["run is the program itself", "--out"]);
        }
    }
    // As it was reported: from within the folder.
    let before = everything(stage.folder.path());
    let mut within = crate::stage::headstart(&["bundle", "--out", ".", "./run"]);
    let output = within.current_dir(stage.folder.path()).output_when_free();
    says(&output, &["run is the program itself"]);
    assert!(everything(stage.folder.path()) == before);
}

#[test]
fn a_link_or_another_name_of_the_program() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    fs::create_dir(stage.path("hard")).unwrap();
    fs::hard_link(&program, stage.path("hard/run")).unwrap();
    refused(&stage, &stage.text("hard"), &program, &["hard/run is the program itself"]);
    for target in ["../program", "nothing", "."] {
        let folder = stage.path("soft");
        fs::create_dir(&folder).unwrap();
        symlink(target, folder.join("run")).unwrap();
        refused(&stage, &stage.text("soft"), &program, &["soft/run", "link"]);
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn the_program_mounted_in_the_folder() {
    let Some(unshare) = testkit::tool("unshare") else { return };
    let Some(stage) = Stage::bare() else { return };
    fs::create_dir(stage.path("mounted")).unwrap();
    fs::write(stage.path("mounted/run"), "").unwrap();
    let script = "mount --bind \"$1\" \"$2/run\" || exit 99\n\"$3\" bundle --out \"$2\" \"$1\"";
    let mut inside = command(&unshare);
    inside.args(["-m", "sh", "-c", script, "sh", &stage.text("program"), &stage.text("mounted")]);
    let output = inside.arg(env!("CARGO_BIN_EXE_headstart")).output_when_free();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare") {
        return testkit::skip("files are only mounted by root");
    }
    says(&output, &["mounted/run is the program itself"]);
    assert_eq!(names(&stage.path("mounted")), ["run"]);
}

#[test]
fn a_bundle_is_no_program() {
    let Some(stage) = Stage::bundled() else { return };
    let program = stage.text("program");
    for kind in KINDS {
        let bundle = stage.text(&format!("{kind}/run"));
        refused(&stage, &stage.text(kind), &bundle, &["run is the program itself"]);
        let another = stage.text("made/another");
        refused(&stage, &another, &bundle, &["is already a bundle", &program]);
    }
}

#[test]
fn files_of_the_user() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    let (folder, out) = (stage.path("mine"), stage.text("mine"));
    let other = r#"{"schema": 1, "name": "an app of mine"}"#;
    for (name, text) in [
        ("run", "#!/bin/sh\necho mine\n"),
        ("run", ""),
        ("headstart.json", "mine"),
        ("headstart.json", ""),
        ("headstart.json", other),
        ("symbols.gdb", "break main\n"),
    ] {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
        refused(&stage, &out, &program, &[&format!("mine/{name}"), "--out"]);
        fs::remove_file(folder.join(name)).unwrap();
        fs::create_dir(folder.join(name)).unwrap();
        refused(&stage, &out, &program, &[&format!("mine/{name}"), "folder"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// What headstart made, and somebody else changed since.
#[test]
fn files_that_are_no_longer_ours() {
    let Some(stage) = Stage::bundled() else { return };
    let (program, out) = (stage.text("program"), stage.text(OUT));
    let at = |name: &str| stage.path(OUT).join(name);
    for name in ["run", "symbols.gdb"] {
        let whole = fs::read(at(name)).unwrap();
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        for bytes in [&b"#!/bin/sh\necho mine\n"[..], &whole[..whole.len() - 1], &flipped] {
            fs::write(at(name), bytes).unwrap();
            refused(&stage, &out, &program, &[&format!("{OUT}/{name}"), "changed or replaced"]);
        }
        fs::write(at(name), &whole).unwrap();
    }
    // As it was made it may be replaced, and what is beside it stays.
    fs::write(at("notes"), "mine").unwrap();
    fs::write(at(".headstart-notes"), "mine").unwrap();
    stage.bundle_one(OUT);
    for name in ["notes", ".headstart-notes"] {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "mine");
    }
    // Without run there is nothing to lose.
    fs::remove_file(at("run")).unwrap();
    stage.bundle_one(OUT);
    assert!(stage.runs_merged(OUT));
}

#[test]
fn a_folder_of_another_verb() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    let (bound, best) = (stage.text("bound"), stage.text("best"));
    let made = run(&["elf", "selfbind", "--out", &bound, &program]);
    assert!(made.status.success(), "{}", stderr(&made));
    refused(&stage, &bound, &program, &["bound"]);
    let words = ["optimize", "--ignore-failure", "--runs", "3", "--only", "default"];
    let made = run(&[&words[..], &["--out", &best, "--", &program]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    refused(&stage, &best, &program, &["best", "headstart optimize"]);
    for (name, verb) in [("headstart-ordinals.json", "ordinal"), ("experiment.json", "run")] {
        fs::create_dir(stage.path("set")).unwrap();
        fs::write(stage.path("set").join(name), "{}").unwrap();
        refused(&stage, &stage.text("set"), &program, &[name, verb]);
        fs::remove_dir_all(stage.path("set")).unwrap();
    }
}

#[test]
fn the_root_folder() {
    let Some(stage) = Stage::bare() else { return };
    for out in ["/", "//", "/usr/.."] {
        refused(&stage, out, &stage.text("program"), &["root folder", "--out"]);
    }
    for name in ["/headstart.json", "/symbols.gdb"] {
        assert!(!Path::new(name).exists(), "{name}");
    }
}

/// `rerandomize` replaces `run` too.
#[test]
fn rerandomize_replaces_only_what_was_made() {
    let Some(stage) = Stage::bundled() else { return };
    let (folder, fixed) = (stage.path(crate::stage::FIXED), stage.text(crate::stage::FIXED));
    for spare in [false, true] {
        let whole = fs::read(folder.join("run")).unwrap();
        let mut flipped = whole.clone();
        let last = flipped.len() - 1;
        flipped[last] ^= 1;
        for bytes in [&b"#!/bin/sh\necho mine\n"[..], &flipped] {
            fs::write(folder.join("run"), bytes).unwrap();
            let before = everything(&folder);
            says(&run(&["rerandomize", &fixed]), &["fixed/run", "changed or replaced"]);
            assert!(everything(&folder) == before);
        }
        fs::write(folder.join("run"), &whole).unwrap();
        assert_eq!(folder.join(".spare").exists(), spare);
        assert!(run(&["rerandomize", &fixed]).status.success());
    }
}

#[test]
fn a_bundle_finds_its_original_when_the_folder_it_was_made_in_is_gone() {
    let Some(stage) = Stage::bare() else { return };
    let within = stage.path("within");
    fs::create_dir(&within).unwrap();
    let out = stage.text("out");
    let mut bundle = crate::stage::headstart(&["bundle", "--out", &out, "../program"]);
    let made = bundle.current_dir(&within).output_when_free();
    assert!(made.status.success(), "{}", stderr(&made));
    fs::remove_dir(&within).unwrap();
    let manifest = fs::read_to_string(stage.path("out/headstart.json")).unwrap();
    assert!(!manifest.contains("/within/") && !manifest.contains("/../"), "{manifest}");
    let verified = run(&["verify", &out]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn a_file_size_limit_is_an_error_and_leaves_nothing() {
    let Some(stage) = Stage::bare() else { return };
    let before = everything(stage.folder.path());
    let mut shell = std::process::Command::new("sh");
    let script = "ulimit -f 3; exec \"$0\" bundle --out \"$1\" \"$2\"";
    let words = [env!("CARGO_BIN_EXE_headstart"), &stage.text("out"), &stage.text("program")];
    let output = shell.args(["-c", script]).args(words).output_when_free();
    says(&output, &["out", "File too large"]);
    assert!(everything(stage.folder.path()) == before);
}

/// Whatever it is that cannot be opened any more, nothing is left and the reason is told.
#[test]
fn without_descriptors_nothing_is_left() {
    let Some(stage) = Stage::bare() else { return };
    let (out, program) = (stage.text("made/few"), stage.text("program"));
    let mut refusals = 0;
    for limit in 4..16 {
        let line = format!("ulimit -n {limit}; exec \"$@\"");
        let mut shell = command(Path::new("/bin/bash"));
        shell.args(["-c", &line, "bash", env!("CARGO_BIN_EXE_headstart")]);
        let made = shell.args(["bundle", "--out", &out, &program]).output_when_free();
        if made.status.success() {
            break;
        }
        refusals += 1;
        let left = fs::read_dir(&out).map_or(0, |left| left.count());
        assert_eq!(left, 0, "{limit}");
        assert!(!stderr(&made).contains("File exists"), "{limit}: {}", stderr(&made));
    }
    assert!(refusals > 1);
}
