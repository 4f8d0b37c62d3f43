use super::Context;
use model::{Finding, ImageKind, ProcessReport, Reading};
use std::path::Path;

/// A bundle of headstart's that did not run, but started the program that it was made of.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let (bundle, original) = started(context).next()?;
    let folder = Path::new(&bundle.path).parent().unwrap_or(Path::new(".")).display();
    let facts = context.inputs.facts.get(&bundle.path).and_then(|facts| facts.as_ref().ok());
    let fixed = facts.is_some_and(|facts| facts.kind == ImageKind::Executable);
    let fixed = if fixed { "--fixed " } else { "" };
    let cost = bundle.charged_us;
    Some(Finding {
        id: "stale-bundle".to_owned(),
        cause: format!(
            "{}: the bundle {} is out of date and started the original, {}",
            context.of_launch(cost),
            bundle.path,
            original.path
        ),
        evidence: vec![
            "a bundle does this when a merged file has changed, or when LD_PRELOAD, \
             LD_LIBRARY_PATH or LD_AUDIT differs"
                .to_owned(),
            format!("headstart verify {folder} shows what has changed"),
        ],
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: format!(
            "Make it again: headstart bundle {fixed}--out {folder} {}. The other findings are about \
             both, the bundle's own start and the original's.",
            original.path
        ),
    })
}

/// The original that was started in the place of the bundle `process`.
pub(super) fn original<'a>(
    context: &'a Context,
    process: &ProcessReport,
) -> Option<&'a ProcessReport> {
    started(context).find(|(bundle, _)| std::ptr::eq(*bundle, process)).map(|(_, next)| next)
}

/// Bundles and the programs that they started in their place.
fn started<'a>(
    context: &'a Context,
) -> impl Iterator<Item = (&'a ProcessReport, &'a ProcessReport)> {
    let processes = &context.explanation.processes;
    let bundles = &context.inputs.bundles;
    processes.iter().filter(|process| bundles.contains_key(&process.path)).filter_map(|bundle| {
        let later = |p: &&ProcessReport| p.pid == bundle.pid && p.started_us >= bundle.ended_us;
        let next = processes.iter().filter(|p| !std::ptr::eq(*p, bundle)).find(later)?;
        // What a bundled shell executes as its own last command is not the shell again.
        let same = next.argv.get(1..) == bundle.argv.get(1..);
        (same && !bundles.contains_key(&next.path)).then_some((bundle, next))
    })
}

/// Whether an image is told as a bundle that started its original.
pub(super) fn is_one(context: &Context, process: &ProcessReport) -> bool {
    started(context).any(|(bundle, _)| std::ptr::eq(bundle, process))
}
