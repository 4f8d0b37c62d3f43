//! Every case of the testkit, built by every toolchain, does as a bundle what it does unbundled.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleError, BundleOptions, Made};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::cases::{self, Built, Case, Compiler, Outcome, Toolchain, in_parallel, run};

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// What a bundle cannot do as before: a case, the toolchains whose files show it (by a part of
/// their names), and what is seen instead.
const DIFFERENT: [(&str, &str, &str); 9] = [
    // One file is one entry in the loader's list, and has one set of program headers.
    ("modules", "", "held by 1 of 4: ''"),
    ("own-headers", "", "own dynamic 0"),
    // What is opened by name is looked for along the DT_RUNPATH of all merged modules.
    ("opener", "", "program: by name 1"),
    // The handle of a merged library is the bundle's, whose first definition comes from another.
    ("dlopen-path", "gcc", "state by handle 1"),
    ("dlopen-soname", "gcc", "state by handle 1"),
    ("versions", "", "by handle 3"),
    // By that handle the program is told its own folder, as a library is told its own.
    ("dlinfo", "", "dlinfo 1  origin 1 "),
    // Functions for which the preamble stands in have another address for merged code than for plug-ins.
    ("outside-files", "", "program: files dlsym dlvsym dlopen"),
    // A distance from a function that is selected at run time.
    ("outside-addresses-apart", "", "program offset: sin differs"),
];

/// The same of bundles at fixed addresses only. As of every program that is not position-independent, the address
/// of a function of the C library is that of a stub in it, and some data of the C library is a copy in it.
const DIFFERENT_FIXED: [(&str, &str, &str); 7] = [
    // Who asks the C library itself finds its own functions and data, also by RTLD_DEEPBIND.
    ("outside-handle-libc", "", "program: libc-data stdin stdout stderr"),
    ("outside-handle-next", "", "program: libc-data stdin stdout stderr"),
    ("outside-handle-plugin", "", "program: libc-data stdin stdout stderr"),
    ("outside-deepbind", "gcc", "read -101"),
    ("outside-deepbind", "clang", "read 6499"),
    // Plug-ins are told where the stub is.
    ("outside-dladdr", "", "plugin: malloc: in program, named 1, at its start 1"),
    // A plug-in that asks for no version gets the function that others get, and not the oldest one.
    ("outside-versions-none", "", "plug-in without: NEWNEW"),
];

/// Cases of the same sources by the same compiler: what they share is compiled once.
type Group = ((PathBuf, Compiler), Vec<Case>);

/// A case as one toolchain built it, with its bundles: position-independent and fixed.
struct Bundled {
    name: String,
    built: Built,
    bundles: [Result<Made, BundleError>; 2],
}

#[test]
fn every_case_behaves_as_before() {
    if std::env::var_os(LIBRARY_PATH).is_some() {
        return again_without_library_path();
    }
    let toolchains = cases::toolchains();
    let folder = tempfile::tempdir().unwrap();
    let mut groups: BTreeMap<(PathBuf, Compiler), Vec<Case>> = BTreeMap::new();
    for case in cases::all() {
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            groups.entry((case.source_folder(), compiler)).or_default().push(*case);
        }
    }
    let groups: Vec<Group> = groups.into_iter().collect();
    // One step after the other: a hard link changes the times of a file, at which a bundle is
    // stale, and a child of another thread could hold a file open that is still written to, so
    // that the kernel would not execute it.
    let built = in_parallel(&groups, |group| built(group, &toolchains, folder.path()));
    let built: Vec<_> = built.into_iter().flatten().collect();
    let bundled = in_parallel(&built, |(name, built)| bundled(name, built));
    assert!(toolchains.is_empty() || bundled.len() > 100, "{}", bundled.len());
    let faults: Vec<String> = in_parallel(&bundled, faults).into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Bundles are made for the environment of their making, and cases run without what cargo sets.
fn again_without_library_path() {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["every_case_behaves_as_before", "--exact", "--nocapture"]);
    assert!(again.env_remove(LIBRARY_PATH).status().unwrap().success(), "see above");
}

