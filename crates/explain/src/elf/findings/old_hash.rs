//! The finding on libraries without a GNU hash table: each look-up in them compares names.

use super::{Context, names};
use model::figures::plural;
use model::{Finding, HashStyle, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let found =
        context.files_where(|facts| facts.hash_style == HashStyle::Sysv && facts.exports > 0);
    let found: Vec<_> = found.into_iter().filter(|module| module.path != module.program).collect();
    if found.is_empty() {
        return None;
    }
    let libraries = plural(found.len() as u64, "library has", "libraries have");
    Some(Finding {
        id: "old-hash".to_owned(),
        cause: format!(
            "{libraries} DT_HASH only, with which failed look-ups have to compare \
             symbol names"
        ),
        evidence: vec![names(found.iter().map(|module| module.path.as_str()))],
        cost_us: Reading::unavailable("part of relocation, not measured separately", ""),
        phase: None,
        part_of: None,
        remedy: "Link with -Wl,--hash-style=gnu.".to_owned(),
    })
}
