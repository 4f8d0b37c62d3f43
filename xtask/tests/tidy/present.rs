//! Comparing what breaks a rule with the list of what broke it before it was checked.

use crate::Violation;
use std::collections::BTreeSet;
use testkit::workspace::root;

/// With this variable set the lists are written anew.
const REWRITE: &str = "TIDY_REWRITE";

/// Fails where there is anything new, and where an entry of the list is stale.
pub fn judge(rule: &str, violations: Vec<Violation>, mend: &str) {
    let relative = format!("xtask/tests/tidy/present/{rule}.txt");
    let path = root().join(&relative);
    let entry = |violation: &Violation| format!("{}: {}", violation.path, violation.found);
    let now: BTreeSet<String> = violations.iter().map(entry).collect();
    if std::env::var_os(REWRITE).is_some() {
        let text: String = now.iter().map(|entry| format!("{entry}\n")).collect();
        match text.is_empty() {
            true => drop(std::fs::remove_file(&path)),
            false => std::fs::write(&path, text).expect("the list can be written"),
        }
        return;
    }
    let list = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<&str> = list.lines().collect();
    let mut message = String::new();
    for violation in violations.iter().filter(|one| !listed.contains(entry(one).as_str())) {
        let Violation { path, line, found } = violation;
        message += &format!("{path}:{line}: {found}\n");
    }
    if !message.is_empty() {
        message = format!("the rule '{rule}' is broken:\n{message}How to mend it: {mend}\n");
    }
    for stale in listed.iter().filter(|entry| !now.contains(**entry)) {
        message += &format!("{relative}: '{stale}' is mended: remove this line\n");
    }
    assert!(message.is_empty(), "\n{message}");
}
