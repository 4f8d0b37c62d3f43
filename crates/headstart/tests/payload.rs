//! Programs that read data from their own file: no verb for ELF files moves it.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints what it finds: `end` from the end of its file, as an archive is found; `at N` at an
/// offset, as a file system image is; `behind` behind the section headers, as AppImages do.
const PROGRAM: &str = r#"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int f0(void); int f1(void); int f2(void); int f3(void); int f4(void); int f5(void);
int f6(void); int f7(void); int f8(void); int f9(void);
int (*all[])(void) = { f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 };
const char *words[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
int main(int count, char **arguments) {
    char found[8] = {0};
    FILE *own = fopen("/proc/self/exe", "rb");
    if (count < 2) return puts("hello") < 0;
    if (!strcmp(arguments[1], "end")) fseek(own, -7, SEEK_END);
    if (!strcmp(arguments[1], "at")) fseek(own, atol(arguments[2]), SEEK_SET);
    if (!strcmp(arguments[1], "behind")) {
        Elf64_Ehdr header;
        if (fread(&header, sizeof header, 1, own) != 1) return 3;
        fseek(own, header.e_shoff + header.e_shnum * header.e_shentsize, SEEK_SET);
    }
    return fread(found, 7, 1, own) != 1 || puts(found) < 0 || all[3]() != 1;
}
"#;

/// A program that every verb has something to do for, without a payload.
fn plain(folder: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    let shared = |name: &str, source: &str| {
        let soname = format!("-Wl,-soname,{name}");
        testkit::compile(&cc, folder, name, source, &["-shared", "-fPIC", &soname]);
    };
    let busy: String = (0..10).map(|n| format!("int f{n}(void) {{ return 1; }}\n")).collect();
    let own = format!("{busy}int (*own[])(void) = {{ f0, f1, f2, f3 }};");
    shared("libidle.so", "int idle;");
    shared("libbusy.so", &own);
    let options =
        ["-Wl,--no-as-needed", "-L.", "-l:libidle.so", "-l:libbusy.so", "-Wl,-rpath,$ORIGIN"];
    Some(testkit::compile(&cc, folder, "program", PROGRAM, &options))
}

fn prints(program: &Path, libraries: &Path, words: &[&str]) -> String {
    let output = Command::new(program).args(words).env("LD_LIBRARY_PATH", libraries).output();
    stdout(&output.unwrap())
}

#[test]
fn what_a_program_reads_from_its_own_file_stays_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    // Without a payload each verb has something to do, or this test shows nothing.
    for verb in VERBS {
        let out = folder.path().join(format!("plain-{verb}"));
        let output = rewritten(verb, &program, &out);
        assert!(output.status.success(), "{verb}: {}", stderr(&output));
    }
    let offset = fs::metadata(&program).unwrap().len();
    let appended = |name: &str, more: &[u8]| {
        let bytes = [&fs::read(&program).unwrap(), more].concat();
        written(folder.path(), name, &bytes)
    };
    let at = offset.to_string();
    let programs = [
        ("archive", appended("archive", b"PAYLOAD"), vec!["end"]),
        ("image", appended("image", b"PAYLOAD and more"), vec!["at", &at]),
        ("app", appended("app", b"PAYLOAD and more"), vec!["behind"]),
    ];
    for (kind, program, words) in &programs {
        assert_eq!(prints(program, folder.path(), words), "PAYLOAD\n", "{kind}");
        for verb in VERBS {
            let out = folder.path().join(format!("{kind}-{verb}"));
            let before = fs::read(program).unwrap();
            let output = rewritten(verb, program, &out);
            assert_eq!(fs::read(program).unwrap(), before, "{kind} {verb}");
            let run = if out.is_dir() { out.join("run") } else { out };
            if run.exists() {
                let found = prints(&run, folder.path(), words);
                assert_eq!(found, "PAYLOAD\n", "{kind} {verb}");
                continue;
            }
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{kind} {verb}: {said}");
            assert!(said.contains("bytes of data at offset") && said.contains(&at), "{said}");
            assert!(said.contains(kind) && !said.contains("damaged"), "{said}");
        }
    }
}

const VERBS: [&str; 4] = ["relr", "order-needed", "no-pie", "selfbind"];

fn rewritten(verb: &str, program: &Path, out: &Path) -> std::process::Output {
    let [program, out] = [program, out].map(|path| path.to_str().unwrap());
    run(&["elf", verb, "--out", out, program])
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn libraries_with_data_of_their_own_get_no_private_copy() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    let library = folder.path().join("libbusy.so");
    let bytes = [fs::read(&library).unwrap(), b"PAYLOAD".to_vec()].concat();
    fs::write(&library, bytes).unwrap();
    let out = folder.path().join("out");
    let output = rewritten("selfbind", &program, &out);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("libbusy.so (carries data of its own"), "{}", stdout(&output));
    assert!(!out.join("lib/libbusy.so").exists() && out.join("lib/libidle.so").exists());
    assert_eq!(prints(&out.join("run"), folder.path(), &[]), "hello\n");
    for verb in ["relr", "selfbind"] {
        let copy = folder.path().join(format!("copy-{verb}"));
        let output = rewritten(verb, &library, &copy);
        let new = fs::read(&copy).unwrap_or_default();
        // Either nothing has moved, or nothing was written.
        let kept = new.ends_with(b"PAYLOAD") && new.len() == fs::read(&library).unwrap().len();
        assert!(kept || (new.is_empty() && output.status.code() == Some(1)), "{verb}");
    }
}

#[test]
fn optimize_tries_nothing_that_would_move_data() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    let bytes = [fs::read(&program).unwrap(), b"PAYLOAD".to_vec()].concat();
    let archive = written(folder.path(), "archive", &bytes);
    let words =
        ["--json", "--runs", "5", "--allow", "no-aslr", "--skip", "bundle,bundle --fixed", "--"];
    let words = [&["optimize"][..], &words, &[archive.to_str().unwrap(), "end"]].concat();
    let found = common::json(&words);
    let variants = found["variants"].as_array().unwrap();
    assert!(variants.len() > 3, "{found:#}");
    for variant in variants.iter().filter(|variant| variant["name"] != "default") {
        let state = variant["state"].as_str().unwrap();
        // Those that only cold launches gain from.
        let is_for_cold = variant["name"].as_str().unwrap().ends_with("read-ahead");
        let expected = if is_for_cold { &["not_tried"][..] } else { &["declined", "verified"] };
        assert!(expected.contains(&state), "{variant:#}");
    }
    let relr = variants.iter().find(|variant| variant["name"] == "relr").unwrap();
    assert_eq!(relr["state"], "declined", "{relr:#}");
    assert!(relr["reason"].as_str().unwrap().contains("data at offset"), "{relr:#}");
}
