//! Every case, built by every toolchain, is what it says it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use testkit::cases::{self, Built, Case, Toolchain, in_parallel};

#[test]
fn every_case_is_what_it_says() {
    let Some(readelf) = testkit::tool("readelf") else { return };
    let toolchains = cases::toolchains();
    let compilers: BTreeSet<_> = toolchains.iter().map(|toolchain| toolchain.compiler).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut units = Vec::new();
    for case in cases::all() {
        units.extend(compilers.iter().map(|&compiler| (case, compiler)));
    }
    let failures = in_parallel(&units, |&(case, compiler)| {
        let here = folder.path().join(case.name);
        let of_compiler = |toolchain: &&Toolchain| toolchain.compiler == compiler;
        let usable = toolchains.iter().filter(of_compiler);
        let usable: Vec<_> =
            usable.filter(|toolchain| case.declines(**toolchain).is_none()).collect();
        if usable.is_empty() {
            return Vec::new();
        }
        let objects = case.compile(compiler, &here.join(format!("{compiler:?}")));
        let faults = usable.iter().filter_map(|toolchain| {
            let built = case.link(&objects, toolchain, &here.join(toolchain.name()));
            let fault = fault(case, &built, &readelf)?;
            Some(format!("{} by {}: {fault}", case.name, toolchain.name()))
        });
        faults.collect()
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What is wrong with a built case.
fn fault(case: &Case, built: &Built, readelf: &Path) -> Option<String> {
    let outcome = cases::run(&built.program, built);
    let told = || format!("{}\n{}{}", outcome.status, outcome.stdout, outcome.stderr);
    if !outcome.status.success() || !outcome.stderr.is_empty() {
        return Some(told());
    }
    if let Some(missing) = case.missing_in(&outcome.stdout) {
        return Some(format!("no line {missing:?}: {}", told()));
    }
    case.shown_by_readelf().iter().find_map(|shown| {
        let path = built.folder.join(shown.file);
        let output = Command::new(readelf).arg(shown.option).arg(&path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!squeezed.contains(shown.text)).then(|| format!("{shown:?} is not so:\n{text}"))
    })
}

#[test]
fn the_output_of_a_case_never_changes() {
    let toolchains = cases::toolchains();
    let Some(toolchain) = toolchains.first() else { return };
    let folder = tempfile::tempdir().unwrap();
    in_parallel(cases::all(), |case| {
        if case.declines(*toolchain).is_none() {
            let built = case.build(toolchain, &folder.path().join(case.name));
            let first = cases::run(&built.program, &built);
            assert_eq!(first, cases::run(&built.program, &built), "{}", case.name);
        }
    });
}

#[test]
fn names_are_unique_and_say_why() {
    let names: BTreeSet<_> = cases::all().iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases::all().len());
    for case in cases::all() {
        assert!(case.why.len() > 20, "{}", case.name);
        assert!(case.essential().next().is_some(), "{}", case.name);
    }
}
