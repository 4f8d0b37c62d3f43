use super::Context;
use crate::names::base_name;
use model::figures::{count, duration};
use model::{Finding, Reading};

/// CPUID instructions that a hypervisor answers.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let tax = context.explanation.cpuid.value()?;
    let cost = tax.count as f64 * tax.each_us;
    if !context.worth(cost) {
        return None;
    }
    let guest = match &context.inputs.hypervisor {
        Some(name) => format!(", each answered by the hypervisor ({name})"),
        None => String::new(),
    };
    let mut evidence =
        vec![format!("{} × {} on this machine", count(tax.count), duration(tax.each_us))];
    evidence.extend(tax.by_image.iter().take(3).map(|(path, n)| {
        let image = base_name(path);
        format!("{image}: {}", count(*n))
    }));
    let images = tax.by_image.len();
    let fewer = if images > 1 { "Start fewer processes: each pays it again. " } else { "" };
    Some(Finding {
        id: "cpuid".to_owned(),
        cause: format!(
            "{}: start-up code executes {} CPUID instructions{guest}",
            context.of_launch(cost),
            count(tax.count)
        ),
        evidence,
        cost_us: Reading::Value(cost),
        remedy: format!(
            "{fewer}The program cannot make them cheaper: glibc asks for the processor's features \
             and caches in static programs too. musl asks nothing; a host without \
             virtualisation answers in a fraction of a microsecond."
        ),
    })
}
