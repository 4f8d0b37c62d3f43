//! The finding on modules that make the stack executable: a matter of safety, seen in passing.

use super::{Context, names};
use model::figures::plural;
use model::{Finding, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let found = context.files_where(|facts| facts.executable_stack);
    if found.is_empty() {
        return None;
    }
    let modules = plural(found.len() as u64, "module asks", "modules ask");
    Some(Finding {
        id: "executable-stack".to_owned(),
        cause: format!("{modules} for an executable stack (a security risk)"),
        evidence: vec![names(found.iter().map(|module| module.path.as_str()))],
        cost_us: Reading::unavailable("it costs security rather than time", ""),
        phase: None,
        part_of: None,
        remedy: "Link with -Wl,-z,noexecstack; assembly sources need .note.GNU-stack.".to_owned(),
    })
}
