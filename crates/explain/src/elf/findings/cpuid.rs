//! The findings on CPUID instructions that a hypervisor answers.

use super::Context;
use super::shares::{cpuid_phase, cpuids};
use model::figures::{count, duration};
use model::{CpuidTax, Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Vec<Finding> {
    let Some(tax) = context.explanation.cpuid.value() else { return Vec::new() };
    context
        .shares
        .cpuid
        .iter()
        .filter_map(|(phase, us)| finding(context, tax, *phase, *us))
        .collect()
}

fn finding(context: &Context, tax: &CpuidTax, phase: Phase, cost: f64) -> Option<Finding> {
    if !context.worth(cost) {
        return None;
    }
    let guest = match &context.inputs.hypervisor {
        Some(name) => format!(", each answered by the hypervisor ({name})"),
        None => String::new(),
    };
    let mut images = cpuids(context);
    images.retain(|(path, _)| cpuid_phase(path) == phase);
    let instructions: u64 = images.iter().map(|(_, n)| n).sum();
    let mut evidence =
        vec![format!("{} × {} on this machine", count(instructions), duration(tax.each_us))];
    evidence.extend(images.iter().take(3).map(|(path, n)| {
        let image = context.name(path);
        format!("{image}: {}", count(*n))
    }));
    let several = context.members().len() > 1;
    let fewer = if several { "Start fewer processes: each one pays this cost. " } else { "" };
    Some(Finding {
        id: "cpuid".to_owned(),
        cause: format!(
            "{}: start-up code executes {} CPUID instructions{guest}",
            context.of_launch(cost),
            count(instructions)
        ),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(phase),
        part_of: None,
        remedy: format!(
            "{fewer}The program cannot make them cheaper: glibc queries the processor's features \
             and caches in static programs too. musl does not; without virtualization, CPUID \
             takes a fraction of a microsecond."
        ),
    })
}
