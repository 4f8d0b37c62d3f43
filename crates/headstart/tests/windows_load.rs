//! Lists of DLLs that headstart.exe loads. As `windows.rs`, they need no Windows, but Wine.
#![cfg(windows)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs headstart in `folder`; it ends with this exit code. Wine 8.0 ends one launch in thousands
/// itself: then it is done again.
fn headstart(folder: &Path, arguments: &[&str], code: i32) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.args(arguments).current_dir(folder);
    let mut output = command.output().unwrap();
    if output.status.code() != Some(code) {
        output = command.output().unwrap();
    }
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\r', "")
}

/// What a load of the list takes, given before the names of `options`.
fn loaded(folder: &Path, options: &[&str], list: impl AsRef<[u8]>, code: i32) -> Value {
    fs::write(folder.join("list.txt"), list).unwrap();
    let words = [&["load", "--json"], options, &["list.txt"]].concat();
    serde_json::from_slice(&headstart(folder, &words, code).stdout).unwrap()
}

/// As Windows' Notepad writes it: UTF-16 with a byte order mark.
fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .fold(vec![0xff, 0xfe], |bytes, unit| [bytes, unit.to_le_bytes().into()].concat())
}

/// Generates a program and the DLL that it needs, in the folder `generated`.
fn generate(folder: &Path) {
    generate_with(folder, 1);
}

/// Generates a program and the DLLs that it needs.
fn generate_with(folder: &Path, dlls: usize) {
    let dlls = dlls.to_string();
    let words = ["generate", "pietrek", "--format", "pe", "--dlls", &dlls, "--out", "generated"];
    headstart(folder, &words, 0);
}

/// The DLL, which has no initializer, and the same with the initializers `codes`.
fn dlls<const N: usize>(folder: &Path, codes: [&[u8]; N]) -> (Vec<u8>, [Vec<u8>; N]) {
    generate(folder);
    let plain = fs::read(folder.join(r"generated\LoadTimeDLL_1.dll")).unwrap();
    let four = |at: usize| u32::from_le_bytes(plain[at..at + 4].try_into().unwrap());
    let headers = four(0x3c) as usize;
    let first_section = headers + 24 + (four(headers + 20) & 0xffff) as usize;
    let (rva, offset) = (four(first_section + 12), four(first_section + 20) as usize);
    let dlls = codes.map(|code| {
        let mut dll = plain.clone();
        dll[headers + 40..headers + 44].copy_from_slice(&rva.to_le_bytes());
        dll[offset..offset + code.len()].copy_from_slice(code);
        dll
    });
    (plain, dlls)
}

/// The program as a DLL whose initializer is all of the program.
fn program_as_dll(folder: &Path) -> Vec<u8> {
    generate(folder);
    generated_as_dll(folder)
}

fn generated_as_dll(folder: &Path) -> Vec<u8> {
    let mut dll = fs::read(folder.join(r"generated\LoadTimeTest.exe")).unwrap();
    let headers = u32::from_le_bytes(dll[0x3c..0x40].try_into().unwrap()) as usize;
    // IMAGE_FILE_DLL, and a base where nothing is.
    dll[headers + 23] |= 0x20;
    dll[headers + 48..headers + 56].copy_from_slice(&0x3_0000_0000_u64.to_le_bytes());
    dll
}

