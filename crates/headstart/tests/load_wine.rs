//! `headstart load` of DLLs, good and bad, under Wine.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, json, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;
use testkit::pe::{Machine, mingw};

/// A DLL whose initializer is `body`.
fn dll(folder: &Path, name: &str, body: &str) -> Option<()> {
    let source = format!(
        "#include <windows.h>\nBOOL WINAPI DllMain(HINSTANCE dll, DWORD why, void *more) {{\n\
         if (why == DLL_PROCESS_ATTACH) {{ {body} }}\nreturn TRUE;\n}}\n"
    );
    mingw(folder, Machine::X86_64, name, &source, &["-shared"]).map(drop)
}

fn list(folder: &Path, text: &str) -> String {
    let path = folder.join("list.txt");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn dlls_are_found_as_windows_finds_them_and_failures_are_isolated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if testkit::tool("wine64").is_none() || dll(at, "good.dll", "").is_none() {
        return;
    }
    dll(at, "last.dll", "");
    dll(at, "crash.dll", "*(volatile int *)8 = 1;");
    dll(at, "exits.dll", "ExitProcess(3);");
    dll(at, "hangs.dll", "for (;;) Sleep(100);");
    dll(at, "no.dll", "return FALSE;");
    dll(at, "prints.dll", "WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), \"hello\", 5, &why, 0);");
    fs::write(at.join("text.dll"), "hello\n").unwrap();
    let path = |name: &str| at.join(name).display().to_string();
    let windows = format!("Z:{}", path("last.dll").replace('/', "\\"));
    let rows = [
        ("kernel32.dll", ""),
        ("GOOD.dll", ""),
        ("user32.dll", ""),
        ("crash.dll", "(error 998)"),
        ("exits.dll", "are 3)"),
        (&path("hangs.dll"), "within 2 s"),
        ("./no.dll", "(error 1114)"),
        ("prints.dll", ""),
        ("./text.dll", "it is text"),
        ("no-such.dll", "(error 126)"),
        (&windows, ""),
    ];
    let lines = rows.map(|(name, _)| format!("\"{name}\" ; why\r\n"));
    let list = list(at, &format!("# a list\r\n\r\n{}", lines.concat()));
    let mut command = headstart(at, &["load", "--json", "--timeout", "2s", &list]);
    let output = command.current_dir(at).env("TMPDIR", at).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["loader"], "wine");
    let libraries = found["libraries"].as_array().unwrap();
    assert_eq!(libraries.len(), rows.len());
    for (library, (name, says)) in libraries.iter().zip(rows) {
        let error = library["error"].as_str().unwrap_or("");
        assert!(error.contains(says) && error.is_empty() == says.is_empty(), "{library}");
        assert_eq!(library["name"], name);
        let ended = name == "exits.dll" || name.ends_with("hangs.dll");
        assert_eq!(library["us"].is_f64(), !ended, "{library}");
        assert!(library["minor_faults"].is_null() && library["read_bytes"].is_null(), "{library}");
    }
    let sum: f64 = libraries.iter().filter_map(|library| library["us"].as_f64()).sum();
    assert!((found["total_us"].as_f64().unwrap() - sum).abs() < 0.01);
    let mine = libraries[10]["path"].as_str().unwrap();
    assert!(mine.ends_with("\\last.dll") && libraries[10]["modules"] == 1, "{found}");
    let left = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("wine")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// LoadDlls' question, asked of what every program for Windows has.
#[test]
fn common_dlls_are_loaded_and_shown() {
    if testkit::tool("wine64").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let names = "kernel32.dll\nuser32.dll\ngdi32.dll\nadvapi32.dll\nole32.dll\noleaut32.dll\n\
                 shell32.dll\nshlwapi.dll\ncomctl32.dll\ncomdlg32.dll\nws2_32.dll\nwininet.dll\n\
                 version.dll\nwinmm.dll\nmsvcrt.dll\nrpcrt4.dll\ncrypt32.dll\nsetupapi.dll\n";
    let output = run(&["load", "--strict", &list(folder.path(), names)]);
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}{}", stderr(&output));
    assert!(shown.contains("18 libraries loaded in "), "{shown}");
    assert!(shown.contains("(LoadLibrary under Wine)"), "{shown}");
    assert!(shown.contains("loaded by LoadLibrary under wine-"), "{shown}");
}

#[test]
fn what_is_not_possible_with_dlls_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dlls = list(folder.path(), "kernel32.dll\nUser32.DLL\n");
    for words in [
        &["load", "--cold", &dlls][..],
        &["load", "--prefetch", &dlls],
        &["load", "--compare", &dlls],
        &["experiment", "prefetch", &dlls],
    ] {
        let output = run(words);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("is for libraries of Linux"), "{text}");
    }
    let mixed = list(folder.path(), "libm.so.6\nkernel32.dll\n");
    let found = json(&["load", "--json", &mixed]);
    assert_eq!(found["loader"], "dlopen");
    assert!(found["libraries"][0]["error"].is_null(), "{found}");
    let error = found["libraries"][1]["error"].as_str().unwrap();
    assert!(error.contains("a list of nothing but DLLs is loaded by Wine"), "{found}");
}
