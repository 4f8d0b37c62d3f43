//! What `optimize` found, told with the options that help.

use crate::programs;
use explain::LateLoading;
use model::figures::{count, plural};
use model::optimization::{OptimizationReport, VariantReport, VariantState};
use model::{CalledModule, quoted, text};
use optimize::{Optimized, VariantReason};
use std::path::Path;

/// The report with what helps. `tested` says whether the user has a test.
pub fn advised(optimized: Optimized, tested: bool) -> OptimizationReport {
    let Optimized { mut report, reasons, uncompared, scattered, opened } = optimized;
    for (variant, reason) in report.variants.iter_mut().zip(&reasons) {
        variant.reason = reason.as_ref().map(words);
    }
    allow_fixed(&mut report);
    replaced(&mut report);
    report.notes.splice(0..0, uncompared.iter().map(|stream| note(stream, tested)));
    report.notes.extend(scattered.first().map(|module| order(module, &report)));
    report.notes.extend(opened.map(|opened| plugins(&opened, &report.command)));
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

/// What merging the libraries that the program opens could save.
fn plugins(opened: &LateLoading, command: &str) -> String {
    let libraries = plural(opened.libraries, "library", "libraries");
    let them = if opened.libraries == 1 { "it" } else { "them" };
    let takes = format!(
        "While it runs, the program opens {libraries}: finding, mapping and relocating {them} takes \
         {} of a launch",
        percent(opened.share)
    );
    match opened.share < WORTH_MERGING {
        true => format!("{takes}, and merging {them} can save no more than that."),
        false => format!(
            "{takes}. A bundle merges {them}, too: headstart bundle --learn --out DIR -- {command} \
             (with --fixed for a program at fixed addresses)."
        ),
    }
}

/// A share in words; a launch with a log is no exact measure.
fn percent(share: f64) -> String {
    match (share * 100.0).round() {
        whole if whole < 1.0 => "1 % or less".to_owned(),
        whole => format!("about {whole} %"),
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

/// Libraries that take this share of a launch are worth merging.
const WORTH_MERGING: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_merging_plug_ins_could_save_is_one_sentence() {
        let told =
            |libraries, share| plugins(&LateLoading { libraries, share }, "python3 -c 'import x'");
        assert_eq!(
            told(18, 0.021),
            "While it runs, the program opens 18 libraries: finding, mapping and relocating them \
             takes about 2 % of a launch, and merging them can save no more than that."
        );
        assert!(told(1, 0.001).contains("relocating it takes 1 % or less of a launch"));
        let much = told(300, 0.4);
        assert!(much.contains("about 40 %") && !much.contains("no more"), "{much}");
        assert!(
            much.contains("headstart bundle --learn --out DIR -- python3 -c 'import x'"),
            "{much}"
        );
    }

    #[test]
    fn what_cannot_be_compared_is_left_to_a_test() {
        assert!(words(&VariantReason::Incomparable { stream: "stderr" }).contains("--check CMD"));
        assert!(note("stderr", true).contains("--check decided"));
        assert!(note("stderr", false).contains("none is offered"));
    }
}
