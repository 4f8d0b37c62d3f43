//! The steps of a bundle's start: its check, its reading ahead, and each function that initializes a
//! merged library.
//!
//! A breakpoint at such a function itself would bring its page into memory, which takes a part of
//! what is to be measured. So there is one only where all of them return to.

use super::arch;
use super::breakpoints::BreakpointPurpose;
use super::ptrace::{self, Resume, Tid};
use super::session::Session;
use model::{LoadBias, MappedVa, StartStep};
use std::io;

impl Session<'_> {
    /// Plants the breakpoints of a bundle whose start is to be recorded.
    pub(super) fn plant_steps(&mut self, tid: Tid, process: usize, bias: LoadBias) {
        let Some(path) = self.present_image(process).map(|image| image.path.clone()) else {
            return;
        };
        let Some(start) = self.request.bundles.iter().find(|start| start.path == path).cloned()
        else {
            return;
        };
        let mut code = [0; arch::NEXT_WORD.len()];
        let returns = bias.mapped(start.initialized);
        if ptrace::read_memory(tid, returns, &mut code) != code.len() || code != arch::NEXT_WORD {
            return;
        }
        let points = [
            (start.read_ahead, StartStep::ReadAhead),
            (Some(start.check), StartStep::Check),
            (Some(start.initialized), StartStep::Initialized),
        ];
        for (address, step) in points {
            if let Some(address) = address {
                self.plant(tid, bias.mapped(address), BreakpointPurpose::Step(step));
            }
        }
    }

    /// Records a step of the process's present image.
    pub(super) fn step(&mut self, process: usize, step: StartStep, at_us: f64) {
        if let Some(image) = self.present_image(process) {
            image.steps.push((step, at_us));
        }
    }

    /// At the first instruction of a function: waits for its return.
    pub(super) fn await_return(&mut self, tid: Tid, step: StartStep) -> io::Result<()> {
        let done = match step {
            StartStep::ReadAhead => StartStep::ReadAheadDone,
            StartStep::Check => StartStep::Checked,
            StartStep::ReadAheadDone | StartStep::Checked | StartStep::Initialized => return Ok(()),
        };
        let stack = arch::stack_pointer(&ptrace::registers(tid)?);
        if let Some([caller]) = ptrace::read_words::<1>(tid, stack) {
            self.plant(tid, MappedVa(caller), BreakpointPurpose::Step(done));
        }
        Ok(())
    }

    /// Goes on behind the instruction at which a breakpoint stays.
    pub(super) fn pass_initialized(&self, tid: Tid, address: MappedVa) -> io::Result<Resume> {
        let mut registers = ptrace::registers(tid)?;
        arch::emulate_next_word(&mut registers, address);
        ptrace::set_registers(tid, &registers)?;
        Ok(Resume::Continue(0))
    }
}
