//! headstart.exe, the build for Windows, under Wine: its files are those of the build for Linux, byte
//! for byte, and so is what it prints of files.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;
#[path = "windows_build/pair.rs"]
mod pair;
#[path = "windows_build/trace.rs"]
mod trace;

use pair::{Pair, assert_same_trees, backdated};
use std::fs;

/// Verbs that rewrite a set in place; the files are those of `set`.
const IN_PLACE: [&[&str]; 6] = [
    &["pe", "rebase"],
    &["pe", "bind"],
    &["pe", "hints"],
    &["pe", "ordinal"],
    &["pe", "realign"],
    &["pe", "flags", "--set", "no-bind"],
];

/// Otherwise Wine reads its sections into memory of their own, and each fork, of which every launch needs one, copies
/// more page tables.
#[test]
fn wine_maps_the_build_for_windows_from_its_file() {
    let Some(pair) = Pair::new() else { return };
    let cache = tempfile::tempdir().unwrap();
    let mut inspect = common::headstart(cache.path(), &["inspect", "--json"]);
    let inspected = inspect.arg(&pair.exe).output();
    let facts: serde_json::Value = serde_json::from_slice(&inspected.unwrap().stdout).unwrap();
    assert_eq!(facts[0]["file_alignment"], 4096);
    let sections = facts[0]["sections"].as_array().unwrap();
    let names: Vec<&str> = sections.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&".text"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("debug")), "{names:?}");
}

#[test]
fn generated_files_are_the_same() {
    let Some(pair) = Pair::new() else { return };
    for words in [
        &["generate", "pietrek", "--format", "pe", "--dlls", "5", "--out", "made"][..],
        &[
            "generate", "pietrek", "--format", "pe", "--by", "ordinal", "--hints", "zero", "--out",
            "made",
        ],
        &["generate", "pietrek", "--dlls", "3", "--out", "made"],
        &["generate", "pietrek", "--dlls", "3", "--source", "--out", "made"],
        &["generate", "dawson", "--format", "pe", "--out", "made"],
        &["generate", "shape", "dense", "--n", "9", "--out", "made"],
    ] {
        let folders = pair.both(words, 0);
        assert_same_trees(&folders, words);
    }
}

#[test]
fn sets_are_rewritten_in_place_and_restored_as_on_linux() {
    let Some(pair) = Pair::new() else { return };
    for verb in IN_PLACE {
        let folders = pair.with(|folder| {
            pair.linux(
                folder,
                &["generate", "pietrek", "--format", "pe", "--hints", "zero", "--out", "."],
            );
            backdated(folder);
        });
        let files =
            ["LoadTimeTest.exe", "LoadTimeDLL_1.dll", "LoadTimeDLL_2.dll", "LoadTimeDLL_10.dll"];
        let before = folders.content();
        pair.run_in(&folders, &[verb, &["--in-place"], &files].concat(), 0);
        // With the undo files.
        assert_same_trees(&folders, verb);
        assert!(folders.content() != before, "{verb:?} changes nothing");
        pair.run_in(&folders, &[&verb[..2], &["--undo"], &files].concat(), 0);
        assert_same_trees(&folders, verb);
        assert!(folders.content() == before, "{verb:?}");
    }
}

#[test]
fn copies_of_real_linkers_images_are_the_same() {
    let Some(pair) = Pair::new() else { return };
    let folders = pair.with(|folder| {
        fs::create_dir(folder.join("in")).unwrap();
        testkit::pe::samples(&folder.join("in"));
    });
    let names = folders.names("in");
    assert!(names.len() > 5, "{names:?}");
    let mut written = 0;
    for name in &names {
        let file = format!("in/{name}");
        for verb in
            [&["pe", "rebase", "--base", "0x20000000"][..], &["pe", "realign"], &["pe", "bind"]]
        {
            let out = format!("out-{written}");
            written += 1;
            pair.run_alike(&folders, &[verb, &["--out", &out, &file]].concat());
        }
    }
    assert_same_trees(&folders, &["pe"]);
    assert!(folders.names(".").len() > 5, "some of them can be rewritten");
}

#[test]
fn facts_are_printed_alike() {
    let Some(pair) = Pair::new() else { return };
    let folders = pair.with(|folder| {
        let made = |words: &[&str]| pair.linux(folder, words);
        made(&["generate", "pietrek", "--format", "pe", "--dlls", "3", "--out", "pe"]);
        made(&["generate", "pietrek", "--dlls", "3", "--out", "elf"]);
        fs::create_dir(folder.join("samples")).unwrap();
        testkit::pe::samples(&folder.join("samples"));
        fs::copy("/proc/self/exe", folder.join("program")).unwrap();
        fs::write(folder.join("text"), "#!/bin/sh\nexit 0\n").unwrap();
        fs::write(folder.join("nothing"), "").unwrap();
    });
    let samples = folders.names("samples").into_iter().map(|name| format!("samples/{name}"));
    let own = ["pe/LoadTimeTest.exe", "pe/LoadTimeDLL_2.dll", "elf/LoadTimeTest", "program"];
    let images: Vec<String> = samples.chain(own.map(str::to_owned)).collect();
    for image in &images {
        pair.run_alike(&folders, &["inspect", "--json", image]);
        pair.run_alike(&folders, &["inspect", image]);
    }
    let all: Vec<&str> = images.iter().map(String::as_str).chain(["text", "nothing"]).collect();
    for verb in [&["identify", "--json"][..], &["identify"], &["inspect", "--json"]] {
        pair.run_alike(&folders, &[verb, &all].concat());
    }
    let dlls = ["pe/LoadTimeTest.exe", "pe/LoadTimeDLL_1.dll", "pe/LoadTimeDLL_2.dll"];
    pair.run_alike(&folders, &[&["pe", "survey", "--json"], &dlls[..]].concat());
    for options in [&["--json"][..], &["--bindings"], &["--order"]] {
        pair.run_with_paths(&folders, &[&["simulate"], options, &["elf/LoadTimeTest"]].concat());
    }
}

