//! Counted work of searches against strace, and what the loader tells of itself.
#![allow(clippy::unwrap_used)]

mod search_oracle;

use image::elf::Loadable;
use loader::search::Searcher;
use model::simulation::SearchWork;
use search_oracle::{Case, library, program, simulate};
use std::path::Path;
use std::process::Command;

#[test]
fn files_and_folders_are_counted_as_strace_counts_them() {
    let Some(cc) = testkit::tool("cc") else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let root = tempfile::tempdir().unwrap();
    let folders = ["a", "b/tls", "c"].map(|name| root.path().join(name));
    for folder in &folders {
        std::fs::create_dir_all(folder).unwrap();
    }
    library(&cc, &folders[2], "libx.so", &[]);
    let other = library(&cc, &folders[2], "liby.so", &[]);
    let mut bytes = std::fs::read(&other).unwrap();
    bytes[18] = 183;
    std::fs::write(folders[0].join("liby.so"), bytes).unwrap();
    let rpath = "-Wl,-rpath,$ORIGIN/a:$ORIGIN/b:$ORIGIN/none:$ORIGIN/c:$ORIGIN/after";
    let main = program(&cc, root.path(), &["-Lc", "-lx", "-ly", rpath]);
    let work = simulate(&Case::of(&main)).work;
    let Some(counted) = counted(&strace, &main) else { return };
    assert_eq!(SearchWork { cache_lookups: 0, ..work }, counted);
    assert_eq!(work.cache_lookups, 1);
    assert_eq!(counted.opened, 4);
}

/// Files opened and not, and folders looked at, by a launch of `program`.
fn counted(strace: &Path, program: &Path) -> Option<SearchWork> {
    let mut command = Command::new(strace);
    command.args(["-e", "trace=openat,newfstatat,stat,statx"]).arg(program).env_clear();
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    if !text.contains("openat(") {
        testkit::skip(&format!("needs to trace processes: {text}"));
        return None;
    }
    let mut work = SearchWork::default();
    for line in text.lines().filter(|line| !line.contains("/etc/ld.so.cache")) {
        match (line.starts_with("openat("), line.contains("ENOENT")) {
            (true, true) => work.missed += 1,
            (true, false) => work.opened += 1,
            (false, _) => work.folders += u64::from(line.contains("stat") && line.contains("\"/")),
        }
    }
    Some(work)
}

#[test]
fn subfolders_and_folders_are_those_that_the_loader_tells() {
    let this = Loadable::open(Path::new("/proc/self/exe")).unwrap();
    let loader = this.interpreter.as_deref().unwrap();
    let output = Command::new(loader).arg("--help").env_clear().output().unwrap();
    let help = String::from_utf8_lossy(&output.stdout);
    if !help.contains("Legacy HWCAP") {
        return testkit::skip("needs the loader of glibc 2.33 to 2.36");
    }
    let words = |with: &'static str| {
        let lines = help.lines().filter(move |line| line.contains(with));
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned())
    };
    let searcher = Searcher::new(&this.machine, None).unwrap();
    let folders: Vec<_> = searcher.default_folders().map(|f| f.display().to_string()).collect();
    let told: Vec<_> = words("(system search path)").map(|folder| folder + "/").collect();
    assert_eq!(folders, told);

    let subfolders = searcher.subfolders();
    let (levels, legacy): (Vec<_>, Vec<_>) =
        subfolders.into_iter().partition(|name| name.starts_with("glibc-hwcaps/"));
    let levels: Vec<_> = levels.iter().map(|name| name[13..name.len() - 1].to_owned()).collect();
    let told: Vec<_> = words("searched)").collect();
    assert!(told.starts_with(&levels), "{levels:?} {told:?}");
    // Told are the platform, `tls` and the capabilities; the first combination has them all.
    let mut all: Vec<_> = legacy[0].trim_end_matches('/').split('/').collect();
    let mut expected: Vec<_> = told[levels.len()..].iter().map(String::as_str).collect();
    all.sort_unstable();
    expected.sort_unstable();
    assert_eq!(all, expected);
}
