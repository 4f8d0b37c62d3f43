//! The finding on parts of files that were not in memory and were read from storage.

use super::{Context, top};
use crate::advice::ExplainAdvice;
use model::figures::{bytes, plural};
use model::{Finding, Reading};

/// Less than this read from storage is not told.
const BYTES: u64 = 256 * 1024;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let faults = &context.explanation.faults;
    let (major, read) = (faults.major.get().unwrap_or(0), faults.read_bytes.get().unwrap_or(0));
    if major == 0 && read < BYTES {
        return None;
    }
    let waits = plural(major, "page fault waits", "page faults wait");
    let cause = match read {
        0 => format!("{waits} for storage"),
        read if major == 0 => format!("the launch reads {} from storage", bytes(read)),
        read => format!("the launch reads {} from storage, and {waits} for it", bytes(read)),
    };
    let modules = context.explanation.modules.iter().collect::<Vec<_>>();
    let by_bytes = top(&modules, 3, |module| module.read_bytes.get().map(|n| n as f64));
    let mut evidence: Vec<String> = by_bytes
        .into_iter()
        .map(|(module, n)| format!("{}: {}", context.name(&module.path), bytes(n as u64)))
        .collect();
    let known = modules.iter().any(|module| module.read_bytes.get().is_some());
    let by_modules: u64 = modules.iter().filter_map(|module| module.read_bytes.get()).sum();
    let data = known && by_modules * 2 < read;
    if data {
        let rest = bytes(read.saturating_sub(by_modules));
        evidence.push(format!("{rest} of files that are no programs or libraries"));
    }
    if evidence.is_empty() {
        let by_faults = top(&modules, 3, |m| m.major_faults.get().map(|n| n as f64));
        evidence.extend(by_faults.into_iter().map(|(module, n)| {
            let faults = plural(n as u64, "major fault", "major faults");
            format!("{}: {faults}", context.name(&module.path))
        }));
    }
    Some(Finding {
        id: "cold-reads".to_owned(),
        cause,
        evidence,
        cost_us: Reading::unavailable(
            "the records count reads but do not time them",
            (context.words)(ExplainAdvice::CompareCold),
        ),
        phase: None,
        part_of: None,
        remedy: match data {
            true => {
                "Most of it is data: read less of it at the start, or read it when it is needed."
            }
            false => {
                "Keep the files in memory, or make them smaller: -Wl,-z,pack-relative-relocs for \
                 relocation tables, separate debug information, fewer libraries."
            }
        }
        .to_owned(),
    })
}
