//! Counting CPUID instructions: a breakpoint at each, whose hit is counted and emulated.

use super::breakpoints::BreakpointPurpose;
use super::images::{self, Image};
use super::loader;
use super::ptrace::{self, Tid};
use super::session::Session;
use model::{LoadBias, MappedVa, text};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

impl Session<'_> {
    /// Plants in the program and its loader, before their first instruction.
    pub fn plant_first_cpuids(
        &mut self,
        tid: Tid,
        process: usize,
        program: &Image,
        bias: LoadBias,
        loader: LoadBias,
    ) {
        let path = PathBuf::from(text::name(&ptrace::proc_link(tid, "exe").unwrap_or_default()));
        self.plant_cpuids(tid, process, &path, bias);
        if let Some(interpreter) = &program.interpreter {
            let interpreter = PathBuf::from(text::name(interpreter));
            self.plant_cpuids(tid, process, &interpreter, loader);
            let note = "CPUID instructions of libraries opened by other libraries' initializers \
                 are not counted";
            self.note(process, note);
        }
    }

    /// Plants in every module that the loader has mapped, before it runs any of their code.
    pub fn plant_module_cpuids(&mut self, tid: Tid, process: usize, state: MappedVa) {
        if !self.request.count_cpuid {
            return;
        }
        let mut modules = Vec::new();
        loader::find_module(tid, state, |module| {
            modules.push(module);
            None::<()>
        });
        // The program has no path here, the kernel's own module no file.
        for module in modules.iter().filter(|module| module.path.starts_with('/')) {
            self.plant_cpuids(tid, process, Path::new(&text::name(&module.path)), module.bias);
        }
    }

    fn plant_cpuids(&mut self, tid: Tid, process: usize, path: &Path, bias: LoadBias) {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = text::text(&path);
        let sites = match images::cpuid_sites(&path) {
            Ok(sites) => sites,
            Err(error) => {
                self.note(process, format!("CPUID instructions of '{name}' not counted: {error}"));
                return;
            }
        };
        if sites.unverified > 0 {
            let count = sites.unverified;
            let note = format!(
                "'{name}': {count} places that may be CPUID instructions are not \
                 counted"
            );
            self.note(process, note);
        }
        let known = self.cpuids.iter().position(|(other, _)| *other == name);
        let module = known.unwrap_or_else(|| {
            self.cpuids.push((name, 0));
            self.cpuids.len() - 1
        });
        for address in &sites.addresses {
            self.plant(tid, bias.mapped(*address), BreakpointPurpose::Cpuid(module));
        }
    }

    /// `main` is reached.
    pub fn end_counting(&mut self, tid: Tid) -> io::Result<()> {
        let space = self.tasks.get(&tid).map(|task| task.space);
        match space.and_then(|space| self.spaces.get_mut(space)) {
            Some(space) => space.remove_cpuids(tid),
            None => Ok(()),
        }
    }
}
