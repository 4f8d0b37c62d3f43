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

/// Writes a generated program to `folder` as the DLL `name`, which needs the generated LoadTimeDLL_1.dll and so on,
/// in this order. `initializer` is machine code; if it is empty, the DLL has no initializer.
fn needy(folder: &Path, name: &str, dlls: usize, initializer: &[u8]) {
    let (count, out) = (dlls.to_string(), folder.join("generated"));
    let words =
        ["generate", "pietrek", "--format", "pe", "--dlls", &count, "--out", out.to_str().unwrap()];
    assert!(run(&words).status.success());
    for dll in 1..=dlls {
        let dll = format!("LoadTimeDLL_{dll}.dll");
        fs::rename(out.join(&dll), folder.join(&dll)).unwrap();
    }
    let mut image = fs::read(out.join("LoadTimeTest.exe")).unwrap();
    fs::remove_dir_all(out).unwrap();
    let four = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
    let headers = four(0x3c) as usize;
    let section = headers + 24 + (four(headers + 20) & 0xffff) as usize;
    let (rva, code) = (four(section + 12), four(section + 20) as usize);
    let entry = if initializer.is_empty() { 0 } else { rva };
    // IMAGE_FILE_DLL, the entry point, and a base where nothing else is, not even another of these DLLs.
    let base = 0x3_0000_0000 + ((dlls as u64) << 28) + ((initializer.len() as u64) << 20);
    image[headers + 23] |= 0x20;
    image[headers + 40..headers + 44].copy_from_slice(&entry.to_le_bytes());
    image[headers + 48..headers + 56].copy_from_slice(&base.to_le_bytes());
    image[code..code + initializer.len()].copy_from_slice(initializer);
    fs::write(folder.join(name), image).unwrap();
}

/// The JSON output of a load of this list, run in `folder`.
fn loaded(folder: &Path, text: &str) -> Value {
    let list = list(folder, text);
    let output =
        headstart(folder, &["load", "--json", &list]).current_dir(folder).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// File names of what came with a library. Checks that all of it came during the load, in this order, and is
/// counted.
fn came_with(library: &Value) -> Vec<String> {
    let came = library["came_with"].as_array().unwrap();
    let times: Vec<f64> = came.iter().map(|file| file["at_us"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times.first().is_none_or(|first| *first > 0.0), "{library}");
    assert!(times.last().is_none_or(|last| *last < library["us"].as_f64().unwrap()), "{library}");
    assert_eq!(library["modules"], came.len(), "{library}");
    let paths = came.iter().map(|file| file["path"].as_str().unwrap());
    paths.map(|path| path.rsplit_once('\\').unwrap().1.to_owned()).collect()
}

fn left(library: &Value) -> usize {
    let came = library["came_with"].as_array().unwrap();
    came.iter().filter(|file| file["left_at_us"].as_f64() > file["at_us"].as_f64()).count()
}

#[test]
fn what_came_with_a_dll_is_named_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if testkit::tool("wine64").is_none() {
        return;
    }
    needy(at, "thirty.dll", 30, &[]);
    // xor eax, eax; ret: it fails.
    needy(at, "refused.dll", 2, &[0x31, 0xc0, 0xc3]);
    needy(at, "needy.dll", 2, &[]);
    fs::copy(at.join("LoadTimeDLL_1.dll"), at.join("alone \u{1f600}.dll")).unwrap();
    let mut expected: Vec<String> =
        (1..=30).map(|number| format!("LoadTimeDLL_{number}.dll")).collect();
    expected.push("thirty.dll".to_owned());
    let text = "refused.dll\nkernel32.dll\nneedy.dll\nneedy.dll\n\"./alone \u{1f600}.dll\"\n\
                no-such.dll\nthirty.dll\n";
    let found = loaded(at, text);
    let libraries = found["libraries"].as_array().unwrap();
    let two = ["LoadTimeDLL_1.dll", "LoadTimeDLL_2.dll"];
    assert_eq!(came_with(&libraries[0]), [&two[..], &["refused.dll"]].concat());
    assert!(libraries[0]["error"].as_str().unwrap().contains("(error 1114)"));
    assert_eq!(left(&libraries[0]), 3, "{found}");
    assert!(came_with(&libraries[1]).is_empty());
    assert_eq!(came_with(&libraries[2]), [&two[..], &["needy.dll"]].concat());
    assert!(came_with(&libraries[3]).is_empty(), "it was already loaded");
    assert_eq!(came_with(&libraries[4]), ["alone \u{1f600}.dll"]);
    assert!(came_with(&libraries[5]).is_empty());
    assert_eq!(came_with(&libraries[6]), expected[2..], "two of them were already loaded");
    let stay = libraries.iter().skip(1).map(left).sum::<usize>();
    assert_eq!(stay, 0, "{found}");
    let own = libraries[2]["came_with"].as_array().unwrap().last().unwrap();
    assert_eq!((&own["path"], &own["by_other_thread"]), (&libraries[2]["path"], &false.into()));
    let list = list(at, text);
    let output = headstart(at, &["load", &list]).current_dir(at).output().unwrap();
    let shown = stdout(&output);
    assert!(shown.contains("\n  needy.dll: LoadTimeDLL_1.dll, LoadTimeDLL_2.dll\n"), "{shown}");
    let last = "LoadTimeDLL_13.dll, LoadTimeDLL_14.dll and 16 more\n";
    let shown = shown.replace("\n    ", " ");
    assert!(shown.contains(last) && !shown.contains("\n  alone"), "{shown}");
}

/// The loader does not report what it has mapped for a DLL that cannot be loaded because another one is missing.
#[test]
fn nothing_comes_with_a_dll_if_one_that_it_needs_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if testkit::tool("wine64").is_none() {
        return;
    }
    needy(at, "lacks.dll", 2, &[]);
    fs::remove_file(at.join("LoadTimeDLL_2.dll")).unwrap();
    let found = loaded(at, "lacks.dll\nLoadTimeDLL_1.dll\nLoadTimeDLL_1.dll\n");
    let libraries = found["libraries"].as_array().unwrap();
    assert!(libraries[0]["error"].as_str().unwrap().contains("(error 126)"), "{found}");
    assert!(came_with(&libraries[0]).is_empty() && came_with(&libraries[2]).is_empty());
    assert_eq!(came_with(&libraries[1]), ["LoadTimeDLL_1.dll"]);
}

