//! What the start of a bundle still does, and what is done at its end: counted in its file and in launches in
//! which its steps are recorded, timed by the phases of the explained launch.

mod finish;
mod memory;

use crate::elf::inputs::Inputs;
use crate::phases::Life;
use crate::time::{ns, us};
use memory::StartMemory;
use model::{
    BundleContents, BundleRemains, BundleReport, CopiedPages, ElfFacts, ImageKind, LibraryRemains,
    MarkKind, ModuleReport, PartWork, Phase, Reading,
};

/// Adds what remains to the reports of bundles that ran.
pub(crate) fn add(
    inputs: &Inputs,
    lives: &[Life],
    modules: &[ModuleReport],
    reports: &mut [BundleReport],
) {
    for report in reports.iter_mut().filter(|report| !report.started_original) {
        let Some(contents) = inputs.contents.get(&report.path) else { continue };
        let own = lives.iter().filter(|life| inputs.program(&life.image.path) == report.path);
        // Without marks, as from a loader's log, nothing tells where its start ends.
        let at_main = |life: &&Life| life.image.marks.iter().any(|m| m.kind == MarkKind::Main);
        let lives: Vec<&Life> = own.filter(at_main).collect();
        if let (false, Some(work)) = (lives.is_empty(), contents.work) {
            let found = Recorded { inputs, contents, modules, lives, report };
            report.remains = Some(Box::new(found.remains(work)));
        }
    }
}

/// What is known of a bundle.
struct Recorded<'a> {
    inputs: &'a Inputs,
    contents: &'a BundleContents,
    modules: &'a [ModuleReport],
    /// Those of it.
    lives: Vec<&'a Life<'a>>,
    report: &'a BundleReport,
}

