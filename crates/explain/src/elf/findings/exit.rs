//! The finding on exit handlers, finalizers and tear-down that take long.

use super::{Context, total};
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = *context.shares.wholes.get(&Phase::Exit)?;
    let mut logged: Vec<(&str, f64)> =
        context.records.finalizers.iter().map(|((_, path), us)| (path.as_str(), *us)).collect();
    let bundles = context.explanation.bundles.iter().filter(|one| context.counts(&one.path));
    let merged = bundles.filter_map(|bundle| bundle.remains.as_ref()).flat_map(|it| &it.by_library);
    logged.extend(merged.filter_map(|one| Some((one.path.as_deref()?, one.finalize_us.get()?))));
    logged.sort_by(|a, b| b.1.total_cmp(&a.1));
    if !context.records.exit_called {
        // Another launch ran them, if any did.
        logged.clear();
    }
    let costly = logged.iter().filter(|(_, us)| *us >= cost * 0.05).take(3);
    let mut evidence: Vec<String> = costly
        .map(|(path, us)| format!("finalizers of {}: {}", context.name(path), duration(*us)))
        .collect();
    let merged = context.inputs.contents.iter().filter(|(path, _)| context.counts(path));
    let merged: u64 = merged.map(|(_, contents)| contents.finalizers).sum();
    let finalizers = merged + total(&context.modules(), |facts| facts.finalizers);
    if finalizers > 0 && context.records.exit_called {
        evidence.push(plural(finalizers, "finalizer in all", "finalizers in all"));
    }
    if let Some(minor) = context.explanation.faults.minor.get() {
        evidence.push(format!("{} to free", plural(minor, "faulted page", "faulted pages")));
    }
    Some(Finding {
        id: "exit".to_owned(),
        cause: format!(
            "{}: {}",
            context.of_launch(cost),
            match context.records.exit_called {
                true => "from the call of exit until the process is gone",
                false =>
                    "the kernel's tear-down; exit was not seen to be called (_exit, a signal, or \
                     a program in which exit cannot be located)",
            }
        ),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Exit),
        part_of: None,
        remedy: match context.records.exit_called {
            true => {
                "A program that has flushed its output may end by _exit or quick_exit, which skip \
                 exit handlers and finalizers; the kernel's own tear-down shrinks with the pages \
                 touched."
            }
            false => "The kernel's tear-down shrinks with the pages touched.",
        }
        .to_owned(),
    })
}
