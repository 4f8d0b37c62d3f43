//! Untraced launches and those that give the phases, in turns.

use super::cut::Cut;
use super::{Recorder, reading};
use crate::elf::inputs::Inputs;
use crate::time::median;
use crate::untraced::{UNTRACED, Untraced};
use lab::{LabError, Launching};
use model::{Launch, Reading, Sample, Until};
use std::time::Duration;

/// How much longer than untraced a launch that is recorded may take to be ready.
const SLOWER: f64 = 1.5;
const SLOWER_US: f64 = 100_000.0;
/// How much longer a traced launch may take to come to its entry point, where it is ended. On a
/// busy machine this can be long, and it is waited for only where the entry point is not seen.
const SLOWER_TO_ENTRY: f64 = 10.0;
const SLOWER_TO_ENTRY_US: f64 = 2_000_000.0;

impl Recorder<'_> {
    /// A warm-up, then `traces` traced launches between untraced ones; gives the latter.
    pub(super) fn untraced_and_phases(
        &mut self,
        traces: u32,
        until: &Until,
        launching: &mut dyn Launching,
        inputs: &mut Inputs,
    ) -> Result<Vec<Sample>, LabError> {
        let mut untraced = Untraced::warmed_up(launching)?;
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
        inputs.left_running = untraced.left_running();
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
