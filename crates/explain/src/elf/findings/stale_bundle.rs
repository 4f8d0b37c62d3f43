//! The finding on a bundle that did not run, but started the program that it was made of.

use super::Context;
use crate::advice::ExplainAdvice;
use crate::elf::inputs::Inputs;
use model::{
    BundleContents, BundleDifference, Explanation, Finding, ImageKind, ProcessReport, Reading,
};
use std::path::Path;

/// Its short name.
pub(super) const ID: &str = "stale-bundle";

pub(super) fn find(context: &Context) -> Option<Finding> {
    let (bundle, original) = started(context.explanation, context.inputs).next()?;
    let processes = &context.explanation.processes;
    let (bundle, original) = (processes.get(bundle)?, processes.get(original)?);
    let contents = context.inputs.contents.get(&bundle.path);
    let folder = match contents {
        Some(contents) => contents.folder.clone(),
        None => Path::new(&bundle.path).parent().map(|it| it.to_string_lossy().into_owned()),
    };
    let cost = bundle.charged_us;
    let verify =
        folder.clone().map(|folder| (context.words)(ExplainAdvice::VerifyBundle { folder }));
    Some(Finding {
        id: ID.to_owned(),
        cause: format!(
            "{}: the bundle {} did not run, but started the original, {}",
            context.of_launch(cost),
            bundle.path,
            original.path
        ),
        evidence: std::iter::once(why(contents)).chain(verify).collect(),
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: remedy(context, contents, (bundle, original), folder),
    })
}

/// Why it did not run.
fn why(contents: Option<&BundleContents>) -> String {
    match contents {
        Some(BundleContents { difference: Some(difference), .. }) => difference.reason.clone(),
        Some(BundleContents { start: Some(_), .. }) => {
            "the change that it found has been undone since: its check now finds nothing".to_owned()
        }
        _ => "a bundle does this when a merged file has changed, or when LD_PRELOAD, \
              LD_LIBRARY_PATH or LD_AUDIT differs"
            .to_owned(),
    }
}

fn remedy(
    context: &Context,
    contents: Option<&BundleContents>,
    (bundle, original): (&ProcessReport, &ProcessReport),
    folder: Option<String>,
) -> String {
    let difference = contents.and_then(|contents| contents.difference.as_ref());
    let rest = "The other findings do not count the bundle's own start.";
    if let Some(BundleDifference { subject, variable: true, .. }) = difference {
        return format!("Set or unset {subject}, as it was when the bundle was made. {rest}");
    }
    let facts = context.inputs.facts.get(&bundle.path).and_then(|facts| facts.as_ref().ok());
    let fixed = facts.is_some_and(|facts| facts.kind == ImageKind::Executable);
    let program = contents.and_then(|it| it.instead.clone().or_else(|| it.original.clone()));
    let program = program.unwrap_or_else(|| original.path.clone());
    let again = match folder {
        Some(folder) => {
            let renew = ExplainAdvice::RenewBundle { folder, program, fixed };
            format!("ake it again: {}", (context.words)(renew))
        }
        None => format!("ake it again from {program}, and put it in the place of {}", bundle.path),
    };
    match difference {
        Some(_) => format!("M{again}. {rest}"),
        None => format!("If a file has changed, m{again}. {rest}"),
    }
}

/// Bundles and the programs that they started in their place, by their index.
pub(super) fn started<'a>(
    explanation: &'a Explanation,
    inputs: &'a Inputs,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let (processes, bundles) = (&explanation.processes, &inputs.bundles);
    let known = processes.iter().enumerate().filter(|(_, p)| bundles.contains_key(&p.path));
    known.filter_map(|(index, bundle)| {
        let later = |p: &ProcessReport| p.pid == bundle.pid && p.started_us >= bundle.ended_us;
        let mut others = processes.iter().enumerate().filter(|(other, _)| *other != index);
        let (original, next) = others.find(|(_, p)| later(p))?;
        // What a bundled shell executes as its own last command is not the shell again.
        let same = next.argv.get(1..) == bundle.argv.get(1..);
        (same && !bundles.contains_key(&next.path)).then_some((index, original))
    })
}
