//! `headstart elf order-needed` and `headstart elf selfbind` as commands.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Gives inkscape's shape in small: a program whose last library defines most.
fn program(folder: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    let names = || (0..30).map(|n| format!("f{n}"));
    let defined: String =
        names().map(|name| format!("int {name}(void) {{ return 1; }}\n")).collect();
    let own =
        format!("{defined}int (*own[])(void) = {{ {} }};", names().collect::<Vec<_>>().join(", "));
    let shared = ["-shared", "-fPIC"];
    testkit::compile(
        &cc,
        folder,
        "libidle.so",
        "int idle;",
        &[&shared[..], &["-Wl,-soname,libidle.so"]].concat(),
    );
    testkit::compile(
        &cc,
        folder,
        "libbusy.so",
        &own,
        &[&shared[..], &["-Wl,-soname,libbusy.so"]].concat(),
    );
    let declared: String = names().map(|name| format!("int {name}(void);\n")).collect();
    let source = format!(
        "{declared}int (*all[])(void) = {{ {} }};\nint main(void) {{ return all[3](); }}",
        names().collect::<Vec<_>>().join(", ")
    );
    let options =
        ["-Wl,--no-as-needed", "-L.", "-l:libidle.so", "-l:libbusy.so", "-Wl,-rpath,$ORIGIN"];
    Some(testkit::compile(&cc, folder, "program", &source, &options))
}

fn code(program: &Path) -> Option<i32> {
    Command::new(program).status().unwrap().code()
}

#[test]
fn order_needed_writes_undoes_and_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = program(folder.path()) else { return };
    let original = std::fs::read(&program).unwrap();
    let (file, out) = (program.to_str().unwrap(), folder.path().join("copy"));
    let copy = out.to_str().unwrap();
    let found = json(&["elf", "order-needed", file, "--out", copy, "--json"]);
    let count = |name: &str| found[name].as_u64().unwrap();
    assert!(count("probes_after") < count("probes_before") && count("bindings_changed") == 0);
    assert_eq!((count("asked_after"), code(&out)), (count("modules") - 1, Some(1)));
    assert!(found["constructors_moved"].is_array(), "{found}");
    let again = run(&["elf", "order-needed", copy, "--out", &format!("{copy}2")]);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    assert!(stderr(&again).contains("no order of its"), "{}", stderr(&again));
    let exists = run(&["elf", "order-needed", file, "--out", copy]);
    assert!(exists.status.code() == Some(6) && stderr(&exists).contains("exists already"));

    let view = stdout(&run(&["elf", "order-needed", file, "--in-place"]));
    assert!(view.contains("probes") && view.contains("0 changed"), "{view}");
    assert_ne!(std::fs::read(&program).unwrap(), original);
    assert_eq!(code(&program), Some(1));
    assert!(run(&["elf", "order-needed", file, "--undo"]).status.success());
    assert_eq!(std::fs::read(&program).unwrap(), original);
}

#[test]
fn selfbind_writes_a_folder_for_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = program(folder.path()) else { return };
    let out = folder.path().join("out");
    let (file, out_text) = (program.to_str().unwrap(), out.to_str().unwrap());
    let found = json(&["elf", "selfbind", file, "--out", out_text, "--json"]);
    assert!(found["relative"].as_u64().unwrap() >= 30, "{found}");
    assert!(found["lookups_after"].as_u64().unwrap() < found["lookups_before"].as_u64().unwrap());
    assert_eq!(code(&out.join("run")), Some(1));
    assert!(out.join("lib/libbusy.so").is_file() && out.join("libraries.json").is_file());
    let outside = found["outside"].as_array().unwrap();
    assert!(outside.iter().any(|one| one["path"].as_str().unwrap().contains("libc.so.6")));

    let view = stdout(&run(&[
        "elf",
        "selfbind",
        file,
        "--out",
        &format!("{out_text}2"),
        "--outside",
        "libbusy.so",
    ]));
    assert!(view.contains("libbusy.so (as requested)") && view.contains("look-ups"), "{view}");
    let library = folder.path().join("libbusy.so");
    let refused =
        run(&["elf", "selfbind", library.to_str().unwrap(), "--out", &format!("{out_text}3")]);
    assert!(refused.status.code() == Some(1) && stderr(&refused).contains("could be bound"));
    let refused = run(&["elf", "selfbind", file, "--in-place"]);
    assert!(refused.status.code() == Some(2) && stderr(&refused).contains("--out"));
}
