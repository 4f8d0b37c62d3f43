//! The lines of an explanation that count page faults, work on files, CPU time, CPUID and functions.

use super::figures::{bytes, count, duration, plural, why};
use super::page::Page;
use crate::style::Tint;
use model::{BundleReport, CalledCode, CpuidTax, Explanation, FileWork, Reading, Waits};

/// Figures that have a line here, where their source says anything of them: on Windows none has.
const COUNTED: [&str; 4] = ["faults", "files", "cpuid", "functions"];

/// Page faults, file-system work, CPUID and functions, a line each. Why one is missing stands with the sources.
pub(super) fn lines(page: &mut Page, explanation: &Explanation) {
    if explanation.sources.iter().any(|source| COUNTED.contains(&source.figures.as_str())) {
        page.blank();
    }
    for bundle in explanation.bundles.iter().filter(|bundle| !bundle.started_original) {
        labeled(page, "Bundle", Reading::Value(bundled(bundle)));
    }
    let recorded = |figures| explanation.sources.iter().any(|source| source.figures == figures);
    if recorded("faults") {
        labeled(page, "Page faults", faults(explanation));
    }
    if recorded("files") {
        labeled(page, "Files", explanation.files.clone().map(|work| files(&work)));
    }
    if let Some(us) = explanation.untraced_cpu_us.get() {
        labeled(page, "CPU time", Reading::Value(cpu_time(us, &explanation.waits)));
    }
    if recorded("cpuid") {
        labeled(page, "CPUID", explanation.cpuid.clone().map(|tax| cpuid(&tax)));
    }
    // Older versions did not record functions.
    if recorded("functions") {
        labeled(page, "Functions", explanation.called_code.clone().map(|code| functions(&code)));
    }
}

fn labeled(page: &mut Page, label: &str, text: Reading<String>) {
    let lead = page.paint(Tint::Strong, label);
    let space = " ".repeat(13_usize.saturating_sub(label.len()));
    let (tint, text) = match &text {
        Reading::Value(text) => (Tint::Plain, text.clone()),
        Reading::Unavailable { .. } => (Tint::Doubt, "unavailable: see below".to_owned()),
    };
    let first = format!("{label}{space}");
    page.wrapped_behind(&first, &format!("{lead}{space}"), tint, &text);
}

/// What is in a bundle, and what its start does before the program's.
fn bundled(bundle: &BundleReport) -> String {
    let mut parts = vec![format!("{} merged", plural(bundle.libraries, "library", "libraries"))];
    parts.push(match &bundle.check_us {
        Reading::Value(us) => format!("its check at the start {} of initialize", duration(*us)),
        missing => format!("the time of its check is unavailable: {}", why(missing)),
    });
    parts.extend(bundle.read_ahead_us.as_ref().map(|us| match us {
        Reading::Value(us) => {
            let adjusts = bundle.remains.as_ref().is_some_and(|remains| remains.adjusts_itself > 0);
            let also = if adjusts { ", with addresses that it adjusts meanwhile," } else { "" };
            format!("reading ahead{also} {} of relocate", duration(*us))
        }
        missing => format!("the time of reading ahead is unavailable: {}", why(missing)),
    }));
    parts.join("; ")
}

fn faults(explanation: &Explanation) -> Reading<String> {
    let totals = &explanation.faults;
    let (minor, major) = match (&totals.minor, &totals.major) {
        (Reading::Value(minor), Reading::Value(major)) => (*minor, *major),
        (Reading::Unavailable { reason, remedy }, _)
        | (_, Reading::Unavailable { reason, remedy }) => {
            return Reading::unavailable(reason, remedy);
        }
    };
    let mut text = format!("{} minor", count(minor));
    if let Some(anonymous) = totals.anonymous.get() {
        let modules: u64 = explanation.modules.iter().filter_map(|m| m.minor_faults.get()).sum();
        let other = minor.saturating_sub(anonymous + modules);
        text += &format!(
            " ({} on modules, {} on stack and heap, {} on other files)",
            count(modules),
            count(anonymous),
            count(other)
        );
    }
    let read = match &totals.read_bytes {
        Reading::Value(read) => format!("{} read from storage", bytes(*read)),
        missing => format!("bytes read unavailable: {}", why(missing)),
    };
    Reading::Value(format!("{text}, {} major, {read}", count(major)))
}

fn files(work: &FileWork) -> String {
    let timed = |n: u64, one: &str, many: &str, us: &Reading<f64>| match us.get() {
        Some(us) if n > 0 => format!("{} ({})", plural(n, one, many), duration(us)),
        _ => plural(n, one, many),
    };
    format!(
        "{} opened, {}, {}, {}",
        count(work.opens),
        timed(work.failed, "look-up failed", "look-ups failed", &work.failed_us),
        timed(work.stats, "stat", "stats", &work.stats_us),
        plural(work.scans, "listing read", "listings read")
    )
}

fn cpu_time(us: f64, waits: &Reading<Waits>) -> String {
    let cpu = format!("{} untraced", duration(us));
    match waits.value() {
        Some(waits) if waits.total_us > 0.0 => {
            format!("{cpu}; waiting takes {}", duration(waits.total_us))
        }
        _ => cpu,
    }
}

fn cpuid(tax: &CpuidTax) -> String {
    if tax.count == 0 {
        return "none executed up to main".to_owned();
    }
    let cost = duration(tax.count as f64 * tax.each_us);
    format!("{} × {} = {cost}", count(tax.count), duration(tax.each_us))
}

fn functions(code: &CalledCode) -> String {
    format!(
        "{} of {} called, in {} (fewest possible: {})",
        count(code.called()),
        count(code.watched),
        plural(code.touched_pages(), "page", "pages"),
        count(code.floor_pages()),
    )
}
