//! The finding on functions that a launch calls and that are far apart in their files.

use super::Context;
use crate::advice::ExplainAdvice;
use crate::names::base_name;
use model::figures::{count, plural};
use model::{CalledModule, Finding, Reading, text};
use ordering::called_code::worth_an_order;

/// Modules that are told by name.
const MODULES: usize = 3;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let code = context.explanation.called_code.value()?;
    let mut modules = worth_an_order(code);
    // Nobody links a bundle.
    let is_bundle = |path: &str| context.inputs.bundles.contains_key(context.inputs.real(path));
    modules.retain(|module| !is_bundle(&module.calls.path));
    let sum = |of: fn(&CalledModule) -> u64| modules.iter().map(|module| of(module)).sum::<u64>();
    let (touched, floor) =
        (sum(|module| module.calls.touched_pages), sum(|module| module.calls.floor_pages));
    let first = modules.first()?;
    let of = match modules.len() {
        1 => base_name(&first.calls.path).to_owned(),
        several => format!("{several} modules"),
    };
    let mut evidence: Vec<String> = modules.iter().take(MODULES).map(|one| line(one)).collect();
    if modules.len() > MODULES {
        let rest = &modules[MODULES..];
        let saved = rest.iter().map(|module| module.saved_pages()).sum();
        let saved = plural(saved, "page", "pages");
        evidence.push(format!("{} more: an order would save {saved}", rest.len()));
    }
    Some(Finding {
        id: "scattered-code".to_owned(),
        cause: format!(
            "start-up code is scattered: the functions that the launch calls in {of} are spread over \
             {} pages and would fit into {}",
            count(touched),
            count(floor)
        ),
        evidence,
        cost_us: Reading::unavailable(
            "the prediction is for cold launches, and these were warm",
            (context.words)(ExplainAdvice::CompareCold),
        ),
        phase: None,
        part_of: None,
        remedy: remedy(context, first),
    })
}

/// `libx.so: 3,363 functions in 1,202 pages; predicted in order: 285 pages, …`.
fn line(module: &CalledModule) -> String {
    let calls = &module.calls;
    let now = format!(
        "{}: {} in {}",
        base_name(&calls.path),
        plural(calls.called, "function", "functions"),
        plural(calls.touched_pages, "page", "pages"),
    );
    match module.ordered {
        None => now,
        Some(ordered) => format!(
            "{now}; predicted with an order: {}, and {} instead of {} in a cold launch",
            plural(ordered.pages, "page", "pages"),
            plural(ordered.reads, "read", "reads"),
            count(ordered.reads_now),
        ),
    }
}

fn remedy(context: &Context, module: &CalledModule) -> String {
    let command = context.inputs.command.line();
    let program = text::text(&context.inputs.command.program);
    let program = context.inputs.real(&program);
    let advice = match context.inputs.real(&module.calls.path) == program {
        true => ExplainAdvice::OrderProgram { command },
        false => {
            let module = base_name(&module.calls.path).to_owned();
            ExplainAdvice::OrderModule { command, module }
        }
    };
    format!(
        "Matters for cold launches and for memory, little for warm launches. Whoever builds {} can \
         relink it with these functions next to each other: {}.",
        base_name(&module.calls.path),
        (context.words)(advice)
    )
}
