//! The functions that stand in for the C library's.

use crate::bench::{Bench, launch};
use startup::{BuildError, MergedModule, Preamble, Symbols, Tables};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;

/// What the functions of the C library answer for `path`, and what the wrappers do.
fn answers(bench: &Bench, path: &str, size: &str, true_size: &str) -> (String, String) {
    let ask = |which| {
        let launched = launch(&mut bench.command(&[which, path, size, true_size]));
        assert_eq!(launched.status.code(), Some(0), "{path} {launched:?}");
        launched.stdout
    };
    (ask("real"), ask("wrap"))
}

#[test]
fn the_programs_own_file_is_the_originals() {
    let Some(bench) = Bench::new() else { return };
    // realpath asks the file system, so it must exist.
    let original_file = bench.path("original");
    let text = original_file.to_str().unwrap();
    let length = text.len();
    bench.install(&Tables { original_file: text.into(), ..bench.tables() });
    for path in ["/proc/self/exe", "/proc/thread-self/exe", "/proc/%d/exe"] {
        let (_, wrapped) = answers(&bench, path, "4096", "4096");
        // Nothing behind the answer is written, not even an end; errno stays.
        let link = format!("{length} errno 77 {text}##\n");
        // As realpath leaves it of its own: a part of the path was no link.
        let name = format!("{text} errno 22\n");
        assert_eq!(wrapped, [link.repeat(4), name.repeat(3)].concat(), "{path}");
    }
    for size in [1, 7, length - 1, length] {
        let (real, wrapped) = answers(&bench, "/proc/self/exe", &size.to_string(), "4096");
        let link = format!("{size} errno 77 {}##\n", &text[..size]);
        assert!(wrapped.starts_with(&link.repeat(4)), "{wrapped}");
        let real_size = size.min(bench.path("run").to_str().unwrap().len());
        assert!(real.starts_with(&format!("{real_size} ")), "{real}");
    }
}

#[test]
fn bad_sizes_are_the_real_functions_business() {
    let Some(bench) = Bench::new() else { return };
    bench.install(&bench.tables());
    for size in ["0", "0x80000000", "0xffffffff"] {
        let (real, wrapped) = answers(&bench, "/proc/self/exe", size, "0xffffffffffffffff");
        let links = |text: &str| text.lines().take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(links(&real), links(&wrapped), "{size}");
        assert!(real.starts_with("-1 errno 22"), "{real}");
    }
    for index in ["2", "3", "5"] {
        for which in ["real", "wrap"] {
            let launched = launch(&mut bench.command(&["overflow", which, index]));
            assert_eq!(launched.status.signal(), Some(6), "{which} {index} {launched:?}");
            assert!(launched.stderr.contains("buffer overflow detected"), "{launched:?}");
        }
    }
}

#[test]
fn every_other_path_is_the_real_functions_business() {
    let Some(bench) = Bench::new() else { return };
    bench.install(&bench.tables());
    let link = bench.path("link");
    symlink("original", &link).unwrap();
    let own = [
        link.to_str().unwrap(),
        bench.path("original").to_str().unwrap(),
        "/nowhere",
        "",
        "/",
        "/proc/self",
        "/proc/self/ex",
        "/proc/self/exe/",
        "/proc/self/exec",
        "/proc/self/cwd",
        "/proc/selfexe",
        "/proc/thread-self/exe2",
        "/proc//exe",
        "/proc/exe",
        "/proc/0/exe",
        "/proc/1/exe",
        "/proc/0%d/exe",
        "/proc/%d0000000000/exe",
        "/proc/4294967296%d/exe",
        "/proc/%d/exe2",
        "/proc/%d/cwd",
        "/proc/x%d/exe",
        "/proc/%dx/exe",
        "/pro",
    ]
    .map(str::to_owned);
    for path in &own {
        let (real, wrapped) = answers(&bench, path, "4096", "4096");
        // Two processes have two numbers.
        assert_eq!(without_digits(&real), without_digits(&wrapped), "{path}");
    }
    let (real, _) = answers(&bench, own[0].as_str(), "4096", "4096");
    assert!(real.starts_with("8 errno 77 original##\n"), "{real}");
}

#[test]
fn arguments_and_the_stack_reach_the_real_function_as_they_came() {
    let Some(bench) = Bench::new() else { return };
    bench.install_at(&bench.tables(), &bench.with_probes());
    let passed = |path: &str| launch(&mut bench.command(&["passed", path])).stdout;
    for path in ["/etc", "/proc/1/exe", "/proc/self/exe2", ""] {
        let line = format!("stack 8 others 1 path {path}\n");
        assert_eq!(passed(path), line.repeat(20));
    }
    // Sizes that are no sizes, and true sizes below them: all still the real one's. The path
    // that realpath gets is the original's.
    let own = "stack 8 others 1 path /proc/self/exe\n";
    let originals = "stack 8 others 1 path /usr/lib/original-file\n".repeat(3);
    let expected = own.repeat(4) + &originals + &own.repeat(13);
    assert_eq!(passed("/proc/self/exe"), expected);
}

#[test]
fn memory_of_a_merged_library_is_the_librarys() {
    let Some(bench) = Bench::new() else { return };
    let start = bench.constants().offset;
    let library = MergedModule {
        path: Some("/nowhere/libmerged.so.1".into()),
        identity: None,
        start,
        end: start + 4096,
        base: start,
        thread: 0,
        symbols: Symbols::default(),
        behind_outside: false,
    };
    let program = MergedModule { path: None, start: start - 4096, end: start, ..library.clone() };
    bench.install(&Tables { modules: vec![program, library.clone()], ..bench.tables() });
    let launched = launch(&mut bench.command(&["where"]));
    let merged = "found 1 file /nowhere/libmerged.so.1 base 1 symbol - 0";
    let run = bench.path("original");
    let own = format!("place 3 found 1 file {} base 0 symbol merged 1", run.display());
    let lines: Vec<&str> = launched.stdout.lines().collect();
    assert_eq!(lines[0], format!("place 0 {merged}"), "{launched:?}");
    assert_eq!(lines[1], format!("place 1 {merged}"));
    assert!(!lines[2].contains("libmerged"), "{launched:?}");
    assert_eq!(lines[3], own);
    let twice = Tables { modules: vec![library.clone(), library], ..bench.tables() };
    assert_eq!(Preamble::new(&twice).unwrap_err(), BuildError::Overlap);
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}
