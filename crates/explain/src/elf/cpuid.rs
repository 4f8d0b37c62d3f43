//! CPUID instructions of the launch.

use crate::elf::inputs::Inputs;
use model::{CpuidTax, PhaseTrace, Reading};

/// Count and cost of CPUID, by image.
pub(crate) fn tax(inputs: &Inputs) -> Reading<CpuidTax> {
    let counts = match &inputs.cpuid_trace {
        Reading::Value(PhaseTrace { cpuids, .. }) => cpuids.clone(),
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let each_us = match &inputs.cpuid_each_us {
        Reading::Value(us) => *us,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    counts.map(|mut by_image| {
        by_image.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        CpuidTax { count: by_image.iter().map(|image| image.1).sum(), each_us, by_image }
    })
}
