//! Untraced launches and those that give the phases, in turns.

use super::cut::Cut;
use super::{Recorder, reading};
use crate::inputs::Inputs;
use crate::time::median;
use lab::{LabError, Launching};
use model::{Launch, Reading, Sample, Schedule, Until, VariantId};
use os::LaunchError;
use std::time::Duration;

/// The variant that is explained.
const ONLY: VariantId = VariantId(0);
/// Untraced launches before each traced one.
const UNTRACED: u32 = 2;
/// How much longer than untraced a launch that is recorded may take to be ready.
const SLOWER: f64 = 1.5;
const SLOWER_US: f64 = 100_000.0;
/// How much longer a traced launch may take to come to its entry point, where it is ended. On a
/// busy machine this can be long, and it is waited for only where the entry point is not seen.
const SLOWER_TO_ENTRY: f64 = 10.0;
const SLOWER_TO_ENTRY_US: f64 = 2_000_000.0;

/// The schedule of the untraced launches beside `traces` traced ones.
pub fn schedule(traces: u32) -> Schedule {
    let rounds = UNTRACED * (traces + 1);
    Schedule { seed: 0, warm_up_rounds: 1, rounds, ..Schedule::default() }
}

impl Recorder<'_> {
    /// A warm-up, then `traces` traced launches between untraced ones; gives the latter.
    pub(super) fn untraced_and_phases(
        &mut self,
        traces: u32,
        until: &Until,
        launching: &mut dyn Launching,
        inputs: &mut Inputs,
    ) -> Result<Vec<Sample>, LabError> {
        let mut untraced = Untraced { samples: vec![sample(-1, launching)?] };
        untraced.launch(UNTRACED, launching)?;
        if *until != Until::Exit {
            self.end_when_ready(&untraced, *until == Until::Entry);
        }
        let permitted = reading(os::trace::permitted());
        let mut found = Vec::new();
        for _ in 0..traces {
            self.next("tracing its phases", launching)?;
            if permitted.value().is_some() {
                match self.traced(|_| ()) {
                    Reading::Value(trace) => found.push(trace),
                    Reading::Unavailable { reason, remedy } => {
                        inputs.phase_traces = Reading::unavailable(reason, remedy);
                    }
                }
            }
            untraced.launch(UNTRACED, launching)?;
        }
        if let Reading::Unavailable { reason, remedy } = permitted {
            inputs.phase_traces = Reading::unavailable(reason, remedy);
        } else if !found.is_empty() {
            inputs.phase_traces = Reading::Value(found);
        }
        inputs.untraced_us = untraced.times();
        let left = untraced.samples.iter().filter(|sample| sample.launch.left_running > 0);
        inputs.left_running = left.filter(|sample| !sample.is_warm_up()).count() as u32;
        inputs.untraced_cpu_us = untraced.figure(Launch::cpu_us);
        Ok(untraced.samples)
    }

    /// A program that does not end by itself is explained up to the moment when it is ready
    /// untraced; traced launches are ended a little later, or at their entry point.
    fn end_when_ready(&mut self, untraced: &Untraced, entry: bool) {
        let Some(ready_us) = median(&untraced.times()) else { return };
        let limit = |times: f64, more_us: f64| {
            Duration::from_secs_f64((ready_us * times + more_us) / 1e6).min(self.options.timeout)
        };
        let recorded = limit(SLOWER, SLOWER_US);
        let to_entry = limit(SLOWER_TO_ENTRY, SLOWER_TO_ENTRY_US);
        self.request.end_at_entry = entry;
        self.options.to_entry = entry;
        self.request.timeout = if entry { to_entry } else { recorded };
        self.options.timeout = self.request.timeout;
        self.cut = Some(Cut { at_us: ready_us, entry });
    }
}

/// Untraced launches, the first of them a warm-up.
struct Untraced {
    samples: Vec<Sample>,
}

impl Untraced {
    fn launch(&mut self, count: u32, launching: &mut dyn Launching) -> Result<(), LabError> {
        for _ in 0..count {
            if launching.interrupted() {
                return Err(LaunchError::Interrupted.into());
            }
            // The warm-up is round −1.
            let round = self.samples.len() as i32 - 1;
            self.samples.push(sample(round, launching)?);
        }
        Ok(())
    }

    fn times(&self) -> Vec<f64> {
        self.figure(|launch| launch.total_us)
    }

    /// A figure of each launch but the warm-up.
    fn figure<T>(&self, figure: fn(&Launch) -> T) -> Vec<T> {
        let counted = self.samples.iter().filter(|sample| !sample.is_warm_up());
        counted.map(|sample| figure(&sample.launch)).collect()
    }
}

fn sample(round: i32, launching: &mut dyn Launching) -> Result<Sample, LabError> {
    let launch = launching.launch(ONLY)?;
    Ok(Sample { round, position: 0, variant: ONLY, launch, cold: None })
}