#[test]
fn elf_files_are_rewritten_as_on_linux() {
    let Some(pair) = Pair::new() else { return };
    let folders = pair.with(|folder| {
        pair.linux(folder, &["generate", "pietrek", "--dlls", "3", "--out", "."]);
        fs::copy("/proc/self/exe", folder.join("program")).unwrap();
        backdated(folder);
    });
    pair.run_alike(&folders, &["elf", "relr", "--out", "packed", "program"]);
    pair.run_alike(
        &folders,
        &["elf", "no-pie", "--base", "0x20000000", "--out", "fixed", "program"],
    );
    pair.run_alike(&folders, &["elf", "order-needed", "--out", "ordered", "LoadTimeTest"]);
    let before = fs::read(folders.windows.path().join("program")).unwrap();
    pair.run_alike(&folders, &["elf", "relr", "--in-place", "program"]);
    assert_same_trees(&folders, &["elf", "relr"]);
    assert!(fs::read(folders.windows.path().join("program")).unwrap() != before);
    pair.run_alike(&folders, &["elf", "relr", "--undo", "program"]);
    assert!(fs::read(folders.windows.path().join("program")).unwrap() == before);
    assert_same_trees(&folders, &["elf", "relr"]);
}

#[test]
fn a_library_is_bound_to_itself_as_on_linux() {
    let Some(pair) = Pair::new() else { return };
    let Some(compiler) = testkit::tool("gcc") else { return };
    let source = "int value(void) { return 1; } int data = 2; int *there = &data;\n\
                  int (*points)(void) = value;";
    let folders = pair.with(|folder| {
        let flags = ["-shared", "-fPIC", "-Wl,-z,now"];
        let plain = testkit::compile(&compiler, folder, "plain.so", source, &flags);
        // Linkers leave nothing to do with -Bsymbolic; a library may be made so later: DF_SYMBOLIC in DT_FLAGS.
        let mut bytes = fs::read(plain).unwrap();
        let flags: Vec<u8> = [30_u64, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = bytes.windows(16).position(|found| found == flags).unwrap();
        bytes[at + 8] |= 2;
        fs::write(folder.join("symbolic.so"), bytes).unwrap();
    });
    pair.run_alike(&folders, &["elf", "selfbind", "--out", "bound.so", "plain.so"]);
    pair.run_alike(&folders, &["elf", "selfbind", "--out", "bound.so", "symbolic.so"]);
    let of = |name: &str| fs::read(folders.windows.path().join(name)).unwrap();
    assert!(of("bound.so") != of("symbolic.so"));
    assert_same_trees(&folders, &["elf", "selfbind"]);
}

#[test]
fn paths_are_those_of_windows() {
    let Some(pair) = Pair::new() else { return };
    let folders = pair.with(|folder| {
        pair.linux(
            folder,
            &["generate", "pietrek", "--format", "pe", "--dlls", "2", "--out", "dlls"],
        );
        let long = folder.join("x".repeat(150)).join("y".repeat(150));
        fs::create_dir_all(&long).unwrap();
        fs::copy(folder.join("dlls/LoadTimeDLL_1.dll"), long.join("a.dll")).unwrap();
    });
    let at = folders.windows.path();
    let good = |words: &[&str]| {
        let printed = pair.windows(at, words);
        assert_eq!(printed.code, Some(0), "{words:?}: {}", printed.stderr);
        String::from_utf8(printed.stdout).unwrap()
    };
    // Case makes no difference, and the shell leaves patterns to the command.
    good(&["pe", "rebase", "--out", "moved", r"dlls\LOADTIME*.DLL"]);
    assert_eq!(folders.names("moved"), ["LoadTimeDLL_1.dll", "LoadTimeDLL_2.dll"]);
    let long = format!(r"{}\{}\a.dll", "x".repeat(150), "y".repeat(150));
    let before = fs::read(at.join(long.replace('\\', "/"))).unwrap();
    let told = good(&["pe", "rebase", "--in-place", "--json", &long]);
    assert!(!told.contains(r"\\\\?\\"), "{told}");
    assert!(fs::read(at.join(long.replace('\\', "/"))).unwrap() != before);
    good(&["pe", "rebase", "--undo", &long]);
    assert!(fs::read(at.join(long.replace('\\', "/"))).unwrap() == before);
    let both = ["dlls/LoadTimeDLL_1.dll", "dlls/loadtimedll_1.DLL"];
    let refused = pair.windows(at, &[&["pe", "rebase", "--out", "twice"][..], &both].concat());
    assert!(refused.stderr.contains("same file"), "{}", refused.stderr);
    for (words, told) in [
        (&["pe", "rebase", "--out", "none", "no*.dll"][..], "no file matches this pattern"),
        (&["pe", "rebase", "--out", "NUL", "dlls/LoadTimeDLL_1.dll"], "device"),
        (&["bundle", "--fixed", "x"], "does not have 'bundle'"),
        (&["cache", "status"], "does not have 'cache status'"),
        (&["cache"], "does not have 'cache'"),
    ] {
        let refused = pair.windows(at, words);
        assert_ne!(refused.code, Some(0), "{words:?}");
        assert!(refused.stderr.contains(told), "{words:?}: {}", refused.stderr);
    }
    let hidden = |name: &String| name.starts_with('.');
    assert!(!folders.names(".").iter().any(hidden) && !folders.names("dlls").iter().any(hidden));
}