#[test]
fn good_and_bad_dlls_are_told_apart_and_the_others_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let codes: [&[u8]; 3] = [&[0x0f, 0x0b], &[0xeb, 0xfe], &[0x31, 0xc0, 0xc3]];
    // ud2; a jump to itself; xor eax, eax and ret.
    let (good, [crash, hangs, no]) = dlls(at, codes);
    fs::create_dir(at.join("sub")).unwrap();
    for name in ["good.dll", "caf\u{e9} \u{416} 1.dll", r"sub\last.dll"] {
        fs::write(at.join(name), &good).unwrap();
    }
    for (name, dll) in [("crash.dll", crash), ("hangs.dll", hangs), ("no.dll", no)] {
        fs::write(at.join(name), dll).unwrap();
    }
    fs::write(at.join("text.dll"), "hello\n").unwrap();
    let rows = [
        ("kernel32.dll", ""),
        ("GOOD.dll", ""),
        ("user32", ""),
        ("crash.dll", "status c000001d (illegal instruction)"),
        ("hangs.dll", "within 2 s and was given up"),
        (r".\no.dll", "its initialization failed (error 1114)"),
        ("text.dll", "it is no library for 64-bit Windows (it is text"),
        ("no-such.dll", "it, or a library that it needs, was not found"),
        (r"sub\no-such", "there is no such file; check the path (error 126)"),
        ("caf\u{e9} \u{416} 1.dll", ""),
        ("sub/last.dll", ""),
    ];
    let lines = rows.map(|(name, _)| format!("\"{name}\" ; why\r\n"));
    let list = wide(&format!("# a list\r\n\r\n{}", lines.concat()));
    let found = loaded(at, &["--timeout", "2s"], list, 0);
    let libraries = found["libraries"].as_array().unwrap();
    assert_eq!(libraries.len(), rows.len());
    for (library, (name, says)) in libraries.iter().zip(rows) {
        let error = library["error"].as_str().unwrap_or("");
        assert!(error.contains(says) && error.is_empty() == says.is_empty(), "{library}");
        assert_eq!(library["name"], name);
        // Wine's loader survives the crash of an initializer.
        let ended = name == "hangs.dll" || name == "crash.dll" && library["us"].is_null();
        assert_eq!(library["us"].is_null(), ended, "{library}");
        assert_eq!(library["path"].is_null(), !says.is_empty(), "{library}");
        for counter in ["minor_faults", "major_faults", "read_bytes"] {
            assert!(library[counter].is_null(), "{library}");
        }
    }
    let whole = |name: &str| at.join(name).to_string_lossy().to_lowercase();
    for (index, name) in [(1, "good.dll"), (9, rows[9].0), (10, r"sub\last.dll")] {
        assert_eq!(libraries[index]["path"].as_str().unwrap().to_lowercase(), whole(name));
        assert_eq!(libraries[index]["modules"], 1);
    }
    let sum: f64 = libraries.iter().filter_map(|library| library["us"].as_f64()).sum();
    assert!((found["total_us"].as_f64().unwrap() - sum).abs() < 0.01);
    loaded(at, &["--strict", "--timeout", "2s"], "good.dll\ntext.dll\n", 1);
    loaded(at, &["--strict"], "\u{feff}good.dll\n", 0);
}

#[test]
fn dlls_that_a_dll_needs_are_named_where_they_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("needy.dll"), program_as_dll(at)).unwrap();
    let list = "needy.dll\nkernel32.dll\n";
    let found = loaded(at, &[], list, 0);
    let error = found["libraries"][0]["error"].as_str().unwrap();
    let says = "no folder that the loader searches has LoadTimeDLL_1.dll (imported by needy.dll)";
    assert!(error.contains(says), "{error}");
    assert!(found["libraries"][1]["error"].is_null(), "{found}");
    // Of what is no DLL Wine says what it says of none.
    fs::write(at.join("LoadTimeDLL_1.dll"), "text").unwrap();
    let found = loaded(at, &[], list, 0);
    let error = found["libraries"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("a library that it needs "), "{error}");
    // With it, the initializer runs, which ends the process.
    fs::copy(at.join(r"generated\LoadTimeDLL_1.dll"), at.join("LoadTimeDLL_1.dll")).unwrap();
    let found = loaded(at, &[], list, 0);
    let error = found["libraries"][0]["error"].as_str().unwrap();
    assert!(error.contains("it ended the process with exit code 0"), "{error}");
    assert!(found["libraries"][1]["error"].is_null(), "{found}");
}

/// File names of what came with a library. Checks that all of it came during the load, in this order, and is
/// counted.
fn came_with(library: &Value) -> Vec<String> {
    let came = library["came_with"].as_array().unwrap();
    let times: Vec<f64> = came.iter().map(|file| file["at_us"].as_f64().unwrap()).collect();
    let ends = library["us"].as_f64().unwrap();
    assert!(times.is_sorted() && times.iter().all(|at| (0.0..=ends).contains(at)), "{library}");
    assert_eq!(library["modules"], came.len(), "{library}");
    let paths = came.iter().map(|file| file["path"].as_str().unwrap());
    paths.map(|path| path.rsplit_once('\\').unwrap().1.to_owned()).collect()
}

