//! `headstart simulate` as a command.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::collections::BTreeSet;

#[test]
fn a_program_is_simulated_and_not_run() {
    let Some(git) = testkit::tool("git") else { return };
    let git = git.canonicalize().unwrap().display().to_string();
    let found = json(&["simulate", "--json", "--bindings", &git]);
    let modules = found["modules"].as_array().unwrap();
    let paths: BTreeSet<&str> = modules.iter().map(|m| m["path"].as_str().unwrap()).collect();
    assert!(modules[0]["path"] == git.as_str() && paths.len() == modules.len());
    assert!(paths.iter().any(|path| path.contains("libc.so.6")), "{paths:?}");
    let sum = |name: &str| -> u64 {
        modules.iter().map(|module| module["work"][name].as_u64().unwrap()).sum()
    };
    for name in ["relative", "lookups", "probes", "missing", "waiting"] {
        assert_eq!(sum(name), found["total"][name].as_u64().unwrap(), "{name}");
    }
    let bindings = found["bindings"].as_array().unwrap();
    assert_eq!(bindings.len() as u64, sum("lookups"));
    let defined = bindings.iter().filter(|bound| bound["definer"].is_string()).count() as u64;
    assert_eq!(defined + sum("missing"), sum("lookups"));
    let order: BTreeSet<&str> =
        found["initialised"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    assert_eq!(order, paths);

    let lines = stdout(&run(&["simulate", "--bindings", &git]));
    assert_eq!(lines.lines().count() as u64, sum("lookups"));
    assert!(lines.lines().all(|line| line.contains(" → ")), "{lines}");
    let view = stdout(&run(&["simulate", &git]));
    assert!(view.contains("libc.so.6") && view.contains(" probes"), "{view}");
    assert!(stdout(&run(&["simulate", "--order", &git])).ends_with(&format!("{git}\n")));
}

#[test]
fn what_cannot_be_simulated_says_why() {
    let cases: [(&[&str], i32, &str); 3] = [
        (&["simulate", "/etc/passwd"], 3, "passwd"),
        (&["simulate", "no-such-program-here"], 3, "no-such-program-here"),
        (&["simulate", env!("CARGO_MANIFEST_DIR")], 3, "headstart"),
    ];
    for (words, code, reason) in cases {
        let output = run(words);
        let said = stderr(&output);
        assert!(said.contains(reason), "{words:?}: {said}");
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    }
    if let Some(cc) = testkit::tool("cc") {
        let folder = tempfile::tempdir().unwrap();
        let program = testkit::compile(
            &cc,
            folder.path(),
            "static",
            "int main(void) { return 0; }",
            &["-static"],
        );
        let output = run(&["simulate", program.to_str().unwrap()]);
        assert!(output.status.code() == Some(1) && stderr(&output).contains("is static"));
    }
}
