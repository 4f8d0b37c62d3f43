//! Frequency, virtualisation, clock, and the CPUs there are.

use super::{Outcome, read};
use crate::linux::clock::Instant;
use crate::linux::host::{allowed_cpus, cpuid_cost_us, hypervisor, processors};
use model::Check;
use std::collections::BTreeSet;
use std::fs;

const CPUS: &str = "/sys/devices/system/cpu";

/// The frequency governors of all CPUs.
pub(super) fn governor() -> Check {
    let folder = fs::read_dir(CPUS).into_iter().flatten().flatten();
    let governors: BTreeSet<String> = folder
        .filter_map(|cpu| fs::read_to_string(cpu.path().join("cpufreq/scaling_governor")).ok())
        .map(|text| text.trim().to_owned())
        .collect();
    let found = governors.into_iter().collect::<Vec<_>>().join(", ");
    let outcome = match found.as_str() {
        "" => unseen_frequency("no CPU has a frequency governor"),
        "performance" => Outcome::good(found, "CPUs run at full speed from the start"),
        _ => Outcome::warning(found, "a launch begins before its CPU has reached full speed")
            .remedy(format!("echo performance | sudo tee {CPUS}/cpu*/cpufreq/scaling_governor")),
    };
    outcome.named("governor")
}

/// Whether CPUs may run above their nominal speed.
pub(super) fn turbo() -> Check {
    let intel = format!("{CPUS}/intel_pstate/no_turbo");
    let other = format!("{CPUS}/cpufreq/boost");
    let (on, path, off_value) = match (read(&intel), read(&other)) {
        (Ok(value), _) => (value == "0", intel, "1"),
        (_, Ok(value)) => (value == "1", other, "0"),
        _ => return unseen_frequency("no turbo switch is visible").named("turbo"),
    };
    let outcome = if on {
        Outcome::note("on", "speed depends on the temperature and on the load of other cores")
            .remedy(format!("echo {off_value} | sudo tee {path}"))
    } else {
        Outcome::good("off", "speed does not depend on temperature or on other cores")
    };
    outcome.named("turbo")
}

fn unseen_frequency(found: &str) -> Outcome {
    match hypervisor() {
        Some(name) => Outcome::note(
            format!("not visible in this virtual machine ({name})"),
            "the host decides the speed of the processor, and may change it during a run",
        ),
        None => Outcome::unknown(found, "the processor's speed may change during a run"),
    }
}

/// The hypervisor, and what CPUID costs under it.
pub(super) fn virtualisation() -> Check {
    let cost = cpuid_cost_us();
    let outcome = match hypervisor() {
        None => Outcome::good("no hypervisor", "CPUID and page tables run at full speed"),
        Some(name) if cost >= 1.0 => Outcome::note(
            format!("{name}; a CPUID instruction takes {cost:.1} µs"),
            "each CPUID exits to the hypervisor, and the loader executes dozens in every launch \
             (explain counts them); bare metal does not have this cost",
        ),
        Some(name) => Outcome::note(
            format!("{name}; a CPUID instruction takes {cost:.2} µs"),
            "page faults cost more than on bare metal",
        ),
    };
    outcome.named("virtualization")
}

/// What reading the launch clock costs.
pub(super) fn clock() -> Check {
    const READS: u32 = 1000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(Instant::now());
    }
    let ns = Instant::now().us_since(start) * 1000.0 / f64::from(READS);
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .unwrap_or_else(|_| "unknown source".to_owned());
    let found = format!("{source}; reading it takes {ns:.0} ns");
    let outcome = if ns < 500.0 {
        Outcome::good(found, "the cost of time stamps is negligible")
    } else {
        Outcome::warning(
            found,
            "reading the clock needs a system call, so short phases appear \
             longer",
        )
    };
    outcome.named("clock")
}

/// How many of the machine's CPUs may be used.
pub(super) fn affinity() -> Check {
    let (allowed, online) = (allowed_cpus().len(), processors());
    let found = format!("{allowed} of {online} CPUs may be used");
    let outcome = if allowed > 1 {
        Outcome::good(found, "the launch has a CPU to itself while headstart runs on another")
    } else {
        Outcome::warning(found, "headstart and the launch share one CPU and disturb each other")
            .remedy(format!("taskset -cp 0-{} $$", online.saturating_sub(1)))
    };
    outcome.named("cpus")
}
