//! The steps of a bundle's start and end: its check, its reading ahead, and each function that initializes or
//! finalizes a merged library.
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
        let finish = start.finish.filter(|finish| {
            let mut code = [0; arch::SHORT_JUMP.len()];
            let at = bias.mapped(finish.finalized);
            ptrace::read_memory(tid, at, &mut code) == code.len() && code == arch::SHORT_JUMP
        });
        let points = [
            (start.read_ahead, StartStep::ReadAhead),
            (Some(start.check), StartStep::Check),
            (Some(start.initialized), StartStep::Initialized),
            (finish.map(|finish| finish.begin), StartStep::Finish),
            (finish.map(|finish| finish.finalized), StartStep::Finalized),
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
            StartStep::ReadAheadDone
            | StartStep::Checked
            | StartStep::Initialized
            | StartStep::Finish
            | StartStep::Finalized => return Ok(()),
        };
        let stack = arch::stack_pointer(&ptrace::registers(tid)?);
        if let Some([caller]) = ptrace::read_words::<1>(tid, stack) {
            self.plant(tid, MappedVa(caller), BreakpointPurpose::Step(done));
        }
        Ok(())
    }

    /// Goes on behind the instruction at which the breakpoint of a step stays; `None` where it does not stay.
    pub(super) fn pass_step(
        &mut self,
        (tid, process): (Tid, usize),
        step: StartStep,
        address: MappedVa,
    ) -> io::Result<Option<Resume>> {
        if !matches!(step, StartStep::Initialized | StartStep::Finalized) {
            return Ok(None);
        }
        let mut registers = ptrace::registers(tid)?;
        if step == StartStep::Initialized {
            arch::emulate_next_word(&mut registers, address);
        } else {
            let Some(next) = self.next_finalizer(process, address) else { return Ok(None) };
            arch::jump(&mut registers, next);
        }
        ptrace::set_registers(tid, &registers)?;
        Ok(Some(Resume::Continue(0)))
    }

    /// Where the jump leads at which finalizers return.
    fn next_finalizer(&mut self, process: usize, address: MappedVa) -> Option<MappedVa> {
        let path = self.present_image(process)?.path.clone();
        let finish = self.request.bundles.iter().find(|bundle| bundle.path == path)?.finish?;
        let back = finish.finalized.since(finish.next)?;
        Some(MappedVa(address.0.checked_sub(back)?))
    }
}
