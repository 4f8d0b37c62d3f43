//! Variables of the environment decide whether the bundle or the original runs.

use crate::bench::{Bench, launch};
use startup::{LOADER_VARIABLES, Tables, Variable};

#[test]
fn variables_that_change_what_the_loader_loads() {
    let Some(bench) = Bench::new() else { return };
    bench.install(&bench.tables());
    for name in LOADER_VARIABLES {
        let with = |value: &str| launch(bench.command(&[]).env(name, value));
        assert!(with("").is_bundle(), "{name}");
        // The loader complains of what it cannot preload, and goes on.
        let stale = with("/nowhere.so");
        assert!(stale.is_original(), "{name} {stale:?}");
        assert!(with(" ").is_original(), "{name}");
    }
    let alike = |name: &str| launch(bench.command(&[]).env(name, "/nowhere.so")).is_bundle();
    assert!(alike("LD_PRELOADS") && alike("LD_PRELOA") && alike("XLD_PRELOAD") && alike("LD_"));
}

#[test]
fn a_variable_that_was_set_when_the_bundle_was_made() {
    let Some(bench) = Bench::new() else { return };
    let set = |name: &std::ffi::OsStr| (name == "LD_LIBRARY_PATH").then(|| "/opt/lib".into());
    let environment = Variable::of_the_loader(set);
    bench.install(&Tables { environment, ..bench.tables() });
    let with = |value: &str| launch(bench.command(&[]).env("LD_LIBRARY_PATH", value));
    assert!(with("/opt/lib").is_bundle());
    for value in ["", "/opt/li", "/opt/lib2", "/opt/lib:", "x"] {
        assert!(with(value).is_original(), "{value}");
    }
    assert!(bench.launch().is_original());
}

#[test]
fn any_variable_can_be_watched() {
    let Some(bench) = Bench::new() else { return };
    let environment = vec![Variable { name: "HOME".into(), expected: Some("/".into()) }];
    assert!(bench.launch_with(&Tables { environment, ..bench.tables() }).is_bundle());
    assert!(launch(bench.command(&[]).env("HOME", "/root")).is_original());
    assert!(launch(bench.command(&[]).env_remove("HOME")).is_original());
}

#[test]
fn a_huge_environment() {
    let Some(bench) = Bench::new() else { return };
    let must = vec![bench.record("run"), bench.record("original")];
    bench.install(&Tables { must: must.clone(), ..bench.tables() });
    let crowded = |extra: &[(&str, &str)]| {
        let mut command = bench.command(&["report", "a", "b"]);
        for number in 0..30_000 {
            command.env(format!("LD_{number}"), "x".repeat(number % 50));
        }
        // The largest text that the kernel takes.
        command.env("LONG", "y".repeat(131_000)).envs(extra.iter().copied());
        launch(&mut command)
    };
    // `run` was replaced when the preamble was installed.
    let stale = crowded(&[]);
    assert!(stale.is_original(), "{:?}", stale.status);
    // HOME and LONG.
    assert_eq!(stale.line("entries"), "30002");
    bench.install(&bench.tables());
    assert!(crowded(&[]).is_bundle());
    let stale = crowded(&[("LD_AUDIT", "x")]);
    assert!(stale.is_original());
    assert_eq!(stale.line("entries"), "30003");
}
