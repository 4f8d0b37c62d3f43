//! Makes the launches whose records [`crate::elf::explain()`] turns into an explanation.
//!
//! Each record is taken in launches of its own, so that one does not disturb another. Untraced
//! launches are made in turns with those that give the phases; both are pinned alike.

mod bundle_work;
mod bundles;
mod callers;
mod cut;
mod files;
mod functions;
mod hot;
mod launches;
mod replay;
mod waits;

use crate::elf::inputs::Inputs;
use crate::recording::{RecordingPlan, RecordingStep};
use lab::{LabError, Launching};
use model::{Command, PhaseTrace, Reading, Sample, Until};
use os::LaunchError;
use os::attend::AttendOptions;
use os::launcher::Stdio;
use os::trace::TraceRequest;
use std::time::Duration;

/// Launches in which the starts of bundles are recorded step by step.
const START_TRACES: u32 = 3;
/// Launches with the loader's log; the one with the median time is used.
const LOADER_LOGS: u32 = 3;
/// Steps besides the phase launches.
const OTHER_STEPS: u32 = 8;

/// Everything that a series of launches records, taken step by step.
struct Recorder<'a> {
    command: &'a Command,
    request: TraceRequest,
    options: AttendOptions,
    /// After this time a launch is given up.
    timeout: Duration,
    /// Where the launch is to be explained up to a moment before its end.
    cut: Option<cut::Cut>,
    progress: &'a mut dyn FnMut(RecordingStep),
    step: RecordingStep,
}

/// Launches the experiment's command as often as it takes and gives what was recorded, and the
/// untraced launches.
///
/// A source that is not permitted is missing in the result, with its reason.
///
/// # Errors
/// Where the program cannot be launched untraced, fails, or is not finished in time; and
/// [`LaunchError::Interrupted`].
pub fn gather(
    plan: RecordingPlan<'_>,
    launching: &mut dyn Launching,
    progress: &mut dyn FnMut(RecordingStep),
) -> Result<(Inputs, Vec<Sample>), LabError> {
    let RecordingPlan { experiment, traces, hot } = plan;
    let Some(variant) = experiment.variants.first() else {
        return Err(LaunchError::NotFound(String::new()).into());
    };
    let mut request = TraceRequest::new(Stdio::null()?);
    request.timeout =
        Duration::try_from_secs_f64(experiment.options.timeout_s).unwrap_or(Duration::MAX);
    request.cpu = experiment.options.cpu;
    let options = AttendOptions { timeout: request.timeout, cpu: request.cpu, to_entry: false };
    let mut recorder = Recorder {
        command: &variant.command,
        request,
        timeout: options.timeout,
        options,
        cut: None,
        progress,
        step: RecordingStep { done: 0, total: traces + OTHER_STEPS + u32::from(hot), what: "" },
    };
    let mut inputs = Inputs::nothing(variant.command.clone(), "it was not recorded");
    let until = &experiment.options.until;
    inputs.until_ready = *until != Until::Exit;
    let samples = recorder.untraced_and_phases(traces, until, launching, &mut inputs)?;
    recorder.starts(launching, &mut inputs)?;
    if hot {
        recorder.next("sampling the functions", launching)?;
        inputs.hot = Some(recorder.hot(launching)?);
    }
    recorder.next("recording waits", launching)?;
    inputs.wait_trace = recorder.waits(hot);
    recorder.records(launching, &mut inputs)?;
    recorder.next("recording functions", launching)?;
    inputs.called_code = recorder.functions(until, &samples);
    recorder.files(launching, &mut inputs)?;
    Ok((inputs, samples))
}

