//! Every case, built by every toolchain, is what it says it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use testkit::cases::{self, Case, Compiler, in_parallel};

#[test]
fn every_case_is_what_it_says() {
    let Some(readelf) = testkit::tool("readelf") else { return };
    let toolchains = cases::toolchains();
    let folder = tempfile::tempdir().unwrap();
    let mut groups: BTreeMap<(PathBuf, Compiler), Vec<&Case>> = BTreeMap::new();
    for case in cases::all() {
        for toolchain in &toolchains {
            let group = groups.entry((case.source_folder(), toolchain.compiler)).or_default();
            if group.last().is_none_or(|last| last.name != case.name) {
                group.push(case);
            }
        }
    }
    let groups: Vec<_> = groups.into_iter().collect();
    let failures = in_parallel(&groups, |((sources, compiler), cases)| {
        let objects = format!("{}-{compiler:?}", sources.file_name().unwrap().display());
        let objects = folder.path().join(objects);
        let of_compiler = toolchains.iter().filter(|toolchain| toolchain.compiler == *compiler);
        let mut faults = Vec::new();
        // One case after the other: later ones find what earlier ones have linked.
        for case in cases {
            let usable =
                of_compiler.clone().filter(|toolchain| case.declines(**toolchain).is_none());
            let usable: Vec<_> = usable.collect();
            if usable.is_empty() {
                continue;
            }
            let objects = case.compile(*compiler, &objects);
            faults.extend(in_parallel(&usable, |toolchain| {
                let here = folder.path().join(case.name).join(toolchain.name());
                let built = case.link(&objects, toolchain, &here);
                let fault = case.fault(&built, **toolchain, &readelf)?;
                Some(format!("{} by {}: {fault}", case.name, toolchain.name()))
            }));
        }
        faults
    });
    let failures: Vec<String> = failures.into_iter().flatten().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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
