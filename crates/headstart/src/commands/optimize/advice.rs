//! What `optimize` found, told with the options that help.

use crate::programs;
use model::figures::{count, plural};
use model::optimization::{OptimizationReport, VariantReport, VariantState};
use model::{CalledModule, quoted, text};
use optimize::{Optimized, VariantReason};
use std::path::Path;

/// The report with what helps. `tested` says whether the user has a test.
pub fn advised(optimized: Optimized, tested: bool) -> OptimizationReport {
    let Optimized { mut report, reasons, uncompared, scattered } = optimized;
    for (variant, reason) in report.variants.iter_mut().zip(&reasons) {
        variant.reason = reason.as_ref().map(words);
    }
    allow_fixed(&mut report);
    replaced(&mut report);
    report.notes.splice(0..0, uncompared.iter().map(|stream| note(stream, tested)));
    report.notes.extend(scattered.first().map(|module| order(module, &report)));
    report
}

/// Whether the launch would start what is installed in the place of a program that it starts by its path.
fn replaced(report: &mut OptimizationReport) {
    let own = report.program.clone();
    for program in &mut report.programs {
        if program.best.is_none() || program.variable.is_some() || program.path == own {
            continue;
        }
        let set = program.environment.iter().find(|(name, _)| name == "LD_LIBRARY_PATH");
        let library_path = set.map(|(_, value)| text::name(value));
        let path = text::name(&program.path);
        program.not_replaced = programs::not_replaced(Path::new(&path), library_path.as_deref());
    }
}

/// Programs of which none but variants without ASLR can be made, and those were not allowed.
fn allow_fixed(report: &mut OptimizationReport) {
    let variants = &report.variants;
    for program in report.programs.iter_mut().filter(|program| program.best.is_none()) {
        let of_it = |variant: &&VariantReport| variant.program.as_ref() == Some(&program.path);
        let mut tried = variants.iter().filter(of_it).filter(|one| one.keeps_aslr).peekable();
        let only_declined =
            tried.peek().is_some() && tried.all(|one| one.state == VariantState::Declined);
        let not_allowed = variants
            .iter()
            .filter(of_it)
            .any(|variant| !variant.keeps_aslr && variant.state == VariantState::NotTried);
        if let Some(reason) = program.reason.as_mut().filter(|_| only_declined && not_allowed) {
            reason.push_str("; to try it at fixed addresses, add --allow no-aslr");
        }
    }
}

fn words(reason: &VariantReason) -> String {
    match reason {
        VariantReason::Found(found) => found.clone(),
        VariantReason::SameAddresses => format!("{reason}; allow it with --allow no-aslr"),
        VariantReason::OnlyCold => format!("{reason}; measure them with --cold"),
        VariantReason::Incomparable { .. } => format!("{reason}; test it with --check CMD"),
        VariantReason::Test { .. } => format!("--check {reason}"),
        VariantReason::AfterTest { command, problem } => {
            format!("after --check {command}, {problem}")
        }
    }
}

/// What whoever builds a file can do, and no variant does.
fn order(module: &CalledModule, report: &OptimizationReport) -> String {
    let (path, calls) = (quoted(&module.calls.path), &module.calls);
    let command = &report.command;
    let how = match module.calls.path == report.program {
        true => format!("headstart order try --relink 'COMMAND with @ORDER@' -- {command}"),
        false => format!(
            "headstart trace --out start.trace -- {command}, then headstart order write --linker \
             lld --module {path} start.trace"
        ),
    };
    let pages = module.ordered.map_or(calls.floor_pages, |ordered| ordered.pages);
    format!(
        "The start-up code of {path} is scattered over {}; with its functions in order, {} would \
         do (predicted). This matters for cold launches. It takes a relink, which no variant can \
         replace: {how}.",
        plural(calls.touched_pages, "page", "pages"),
        count(pages),
    )
}

fn note(stream: &str, tested: bool) -> String {
    let unsteady =
        format!("What the unmodified program writes to {stream} differs from launch to launch");
    match tested {
        true => format!(
            "{unsteady}, so it was not compared; the exit status was compared, and --check decided."
        ),
        false => format!(
            "{unsteady}, so no variant can be shown to do the same, and none is offered; test them \
             with --check CMD, or use arguments with which it always writes the same."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_is_left_to_a_test() {
        assert!(words(&VariantReason::Incomparable { stream: "stderr" }).contains("--check CMD"));
        assert!(note("stderr", true).contains("--check decided"));
        assert!(note("stderr", false).contains("none is offered"));
    }
}
