//! Every case of the testkit, built by every toolchain, does as a bundle what it does unbundled.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleError, Options};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use testkit::cases::{self, Built, Case, Compiler, Outcome, Toolchain, in_parallel, run};

/// Cases of the same sources by the same compiler: what they share is compiled once.
type Group = ((PathBuf, Compiler), Vec<Case>);

#[test]
fn every_case_behaves_as_before() {
    let toolchains = cases::toolchains();
    let folder = tempfile::tempdir().unwrap();
    let mut groups: BTreeMap<(PathBuf, Compiler), Vec<Case>> = BTreeMap::new();
    for case in cases::all() {
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            groups.entry((case.source_folder(), compiler)).or_default().push(*case);
        }
    }
    let groups: Vec<Group> = groups.into_iter().collect();
    let faults = in_parallel(&groups, |((sources, compiler), cases)| {
        let objects = format!("{}-{compiler:?}", sources.file_name().unwrap().display());
        let objects = folder.path().join(objects);
        let of_compiler: Vec<&Toolchain> =
            toolchains.iter().filter(|toolchain| toolchain.compiler == *compiler).collect();
        let mut faults = Vec::new();
        for case in cases {
            for toolchain in &of_compiler {
                if case.declines(**toolchain).is_some() {
                    continue;
                }
                let here = folder.path().join(case.name).join(toolchain.name());
                let built = case.link(&case.compile(*compiler, &objects), toolchain, &here);
                let found = faults_of(case, &built).into_iter();
                faults.extend(found.map(|f| format!("{} {} {f}", case.name, toolchain.name())));
            }
        }
        faults
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn faults_of(case: &Case, built: &Built) -> Vec<String> {
    let expected = run(&built.program, built);
    let both = [false, true].map(|fixed| fault_of(case, built, fixed, &expected));
    both.into_iter().flatten().collect()
}

fn fault_of(_case: &Case, built: &Built, fixed: bool, expected: &Outcome) -> Option<String> {
    let name = if fixed { "fixed" } else { "pie" };
    let folder = built.folder.join(name);
    fs::create_dir(&folder).unwrap();
    let options = Options { fixed, outside: Vec::new() };
    let made = bundle::make(&built.program, &folder, &options);
    let made = match made {
        Err(BundleError::Declined { .. }) if !fixed && is_fixed(built) => return None,
        Err(error) => return Some(format!("{name}: {error}")),
        Ok(_) if !fixed && is_fixed(built) => return Some(format!("{name}: not declined")),
        Ok(made) => made,
    };
    let found = run(&made.run, built);
    (found != *expected).then(|| {
        let told = |o: &Outcome| format!("{}\n{}{}", o.status, o.stdout, o.stderr);
        format!("{name}: {}--- instead of {}", told(&found), told(expected))
    })
}

/// Whether the program is an ET_EXEC.
fn is_fixed(built: &Built) -> bool {
    fs::read(&built.program).unwrap().get(16..18) == Some(&[2, 0])
}
