//! Where the figures of an explanation come from, and what each source cannot see.

use crate::elf::inputs::Inputs;
use crate::elf::modules::chosen_log;
use crate::time::median;
use model::figures::duration;
use model::{PhaseTrace, Reading, Source};

/// What the phases are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Stops under ptrace.
    Ptrace,
    /// The loader's debug output.
    Log,
    /// Nothing: only the total is known.
    Nothing,
}

/// One source per group of figures.
pub(crate) fn sources(inputs: &Inputs, basis: Basis, trace: &PhaseTrace) -> Vec<Source> {
    let mut sources = vec![
        phases(inputs, basis, trace),
        modules(inputs, basis),
        faults(inputs),
        files(inputs),
        cpuid(inputs),
        waits(inputs),
        functions(inputs),
    ];
    if !inputs.contents.is_empty() {
        sources.insert(2, bundles(inputs));
    }
    sources
}

fn source(figures: &str, mechanism: impl Into<String>, caveat: impl Into<String>) -> Source {
    let (mechanism, caveat) = (mechanism.into(), caveat.into());
    Source { figures: figures.to_owned(), mechanism, caveat }
}

/// Reason and remedy of a missing input, as one caveat.
fn missing<T>(figures: &str, reading: &Reading<T>) -> Source {
    let caveat = match reading {
        Reading::Unavailable { reason, remedy } if remedy.is_empty() => reason.clone(),
        Reading::Unavailable { reason, remedy } => format!("{reason}; {remedy}"),
        Reading::Value(_) => String::new(),
    };
    source(figures, "none", caveat)
}

fn phases(inputs: &Inputs, basis: Basis, trace: &PhaseTrace) -> Source {
    let reason = inputs.phase_traces.reason().unwrap_or("no launch was traced");
    match basis {
        Basis::Ptrace => source("phases", "ptrace", ptrace_caveat(inputs, trace)),
        Basis::Log => source(
            "phases",
            "LD_DEBUG",
            format!(
                "{reason}; the loader's log does not show spawn, exec and the loader's own start \
                 (unattributed), forks, or the end of a process after its last finalizer, and \
                 writing it makes loading 10 to 22 % slower"
            ),
        ),
        Basis::Nothing => missing("phases", &inputs.phase_traces),
    }
}

fn ptrace_caveat(inputs: &Inputs, trace: &PhaseTrace) -> String {
    let stops = format!("{} stops", trace.stops);
    match median(&inputs.untraced_us) {
        Some(untraced) if untraced > 0.0 => {
            let more = (trace.total_us / untraced - 1.0) * 100.0;
            let word = if more < 0.0 { "shorter" } else { "longer" };
            let untraced = duration(untraced);
            format!("{stops}; {:.1} % {word} than the untraced median of {untraced}", more.abs())
        }
        _ => stops,
    }
}

fn modules(inputs: &Inputs, basis: Basis) -> Source {
    let Some(log) = chosen_log(inputs) else { return missing("modules", &inputs.loader_logs) };
    if log.lines.is_empty() {
        let none = "the program wrote no loader log, as is usual for static, musl and set-user-ID \
             programs";
        return source("modules", "none", none);
    }
    let scaled = match basis {
        Basis::Ptrace => "times are scaled to the phases of a launch without a log",
        _ => "times are as logged, and writing the log makes loading 10 to 22 % slower",
    };
    source("modules", "LD_DEBUG", scaled)
}

/// Where it says what of a bundle's start goes to which library.
fn bundles(inputs: &Inputs) -> Source {
    if inputs.contents.values().all(|contents| contents.start.is_none()) {
        let reason = "another version of headstart made the bundle, so the steps of its start \
                      could not be recorded; make it again";
        return source("bundle", "none", reason);
    }
    match &inputs.start_traces {
        Reading::Value(_) => source(
            "bundle",
            "ptrace, steps of its start",
            "the times of initializers and finalizers are scaled to the phases of a launch with fewer \
             stops; pages copied are those of /proc/PID/pagemap, code excluded",
        ),
        missing_starts => missing("bundle", missing_starts),
    }
}

fn faults(inputs: &Inputs) -> Source {
    let Some(record) = inputs.page_faults.value() else {
        let mut source = missing("faults", &inputs.page_faults);
        if inputs.fault_totals.value().is_some() {
            source.mechanism = "getrusage, totals only".to_owned();
        }
        return source;
    };
    let caveat = match record.lost {
        0 => String::new(),
        lost => format!(
            "the kernel dropped {lost} records for lack of space, so counts are too \
             low"
        ),
    };
    source("faults", record.source.clone(), caveat)
}

fn files(inputs: &Inputs) -> Source {
    if inputs.file_trace.value().is_none() {
        return missing("files", &inputs.file_trace);
    }
    let caveat = match &inputs.replay {
        Reading::Value(_) => {
            "times are those of repeating the calls untraced, with names already \
             cached"
        }
        Reading::Unavailable { reason, .. } => reason,
    };
    source("files", "ptrace, system calls", caveat)
}

fn cpuid(inputs: &Inputs) -> Source {
    match (&inputs.cpuid_trace, &inputs.cpuid_each_us) {
        (Reading::Value(trace), Reading::Value(_)) => match &trace.cpuids {
            Reading::Value(_) => source("cpuid", "ptrace, single steps", "counted up to main"),
            counts => missing("cpuid", counts),
        },
        (Reading::Value(_), each) => missing("cpuid", each),
        (trace, _) => missing("cpuid", trace),
    }
}

fn waits(inputs: &Inputs) -> Source {
    if inputs.wait_trace.value().is_some() {
        return source("waits", "ptrace, system calls", "");
    }
    let mut source = missing("waits", &inputs.wait_trace);
    if inputs.untraced_cpu_us.iter().any(|us| us.value().is_some()) {
        source.mechanism = "getrusage, totals only".to_owned();
    }
    source
}

fn functions(inputs: &Inputs) -> Source {
    match &inputs.called_code {
        Reading::Value(code) => source("functions", "ptrace, breakpoints", code.notes.join("; ")),
        missing_code => missing("functions", missing_code),
    }
}