#[test]
fn what_came_with_a_dll_is_named_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generate_with(at, 30);
    let mut needy = generated_as_dll(at);
    let headers = u32::from_le_bytes(needy[0x3c..0x40].try_into().unwrap()) as usize;
    // No initializer.
    needy[headers + 40..headers + 44].fill(0);
    fs::write(at.join("needy.dll"), needy).unwrap();
    let mut expected: Vec<String> =
        (1..=30).map(|number| format!("LoadTimeDLL_{number}.dll")).collect();
    for name in &expected {
        fs::rename(at.join("generated").join(name), at.join(name)).unwrap();
    }
    fs::remove_dir_all(at.join("generated")).unwrap();
    // xor eax, eax; ret: it fails.
    let (_, [no]) = dlls(at, [&[0x31, 0xc0, 0xc3]]);
    fs::write(at.join("no \u{1f600}.dll"), no).unwrap();
    let list =
        "LoadTimeDLL_7.dll\n\"no \u{1f600}.dll\"\nneedy.dll\nneedy.dll\nLoadTimeDLL_30.dll\n";
    let found = loaded(at, &[], list, 0);
    let libraries = found["libraries"].as_array().unwrap();
    assert_eq!(came_with(&libraries[0]), ["LoadTimeDLL_7.dll"]);
    // It was loaded and unloaded again.
    assert!(libraries[1]["error"].as_str().unwrap().contains("(error 1114)"), "{found}");
    assert_eq!(came_with(&libraries[1]), ["no \u{1f600}.dll"]);
    assert!(libraries[1]["came_with"][0]["left_at_us"].is_f64(), "{found}");
    expected.retain(|name| name != "LoadTimeDLL_7.dll");
    expected.push("needy.dll".to_owned());
    assert_eq!(came_with(&libraries[2]), expected);
    let stays = |file: &Value| file["left_at_us"].is_null() && file["by_other_thread"] == false;
    assert!(libraries[2]["came_with"].as_array().unwrap().iter().all(stays), "{found}");
    assert!(came_with(&libraries[3]).is_empty() && came_with(&libraries[4]).is_empty());
    let shown = text(&headstart(at, &["load", "list.txt"], 0).stdout);
    assert!(shown.contains("came with\n  needy.dll: LoadTimeDLL_1.dll, "), "{shown}");
    assert!(shown.replace("\n    ", " ").contains("LoadTimeDLL_13.dll and 17 more\n"), "{shown}");
}

#[test]
fn who_loads_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let found = loaded(folder.path(), &[], "user32.dll\r\n", 0);
    let doctor = headstart(folder.path(), &["doctor", "--json"], 0);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let system = doctor.as_array().unwrap().iter().find(|check| check["id"] == "system").unwrap();
    let wine = system["found"].as_str().unwrap().starts_with("Wine ");
    assert_eq!(found["loader"], if wine { "wine" } else { "LoadLibrary" });
    let note = found["notes"][0].as_str().unwrap();
    let words = if wine { "LoadLibrary of wine-" } else { "LoadLibrary of Windows" };
    assert!(note.contains(words), "{note}");
}

#[test]
fn what_is_no_list_or_only_on_linux_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let lists: [(&str, &[u8], &str); 4] = [
        (
            "half.txt",
            b"\xff\xfea\0\n\0\x00\xd8\n\0",
            "half.txt: line 2: it is marked as UTF-16, and",
        ),
        ("odd.txt", b"\xff\xfea\0b", "odd.txt: line 1: it is marked as UTF-16, and ends within"),
        ("ansi.txt", b"a.dll\r\ncaf\xe9.dll\r\n", "ansi.txt: line 2: the name is not UTF-8"),
        ("empty.txt", b"; nothing\r\n", "empty.txt: it names no library"),
    ];
    for (name, bytes, says) in lists {
        fs::write(at.join(name), bytes).unwrap();
        let told = text(&headstart(at, &["load", name], 6).stderr);
        assert!(told.contains(says), "{told}");
    }
    fs::write(at.join("list.txt"), "user32.dll\n").unwrap();
    for option in ["--cold", "--prefetch", "--parallel", "--compare", "--sample"] {
        let told = text(&headstart(at, &["load", option, "list.txt"], 2).stderr);
        let says = format!("headstart for Windows has no 'load {option}'");
        assert!(told.contains(&says), "{told}");
    }
    let help = text(&headstart(at, &["load", "--help"], 0).stdout);
    assert!(help.contains("--timeout") && !help.contains("--cold"), "{help}");
    assert!(help.contains("Usage: headstart.exe load [OPTIONS]"), "{help}");
}
