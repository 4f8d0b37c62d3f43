//! The finding on a bundle that did not run, but started the program that it was made of.

use super::Context;
use crate::advice::ExplainAdvice;
use crate::inputs::Inputs;
use model::{Explanation, Finding, ImageKind, ProcessReport, Reading};
use std::path::Path;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let (bundle, original) = started(context.explanation, context.inputs).next()?;
    let processes = &context.explanation.processes;
    let (bundle, original) = (processes.get(bundle)?, processes.get(original)?);
    let folder = Path::new(&bundle.path).parent().unwrap_or(Path::new("."));
    let folder = folder.to_string_lossy().into_owned();
    let facts = context.inputs.facts.get(&bundle.path).and_then(|facts| facts.as_ref().ok());
    let fixed = facts.is_some_and(|facts| facts.kind == ImageKind::Executable);
    let verify = ExplainAdvice::VerifyBundle { folder: folder.clone() };
    let renew = ExplainAdvice::RenewBundle { folder, program: original.path.clone(), fixed };
    let cost = bundle.charged_us;
    Some(Finding {
        id: "stale-bundle".to_owned(),
        cause: format!(
            "{}: the bundle {} did not run, but started the original, {}",
            context.of_launch(cost),
            bundle.path,
            original.path
        ),
        evidence: vec![
            "a bundle does this when a merged file has changed, or when LD_PRELOAD, \
             LD_LIBRARY_PATH or LD_AUDIT differs"
                .to_owned(),
            (context.words)(verify),
        ],
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: format!(
            "If a file has changed, make it again: {}. The other findings do not count the \
             bundle's own start.",
            (context.words)(renew)
        ),
    })
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