impl Recorder<'_> {
    /// Announces the next step; stops here if the user wants to.
    fn next(&mut self, what: &'static str, launching: &dyn Launching) -> Result<(), LabError> {
        if launching.interrupted() {
            return Err(LaunchError::Interrupted.into());
        }
        self.step.what = what;
        (self.progress)(self.step);
        self.step.done += 1;
        Ok(())
    }

    /// Everything that one launch each records.
    fn records(&mut self, launching: &dyn Launching, inputs: &mut Inputs) -> Result<(), LabError> {
        self.next("recording file-system calls", launching)?;
        inputs.file_trace = self.traced(|request| request.record_files = true);
        self.next("counting CPUID instructions", launching)?;
        self.cpuid(inputs);
        self.next("reading the loader's log", launching)?;
        inputs.loader_logs = self.loader_logs(launching)?;
        self.next("recording page faults", launching)?;
        self.faults(inputs);
        Ok(())
    }

    /// What needs no launch.
    fn files(&mut self, launching: &dyn Launching, inputs: &mut Inputs) -> Result<(), LabError> {
        self.next("repeating file-system calls", launching)?;
        inputs.replay = replay::times(&inputs.file_trace);
        self.next("reading image files", launching)?;
        files::resolve(inputs);
        match launching.interrupted() {
            true => Err(LaunchError::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// A traced launch with `change` applied to its request.
    fn traced(&self, change: impl Fn(&mut TraceRequest)) -> Reading<PhaseTrace> {
        let mut request = self.request.clone();
        change(&mut request);
        let traced = reading(os::trace::trace(self.command, &request)).map(|launch| launch.trace);
        match self.cut {
            Some(at) => traced.map(|trace| cut::trace(trace, at)),
            None => traced,
        }
    }

    /// The starts of bundles among the executed images, step by step.
    fn starts(&mut self, launching: &dyn Launching, inputs: &mut Inputs) -> Result<(), LabError> {
        bundles::find(inputs);
        let starts = inputs.contents.values().filter_map(|contents| contents.start.clone());
        let starts: Vec<_> = starts.collect();
        if starts.is_empty() {
            return Ok(());
        }
        inputs.memory_prices = reading(os::faults::memory_prices());
        self.step.total += 1;
        self.next("timing initializers", launching)?;
        if let Reading::Unavailable { reason, remedy } = &inputs.phase_traces {
            inputs.start_traces = Reading::unavailable(reason, remedy);
            return Ok(());
        }
        let mut traces = Vec::new();
        for _ in 0..START_TRACES {
            if launching.interrupted() {
                return Err(LaunchError::Interrupted.into());
            }
            match self.traced(|request| request.bundles.clone_from(&starts)) {
                Reading::Value(trace) => traces.push(trace),
                Reading::Unavailable { reason, remedy } => {
                    inputs.start_traces = Reading::unavailable(reason, remedy);
                    return Ok(());
                }
            }
        }
        inputs.start_traces = Reading::Value(traces);
        Ok(())
    }

    fn cpuid(&self, inputs: &mut Inputs) {
        inputs.hypervisor = os::host::hypervisor();
        if inputs.hypervisor.is_none() {
            let reason = "this is not a virtual machine: CPUID costs next to nothing";
            inputs.cpuid_trace = Reading::unavailable(reason, "");
            inputs.cpuid_each_us = Reading::unavailable(reason, "");
            return;
        }
        inputs.cpuid_trace = self.traced(|request| request.count_cpuid = true);
        inputs.cpuid_each_us = Reading::Value(os::host::cpuid_cost_us());
    }

    fn loader_logs(
        &self,
        launching: &dyn Launching,
    ) -> Result<Reading<Vec<model::LoaderLog>>, LabError> {
        let mut logs = Vec::new();
        for _ in 0..LOADER_LOGS {
            if launching.interrupted() {
                return Err(LaunchError::Interrupted.into());
            }
            let log = os::loader_log::record(self.command, "files,reloc,libs", &self.options);
            match (log, self.cut) {
                (Ok(log), Some(at)) => logs.push(cut::log(log, at)),
                (Ok(log), None) => logs.push(log),
                (Err(error), _) => return Ok(reading(Err(error))),
            }
        }
        Ok(Reading::Value(logs))
    }

    fn faults(&self, inputs: &mut Inputs) {
        inputs.page_faults = reading(os::faults::record(self.command, &self.options));
        if let Some(at) = self.cut {
            let faults = std::mem::replace(&mut inputs.page_faults, Reading::unavailable("", ""));
            inputs.page_faults = faults.map(|faults| cut::faults(faults, at));
        }
        if inputs.page_faults.value().is_none() {
            inputs.fault_totals = reading(os::faults::totals(self.command, &self.options));
        }
        inputs.minor_fault_us = reading(os::faults::minor_fault_cost_us());
    }
}

/// What a source gave, or the reason why it gave nothing.
fn reading<T>(result: Result<T, LaunchError>) -> Reading<T> {
    match result {
        Ok(value) => Reading::Value(value),
        // Reason and remedy are one sentence in these errors.
        Err(error) => Reading::unavailable(error.to_string(), ""),
    }
}
