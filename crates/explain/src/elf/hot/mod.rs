//! Which functions a launch spends its processor time in, and on which of their instructions.
//!
//! ```text
//! samples ─ tally ─► module and offset ─ functions ─► functions by share ─ disassembly ─► hottest
//! ```

mod disassembly;
mod functions;
mod names;
mod tally;
#[cfg(test)]
mod tests;

use functions::{FunctionSamples, Functions};
use model::figures::plural;
use model::{Hot, HotFunction, Hottest, LaunchSamples, Reading};
pub(crate) use names::demangled;
use os::samples::KernelSymbols;
use std::path::Path;
use tally::Tally;

/// Samples that make shares known to one or two per cent.
pub(crate) const ENOUGH: u64 = 1000;
/// With less, shares are rough.
const FEW: u64 = 200;

/// Samples of one launch after the other, counted by place.
#[derive(Default)]
pub(crate) struct Sampled {
    tally: Tally,
    launches: u32,
    frequency_hz: u32,
    with_kernel: bool,
    lost: u64,
}

impl Sampled {
    /// Adds a launch, up to `ready_us` where it is to be explained to that moment only.
    pub(crate) fn add(&mut self, launch: &LaunchSamples, ready_us: Option<f64>) {
        self.tally.add(launch, ready_us.unwrap_or(f64::INFINITY));
        self.launches += 1;
        self.frequency_hz = launch.frequency_hz;
        self.with_kernel = launch.with_kernel;
        self.lost += launch.lost;
    }

    pub(crate) fn samples(&self) -> u64 {
        self.tally.total()
    }

    /// Names the places by the symbols of their files, those below `debug_folder` included.
    pub(crate) fn finish(self, kernel: &Reading<KernelSymbols>, debug_folder: &Path) -> Hot {
        let total = self.samples();
        let mut notes = self.notes(kernel);
        let Functions { found, problems } = Functions::find(&self.tally, kernel, debug_folder);
        notes.extend(problems);
        let share = |samples: u64| samples as f64 / total.max(1) as f64;
        let functions = found.iter().map(|function| HotFunction {
            module: function.module.clone(),
            function: function.name.clone(),
            samples: function.samples,
            share: share(function.samples),
            kernel: function.kernel,
        });
        Hot {
            samples: total,
            launches: self.launches,
            frequency_hz: self.frequency_hz,
            notes,
            functions: functions.collect(),
            hottest: hottest(&found, debug_folder),
        }
    }

    fn notes(&self, kernel: &Reading<KernelSymbols>) -> Vec<String> {
        let mut notes = Vec::new();
        if self.samples() < FEW {
            let samples = plural(self.samples(), "sample", "samples");
            notes.push(format!("only {samples}: the program uses little CPU time"));
        }
        if !self.with_kernel {
            let remedy = "sudo sysctl kernel.perf_event_paranoid=1, or run headstart as root";
            notes.push(format!("time in the kernel is not seen; {remedy}"));
        }
        match kernel {
            Reading::Unavailable { reason, remedy } if self.tally.has_kernel() => {
                notes.push(format!("the kernel's functions have no names: {reason}; {remedy}"));
            }
            _ => {}
        }
        if self.lost > 0 {
            notes.push(format!("{} lost", plural(self.lost, "record was", "records were")));
        }
        notes
    }
}

/// The first of `found` whose code can be read, instruction by instruction.
fn hottest(found: &[FunctionSamples], debug_folder: &Path) -> Reading<Hottest> {
    let mut reason = "no sample was in a function whose bounds are known";
    for function in found {
        let Some(code) = &function.code else { continue };
        match disassembly::instructions(code, debug_folder) {
            Some(instructions) => {
                return Reading::Value(Hottest {
                    function: function.name.clone(),
                    module: function.module.clone(),
                    instructions,
                });
            }
            None => reason = "only x86 code can be disassembled, from files that can be read",
        }
    }
    Reading::unavailable(reason, "")
}
