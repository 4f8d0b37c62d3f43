//! What a hit breakpoint or a stop of the filter means for the marks.

use super::arch;
use super::breakpoints::BreakpointPurpose;
use super::images;
use super::loader::{self, Loader};
use super::marks::Executed;
use super::ptrace::{self, Resume, Tid};
use super::session::Session;
use model::{MappedVa, MarkKind};
use std::io;
use std::path::Path;

impl Session<'_> {
    /// `tid` stopped by SIGTRAP: a breakpoint of ours, or the program's own affair.
    pub fn on_trap(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let address = arch::breakpoint_address(tid)?;
        let Some(task) = self.tasks.get(&tid) else { return Ok(Resume::Continue(libc::SIGTRAP)) };
        let (process, space_index) = (task.process, task.space);
        let Some(space) = self.spaces.get_mut(space_index) else {
            return Ok(Resume::Continue(libc::SIGTRAP));
        };
        let Some((purpose, planted)) = space.at(address) else {
            return Ok(Resume::Continue(libc::SIGTRAP));
        };
        if let (BreakpointPurpose::Cpuid(module), true) = (purpose, planted) {
            let mut registers = ptrace::registers(tid)?;
            arch::emulate_cpuid(&mut registers, address);
            ptrace::set_registers(tid, &registers)?;
            if let Some((_, count)) = self.cpuids.get_mut(module) {
                *count += 1;
            }
            return Ok(Resume::Continue(0));
        }
        let owned = space.owner == process;
        if let (BreakpointPurpose::Step(step), true) = (purpose, planted)
            && let Some(passed) = self.pass_step((tid, process), step, address)?
        {
            self.step(process, step, at_us);
            return Ok(passed);
        }
        if planted && owned {
            // While it is still there: as soon as it is gone another thread may pass and end the
            // process, this thread with it.
            self.mark_hit((tid, process), purpose, at_us);
        }
        if planted && let Some(space) = self.spaces.get_mut(space_index) {
            space.remove(tid, address)?;
        }
        arch::set_instruction_pointer(tid, address)?;
        let passed = !planted || (owned && self.on_hit(tid, process, purpose, at_us)?);
        if passed {
            return Ok(Resume::Continue(0));
        }
        // It is not this process's to remove, or is still waited for: one step, then it returns.
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.stepping = Some(address);
        }
        Ok(Resume::Step)
    }

    /// What a breakpoint means whatever else is found out at it.
    fn mark_hit(&mut self, (tid, process): (Tid, usize), purpose: BreakpointPurpose, at_us: f64) {
        if let BreakpointPurpose::Step(step) = purpose {
            self.step(process, step, at_us);
        }
        let kind = match purpose {
            BreakpointPurpose::Entry => MarkKind::Entry,
            BreakpointPurpose::Main => MarkKind::Main,
            BreakpointPurpose::Exit => MarkKind::ExitCalled,
            BreakpointPurpose::Relocated
            | BreakpointPurpose::StartMain
            | BreakpointPurpose::Step(_)
            | BreakpointPurpose::Cpuid(_) => return,
        };
        self.mark(process, kind, at_us);
        self.count_faults(process, kind);
        self.look_at_memory(tid, process, kind);
        let first = self.processes.first().is_some_and(|root| root.record.images.len() == 1);
        if self.request.end_at_entry && kind == MarkKind::Entry && process == 0 && first {
            ptrace::kill(self.root);
        }
    }

    /// Acts on a breakpoint; false where it must stay planted.
    fn on_hit(
        &mut self,
        tid: Tid,
        process: usize,
        purpose: BreakpointPurpose,
        at_us: f64,
    ) -> io::Result<bool> {
        let Some(executed) = self.executed(process).map(|executed| executed.clone()) else {
            return Ok(true);
        };
        match purpose {
            BreakpointPurpose::Relocated => {
                return Ok(self.on_relocated(tid, process, &executed, at_us));
            }
            BreakpointPurpose::Entry => self.locate_main(tid, process, &executed),
            BreakpointPurpose::StartMain => {
                self.plant(tid, arch::first_argument(tid)?, BreakpointPurpose::Main);
            }
            BreakpointPurpose::Main => self.end_counting(tid)?,
            BreakpointPurpose::Step(step) => self.await_return(tid, step)?,
            BreakpointPurpose::Exit | BreakpointPurpose::Cpuid(_) => {}
        }
        Ok(true)
    }

    /// The loader's hook was called; false where modules are still being added.
    fn on_relocated(&mut self, tid: Tid, process: usize, known: &Executed, at_us: f64) -> bool {
        if let Loader::Glibc { state } = known.loader {
            let consistent = loader::is_consistent(tid, state);
            if !consistent && let Some(known) = self.executed(process) {
                known.adding_expected = false;
            }
            if !consistent || known.adding_expected {
                return false;
            }
        }
        if let (Loader::Musl { .. }, Some(mapped_us)) = (&known.loader, known.mapped_us) {
            self.mark(process, MarkKind::Mapped, mapped_us);
        }
        self.mark(process, MarkKind::Relocated, at_us);
        self.count_faults(process, MarkKind::Relocated);
        self.look_at_memory(tid, process, MarkKind::Relocated);
        let state = match &known.loader {
            Loader::Glibc { state } => Some(*state),
            Loader::Musl { image, base } => loader::musl_state(tid, image, *base),
            Loader::None | Loader::Unknown => None,
        };
        let libc = known.loader.c_library(tid);
        match libc.and_then(|(libc, bias)| Some(bias.mapped(libc.exit?))) {
            Some(address) => self.plant(tid, address, BreakpointPurpose::Exit),
            None => {
                self.note(process, "exit could not be located: none of its modules is a C library")
            }
        }
        if let Some(state) = state {
            if matches!(known.loader, Loader::Musl { .. }) {
                self.plant_module_cpuids(tid, process, state);
            }
            if known.through_loader {
                self.follow_program(tid, process, state);
            }
        }
        true
    }

    /// The loader was executed with a program as its argument: that one is the first module.
    fn follow_program(&mut self, tid: Tid, process: usize, state: MappedVa) {
        let Some(module) = loader::find_module(tid, state, Some) else { return };
        // The list names libraries only.
        let path = loader::mapped_file(tid, module.dynamic).unwrap_or_default();
        match images::image(Path::new(&model::text::name(&path))) {
            Ok(program) => {
                let entry = module.bias.mapped(program.entry);
                if let Some(executed) = self.executed(process) {
                    executed.program = program;
                    executed.bias = module.bias;
                }
                self.plant(tid, entry, BreakpointPurpose::Entry);
            }
            Err(error) => {
                self.note(process, format!("main could not be located: '{path}': {error}"));
            }
        }
    }

    /// At the entry point: plants the breakpoint at `main`, or says why there is none.
    fn locate_main(&mut self, tid: Tid, process: usize, known: &Executed) {
        let read = |address, target: &mut [u8]| ptrace::read_memory(tid, address, target);
        let program = &known.program;
        let entry = known.bias.mapped(program.entry);
        let from_start = arch::find_main(entry, &read)
            .filter(|main| program.is_code(known.bias.unmapped(*main)));
        let main = program.main.map(|main| known.bias.mapped(main)).or(from_start);
        let start_main = || {
            let (libc, bias) = known.loader.c_library(tid)?;
            Some(bias.mapped(libc.start_main?))
        };
        if let Some(main) = main {
            self.plant(tid, main, BreakpointPurpose::Main);
        } else if let Some(start_main) = start_main() {
            self.plant(tid, start_main, BreakpointPurpose::StartMain);
        } else {
            let kind = match known.loader {
                Loader::None => "stripped static program",
                _ => "its start code calls no known C library",
            };
            self.note(process, format!("main could not be located: {kind}"));
        }
        if matches!(known.loader, Loader::None) {
            match program.exit {
                Some(exit) => self.plant(tid, known.bias.mapped(exit), BreakpointPurpose::Exit),
                None => self
                    .note(process, "exit could not be located: static program without that symbol"),
            }
        }
    }

    /// glibc's loader sets the thread pointer between mapping and relocating.
    pub fn on_thread_pointer(&mut self, tid: Tid, at_us: f64) {
        let Some(process) = self.tasks.get(&tid).map(|task| task.process) else { return };
        let Some(known) = self.executed(process) else { return };
        if known.mapped_us.is_some() {
            return;
        }
        known.mapped_us = Some(at_us);
        let (audited, loader) = (known.adding_expected, known.loader.clone());
        let maps_are_seen = self.maps_are_seen;
        match loader {
            Loader::Glibc { state } => {
                match loader::hook(tid, state) {
                    Some(hook) => self.plant(tid, hook, BreakpointPurpose::Relocated),
                    None => self.note(process, "the loader has no debugger hook"),
                }
                self.plant_module_cpuids(tid, process, state);
                if audited {
                    self.note(
                        process,
                        "the end of mapping is not marked: LD_AUDIT changes the order",
                    );
                } else {
                    self.mark(process, MarkKind::Mapped, at_us);
                    self.count_faults(process, MarkKind::Mapped);
                    self.look_at_memory(tid, process, MarkKind::Mapped);
                }
            }
            Loader::Musl { .. } if !maps_are_seen => {
                if let Some(known) = self.executed(process) {
                    known.mapped_us = None;
                }
                self.note(
                    process,
                    "the end of mapping is not marked: a musl program started by another",
                );
            }
            _ => {}
        }
    }

    /// musl's loader maps the writable segment of a library, which is its last.
    pub fn on_library_mapped(&mut self, tid: Tid, at_us: f64) {
        let Some(process) = self.tasks.get(&tid).map(|task| task.process) else { return };
        if let Some(known) = self.executed(process) {
            known.mapped_us = Some(at_us);
        }
    }
}
