//! The marks of an image, and what is done when a process executes a new one.

use super::LoaderVariables;
use super::arch;
use super::breakpoints::BreakpointPurpose;
use super::images::{self, Image};
use super::loader::Loader;
use super::ptrace::{self, Tid};
use super::session::Session;
use super::start::{self, Auxiliary};
use crate::linux::processes;
use model::{LoadBias, MappedVa, Mark, MarkKind, TracedImage};
use std::path::Path;
use std::sync::Arc;

/// What is known of the image that a process executes.
#[derive(Clone)]
pub(super) struct Executed {
    /// Facts of the program's file.
    pub program: Arc<Image>,
    /// What is added to the program's addresses.
    pub bias: LoadBias,
    /// Its loader.
    pub loader: Loader,
    /// The loader itself was executed, with the program as its argument.
    pub through_loader: bool,
    /// When the last library seen so far was mapped.
    pub mapped_us: Option<f64>,
    /// The environment asks for LD_AUDIT, so the thread pointer is set before the program's
    /// modules are added, and the hook is called for the auditors' first.
    pub adding_expected: bool,
}

impl Session<'_> {
    /// Records a mark of the process's present image, if it executed one.
    pub fn mark(&mut self, process: usize, kind: MarkKind, at_us: f64) {
        if let Some(image) = self.present_image(process)
            && image.marks.iter().all(|mark| mark.kind != kind)
        {
            image.marks.push(Mark { kind, at_us });
        }
    }

    /// Records how many page faults the process has had at a mark of its present image, where it stands now.
    pub fn count_faults(&mut self, process: usize, kind: MarkKind) {
        let Some(pid) = self.processes.get(process).map(|state| state.record.pid) else { return };
        let found = processes::minor_faults(pid.cast_signed());
        if let (Some(image), Some(count)) = (self.present_image(process), found)
            && image.faults.iter().all(|(known, _)| *known != kind)
        {
            image.faults.push((kind, count));
        }
    }

    /// Adds a note to the process's present image, once.
    pub fn note(&mut self, process: usize, note: impl Into<String>) {
        let note = note.into();
        if let Some(image) = self.present_image(process)
            && !image.notes.contains(&note)
        {
            image.notes.push(note);
        }
    }

    pub(super) fn present_image(&mut self, process: usize) -> Option<&mut TracedImage> {
        self.processes.get_mut(process)?.record.images.last_mut()
    }

    /// What is known of the image that `process` executes.
    pub fn executed(&mut self, process: usize) -> Option<&mut Executed> {
        self.processes.get_mut(process)?.executed.as_mut()
    }

    /// Plants a breakpoint in the space of `tid`; one that cannot be planted is noted.
    pub fn plant(&mut self, tid: Tid, address: MappedVa, purpose: BreakpointPurpose) {
        if self.recording.is_some() || self.request.pages_at_exit.is_some() {
            // It has a breakpoint at every function, and no marks, or is to be disturbed by none: where a process
            // becomes one that only root may look into (PR_SET_DUMPABLE), a breakpoint cannot be lifted any more.
            return;
        }
        let Some((process, space)) = self.tasks.get(&tid).map(|task| (task.process, task.space))
        else {
            return;
        };
        let Some(space) = self.spaces.get_mut(space) else { return };
        if let Err(error) = space.plant(tid, address, purpose) {
            self.note(process, format!("no breakpoint could be set for {purpose:?}: {error}"));
        }
    }

    /// `process` has executed a new image and waits before its first instruction.
    pub fn on_new_image(&mut self, tid: Tid, process: usize, exec_called: Option<f64>, at_us: f64) {
        let mut marks = Vec::new();
        marks.extend(exec_called.map(|at_us| Mark { kind: MarkKind::ExecCalled, at_us }));
        marks.push(Mark { kind: MarkKind::ExecDone, at_us });
        let path = ptrace::proc_link(tid, "exe").unwrap_or_default();
        let image = TracedImage {
            path,
            argv: Vec::new(),
            loader: None,
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        };
        if let Some(state) = self.processes.get_mut(process) {
            let index = state.record.images.len();
            state.record.images.push(image);
            state.executed = None;
            let set = start::loader_variables(tid).unwrap_or_default();
            self.variables.push(LoaderVariables { process, image: index, set });
        }
        self.count_faults(process, MarkKind::ExecDone);
        self.look_at_memory(tid, process, MarkKind::ExecDone);
        if let Err(note) = self.examine(tid, process) {
            self.note(process, note);
        }
    }

    /// Finds out what the new image is and plants its first breakpoints.
    fn examine(&mut self, tid: Tid, process: usize) -> Result<(), String> {
        let unreadable =
            |what: &str| format!("{what} could not be read: only exec and exit are marked");
        let registers = ptrace::registers(tid).map_err(|_| unreadable("its registers"))?;
        if arch::is_32_bit(&registers) {
            return Err("a 32-bit program: only exec and exit are marked".to_owned());
        }
        let auxiliary =
            Auxiliary::of(tid, false).ok_or_else(|| unreadable("its auxiliary vector"))?;
        let Auxiliary { entry, loader_base, .. } = auxiliary;
        let program = images::image(Path::new(&ptrace::proc_path(tid, "exe")))
            .map_err(|error| unreadable(&format!("its file ({error})")))?;
        let bias = LoadBias::between(program.entry, entry);
        let through_loader = program.interpreter.is_none() && program.loader_hook.is_some();
        let loader = match &program.interpreter {
            _ if through_loader => Loader::of(&program, bias),
            None => Loader::None,
            Some(path) => images::image(Path::new(&model::text::name(path)))
                .map_or(Loader::Unknown, |image| Loader::of(&image, loader_base)),
        };
        self.plant_steps(tid, process, bias);
        let argv = start::arguments(tid).unwrap_or_default();
        self.describe(process, argv, &program, &loader, through_loader);
        if let Loader::Musl { image, base } = &loader
            && let Some(hook) = image.loader_hook
        {
            self.plant(tid, base.mapped(hook), BreakpointPurpose::Relocated);
        }
        if !through_loader {
            self.plant(tid, entry, BreakpointPurpose::Entry);
        }
        if self.request.count_cpuid {
            self.plant_first_cpuids(tid, process, &program, bias, loader_base);
        }
        if let Some(state) = self.processes.get_mut(process) {
            let (mapped_us, adding_expected) = (None, start::is_audited(tid).unwrap_or(false));
            let executed =
                Executed { program, bias, loader, through_loader, mapped_us, adding_expected };
            state.executed = Some(executed);
        }
        Ok(())
    }

    /// Records what the user may want to know about the image.
    fn describe(
        &mut self,
        process: usize,
        argv: Vec<String>,
        program: &Image,
        loader: &Loader,
        through_loader: bool,
    ) {
        if let Some(image) = self.present_image(process) {
            image.argv = argv;
            image.loader = program.interpreter.clone();
        }
        let notes = [
            (
                program.set_id,
                "its set-user-ID or set-group-ID bit has no effect while it is \
                 traced",
            ),
            (through_loader, "started by running its loader directly, which is the executed file"),
            (
                matches!(loader, Loader::Unknown),
                "its loader is neither glibc's nor musl's: mapping and relocation are not marked",
            ),
        ];
        for (_, note) in notes.into_iter().filter(|(applies, _)| *applies) {
            self.note(process, note);
        }
    }
}