/// A library that closes the standard output, and one that prints as many records as it wants, with the mark that it
/// finds in the program.
#[test]
fn libraries_that_meddle_with_the_output_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if testkit::tool("wine64").is_none() {
        return;
    }
    dll(at, "closes.dll", "CloseHandle(GetStdHandle(STD_OUTPUT_HANDLE));");
    dll(
        at,
        "forges.dll",
        "char record[96]; DWORD written; char *image = (char *)GetModuleHandleA(0);\n\
         IMAGE_NT_HEADERS *headers = (void *)(image + *(int *)(image + 60));\n\
         char *data = image + IMAGE_FIRST_SECTION(headers)[2].VirtualAddress;\n\
         memcpy(record, data, sizeof record); *(int *)(record + 60) = 0;\n\
         for (int i = 0; i < 50; i++) { (*(long long *)(record + 16))++;\n\
         WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), record, sizeof record, &written, 0); }",
    );
    dll(at, "last.dll", "");
    let found = loaded(at, "closes.dll\nlast.dll\n");
    let errors = |found: &Value| {
        let libraries = found["libraries"].as_array().unwrap().iter();
        libraries.map(|library| library["error"].is_null()).collect::<Vec<_>>()
    };
    assert_eq!(errors(&found), [true, true], "{found}");
    let found = loaded(at, "forges.dll\nlast.dll\n");
    assert_eq!(errors(&found).len(), 2, "{found}");
}

/// Initializers load other DLLs, and so do threads, which go on running after the load.
#[test]
fn what_libraries_load_themselves_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if testkit::tool("wine64").is_none() || dll(at, "inner.dll", "").is_none() {
        return;
    }
    dll(at, "outer.dll", "LoadLibraryA(\"inner.dll\");");
    dll(at, "passing.dll", "FreeLibrary(LoadLibraryA(\"visitor.dll\"));");
    dll(at, "visitor.dll", "");
    dll(at, "late.dll", "");
    let thread = "CreateThread(0, 0, (void *)LoadLibraryA, \"late.dll\", 0, 0);";
    dll(at, "threads.dll", thread);
    dll(
        at,
        "much.dll",
        "for (int i = 0; i < 600; i++) FreeLibrary(LoadLibraryA(\"visitor.dll\"));",
    );
    // Other threads wait while an initializer runs, unless it releases the loader lock, which Wine allows.
    dll(
        at,
        "pause.dll",
        "ULONG_PTR cookie; HMODULE ntdll = GetModuleHandleA(\"ntdll.dll\");\n\
         ((LONG (NTAPI *)(ULONG, ULONG_PTR))GetProcAddress(ntdll, \"LdrUnlockLoaderLock\"))\n\
         (0, GetCurrentThreadId());\n\
         for (int i = 0; i < 500 && !GetModuleHandleA(\"late.dll\"); i++) Sleep(10);\n\
         ((LONG (NTAPI *)(ULONG, ULONG *, ULONG_PTR *))GetProcAddress(ntdll, \"LdrLockLoaderLock\"))\n\
         (0, 0, &cookie);",
    );
    let found =
        loaded(at, "msvcrt.dll\nouter.dll\npassing.dll\nthreads.dll\npause.dll\nuser32.dll\n");
    let libraries = found["libraries"].as_array().unwrap();
    let own = |index: usize| {
        let mut library: Value = libraries[index].clone();
        library["came_with"]
            .as_array_mut()
            .unwrap()
            .retain(|file| file["by_other_thread"] == false);
        library["modules"] = library["came_with"].as_array().unwrap().len().into();
        library
    };
    assert_eq!(came_with(&own(1)), ["outer.dll", "inner.dll"], "{found}");
    assert_eq!(came_with(&own(2)), ["passing.dll", "visitor.dll"], "{found}");
    assert_eq!(left(&libraries[2]), 1, "{found}");
    assert_eq!(came_with(&own(3)), ["threads.dll"], "{found}");
    let late = libraries.iter().filter_map(|library| library["came_with"].as_array()).flatten();
    let late = late.filter(|file| file["path"].as_str().unwrap().ends_with("\\late.dll"));
    let late: Vec<_> = late.collect();
    assert!(late.iter().all(|file| file["by_other_thread"] == true), "{found}");
    let between = found["notes"].to_string().contains("1 DLL was loaded by another thread");
    assert_eq!(late.len() + usize::from(between), 1, "{found}");
    // More than there is room for: only the number of DLLs that stayed is known.
    let found = loaded(at, "msvcrt.dll\nmuch.dll\nvisitor.dll\n");
    let libraries = found["libraries"].as_array().unwrap();
    assert!(libraries[1]["came_with"].is_null() && libraries[1]["modules"] == 1, "{found}");
    let note = "which DLLs came with 1 library is not known, because some of the loader's reports were lost";
    assert!(found["notes"].to_string().contains(note), "{found}");
    assert_eq!(came_with(&libraries[2]), ["visitor.dll"], "{found}");
}