impl Recorded<'_> {
    fn remains(&self, work: PartWork) -> BundleRemains {
        let memory = memory::at_start(self.inputs, &self.report.path);
        let prices = &self.inputs.memory_prices;
        let starts = self.lives.len() as u64;
        let copied = memory.as_ref().map(|memory| memory.copied());
        let kernel_parts = memory.as_ref().map(|memory| memory.kernel_parts);
        let relocate_us = self.relocate_us();
        let finished = self.finished();
        let (exec, exit) = (self.phase(Phase::Exec), self.phase(Phase::Exit));
        let initialize = self.phase(Phase::Initialize);
        let by_library = self.by_library(&memory, &relocate_us, &finished);
        let finalize_us = finished.as_ref().map(|times| rounded(times.iter().sum()));
        let estimate = |most: f64, us: f64| rounded((us * starts as f64).min(most).max(0.0));
        BundleRemains {
            fixed: self.facts().is_some_and(|facts| facts.kind == ImageKind::Executable),
            starts,
            start_us: rounded(
                exec + self.phase(Phase::Map) + self.phase(Phase::Relocate) + initialize,
            ),
            exec_us: exec,
            map_parts_us: both(&kernel_parts, prices)
                .map(|(parts, prices)| estimate(exec, parts as f64 * prices.map_us)),
            kernel_parts,
            parts: memory.as_ref().map(|memory| memory.parts),
            work,
            adjusts_itself: self.contents.adjusts_itself,
            found_functions: self.contents.found_functions,
            copy_us: both(&copied, prices).map(|(copied, prices)| {
                let most = relocate_us.get().unwrap_or(self.phase(Phase::Relocate));
                estimate(most, copied.relocate as f64 * prices.copy_us)
                    + estimate(initialize, copied.initialize as f64 * prices.copy_us)
            }),
            relocate_us,
            init_us: self.init_us(),
            exit_us: exit,
            finalizers: self.contents.finalizers,
            loader_finalizers: self.facts().map_or(0, |facts| facts.finalizers),
            free_us: self.free_us(&memory, exit - finalize_us.get().unwrap_or(0.0)),
            finalize_us,
            copied,
            by_library,
        }
    }

    /// What the kernel takes for copied pages and parts of memory, at most this.
    fn free_us(&self, memory: &Reading<StartMemory>, most_us: f64) -> Reading<f64> {
        if self.phase(Phase::Exit) == 0.0 {
            return Reading::unavailable("the end of its processes is not seen", "");
        }
        let starts = self.lives.len() as f64;
        both(memory, &self.inputs.memory_prices).map(|(memory, prices)| {
            let pages = memory.copied().all() as f64 * prices.free_us;
            let us = starts * (pages + memory.parts as f64 * prices.unmap_us);
            rounded(us.min(most_us).max(0.0))
        })
    }

    /// What finalizers take by library, and last those of none.
    fn finished(&self) -> Reading<Vec<f64>> {
        let by_loader = self.facts().is_none_or(|facts| facts.finalizers > 0);
        if self.contents.finalizers == 0 && by_loader {
            return Reading::unavailable("the loader calls them, one after the other", "");
        }
        finish::times(self.inputs, self.contents, &self.report.path, &self.lives)
    }

    /// Microseconds of a phase, in all its processes.
    fn phase(&self, phase: Phase) -> f64 {
        let of_life = |life: &&Life| life.times().get(&phase).copied().unwrap_or(0);
        us(self.lives.iter().map(of_life).sum())
    }

    fn facts(&self) -> Option<&ElfFacts> {
        self.inputs.facts.get(&self.report.path)?.as_ref().ok()
    }

    /// The row of the bundle, or of a library in it.
    fn module(&self, library: Option<&str>) -> Option<&ModuleReport> {
        let path = library.map_or(self.report.path.as_str(), |path| self.inputs.real(path));
        self.modules.iter().find(|module| {
            let own = (&module.program, module.path.as_str()) == (&self.report.path, path);
            own && module.merged_in.is_some() == library.is_some()
        })
    }

    /// With reading ahead, which is a part of the phase.
    fn relocate_us(&self) -> Reading<f64> {
        match self.module(None) {
            Some(module) => module.relocate_us.clone(),
            None => Reading::unavailable("it is not among the modules", ""),
        }
    }

    /// The initializers of all merged libraries.
    fn init_us(&self) -> Reading<f64> {
        let mut sum = 0.0;
        for library in &self.contents.libraries {
            match self.module(Some(&library.path)).map(|module| &module.init_us) {
                Some(Reading::Value(us)) => sum += us,
                Some(missing) => return missing.clone(),
                None => return Reading::unavailable("it is not among the modules", ""),
            }
        }
        Reading::Value(rounded(sum))
    }

    /// One for each library, and one for the rest.
    fn by_library(
        &self,
        memory: &Reading<StartMemory>,
        relocate_us: &Reading<f64>,
        finished: &Reading<Vec<f64>>,
    ) -> Vec<LibraryRemains> {
        let places = memory::Places::new(self.contents);
        let copied = memory.as_ref().map(|memory| memory.by_place(&places));
        let pages = |copied: &[CopiedPages]| copied.iter().map(|one| one.relocate).sum::<u64>();
        let relocate = both(&copied.as_ref().map(|it| (pages(it), it.clone())), relocate_us);
        let rest = self.contents.libraries.len();
        let row = |index: usize, path: Option<&str>, work: PartWork| {
            let of = |copied: Vec<CopiedPages>| copied.get(index).copied().unwrap_or_default();
            let relocate_us = match relocate.clone().map(|((all, own), us)| (all, of(own), us)) {
                Reading::Value((0, ..)) => Reading::unavailable("no page was copied meanwhile", ""),
                found => found.map(|(all, own, us)| rounded(us * own.relocate as f64 / all as f64)),
            };
            let finalized = self.contents.finalized.iter();
            let is_own = |library: &Option<usize>| library.unwrap_or(rest) == index;
            LibraryRemains {
                path: path.map(|path| self.inputs.real(path).to_owned()),
                work,
                copied: copied.clone().map(of),
                relocate_us,
                init_us: self.own_init_us(path),
                finalizers: finalized.filter(|library| is_own(library)).count() as u64,
                finalize_us: finished
                    .clone()
                    .map(|us| us.get(index).map_or(0.0, |us| rounded(*us))),
            }
        };
        let libraries = self.contents.libraries.iter().enumerate();
        let mut rows: Vec<LibraryRemains> =
            libraries.map(|(index, it)| row(index, Some(&it.path), it.work)).collect();
        let cost = |row: &LibraryRemains| {
            let times = [&row.relocate_us, &row.init_us, &row.finalize_us];
            times.into_iter().filter_map(Reading::get).sum::<f64>()
        };
        rows.sort_by(|a, b| {
            let pages = |row: &LibraryRemains| row.work.relocated_pages;
            cost(b).total_cmp(&cost(a)).then(pages(b).cmp(&pages(a))).then(a.path.cmp(&b.path))
        });
        let own = self.module(None).and_then(|module| module.work).unwrap_or_default();
        rows.push(row(rest, None, own));
        rows
    }

    /// Initializers of a library; those of the program without the check.
    fn own_init_us(&self, library: Option<&str>) -> Reading<f64> {
        let Some(module) = self.module(library) else {
            return Reading::unavailable("it is not among the modules", "");
        };
        match (library, &self.report.check_us) {
            (Some(_), _) => module.init_us.clone(),
            (None, Reading::Value(check)) => {
                module.init_us.clone().map(|us| rounded((us - check).max(0.0)))
            }
            (None, missing) => missing.clone(),
        }
    }
}

/// Two figures, or why one of them is missing.
fn both<A: Clone, B: Clone>(one: &Reading<A>, other: &Reading<B>) -> Reading<(A, B)> {
    match (one, other) {
        (Reading::Value(one), Reading::Value(other)) => {
            Reading::Value((one.clone(), other.clone()))
        }
        (Reading::Unavailable { reason, remedy }, _)
        | (_, Reading::Unavailable { reason, remedy }) => Reading::unavailable(reason, remedy),
    }
}

/// Whole nanoseconds, as every other figure.
fn rounded(figure: f64) -> f64 {
    us(ns(figure))
}