/// One after the other: later ones find what earlier ones have linked.
fn built(group: &Group, toolchains: &[Toolchain], folder: &Path) -> Vec<(String, Built)> {
    let ((sources, compiler), cases) = group;
    let objects = format!("{}-{compiler:?}", sources.file_name().unwrap().display());
    let mut all = Vec::new();
    for case in cases {
        for toolchain in toolchains.iter().filter(|toolchain| toolchain.compiler == *compiler) {
            if case.declines(*toolchain).is_some() {
                continue;
            }
            let objects = case.compile(*compiler, &folder.join(&objects));
            let here = folder.join(case.name).join(toolchain.name());
            let name = format!("{} {}", case.name, toolchain.name());
            all.push((name, case.link(&objects, toolchain, &here)));
        }
    }
    all
}

fn bundled(name: &str, built: &Built) -> Bundled {
    let bundles = [false, true].map(|fixed| {
        let folder = built.folder.join(if fixed { "bundle-fixed" } else { "bundle" });
        fs::create_dir(&folder).unwrap();
        bundle::make(&built.program, &folder, &BundleOptions { fixed, ..BundleOptions::default() })
    });
    Bundled { name: name.to_owned(), built: built.clone(), bundles }
}

/// How its bundles differ from the program.
fn faults(bundled: &Bundled) -> Vec<String> {
    let Bundled { name, built, bundles: [moving, fixed] } = bundled;
    let (case, toolchain) = name.split_once(' ').unwrap();
    let known = |all: &[(&str, &str, &'static str)]| {
        let found = all.iter().find(|(of, by, _)| *of == case && toolchain.contains(by));
        found.map(|(.., seen)| *seen)
    };
    let of_both = known(&DIFFERENT);
    let expected = run(&built.program, built);
    let mut faults = Vec::new();
    match moving {
        // What cannot move stays fixed.
        moving if is_fixed(built) => {
            if !matches!(moving, Err(BundleError::Declined { .. })) {
                faults.push(format!("{name}: {moving:?}"));
            }
        }
        moving => faults.extend(
            unknown(fault(moving, built, &expected), of_both).map(|f| format!("{name}: {f}")),
        ),
    }
    let of_fixed = of_both.or_else(|| known(&DIFFERENT_FIXED));
    let of_fixed = unknown(fault(fixed, built, &expected), of_fixed);
    faults.extend(of_fixed.map(|f| format!("{name} --fixed: {f}")));
    faults
}

/// The difference, where it is another than the known one; also that this is gone.
fn unknown(fault: Option<String>, known: Option<&str>) -> Option<String> {
    match (fault, known) {
        (Some(fault), Some(seen)) if fault.contains(seen) => None,
        (None, Some(seen)) => {
            Some(format!("there is no {seen:?} any more: strike it from the list"))
        }
        (fault, _) => fault,
    }
}

fn fault(made: &Result<Made, BundleError>, built: &Built, expected: &Outcome) -> Option<String> {
    // Where the loader is told otherwise the bundle gives way to the original; else it must not.
    let mut strict = built.clone();
    let told = built.environment.iter().any(|(name, _)| name.starts_with("LD_"));
    // That case tells the loader otherwise when it starts itself again.
    let tells = built.folder.components().any(|part| part.as_os_str() == "reexec");
    if !told && !tells {
        strict.environment.push(("HEADSTART_STALE".to_owned(), "z".to_owned()));
    }
    let found = match made {
        Ok(made) => run(&made.run, &strict),
        Err(error) => return Some(error.to_string()),
    };
    let told = |o: &Outcome| format!("{}\n{}{}", o.status, o.stdout, o.stderr);
    (found != *expected).then(|| format!("{}instead of {}", told(&found), told(expected)))
}

/// Whether the program is an ET_EXEC.
fn is_fixed(built: &Built) -> bool {
    fs::read(&built.program).unwrap().get(16..18) == Some(&[2, 0])
}
