//! Which tests may skip themselves in CI, and why.

use std::collections::BTreeSet;
use testkit::Need;

/// Parts of reasons that the machine decides and not the tree, and why CI does not insist.
const PERMITTED: &[(&[&str], &str)] = &[
    (
        &["only root", "needs root", "by root", "setpriv: ", "must reach headstart"],
        "CI may run as an ordinary user",
    ),
    (
        &["mounted here", "may not mount", "made immutable", "user namespaces"],
        "containers may neither mount nor make files immutable",
    ),
    (
        &[
            "is in memory",
            "where the holes are",
            "residency is not told",
            "is no mount point",
            "no /dev/full",
        ],
        "the file system of temporary files differs from machine to machine",
    ),
    (
        &["is not permitted here", "perf events", "to trace processes", "kallsyms", "tracepoint"],
        "the kernel may refuse perf events and tracing",
    ),
    (&["32-bit programs"], "not every kernel runs them, nor every machine builds them"),
    (&["glibc 2.33 to 2.36"], "later ones look in fewer folders"),
    (&["x86-64-v3"], "an older processor leaves the loader nothing to choose"),
    (&["before 2.43"], "Debian 12 has an older GNU ld"),
    (&["no rust-lld"], "distributions leave it out of their Rust toolchains"),
];

/// Those that CI does not accept.
pub fn refused(skipped: &BTreeSet<String>) -> Vec<&str> {
    skipped.iter().map(String::as_str).filter(|reason| !is_permitted(reason)).collect()
}

fn is_permitted(reason: &str) -> bool {
    let listed = PERMITTED.iter().flat_map(|(parts, _)| *parts);
    listed.into_iter().any(|part| reason.contains(part)) || needs_large_tool(reason)
}

/// Programs too large for every machine are used where they are installed.
fn needs_large_tool(reason: &str) -> bool {
    let name = reason.strip_prefix("needs ").and_then(|rest| rest.split(':').next());
    name.and_then(testkit::known).is_some_and(|tool| tool.need == Need::Checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tree_decides_is_refused() {
        let permitted = [
            "only root can become another user (spawn::tests::a)",
            "needs inkscape: apt-get install inkscape (b)",
            "perf_event_open is not permitted here: sysctl kernel.perf_event_paranoid=2",
        ];
        let refused_ones = [
            "needs go: apt-get install golang-go (c)",
            "needs Wine's DLLs: apt-get install wine64 (d)",
            "needs no-such-tool: apt-get install no-such-tool",
        ];
        let all = permitted.iter().chain(&refused_ones).map(|text| (*text).to_owned()).collect();
        let mut expected = refused_ones;
        expected.sort_unstable();
        assert_eq!(refused(&all), expected);
    }
}
