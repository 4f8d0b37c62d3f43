//! A toolchain as a user makes it, verifies it, and gives it other addresses.

use crate::common::{json, stderr, stdout};
use crate::stage::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const TELL: &str = "#include <stdio.h>\nvoid tell(const char *who) { puts(who); fflush(stdout); }";
const COMPILER: &str = "void tell(const char *);\nint main(void) { tell(\"compiler\"); return 7; }";
/// It knows one program, and starts it.
const DRIVER: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
void tell(const char *);
int main(int count, char **words) {
    if (count > 1 && !strncmp(words[1], "-print-", 7)) {
        puts(!strcmp(words[1], "-print-prog-name=cc1") ? FOLDER "/cc1" : "/nothing");
        return 0;
    }
    tell(words[0]);
    execv(FOLDER "/cc1", words);
    return 1;
}
"#;

/// Such a compiler in a folder, and the path of its toolchain.
fn compiler() -> Option<(TempDir, PathBuf)> {
    let cc = testkit::tool("gcc")?;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    testkit::compile(&cc, &at, "libtell.so", TELL, &["-shared", "-fPIC"]);
    let define = format!("-DFOLDER=\"{}\"", at.display());
    let options = [&define, "-L.", "-ltell", "-Wl,-rpath,$ORIGIN"];
    testkit::compile(&cc, &at, "cc1", COMPILER, &options);
    testkit::compile(&cc, &at, "gcc", DRIVER, &options);
    let out = at.join("out");
    Some((folder, out))
}

fn make(out: &Path, more: &[&str]) -> std::process::Output {
    let driver = out.with_file_name("gcc");
    let (out, driver) = (out.to_str().unwrap(), driver.to_str().unwrap());
    run(&[&["bundle", "--toolchain", "gcc", "--fixed", "--out", out], more, &[driver]].concat())
}

/// The driver by its name in the folder: what it and its compiler tell.
fn works(out: &Path) {
    let mut command = Command::new(out.join("gcc"));
    // Cargo sets LD_LIBRARY_PATH.
    command.env("HEADSTART_STALE", "never").env_remove("LD_LIBRARY_PATH");
    let output = command.output().unwrap();
    let expected = format!("{}\ncompiler\n", out.with_file_name("gcc").display());
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
}

#[test]
fn all_its_verbs_take_the_folder() {
    let Some((_folder, out)) = compiler() else { return };
    let made = make(&out, &[]);
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(stdout(&made).contains("2 bundles"), "{}", stdout(&made));
    works(&out);
    let path = out.to_str().unwrap();
    for _ in 0..2 {
        let moved = run(&["rerandomize", path]);
        assert_eq!(stdout(&moved).matches("addresses changed").count(), 2, "{}", stderr(&moved));
        works(&out);
        let verified = run(&["verify", path]);
        assert!(verified.status.success(), "{}", stdout(&verified));
        assert_eq!(stdout(&verified).matches("used: ").count(), 2, "{}", stdout(&verified));
    }
    let warm = json(&["warm", "--json", path]);
    assert_eq!(warm.as_object().unwrap().len(), 2);
    let again: serde_json::Value = serde_json::from_slice(&make(&out, &["--json"]).stdout).unwrap();
    assert_eq!(again["toolchain"], "gcc");
    assert_eq!(again["tools"][1]["links"].as_object().unwrap().len(), 1);
    works(&out);
}

#[test]
fn what_is_wrong_is_told_with_the_command_that_mends_it() {
    let Some((_folder, out)) = compiler() else { return };
    assert!(make(&out, &[]).status.success());
    let path = out.to_str().unwrap();
    let library = out.with_file_name("libtell.so");
    let changed = fs::read(&library).unwrap();
    fs::remove_file(&library).unwrap();
    fs::write(&library, changed).unwrap();
    let verified = run(&["verify", path]);
    assert_eq!(verified.status.code(), Some(1));
    let text = stdout(&verified);
    assert_eq!(text.matches("not right: ").count(), 2, "{text}");
    let driver = out.with_file_name("gcc");
    let command =
        format!("headstart bundle --toolchain gcc --fixed --out {path} {}", driver.display());
    assert!(text.contains(&command), "{text}");
    assert!(make(&out, &[]).status.success());
    fs::remove_file(out.join("gcc")).unwrap();
    let output = run(&["verify", "--json", path]);
    assert_eq!(output.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["current"], false);
    assert!(found["tools"][1]["links"]["gcc"].as_str().unwrap().contains("not there"), "{found}");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let Some((_folder, out)) = compiler() else { return };
    for options in [&["--sealed"][..], &["--check", "sealed"], &["--outside", "x"]] {
        let refused = make(&out, options);
        assert_eq!(refused.status.code(), Some(2), "{options:?}: {}", stdout(&refused));
        assert!(!out.exists());
    }
    let unknown = run(&["bundle", "--toolchain", "tcc", "--out", out.to_str().unwrap()]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(run(&["bundle", "--out", out.to_str().unwrap()]).status.code(), Some(2));
}
